"""The account of an output folder survives what happens to files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from sightline.io.inputs import Source, place
from sightline.jobs import manifest as module
from sightline.jobs.manifest import NAME, Manifest
from sightline.jobs.naming import BatchJob, plan


def record(manifest: Manifest, job: BatchJob, settings: str = "settings") -> None:
    """Do a job whose files are there already."""
    with manifest.working([job], settings):
        manifest.finish(job)


@pytest.fixture
def done(tmp_path: Path) -> tuple[Path, BatchJob]:
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
    record(manifest, job)
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
    record(manifest, more)
    assert manifest.is_done(job, "settings")
    assert manifest.is_done(more, "settings")


def test_another_input_takes_the_record_over(done, tmp_path):
    out, job = done
    other = tmp_path / "elsewhere" / "a.jpg"
    other.parent.mkdir()
    other.write_bytes(b"picture")
    (usurper,) = plan([Source(other, Path("a.jpg"), is_video=False)], out, ("npz", "color"))
    manifest = Manifest(out)
    record(manifest, usurper)
    assert not manifest.is_done(job, "settings")


def with_one(**fields: object) -> str:
    """The file with one record, some of whose fields are as given."""
    good = {"source": "s", "size": 1, "mtime": 1, "settings": "x", "outputs": [], "done": []}
    return json.dumps({"version": module.VERSION, "results": {"a": {**good, **fields}}})


@pytest.mark.parametrize(
    "content",
    [
        "",
        "{",
        "[]",
        "null",
        '{"version": 99, "results": {}}',
        f'{{"version": {module.VERSION}}}',
        f'{{"version": {module.VERSION}, "results": {{"a": 5}}}}',
        with_one(source=5),
        with_one(size="1"),
        with_one(mtime=None),
        with_one(settings=[]),
        with_one(outputs=5),
        with_one(outputs="ab"),
        with_one(outputs=[5]),
        with_one(done={"a": 1}),
        "[" * 200_000,
        "\udcff",
    ],
    ids=lambda content: content[:60],
)
def test_a_damaged_or_foreign_file_counts_as_none(done, content):
    out, job = done
    (out / NAME).write_text(content, errors="surrogateescape")
    assert Manifest(out).outputs() == frozenset()
    assert Manifest(out).source_of(out / "a.npz") is None
    assert not Manifest(out).is_done(job, "settings")
    manifest = Manifest(out)
    record(manifest, job)
    assert Manifest(out).is_done(job, "settings")


def test_names_that_are_not_text_survive(tmp_path):
    picture = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    try:
        picture.write_bytes(b"x")
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    (job,) = plan([Source(picture, Path(picture.name), is_video=False)], tmp_path / "o", ("npz",))
    job.paths[0].parent.mkdir()
    job.paths[0].write_bytes(b"result")
    manifest = Manifest(tmp_path / "o")
    record(manifest, job)
    assert Manifest(tmp_path / "o").source_of(job.paths[0]) == place(picture)


def test_saving_does_not_take_over_the_run(done, monkeypatch):
    """Ten thousand records in a row write the file a few times, not ten thousand."""
    out, job = done
    writes = []
    monkeypatch.setattr(module, "write_text", lambda path, text: writes.append(json.loads(text)))
    manifest = Manifest(out)
    jobs = [BatchJob(job.source, False, str(number), job.outputs) for number in range(1000)]
    with manifest.working(jobs, "settings"):
        for each in jobs:
            manifest.finish(each)
    assert len(writes) < 10
    assert len(writes[-1]["results"]) == 1001


def test_what_is_planned_is_ours_and_not_done(done, tmp_path):
    """As a killed run leaves it: the file that was saved before work started."""
    out, job = done
    other = tmp_path / "b.jpg"
    other.write_bytes(b"picture")
    (planned,) = plan([Source(other, Path("b.jpg"), is_video=False)], out, ("npz",))
    with Manifest(out).working([planned], "settings"):
        found = Manifest(out)
        assert place(planned.paths[0]) in found.outputs()
        planned.paths[0].write_bytes(b"result")
        assert not found.is_done(planned, "settings")
        assert found.source_of(planned.paths[0]) is None
        assert found.is_done(job, "settings")
    # A run that ends in good order, but without this job, leaves the same.
    assert place(planned.paths[0]) in Manifest(out).outputs()
    assert not Manifest(out).is_done(planned, "settings")


def test_planned_and_never_made_is_forgotten(tmp_path):
    picture, out = tmp_path / "a.jpg", tmp_path / "out"
    picture.write_bytes(b"picture")
    (job,) = plan([Source(picture, Path("a.jpg"), is_video=False)], out, ("npz", "color"))
    with Manifest(out).working([job], "settings"):
        assert len(Manifest(out).outputs()) == 2
        job.paths[0].write_bytes(b"result")
    assert Manifest(out).outputs() == {place(job.paths[0])}
    job.paths[0].unlink()
    with Manifest(out).working([job], "settings"):
        pass
    assert list(out.iterdir()) == []


def test_results_made_with_other_settings_stay_ours(done):
    out, job = done
    (again,) = plan([Source(job.source, Path("a.jpg"), is_video=False)], out, ("npz",))
    record(Manifest(out), again, "other")
    found = Manifest(out)
    assert found.outputs() == {place(path) for path in job.paths}
    assert found.is_done(again, "other")
    assert not found.is_done(job, "other")
    assert not found.is_done(job, "settings")


def test_work_with_other_settings_that_is_killed_undoes_the_old_record(done):
    """Some files may be new and some old by then."""
    out, job = done
    with Manifest(out).working([job], "other"):
        assert not Manifest(out).is_done(job, "settings")


def test_work_done_again_that_is_killed_keeps_the_record(done):
    out, job = done
    with Manifest(out).working([job], "settings"):
        assert Manifest(out).is_done(job, "settings")


def test_an_input_that_is_gone_by_the_end(done):
    out, job = done
    manifest = Manifest(out)
    with manifest.working([job], "other"):
        job.source.unlink()
        manifest.finish(job)
    assert Manifest(out).outputs() == {place(path) for path in job.paths}


def test_a_folder_that_links_to_itself(tmp_path):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert Manifest(loop).outputs() == frozenset()
    assert Manifest(loop / "out").source_of(loop / "out" / "a.npz") is None
