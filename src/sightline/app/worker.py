"""The life of a worker process: load the models, then one order after the other."""

from __future__ import annotations

import json
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

from sightline.app.options import Limits
from sightline.app.problems import Problem, as_sentence, in_words
from sightline.errors import InputError

if TYPE_CHECKING:
    from sightline.app.tasks.tools import Tools

#: The signal by which a worker is told to look at its pipe.
NUDGE = signal.SIGUSR1
#: Code that is not to be left half way: a module half imported, or a compiler half set up, stays so.
_WHOLE = ("<frozen importlib", f"{os.sep}numba{os.sep}core{os.sep}")


@dataclass(frozen=True, slots=True)
class Setup:
    """Which models a worker holds.

    Attributes:
        models: names or files of depth models by what clients call them; the first is the default.
        ask_model: name, file or folder of a speaker; None without one.
        codebook: name or file of its codebook.
        video_model: name or file of a video model; None without one.
        threads: of the processor; None for all.
        accept_licence: whether licences that forbid commercial use are accepted.
        limits: what a request may cost.
        spool: folder for temporary files.
    """

    models: dict[str, str]
    ask_model: str | None
    codebook: str
    video_model: str | None
    threads: int | None
    accept_licence: bool
    limits: Limits
    spool: Path


class Cancelled(BaseException):
    """Nobody wants the result any more; no `except Exception` on the way may take it for another."""


class Reporter:
    """Tells the server how far a job is, and hears whether it is still wanted.

    During a job the server sends nothing but the word that it is cancelled, so that something in the
    pipe means that. It is looked for at every report, and whenever the server nudges by a signal:
    then the job ends wherever Python is in charge, between two tiles or tokens, as by Ctrl-C. Only what
    is being imported or compiled is let through first; the server nudges again.

    Args:
        pipe: to the server.
    """

    def __init__(self, pipe: Connection) -> None:
        self._pipe, self._heeds = pipe, False

    def __enter__(self) -> Reporter:
        self._heeds = True
        return self

    def __exit__(self, *_: object) -> None:
        self._heeds = False

    def __call__(self, share: float | None, step: str, *, counted: bool = True) -> None:
        """Report progress.

        Args:
            share: 0 to 1; None where it is not known.
            step: what is being done.
            counted: whether the time that it takes is the job's own, and limited.

        Raises:
            Cancelled: the job was.
        """
        self._heeds = False  # half a message must not be left in the pipe
        message = {"type": "progress", "share": share, "step": step, "counted": counted}
        _send(self._pipe, message)
        self._heeds = True
        self.heed()

    def heed(self, _: int = NUDGE, frame: FrameType | None = None) -> None:
        """Stop the job if it was cancelled; a handler of signals, too.

        Args:
            frame: where the signal came.

        Raises:
            Cancelled: the job was.
        """
        if self._heeds and not _is_within(frame, _WHOLE) and self._pipe.poll():
            self._heeds = False  # once is enough
            raise Cancelled


def work(pipe: Connection, setup: Setup) -> None:
    """Work until the pipe closes."""
    report = Reporter(pipe)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.signal(NUDGE, report.heed)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    tempfile.tempdir = str(setup.spool)
    with suppress(EOFError, OSError):  # the pipe is closed: there is nobody to work for
        tools = _begin(pipe, setup)
        _send(pipe, {"type": "ready"})
        tools.laws.begin()
        while True:
            order = json.loads(pipe.recv_bytes())
            if order["action"] == "cancel":  # of what has ended by now
                continue
            _send(pipe, _obey(order, tools, report))


def _begin(pipe: Connection, setup: Setup) -> Tools:
    """Load the models; what goes wrong is told to the server, which may try again."""
    try:
        from sightline.app.tasks.tools import Tools

        tools = Tools(setup)
        tools.warm()
    except Exception as error:
        traceback.print_exc()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        _send(pipe, {"type": "broken", "error": said[:300]})
        sys.exit(1)
    return tools


def _obey(order: dict[str, Any], tools: Tools, report: Reporter) -> dict[str, Any]:
    """Do what is asked; whatever goes wrong is an answer."""
    from sightline.app.tasks import carry_out

    what = "video" if "video" in order.get("uploads", ()) else "image"
    try:
        with report:
            return {"type": "done", **carry_out(order, tools, report)}
    except Cancelled:
        return {"type": "cancelled"}
    except Problem as problem:
        after = problem.headers.get("Retry-After")
        retry = None if after is None else float(after)
        return {
            "type": "failed",
            "status": problem.status,
            "error": problem.sentence,
            "retry": retry,
        }
    except InputError as error:
        status = 413 if "more than the limit of" in error.problem else 422
        return {"type": "failed", "status": status, "error": in_words(error, what)}
    except MemoryError:
        sentence = "there is not enough memory for this; send something smaller"
        return {"type": "failed", "status": 503, "error": as_sentence(sentence)}
    except Exception as error:  # a mistake of ours; the next request must not suffer
        traceback.print_exc()
        sentence = f"the server failed over this request ({type(error).__name__})"
        return {"type": "failed", "status": 500, "error": as_sentence(sentence)}


def _is_within(frame: FrameType | None, places: Sequence[str]) -> bool:
    """Say whether code of some files is being run, by parts of their names."""
    while frame is not None:
        if any(place in frame.f_code.co_filename for place in places):
            return True
        frame = frame.f_back
    return False


def _send(pipe: Connection, message: dict[str, Any]) -> None:
    pipe.send_bytes(json.dumps(message, ensure_ascii=False).encode())


def _leave(*_: object) -> None:
    """End by an exception, which runs the clean-up of files that are being written."""
    # Libraries that cannot raise it from where they are print it instead.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(1)
