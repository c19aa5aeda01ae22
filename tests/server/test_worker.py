"""A worker stops a job that nobody wants any more, but leaves nothing half way that would stay so."""

from __future__ import annotations

import errno
import importlib
import multiprocessing
import signal
import sys
from collections.abc import Iterator

import numba.core.compiler
import pytest

from sightline.errors import SightlineError
from sightline.server import worker
from sightline.server.worker import WAKE_SIGNAL, JobCanceled, ProgressReporter, WorkerRequest

STRUCK = """
import signal

from sightline.server.worker import WAKE_SIGNAL

signal.raise_signal(WAKE_SIGNAL)
whole = True
"""


@pytest.fixture
def canceled() -> Iterator[ProgressReporter]:
    """Somebody at work on a job that was canceled."""
    here, there = multiprocessing.Pipe()
    report = ProgressReporter(there)
    before = signal.signal(WAKE_SIGNAL, report.check_canceled)
    here.send_bytes(b'{"action": "cancel"}')
    with report:
        yield report
    signal.signal(WAKE_SIGNAL, before)
    here.close()
    there.close()


def test_a_nudge_ends_the_job(canceled):
    with pytest.raises(JobCanceled):
        signal.raise_signal(WAKE_SIGNAL)
    signal.raise_signal(WAKE_SIGNAL)  # once is enough


def test_a_report_ends_the_job(canceled):
    with pytest.raises(JobCanceled):
        canceled(0.5, "half of it")


def test_nothing_stays_half_imported(canceled, tmp_path, monkeypatch):
    """A module of C that is begun and never ended cannot be imported again in this process."""
    (tmp_path / "struck_by_a_nudge.py").write_text(STRUCK)
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("struck_by_a_nudge").whole
    del sys.modules["struck_by_a_nudge"]
    with pytest.raises(JobCanceled):
        signal.raise_signal(WAKE_SIGNAL)


def test_nothing_stays_half_compiled(canceled):
    code = compile("signal.raise_signal(WAKE_SIGNAL)", numba.core.compiler.__file__, "exec")
    exec(code, {"signal": signal, "WAKE_SIGNAL": WAKE_SIGNAL})
    with pytest.raises(JobCanceled):
        signal.raise_signal(WAKE_SIGNAL)


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_full_disk_is_507(tmp_path, monkeypatch, wrapped):
    full = OSError(errno.ENOSPC, "No space left on device")

    def fail(*_):
        if wrapped:
            raise SightlineError("could not be written") from full
        raise full

    monkeypatch.setattr("sightline.server.tasks.run_task", fail)
    here, there = multiprocessing.Pipe()
    reply = worker._handle(WorkerRequest("depth", {}, tmp_path), None, ProgressReporter(there))
    assert (reply["type"], reply["status"]) == ("failed", 507)
    assert "disk" in reply["error"]
    here.close()
    there.close()
