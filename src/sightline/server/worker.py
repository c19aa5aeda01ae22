"""Worker process: load the models, then handle one request after the other.

Server and worker exchange small JSON messages over a pipe; uploads and results are files in the folder
of the job.
"""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from sightline.config import Engine
from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.server.config import Limits
from sightline.server.errors import (
    DISK_FULL,
    ServiceError,
    as_sentence,
    describe_input_error,
    is_disk_full,
)
from sightline.server.formats import FORMATS, MAX_POINTS

if TYPE_CHECKING:
    from sightline.server.models import LoadedModels

#: Signal that makes a worker look at its pipe.
WAKE_SIGNAL = signal.SIGUSR1
#: Code that must not be interrupted: a half imported module or compiler stays broken.
_UNINTERRUPTIBLE = ("<frozen importlib", f"{os.sep}numba{os.sep}core{os.sep}")


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Models and limits of a worker.

    Attributes:
        models: names or files of depth models by the name that clients use; the first is the default.
        ask_model: name or path of the model that answers questions; None without one.
        codebook: name or path of its codebook.
        video_model: name or path of the video model; None without one.
        engine: inference engine of the depth models.
        device: device of the engine; None for the default.
        threads: CPU threads; None for all.
        accept_license: accept non-commercial licenses.
        limits: limits of requests.
        folder: folder for temporary files.
    """

    models: dict[str, str]
    ask_model: str | None
    codebook: str
    video_model: str | None
    engine: Engine
    device: str | None
    threads: int | None
    accept_license: bool
    limits: Limits
    folder: Path


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A job as the worker sees it.

    Attributes:
        kind: kind of job, such as `depth`.
        fields: validated fields of the request.
        folder: folder of the job; the upload of a field is the file `upload-FIELD`.
        format: name of the result format that the client waits for.
        keep: whether other formats may be requested later.
        max_points: maximum number of points of a point cloud or mesh.
        source: folder of the finished job that this one reads, if any.
        convert: write another format of a finished result instead of running the job.
    """

    kind: str
    fields: dict[str, Any]
    folder: Path
    format: str = "json"
    keep: bool = False
    max_points: int = MAX_POINTS
    source: Path | None = None
    convert: bool = False

    def to_message(self) -> dict[str, Any]:
        """Return the message for the worker's pipe."""
        message = {name: getattr(self, name) for name in self.__dataclass_fields__}
        source = None if self.source is None else str(self.source)
        return {"action": "run", **message, "folder": str(self.folder), "source": source}

    @classmethod
    def from_message(cls, message: dict[str, Any]) -> WorkerRequest:
        """Read the message of `to_message`."""
        values = {name: message[name] for name in cls.__dataclass_fields__}
        values["folder"] = Path(message["folder"])
        values["source"] = None if message["source"] is None else Path(message["source"])
        return cls(**values)

    def path(self, name: str | None = None) -> Path:
        """Return the path of the result in a format. Default: the requested one."""
        return result_path(self.folder, name or self.format, self.max_points)

    def upload(self, field: str) -> Path | None:
        """Return the uploaded file of a field, or None."""
        path = self.folder / f"upload-{field}"
        return path if path.is_file() else None

    def write_json(self, result: dict[str, Any]) -> None:
        """Write the JSON result."""
        text = json.dumps(to_plain(result), ensure_ascii=False, allow_nan=False)
        write_text(self.path("json"), text)


@dataclass(frozen=True, slots=True)
class TaskResult:
    """Result of a job.

    Attributes:
        formats: names of the available formats.
        headers: HTTP headers that describe binary formats.
    """

    formats: Sequence[str]
    headers: dict[str, str]


def result_path(folder: Path, name: str, max_points: int = MAX_POINTS) -> Path:
    """Return the path of a job's result in a format."""
    count = f"-{max_points}" if name in ("ply", "glb") else ""
    return folder / f"result-{name}{count}{FORMATS[name].suffix}"


def to_plain(value: Any, digits: int = 6) -> Any:
    """Convert numpy numbers to rounded Python numbers; values that are not finite become None."""
    if isinstance(value, dict):
        return {str(name): to_plain(one, digits) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(one, digits) for one in value]
    if isinstance(value, bool | str | int) or value is None:
        return value
    number = float(value)
    return round(number, digits) if math.isfinite(number) else None


class JobCanceled(BaseException):
    """The job was canceled. Not an `Exception`, so that no handler on the way catches it."""


class ProgressReporter:
    """Reports the progress of a job to the server and checks whether the job was canceled.

    During a job the server sends nothing but the cancel message, so any data in the pipe means that
    the job was canceled. The pipe is checked at every report and whenever the server sends
    `WAKE_SIGNAL`; the job then ends at the next Python instruction, as by Ctrl-C. Imports and
    compilation are finished first; the server repeats the signal.

    Args:
        pipe: connection to the server.
    """

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._active = pipe, False

    def __enter__(self) -> ProgressReporter:
        self._active = True
        return self

    def __exit__(self, *_: object) -> None:
        self._active = False

    def __call__(
        self,
        share: float | None,
        step: str,
        *,
        counted: bool = True,
        step_limit: float | None = None,
    ) -> None:
        """Report progress.

        Args:
            share: completed share from 0 to 1; None if unknown.
            step: description of the current step.
            counted: whether the step counts against the job's time limit.
            step_limit: time limit of this step in [s], instead of the limit of the whole job.

        Raises:
            JobCanceled: the job was canceled.
        """
        self._active = False  # a signal must not interrupt a half-written message
        message = {"type": "progress", "share": share, "step": step, "counted": counted}
        _send(self._pipe, {**message, "step_limit": step_limit})
        self._active = True
        self.check_canceled()

    def check_canceled(self, _: int = WAKE_SIGNAL, frame: FrameType | None = None) -> None:
        """Stop the job if it was canceled. Also the handler of `WAKE_SIGNAL`.

        Args:
            frame: the interrupted frame.

        Raises:
            JobCanceled: the job was canceled.
        """
        if self._active and not _is_within(frame, _UNINTERRUPTIBLE) and self._pipe.poll():
            self._active = False  # raise only once
            raise JobCanceled


def run_worker(pipe: Connection, settings: WorkerSettings) -> None:
    """Handle requests until the pipe closes. Entry point of the worker process."""
    report = ProgressReporter(pipe)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _terminate)
    signal.signal(WAKE_SIGNAL, report.check_canceled)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tempfile.tempdir = str(settings.folder)
    with suppress(EOFError, OSError):  # the server closed the pipe
        models = _load_models(pipe, settings)
        _send(pipe, {"type": "ready"})
        models.law_compiler.start()
        while True:
            message = json.loads(pipe.recv_bytes())
            if message["action"] == "cancel":  # of a job that has finished meanwhile
                continue
            _send(pipe, _handle(WorkerRequest.from_message(message), models, report))


def _load_models(pipe: Connection, settings: WorkerSettings) -> LoadedModels:
    """Load the default model. A failure is reported to the server, which restarts the worker."""
    try:
        from sightline.server.models import LoadedModels

        models = LoadedModels(settings)
        models.load_default()
    except Exception as error:
        traceback.print_exc()
        text = " ".join(f"{type(error).__name__}: {error}".split())
        _send(pipe, {"type": "broken", "error": text[:300]})
        sys.exit(1)
    return models


def _handle(
    request: WorkerRequest, models: LoadedModels, report: ProgressReporter
) -> dict[str, Any]:
    """Run a request and return the message for the server; no exception escapes."""
    from sightline.server.tasks import run_task

    field = "video" if request.upload("video") is not None else "image"
    try:
        with report:
            result = run_task(request, models, report)
        return {"type": "done", "formats": list(result.formats), "headers": result.headers}
    except JobCanceled:
        return {"type": "canceled"}
    except ServiceError as error:
        return _failure(error.status, error.message, error.retry_after)
    except InputError as error:
        status = 413 if "more than the limit of" in error.problem else 422
        return _failure(status, describe_input_error(error, field))
    except MemoryError:
        return _failure(503, "not enough memory for this request; send something smaller")
    except Exception as error:  # an internal error must not affect the next request
        if is_disk_full(error):
            return _failure(507, DISK_FULL, retry_after=5)
        traceback.print_exc()
        return _failure(500, f"internal error ({type(error).__name__})")


def _failure(status: int, message: str, retry_after: float | None = None) -> dict[str, Any]:
    return {
        "type": "failed",
        "status": status,
        "error": as_sentence(message),
        "retry_after": retry_after,
    }


def _is_within(frame: FrameType | None, places: Sequence[str]) -> bool:
    """Return whether a frame or one of its callers belongs to one of the files."""
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in places):
            return True
        frame = frame.f_back
    return False


def _send(pipe: Connection, message: dict[str, Any]) -> None:
    pipe.send_bytes(json.dumps(message, ensure_ascii=False).encode())


def _terminate(*_: object) -> None:
    """End by an exception, so that temporary files of unfinished writes are removed."""
    # Libraries that cannot propagate the exception print it; discard that output.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(1)
