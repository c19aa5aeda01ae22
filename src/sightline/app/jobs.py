"""Jobs: one request's work, from the queue to its result, and how long that is kept."""

from __future__ import annotations

import asyncio
import secrets
import shutil
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sightline.app.metrics import Metrics
from sightline.app.options import Limits
from sightline.app.problems import Problem
from sightline.app.spool import bytes_in

State = Literal["queued", "running", "done", "failed", "cancelled"]

#: States that a job does not leave.
ENDED = ("done", "failed", "cancelled")


@dataclass(eq=False)
class Job:
    """One request's work.

    Attributes:
        id: that nobody can guess.
        kind: such as `depth`.
        fields: of the request, checked.
        folder: with what was uploaded and what is made of it.
        formats: that its result can be had in.
        keep: whether its result is for later, or for a client that waits.
        state: where it is.
        progress: 0 to 1; None where it is not known.
        step: what is being done, in words.
        error: one sentence, after a failure.
        status: HTTP status that goes with it.
        headers: facts about the result that binary answers carry.
        held: how many work with its files.
        dropped: whether they go as soon as nobody does.
        changed: set, and replaced, whenever anything above changes.
    """

    id: str
    kind: str
    fields: dict[str, Any]
    folder: Path
    formats: Sequence[str]
    keep: bool
    state: State = "queued"
    progress: float | None = None
    step: str = ""
    error: str | None = None
    status: int | None = None
    retry: float | None = None
    headers: dict[str, str] = field(default_factory=dict)
    held: int = 0
    dropped: bool = False
    born: float = field(default_factory=time.monotonic)
    begun: float | None = None
    ended: float | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self) -> None:
        """Wake everybody who watches."""
        self.changed.set()
        self.changed = asyncio.Event()

    def begin(self) -> None:
        """Note that a worker has it now."""
        self.state, self.begun = "running", time.monotonic()
        self.tell()

    def end(self, state: State, problem: Problem | None = None) -> None:
        """Note that it will not change any more."""
        self.state, self.ended = state, time.monotonic()
        self.progress = 1.0 if state == "done" else self.progress
        self.step = ""
        if problem is not None:
            self.error, self.status = problem.sentence, problem.status
        self.tell()

    @property
    def seconds(self) -> float:
        """Since a worker took it, up to its end."""
        if self.begun is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.begun

    def problem(self) -> Problem:
        """Say why there is no result."""
        if self.state == "failed":
            return Problem(self.status or 500, self.error or "it failed", retry=self.retry)
        if self.state == "cancelled":
            return Problem(409, "this job was cancelled")
        return Problem(409, f"this job is {self.state}; wait until it is done")

    def to_dict(self, position: int) -> dict[str, Any]:
        """Return what a client may know."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "position": position,
            "progress": None if self.progress is None else round(self.progress, 4),
            "step": self.step,
            "seconds": round(self.seconds, 3),
            "formats": list(self.formats),
            "error": self.error,
            "status": self.status,
        }


class Jobs:
    """All jobs that there are.

    Args:
        spool: folder for theirs.
        limits: of what is kept.
        metrics: that they are counted in.
    """

    def __init__(self, spool: Path, limits: Limits, metrics: Metrics) -> None:
        self.spool, self._limits, self._metrics = spool, limits, metrics
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def __len__(self) -> int:
        return len(self._jobs)

    def new_folder(self) -> tuple[str, Path]:
        """Return a name that nobody can guess, and a folder that only we can read."""
        name = secrets.token_urlsafe(16)
        folder = self.spool / name
        folder.mkdir(mode=0o700)
        return name, folder

    def add(self, job: Job) -> None:
        """Remember a job."""
        self._jobs[job.id] = job

    def get(self, name: str) -> Job:
        """Return a job that is kept for its client."""
        job = self._jobs.get(name)
        if job is None or not job.keep:
            raise Problem(404, "there is no such job; results are kept for a while only")
        return job

    def hold(self, job: Job) -> None:
        """Keep a job's files until `release`, whatever happens to the job."""
        job.held += 1

    def release(self, job: Job) -> None:
        """Let go of what was held; the files of a job that is gone by now go too."""
        job.held -= 1
        if not job.held and job.dropped:
            shutil.rmtree(job.folder, ignore_errors=True)

    def shed(self, job: Job) -> None:
        """Remove what was uploaded for a job that has ended; what was made of it stays."""
        for path in job.folder.glob("upload-*"):
            path.unlink(missing_ok=True)

    def drop(self, job: Job) -> None:
        """Forget a job and remove its files, once nobody works with them any more."""
        self._jobs.pop(job.id, None)
        job.dropped = True
        if not job.held:
            shutil.rmtree(job.folder, ignore_errors=True)

    def tidy(self) -> None:
        """Drop what is too old, too much, or too large; not what is being worked on or read."""
        now = time.monotonic()
        ended = [job for job in self._jobs.values() if job.ended is not None]
        sizes = {job.id: bytes_in(job.folder) for job in ended}
        total, count = sum(sizes.values()), len(ended)
        for job in ended:  # the oldest first
            if job.held or job.ended is None:
                continue
            old = now - job.ended > self._limits.keep
            if old or count > self._limits.kept or total > self._limits.kept_mb * 1e6:
                total, count = total - sizes[job.id], count - 1
                self.drop(job)
        self._metrics.set("jobs_kept", count)
