"""The account of an output folder survives what happens to files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sightline.batch import manifest as module
from sightline.batch.inputs import Source, place
from sightline.batch.manifest import NAME, Manifest
from sightline.batch.naming import Job, plan


@pytest.fixture
def done(tmp_path: Path) -> tuple[Path, Job]:
    """An output folder with one finished job on record."""
    picture = tmp_path / "a.jpg"
    picture.write_bytes(b"picture")
    out = tmp_path / "out"
    (job,) = plan([Source(picture, Path("a.jpg"), is_video=False)], out, ("npz", "color"))
    out.mkdir()
    for path in job.paths:
        path.write_bytes(b"result")
    manifest = Manifest(out)
    assert not manifest.is_done(job, "settings")
    manifest.record(job, "settings")
    manifest.save()
    return out, job


def test_a_recorded_job_is_done(done):
    out, job = done
    assert Manifest(out).is_done(job, "settings")
    assert Manifest(out).outputs() == {place(path) for path in job.paths}
    assert Manifest(out).source_of(job.paths[0]) == place(job.source)
    assert Manifest(out).source_of(out / "other.npz") is None


def test_other_settings_are_another_job(done):
    out, job = done
    assert not Manifest(out).is_done(job, "other settings")


def test_a_changed_input_is_another_job(done):
    out, job = done
    os.utime(job.source, ns=(1, 1))
    assert not Manifest(out).is_done(job, "settings")


def test_a_missing_result_is_not_done(done):
    out, job = done
    job.paths[1].unlink()
    assert not Manifest(out).is_done(job, "settings")


def test_fewer_formats_are_done_and_more_are_not(done):
    out, job = done
    origin = [Source(job.source, Path("a.jpg"), is_video=False)]
    assert Manifest(out).is_done(plan(origin, out, ("npz",))[0], "settings")
    assert not Manifest(out).is_done(plan(origin, out, ("npz", "exr"))[0], "settings")


def test_formats_of_two_runs_add_up(done):
    out, job = done
    (more,) = plan([Source(job.source, Path("a.jpg"), is_video=False)], out, ("exr",))
    more.paths[0].write_bytes(b"result")
    manifest = Manifest(out)
    manifest.record(more, "settings")
    assert manifest.is_done(job, "settings")
    assert manifest.is_done(more, "settings")


def test_another_input_takes_the_record_over(done, tmp_path):
    out, job = done
    other = tmp_path / "elsewhere" / "a.jpg"
    other.parent.mkdir()
    other.write_bytes(b"picture")
    (usurper,) = plan([Source(other, Path("a.jpg"), is_video=False)], out, ("npz", "color"))
    manifest = Manifest(out)
    manifest.record(usurper, "settings")
    assert not manifest.is_done(job, "settings")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "null", '{"version": 99, "results": {}}', '{"version": 1}']
)
def test_a_damaged_or_foreign_file_counts_as_none(done, content):
    out, job = done
    (out / NAME).write_text(content)
    assert not Manifest(out).is_done(job, "settings")
    manifest = Manifest(out)
    manifest.record(job, "settings")
    manifest.save()
    assert Manifest(out).is_done(job, "settings")


def test_names_that_are_not_text_survive(tmp_path):
    picture = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    try:
        picture.write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (job,) = plan([Source(picture, Path(picture.name), is_video=False)], tmp_path / "o", ("npz",))
    manifest = Manifest(tmp_path / "o")
    manifest.record(job, "settings")
    manifest.save()
    assert Manifest(tmp_path / "o").source_of(job.paths[0]) == place(picture)


def test_saving_does_not_take_over_the_run(done, monkeypatch):
    """Ten thousand records in a row write the file a few times, not ten thousand."""
    out, job = done
    writes = []
    monkeypatch.setattr(module, "write_text", lambda path, text: writes.append(json.loads(text)))
    manifest = Manifest(out)
    for number in range(1000):
        manifest.record(Job(job.source, False, str(number), job.outputs), "settings")
    assert len(writes) < 10
    manifest.save()
    assert len(writes[-1]["results"]) == 1001
