"""Batch task: metric depth of images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from sightline.config import Palette, fingerprint
from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.io.images import Picture, read_picture
from sightline.io.inputs import expand
from sightline.io.paths import AnyPath
from sightline.io.reading import naming
from sightline.jobs.depth import write_map
from sightline.jobs.manifest import Manifest
from sightline.jobs.naming import PICTURE_DEFAULT, BatchJob, plan
from sightline.jobs.options import BatchConfig
from sightline.jobs.task import BatchOutcome, BatchTask, Notify
from sightline.metric.estimation import MetricResult
from sightline.metric.known_sizes import KnownSizes
from sightline.metric.options import MetricConfig
from sightline.metric.work import Tools, known_of, load_tools, meters_of, summarize, to_json
from sightline.models.download import resolve


class MetricTask(BatchTask[Picture, MetricResult]):
    """Estimate metric depth of each image. A .json file with the evidence is always written.

    Args:
        config: evidence, models and their settings.
        batch: which files are read and written.
    """

    noun = "results"

    def __init__(self, config: MetricConfig, batch: BatchConfig | None = None) -> None:
        self.config = config
        self.batch = batch or BatchConfig()
        self._known: KnownSizes | None = None
        self._tools: Tools | None = None

    @property
    def threads(self) -> int | None:
        """Requested number of CPU threads."""
        return self.config.threads

    def prepare(self, inputs: Sequence[str | AnyPath], out: AnyPath) -> list[BatchJob]:
        """Find images and assign the output files."""
        own = Manifest(out).outputs()
        sources = expand(inputs, recursive=self.batch.recursive, out=out, own=own)
        videos = [source.path for source in sources if source.is_video]
        if videos:
            raise InputError("metric depth of videos is not supported", path=videos[0])
        if self.config.is_for_one_image and len(sources) > 1:
            raise InputError(
                "known lengths, depths, boxes and measured maps apply to one image, "
                f"got {len(sources)}",
                remedy="give one image",
            )
        return plan(sources, out, (*(self.batch.save or PICTURE_DEFAULT), "json"), own)

    def begin(
        self,
        jobs: Sequence[BatchJob],  # noqa: ARG002
        out: AnyPath,
        notify: Notify | None,
    ) -> tuple[Manifest, str]:
        """Check the evidence, find the weights and open the folder's manifest."""
        config = self.config
        known_of(config)
        weights = resolve(
            config.model, accept=config.accept_license, notify=notify, purpose="depth"
        )
        return Manifest(out), fingerprint(
            "metric", weights.sha256, config, self.batch.palette, *_file_states(config)
        )

    def open(self, threads: int | None, notify: Notify | None = None) -> None:
        """Read the evidence and load the networks."""
        self._known = known_of(self.config)
        self._tools = load_tools(self.config, notify, threads)

    def read(self, job: BatchJob) -> Picture:
        """Decode an image."""
        return read_picture(job.source, max_pixels=self.config.max_pixels)

    def compute(self, job: BatchJob, data: Picture) -> MetricResult:
        """Estimate metric depth."""
        assert self._known is not None, "call open first"
        assert self._tools is not None, "call open first"

        def on_painting(made: int, accepted: int) -> None:
            if self.on_progress is not None:
                wanted = self.config.paintings
                text = f"{made} painted, {accepted} of {wanted} with people"
                self.on_progress(accepted, wanted, text)

        with naming(job.source):
            return meters_of(data, self._known, self._tools, self.config, on_painting)

    def write(self, job: BatchJob, data: Picture, result: MetricResult) -> BatchOutcome:
        """Write a depth map in every requested format, and its evidence."""
        write_meters(job.outputs, data, result, self.batch.palette)
        depth = result.depth
        first, *rest = summarize(result)
        return BatchOutcome(
            job,
            kind=depth.kind.value,
            unit=depth.unit,
            width=depth.width,
            height=depth.height,
            camera="" if depth.camera is None else str(depth.camera.source),
            details={"metric": result.to_dict()},
            lines=(f"{job.source}: {first}", *rest),
            warnings=result.warnings,
        )


def write_meters(
    outputs: Iterable[tuple[str, AnyPath]], picture: Picture, meters: MetricResult, palette: Palette
) -> None:
    """Write metric depth and its evidence, (format, path) each."""
    outputs = list(outputs)
    write_map(outputs, picture, meters.depth, palette)
    for kind, path in outputs:
        if kind == "json":
            write_text(path, to_json(meters))


def _file_states(config: MetricConfig) -> list[str]:
    """Return size and time of the files that hold evidence, so that a changed file is noticed."""
    tables = [Path(text) for text in config.depth_at if text.lower().endswith(".csv")]
    given = [path for path in (config.measured, config.meshes, *tables) if path is not None]
    states = [path.stat() for path in given if path.exists()]
    return [f"{state.st_size} {state.st_mtime_ns}" for state in states]
