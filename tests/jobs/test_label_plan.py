"""Which pictures are labeled, and where each label goes."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from sightline.depth.config import LabelConfig
from sightline.errors import InputError
from sightline.io import paths
from sightline.io.atomic import write_bytes
from sightline.jobs.labels import LabelTask
from sightline.jobs.labels import plan_labels as plan_paths
from sightline.jobs.naming import BatchJob


def plan_labels(inputs, out, **settings):
    return plan_paths(inputs, paths.to_path(out), **settings)


def fill(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def labels(plan, out):
    """Return picture name to label, below their folders."""
    return {
        str(job.source).rpartition("/")[2]: str(job.paths[0]).removeprefix(f"{out}/")
        for job in plan
    }


def test_a_label_has_the_path_and_stem_of_its_picture(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "labels"
    fill(photos, "a.jpg", "b.PNG", "deep/er/c.webp", "film.mp4", "note.txt", ".hidden.jpg")
    assert labels(plan_labels([str(photos)], str(out)), out) == {"a.jpg": "a.png", "b.PNG": "b.png"}
    deep = plan_labels([str(photos)], str(out), recursive=True)
    assert labels(deep, out)["c.webp"] == "deep/er/c.png"


def test_pictures_that_would_share_a_label_keep_their_ending(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "labels"
    fill(photos, "a.jpg", "A.png", "b.jpg")
    expected = {"a.jpg": "a.jpg.png", "A.png": "A.png.png", "b.jpg": "b.png"}
    assert labels(plan_labels([str(photos)], str(out)), out) == expected


def test_the_same_name_from_two_folders_is_refused(tmp_path):
    fill(tmp_path, "x/a.jpg", "y/a.jpg")
    with pytest.raises(InputError, match="its label would overwrite another file"):
        plan_labels([str(tmp_path / "x"), str(tmp_path / "y")], str(tmp_path / "labels"))


def test_a_picture_named_twice_is_labeled_once(tmp_path):
    fill(tmp_path, "photos/a.jpg")
    given = [str(tmp_path / "photos"), str(tmp_path / "photos" / "a.jpg")]
    assert len(plan_labels(given, str(tmp_path / "labels"))) == 1


def test_labels_are_no_pictures(tmp_path):
    photos = tmp_path / "photos"
    fill(photos, "a.jpg", "labels/old.png")
    plan = plan_labels([str(photos)], str(photos / "labels"), recursive=True)
    assert labels(plan, photos / "labels") == {"a.jpg": "a.png"}


def test_labels_among_the_pictures_are_refused(tmp_path):
    fill(tmp_path, "a.jpg")
    with pytest.raises(InputError, match="is also the folder of the images"):
        plan_labels([str(tmp_path)], str(tmp_path))


def test_videos(tmp_path):
    fill(tmp_path, "films/film.mp4")
    out = str(tmp_path / "labels")
    with pytest.raises(InputError, match="is a video, not an image"):
        plan_labels([str(tmp_path / "films" / "film.mp4")], out)
    with pytest.raises(InputError, match="no images among the inputs; search subfolders"):
        plan_labels([str(tmp_path / "films")], out)


def test_a_bucket(tmp_path):
    bucket = f"memory://bucket-{secrets.token_hex(4)}"
    for name in ("a.jpg", "deep/b.png", "labels/a.png", "note.txt"):
        write_bytes(f"{bucket}/{name}", b"x")
    plan = plan_labels([bucket], f"{bucket}/labels", recursive=True)
    assert [str(job.paths[0]) for job in plan if job.paths] == [
        f"{bucket}/labels/a.png",
        f"{bucket}/labels/deep/b.png",
    ]
    here = plan_labels([bucket], str(tmp_path))
    assert [str(job.paths[0]) for job in here] == [str(tmp_path / "a.png")]
    with pytest.raises(InputError, match="is also the folder of the images"):
        plan_labels([bucket], bucket + "/")


@pytest.mark.parametrize("name", ["../../stolen.jpg", "/etc/stolen.jpg", "..\\stolen.jpg"])
def test_a_hostile_listing_writes_nothing_outside(tmp_path, monkeypatch, name):
    entries = [
        paths.Entry("memory://b/a.jpg", "a.jpg", 1),
        paths.Entry(f"memory://b/{name}", name, 1),
    ]
    monkeypatch.setattr("sightline.jobs.labels.listing", lambda *_, **__: entries)
    plan = plan_labels(["memory://b"], str(tmp_path / "labels"), recursive=True)
    assert [str(job.paths[0]) for job in plan if job.paths] == [str(tmp_path / "labels" / "a.png")]
    (refused,) = [job for job in plan if not job.paths]
    with pytest.raises(InputError) as caught:
        LabelTask(LabelConfig()).read(refused)
    assert (
        str(caught.value) == f"memory://b/{name}: its name points outside of the folder; rename it"
    )


def test_odd_names_of_this_machine_are_fine(tmp_path):
    fill(tmp_path, "photos/C:a\\b.jpg")
    (job,) = plan_labels([str(tmp_path / "photos")], str(tmp_path / "labels"))
    assert job.paths == (tmp_path / "labels" / "C:a\\b.png",)


def test_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    job = BatchJob(Path("a.jpg"), False, "a", (("png", paths.to_path("memory://b/a.png")),))
    assert job.absolute() == BatchJob(tmp_path / "a.jpg", False, "a", job.outputs)
