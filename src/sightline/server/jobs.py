"""Jobs: the work of one request from the queue to its result, and how long results are kept."""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import tempfile
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sightline.server.config import Limits
from sightline.server.errors import DISK_FULL, ServiceError
from sightline.server.metrics import Metrics

State = Literal["queued", "running", "done", "failed", "canceled"]

#: Final states of a job.
FINAL_STATES = ("done", "failed", "canceled")

_FOLDER_NAME = re.compile(r"sightline-serve-(\d+)-")


@dataclass(eq=False)
class Job:
    """The work of one request.

    Attributes:
        id: random identifier that cannot be guessed.
        kind: kind of job, such as `depth`.
        fields: validated fields of the request.
        folder: folder with uploads and results.
        formats: formats in which the result is available.
        keep: whether the result is kept for later requests, or sent to a waiting client.
        state: current state.
        progress: completed share from 0 to 1; None if unknown.
        step: description of the current step.
        error: why there is no result; None unless the job failed or was canceled.
        headers: HTTP headers that describe binary results.
        users: number of readers of the folder; it is not deleted while there are any.
        dropped: whether the folder is deleted as soon as there are no users.
        changed: event that is set and replaced at every change.
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
    error: ServiceError | None = None
    headers: dict[str, str] = field(default_factory=dict)
    users: int = 0
    dropped: bool = False
    started: float | None = None
    ended: float | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self) -> None:
        """Wake all listeners."""
        self.changed.set()
        self.changed = asyncio.Event()

    def begin(self) -> None:
        """Set the state to running."""
        self.state, self.started = "running", time.monotonic()
        self.notify()

    def update(self, progress: float | None, step: str) -> None:
        """Set the progress."""
        self.progress, self.step = progress, step
        self.notify()

    def finish(self, state: State, error: ServiceError | None = None) -> None:
        """Set a final state."""
        self.state, self.ended = state, time.monotonic()
        self.progress = 1.0 if state == "done" else self.progress
        self.step, self.error = "", error
        self.notify()

    @property
    def seconds(self) -> float:
        """Processing time in [s]."""
        if self.started is None:
            return 0.0
        return (self.ended or time.monotonic()) - self.started

    def require_result(self) -> None:
        """Raise the error of a job that has no result."""
        if self.state == "done":
            return
        if self.error is not None:
            raise self.error
        raise ServiceError(409, f"this job is {self.state}; wait until it is done")

    def to_dict(self, position: int) -> dict[str, Any]:
        """Return the public state; `position` is the place in the queue."""
        return {
            "id": self.id,
            "kind": self.kind,
            "state": self.state,
            "position": position,
            "progress": None if self.progress is None else round(self.progress, 4),
            "step": self.step,
            "seconds": round(self.seconds, 3),
            "formats": list(self.formats),
            "error": None if self.error is None else self.error.message,
            "status": None if self.error is None else self.error.status,
        }


class JobStore:
    """All jobs and their folders.

    Args:
        root: parent of the jobs' folders.
        limits: limits of what is kept.
        metrics: metrics to update.
    """

    def __init__(self, root: Path, limits: Limits, metrics: Metrics) -> None:
        self.root, self._limits, self._metrics = root, limits, metrics
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    def __len__(self) -> int:
        return len(self._jobs)

    def new_job(self, kind: str, formats: Sequence[str], *, keep: bool) -> Job:
        """Return a job with a private folder; it is not stored before `add`."""
        name = secrets.token_urlsafe(16)
        folder = self.root / name
        folder.mkdir(mode=0o700)
        return Job(name, kind, {}, folder, formats, keep)

    def add(self, job: Job) -> None:
        """Store a job."""
        self._jobs[job.id] = job

    def get(self, name: str) -> Job:
        """Return a background job by its id."""
        job = self._jobs.get(name)
        if job is None or not job.keep:
            raise ServiceError(404, "there is no such job; results are kept for a limited time")
        return job

    def acquire(self, job: Job) -> None:
        """Keep the folder of a job until `release`."""
        job.users += 1

    def release(self, job: Job) -> None:
        """Undo `acquire`; the folder of a dropped job is deleted after its last user."""
        job.users -= 1
        if not job.users and job.dropped:
            shutil.rmtree(job.folder, ignore_errors=True)

    def delete_uploads(self, job: Job) -> None:
        """Delete the uploads of a finished job."""
        for path in job.folder.glob("upload-*"):
            path.unlink(missing_ok=True)

    def drop(self, job: Job) -> None:
        """Remove a job and, after its last user, its folder."""
        self._jobs.pop(job.id, None)
        job.dropped = True
        if not job.users:
            shutil.rmtree(job.folder, ignore_errors=True)

    def evict_oldest(self) -> bool:
        """Remove the oldest finished job that nobody reads; return whether there was one."""
        for job in self._jobs.values():
            if job.ended is not None and not job.users:
                self.drop(job)
                return True
        return False

    def ensure_space(self, size: int) -> None:
        """Make room for an upload by removing finished jobs, the oldest first.

        Args:
            size: size of the upload in bytes; it is stored twice while it is received.

        Raises:
            ServiceError: 507 if there is not enough space.
        """
        needed = 2 * size + self._limits.min_free_mb * 1e6
        while shutil.disk_usage(self.root).free < needed:
            if not self.evict_oldest():
                self._metrics.refused.labels(reason="disk").inc()
                raise ServiceError(507, DISK_FULL, retry_after=60)

    def remove_expired(self) -> None:
        """Remove finished jobs beyond the limits of age, number and size, oldest first."""
        now = time.monotonic()
        finished = [job for job in self._jobs.values() if job.ended is not None]
        sizes = {job.id: _folder_size(job.folder) for job in finished}
        total, count = sum(sizes.values()), len(finished)
        for job in finished:
            if job.users or job.ended is None:
                continue
            expired = now - job.ended > self._limits.keep_seconds
            too_large = total > self._limits.max_kept_mb * 1e6
            if expired or too_large or count > self._limits.max_kept:
                total, count = total - sizes[job.id], count - 1
                self.drop(job)
        self._metrics.jobs_kept.set(count)


def make_job_root() -> Path:
    """Create a private temporary folder for jobs; remove those of servers that were killed."""
    parent = Path(tempfile.gettempdir())
    for old in parent.glob("sightline-serve-*"):
        found = _FOLDER_NAME.match(old.name)
        if found is not None and not _is_running(int(found[1])):
            shutil.rmtree(old, ignore_errors=True)  # fails for folders of other users
    return Path(tempfile.mkdtemp(prefix=f"sightline-serve-{os.getpid()}-"))


def _folder_size(folder: Path) -> int:
    """Return the size of the files of a folder in bytes."""
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # a temporary file that was removed meanwhile
            continue
    return total


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
