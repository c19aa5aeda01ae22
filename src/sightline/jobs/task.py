"""The interface between the batch runner and the work it does for each input.

A `BatchTask` has three stages, `read`, `compute` and `write`, so that the runner can decode the next
image and encode the last one while the network runs. Depth, metric depth and labeling are tasks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from sightline.errors import SightlineError, explained, one_line
from sightline.io.paths import AnyPath
from sightline.jobs.naming import BatchJob

Data = TypeVar("Data")
Result = TypeVar("Result")

#: Called with progress inside one input: steps done, total if known, and a text or "".
OnProgress = Callable[[int, int | None, str], None]
#: Called with a line of text before something takes long, such as a download.
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BatchOutcome:
    """Result or failure of one job.

    Attributes:
        job: the job.
        kind: `relative_disparity`, `metric_depth` or `metric_disparity`; empty after a failure.
        unit: `"m"`, `"1/m"` or `""`.
        width: width of the input in [px].
        height: height of the input in [px].
        camera: source of the focal length: `given`, `exif`, `estimated` or `assumed`.
        frames: number of frames of a video; 1 for an image.
        seconds: time spent on it, including reading and writing, in [s].
        details: further entries for `--json`.
        lines: summary for the terminal.
        warnings: problems that did not prevent a result, such as a truncated video.
        skipped: True if an earlier run had finished it.
        failure: why there is no result.
    """

    job: BatchJob
    kind: str = ""
    unit: str = ""
    width: int = 0
    height: int = 0
    camera: str = ""
    frames: int = 1
    seconds: float = 0.0
    details: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    skipped: bool = False
    failure: SightlineError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the row that `--json` prints: plain values, paths as text."""
        file = str(self.job.source)
        if self.failure is not None:
            return {
                "file": file,
                "error": one_line(self.failure),
                "exit_code": self.failure.exit_code,
            }
        outputs = {kind: str(path) for kind, path in self.job.outputs}
        if self.skipped:
            return {"file": file, "outputs": outputs, "skipped": True}
        return {
            "file": file,
            "outputs": outputs,
            **({"warnings": list(self.warnings)} if self.warnings else {}),
            "kind": self.kind,
            "unit": self.unit,
            "width": self.width,
            "height": self.height,
            "camera": self.camera,
            "frames": self.frames,
            "seconds": round(self.seconds, 3),
            **self.details,
        }


def failed(job: BatchJob, error: Exception, seconds: float = 0.0) -> BatchOutcome:
    """Return the outcome of a job that ended with `error`."""
    remedy = "use a smaller --size, no --tiles or fewer --workers"
    return BatchOutcome(job, seconds=seconds, failure=explained(error, str(job.source), remedy))


class JobRecord(Protocol):
    """The record of finished jobs in an output folder."""

    def is_done(self, job: BatchJob, settings: str) -> bool:
        """Return whether all files of a job exist, made from this input with these settings."""
        ...

    def working(self, jobs: Sequence[BatchJob], settings: str) -> AbstractContextManager[None]:
        """Keep the record while `jobs` are being done."""
        ...

    def finish(self, job: BatchJob) -> None:
        """Record that a job is done."""
        ...


class BatchTask(ABC, Generic[Data, Result]):
    """The work of a batch.

    A task can be pickled until `open` is called: worker processes receive a copy and open it there.
    """

    #: Noun of the results, for progress bars and messages.
    noun: ClassVar[str] = "results"
    #: Called with the progress inside one input; set by the runner.
    on_progress: OnProgress | None = None

    @property
    @abstractmethod
    def threads(self) -> int | None:
        """Requested number of CPU threads; None for the default."""

    @abstractmethod
    def prepare(self, inputs: Sequence[str | AnyPath], out: AnyPath) -> list[BatchJob]:
        """Find the inputs and assign the output files. Nothing is written yet."""

    @abstractmethod
    def begin(
        self, jobs: Sequence[BatchJob], out: AnyPath, notify: Notify | None
    ) -> tuple[JobRecord, str]:
        """Check settings and models before any work.

        Returns:
            The record of the output folder, and a fingerprint of the settings.
        """

    @abstractmethod
    def open(self, threads: int | None, notify: Notify | None = None) -> None:
        """Load the networks in the process that will use them."""

    @abstractmethod
    def read(self, job: BatchJob) -> Data:
        """Decode the input."""

    @abstractmethod
    def compute(self, job: BatchJob, data: Data) -> Result:
        """Run the networks."""

    @abstractmethod
    def write(self, job: BatchJob, data: Data, result: Result) -> BatchOutcome:
        """Write all files of a job. The runner fills in `BatchOutcome.seconds`."""

    def process_video(self, job: BatchJob) -> BatchOutcome:
        """Process a video from file to files. Tasks without videos refuse them in `prepare`."""
        raise NotImplementedError
