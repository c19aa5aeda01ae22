"""The stages overlap, in order and in bounded memory, and one bad file is one failure."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.depth.config import DepthConfig
from sightline.errors import InputError, SightlineError
from sightline.io.inputs import expand
from sightline.jobs.depth import DepthTask
from sightline.jobs.naming import plan
from sightline.jobs.pipeline import run_pipeline
from sightline.types import DepthMap, Kind

COUNT = 12


class Brightness:
    """Stands in for a network: brightness as disparity; counts how many pictures it has seen."""

    def __init__(self) -> None:
        self.seen = 0

    def infer(self, image, *, camera=None, tiles=False, sigma=False) -> DepthMap:
        self.seen += 1
        values = image.pixels.mean(axis=2).astype(np.float32)
        return DepthMap(values, Kind.RELATIVE_DISPARITY, camera=camera)


def task(network: Brightness) -> DepthTask:
    return DepthTask(DepthConfig(), estimator=network)


@pytest.fixture
def jobs(tmp_path: Path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(COUNT):
        Image.new("RGB", (8, 6), (number, 0, 0)).save(folder / f"{number:02d}.png")
    return plan(expand([folder]), tmp_path / "out", ("npz",))


def test_outcomes_come_in_order(jobs):
    outcomes = list(run_pipeline(task(Brightness()), jobs))
    assert [outcome.job for outcome in outcomes] == jobs
    assert all(outcome.failure is None for outcome in outcomes)
    assert all(path.is_file() for job in jobs for path in job.paths)


def test_a_bad_file_is_one_failure(jobs):
    jobs[3].source.write_bytes(b"no picture")
    outcomes = list(run_pipeline(task(Brightness()), jobs))
    bad = [outcome for outcome in outcomes if outcome.failure is not None]
    assert [outcome.job for outcome in bad] == [jobs[3]]
    assert isinstance(bad[0].failure, InputError)


@pytest.mark.parametrize("stage", ["read", "compute", "write"])
def test_a_bug_in_any_stage_is_one_failure_with_its_traceback(jobs, monkeypatch, stage):
    original = getattr(DepthTask, stage)

    def sometimes(self, job, *rest):
        if job == jobs[2]:
            raise ZeroDivisionError("a bug")
        return original(self, job, *rest)

    monkeypatch.setattr(DepthTask, stage, sometimes)
    outcomes = list(run_pipeline(task(Brightness()), jobs))
    (bad,) = [outcome for outcome in outcomes if outcome.failure is not None]
    assert bad.job == jobs[2]
    assert type(bad.failure) is SightlineError
    assert "ZeroDivisionError: a bug" in str(bad.failure)
    assert "Traceback" in bad.failure.__notes__[0]


def test_stopping_early_leaves_the_rest_undone(jobs):
    network = Brightness()
    running = run_pipeline(task(network), jobs)
    assert next(running).job == jobs[0]
    running.close()
    assert network.seen < COUNT
    assert jobs[0].paths[0].is_file()
    assert not jobs[-1].paths[0].exists()
    assert [t.name for t in threading.enumerate() if t.name.startswith(("read", "write"))] == []


def test_what_is_finished_after_stopping_is_told(jobs):
    told = []
    running = run_pipeline(task(Brightness()), jobs, on_late=told.append)
    first = next(running)
    running.close()
    made = {job.key for job in jobs if job.paths[0].exists()}
    assert {first.job.key, *(outcome.job.key for outcome in told)} == made
    assert first not in told


def test_what_is_finished_after_ctrl_c_is_told(jobs):
    class Stopped(Brightness):
        def infer(self, *words, **named) -> DepthMap:
            if self.seen == 3:
                raise KeyboardInterrupt
            return super().infer(*words, **named)

    told, yielded = [], []
    with pytest.raises(KeyboardInterrupt):
        yielded.extend(run_pipeline(task(Stopped()), jobs, on_late=told.append))
    made = [job for job in jobs if job.paths[0].exists()]
    assert made
    assert [outcome.job for outcome in (*yielded, *told)] == made


def test_reading_and_writing_do_not_run_away(jobs, monkeypatch):
    """However slow the consumer, only a few pictures are in memory."""
    read, write = DepthTask.read, DepthTask.write
    counts = {"read": 0, "written": 0}
    most = 0

    def counting_read(*words):
        nonlocal most
        counts["read"] += 1
        most = max(most, counts["read"] - counts["written"])
        return read(*words)

    def counting_write(*words):
        outcome = write(*words)
        counts["written"] += 1
        return outcome

    monkeypatch.setattr(DepthTask, "read", counting_read)
    monkeypatch.setattr(DepthTask, "write", counting_write)
    assert len(list(run_pipeline(task(Brightness()), jobs))) == COUNT
    assert 2 <= most <= 6
