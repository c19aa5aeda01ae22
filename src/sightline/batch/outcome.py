"""What became of one input: the files made of it, or why there are none."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from sightline.batch.naming import Job
from sightline.errors import SightlineError, explained


@dataclass(frozen=True, slots=True)
class Outcome:
    """Result or failure of one job.

    Attributes:
        job: what was to be done.
        kind: `relative_disparity`, `metric_depth` or `metric_disparity`; empty after a failure.
        unit: `"m"`, `"1/m"` or `""`.
        width: of the input in [px].
        height: of the input in [px].
        camera: where the focal length came from: `given`, `exif` or `assumed`.
        frames: of a video; 1 for a picture.
        seconds: spent on it, reading and writing included.
        note: what was amiss although there is a result, such as a video that breaks off; or empty.
        skipped: True when an earlier run had done it.
        failure: why there is no result.
    """

    job: Job
    kind: str = ""
    unit: str = ""
    width: int = 0
    height: int = 0
    camera: str = ""
    frames: int = 1
    seconds: float = 0.0
    note: str = ""
    skipped: bool = False
    failure: SightlineError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what `--json` prints: plain values, paths as text."""
        file = os.fspath(self.job.source)
        if self.failure is not None:
            return {
                "file": file,
                "error": one_line(self.failure),
                "exit_code": self.failure.exit_code,
            }
        outputs = {kind: os.fspath(path) for kind, path in self.job.outputs}
        if self.skipped:
            return {"file": file, "outputs": outputs, "skipped": True}
        note = {"note": self.note} if self.note else {}
        return {
            "file": file,
            "outputs": outputs,
            **note,
            "kind": self.kind,
            "unit": self.unit,
            "width": self.width,
            "height": self.height,
            "camera": self.camera,
            "frames": self.frames,
            "seconds": round(self.seconds, 3),
        }


def failed(job: Job, error: Exception, seconds: float = 0.0) -> Outcome:
    """Return the outcome of a job that ended with `error`."""
    remedy = "use a smaller --size or no --tiles"
    return Outcome(job, seconds=seconds, failure=explained(error, os.fspath(job.source), remedy))


def one_line(message: object) -> str:
    """Return a message, or that of an error, on one line, whatever file names it holds."""
    return " ".join(str(message).split())
