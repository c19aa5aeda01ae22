"""A worker stops a job that nobody wants any more, but leaves nothing half way that would stay so."""

from __future__ import annotations

import importlib
import multiprocessing
import signal
import sys
from collections.abc import Iterator

import numba.core.compiler
import pytest

from sightline.app.worker import NUDGE, Cancelled, Reporter

STRUCK = """
import signal

from sightline.app.worker import NUDGE

signal.raise_signal(NUDGE)
whole = True
"""


@pytest.fixture
def cancelled() -> Iterator[Reporter]:
    """Somebody at work on a job that was cancelled."""
    here, there = multiprocessing.Pipe()
    report = Reporter(there)
    before = signal.signal(NUDGE, report.heed)
    here.send_bytes(b'{"action": "cancel"}')
    with report:
        yield report
    signal.signal(NUDGE, before)
    here.close()
    there.close()


def test_a_nudge_ends_the_job(cancelled):
    with pytest.raises(Cancelled):
        signal.raise_signal(NUDGE)
    signal.raise_signal(NUDGE)  # once is enough


def test_a_report_ends_the_job(cancelled):
    with pytest.raises(Cancelled):
        cancelled(0.5, "half of it")


def test_nothing_stays_half_imported(cancelled, tmp_path, monkeypatch):
    """A module of C that is begun and never ended cannot be imported again in this process."""
    (tmp_path / "struck_by_a_nudge.py").write_text(STRUCK)
    monkeypatch.syspath_prepend(tmp_path)
    assert importlib.import_module("struck_by_a_nudge").whole
    del sys.modules["struck_by_a_nudge"]
    with pytest.raises(Cancelled):
        signal.raise_signal(NUDGE)


def test_nothing_stays_half_compiled(cancelled):
    code = compile("signal.raise_signal(NUDGE)", numba.core.compiler.__file__, "exec")
    exec(code, {"signal": signal, "NUDGE": NUDGE})
    with pytest.raises(Cancelled):
        signal.raise_signal(NUDGE)
