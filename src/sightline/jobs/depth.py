"""Batch task: depth of images and videos."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sightline.config import Palette, fingerprint
from sightline.depth import video
from sightline.depth.config import DepthConfig
from sightline.depth.estimator import DepthEstimator, load
from sightline.geometry import to_pointcloud
from sightline.io import color, depth_files, normal_files, pointclouds
from sightline.io.images import Picture, read_picture
from sightline.io.inputs import expand
from sightline.io.paths import AnyPath
from sightline.jobs.manifest import Manifest
from sightline.jobs.naming import VIDEO_FORMATS, BatchJob, plan
from sightline.jobs.options import BatchConfig
from sightline.jobs.task import BatchOutcome, BatchTask, Notify
from sightline.models.download import resolve
from sightline.types import Camera, CameraSource, DepthMap

#: A cloud or mesh is thinned evenly to at most this many points, which viewers still turn smoothly.
MAX_POINTS = 1_500_000


class DepthTask(BatchTask[Picture, DepthMap]):
    """Estimate depth of each image or video frame.

    Args:
        config: model and its settings.
        batch: which files are read and written.
        estimator: an estimator to use instead of the one that `config` names.
    """

    noun = "results"

    def __init__(
        self,
        config: DepthConfig,
        batch: BatchConfig | None = None,
        estimator: DepthEstimator | None = None,
    ) -> None:
        self.config = config
        self.batch = batch or BatchConfig()
        self._estimator = estimator

    @property
    def threads(self) -> int | None:
        """Requested number of CPU threads."""
        return self.config.threads

    def prepare(self, inputs: Sequence[str | AnyPath], out: AnyPath) -> list[BatchJob]:
        """Find images and videos and assign the output files."""
        own = Manifest(out).outputs()
        sources = expand(inputs, recursive=self.batch.recursive, out=out, own=own)
        return plan(sources, out, self.batch.save, own)

    def begin(
        self,
        jobs: Sequence[BatchJob],  # noqa: ARG002
        out: AnyPath,
        notify: Notify | None,
    ) -> tuple[Manifest, str]:
        """Find the weights and open the folder's manifest."""
        config = self.config
        if config.fov is not None:
            Camera.from_fov(config.fov, 1, 1)  # reject an impossible angle now, not once per file
        weights = resolve(
            config.model, accept=config.accept_license, notify=notify, purpose="depth"
        )
        return Manifest(out), fingerprint(weights.sha256, config, self.batch.palette)

    def open(self, threads: int | None, notify: Notify | None = None) -> None:  # noqa: ARG002
        """Load the network."""
        config = self.config
        self._estimator = self._estimator or load(
            config.model,
            engine=config.engine,
            size=config.size,
            threads=threads,
            device=config.device,
            sharpen=config.sharpen,
            accept_license=config.accept_license,
        )

    @property
    def estimator(self) -> DepthEstimator:
        """The loaded network."""
        assert self._estimator is not None, "call open first"
        return self._estimator

    def read(self, job: BatchJob) -> Picture:
        """Decode an image."""
        return read_picture(job.source, max_pixels=self.config.max_pixels)

    def compute(self, job: BatchJob, data: Picture) -> DepthMap:  # noqa: ARG002
        """Estimate depth."""
        camera = data.camera
        if self.config.fov is not None:
            camera = Camera.from_fov(self.config.fov, data.width, data.height)
        config = self.config
        return self.estimator.infer(data, camera=camera, tiles=config.tiles, sigma=config.sigma)

    def write(self, job: BatchJob, data: Picture, result: DepthMap) -> BatchOutcome:
        """Write a depth map in every requested format."""
        write_map(job.outputs, data, result, self.batch.palette)
        camera = result.camera or data.camera
        return BatchOutcome(
            job,
            kind=result.kind.value,
            unit=result.unit,
            width=result.width,
            height=result.height,
            camera=camera.source.value,
        )

    def process_video(self, job: BatchJob) -> BatchOutcome:
        """Estimate depth frame by frame."""
        config, report = self.config, self.on_progress
        result = video.process_video(
            self.estimator,
            job.source,
            {VIDEO_FORMATS[kind]: path for kind, path in job.outputs},
            stabilize=config.stabilize,
            keep_audio=config.keep_audio,
            palette=self.batch.palette,
            fov=config.fov,
            tiles=config.tiles,
            sigma=config.sigma,
            max_pixels=config.max_pixels,
            progress=None if report is None else lambda done, total: report(done, total, ""),
        )
        source = CameraSource.ASSUMED if config.fov is None else CameraSource.GIVEN
        return BatchOutcome(
            job,
            kind=result.kind.value,
            unit=result.kind.unit,
            width=result.width,
            height=result.height,
            camera=source.value,
            frames=result.frames,
            warnings=(result.damage,) if result.damage else (),
        )


def write_map(
    outputs: Iterable[tuple[str, AnyPath]], picture: Picture, depth: DepthMap, palette: Palette
) -> None:
    """Write a depth map, (format, path) each; other formats are left out."""
    for kind, path in outputs:
        match kind:
            case "npz" | "png" | "exr":
                depth_files.write_depth(path, depth)
            case "color":
                color.write_color(path, depth, palette=palette)
            case "ply" | "glb":
                mesh = kind == "glb"
                cloud = to_pointcloud(depth, picture.pixels, mesh=mesh, max_points=MAX_POINTS)
                pointclouds.write_pointcloud(path, cloud)
            case "normals":
                normal_files.write_normals(path, depth)
