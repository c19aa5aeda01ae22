"""Which pictures are labelled, and where each label goes."""

from __future__ import annotations

import secrets

import pytest

from sightline.depth.labelling.plan import Task, make_plan
from sightline.errors import InputError
from sightline.files import remote


def fill(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def labels(plan, out):
    """Return picture name to label, below their folders."""
    return {
        task.picture.rpartition("/")[2]: task.label.removeprefix(f"{out}/") for task in plan.tasks
    }


def test_a_label_has_the_path_and_stem_of_its_picture(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "labels"
    fill(photos, "a.jpg", "b.PNG", "deep/er/c.webp", "film.mp4", "note.txt", ".hidden.jpg")
    assert labels(make_plan([str(photos)], str(out)), out) == {"a.jpg": "a.png", "b.PNG": "b.png"}
    deep = make_plan([str(photos)], str(out), recursive=True)
    assert labels(deep, out)["c.webp"] == "deep/er/c.png"


def test_pictures_that_would_share_a_label_keep_their_ending(tmp_path):
    photos, out = tmp_path / "photos", tmp_path / "labels"
    fill(photos, "a.jpg", "A.png", "b.jpg")
    expected = {"a.jpg": "a.jpg.png", "A.png": "A.png.png", "b.jpg": "b.png"}
    assert labels(make_plan([str(photos)], str(out)), out) == expected


def test_the_same_name_from_two_folders_is_refused(tmp_path):
    fill(tmp_path, "x/a.jpg", "y/a.jpg")
    with pytest.raises(InputError, match="its label would take the place of another file"):
        make_plan([str(tmp_path / "x"), str(tmp_path / "y")], str(tmp_path / "labels"))


def test_a_picture_named_twice_is_labelled_once(tmp_path):
    fill(tmp_path, "photos/a.jpg")
    given = [str(tmp_path / "photos"), str(tmp_path / "photos" / "a.jpg")]
    assert len(make_plan(given, str(tmp_path / "labels")).tasks) == 1


def test_labels_are_no_pictures(tmp_path):
    photos = tmp_path / "photos"
    fill(photos, "a.jpg", "labels/old.png")
    plan = make_plan([str(photos)], str(photos / "labels"), recursive=True)
    assert labels(plan, photos / "labels") == {"a.jpg": "a.png"}


def test_labels_among_the_pictures_are_refused(tmp_path):
    fill(tmp_path, "a.jpg")
    with pytest.raises(InputError, match="labels would lie among the pictures"):
        make_plan([str(tmp_path)], str(tmp_path))


def test_videos(tmp_path):
    fill(tmp_path, "films/film.mp4")
    out = str(tmp_path / "labels")
    with pytest.raises(InputError, match="is a video, not a picture"):
        make_plan([str(tmp_path / "films" / "film.mp4")], out)
    with pytest.raises(InputError, match="no pictures among the inputs; look into subfolders"):
        make_plan([str(tmp_path / "films")], out)


def test_a_bucket(tmp_path):
    bucket = f"memory://bucket-{secrets.token_hex(4)}"
    for name in ("a.jpg", "deep/b.png", "labels/a.png", "note.txt"):
        remote.write_bytes(f"{bucket}/{name}", b"x")
    plan = make_plan([bucket], f"{bucket}/labels", recursive=True)
    assert [task.label for task in plan.tasks] == [
        f"{bucket}/labels/a.png",
        f"{bucket}/labels/deep/b.png",
    ]
    here = make_plan([bucket], str(tmp_path))
    assert [task.label for task in here.tasks] == [str(tmp_path / "a.png")]
    with pytest.raises(InputError, match="labels would lie among the pictures"):
        make_plan([bucket], bucket + "/")


@pytest.mark.parametrize("name", ["../../stolen.jpg", "/etc/stolen.jpg", "..\\stolen.jpg"])
def test_a_hostile_listing_writes_nothing_outside(tmp_path, monkeypatch, name):
    entries = [remote.Entry("s3://b/a.jpg", "a.jpg", 1), remote.Entry(f"s3://b/{name}", name, 1)]
    monkeypatch.setattr(remote, "listing", lambda *_, **__: entries)
    plan = make_plan(["s3://b"], str(tmp_path / "labels"), recursive=True)
    assert [task.label for task in plan.tasks] == [str(tmp_path / "labels" / "a.png")]
    (refused,) = plan.refused
    assert str(refused) == f"s3://b/{name}: its name leads out of the folder; rename it"


def test_odd_names_of_this_machine_are_fine(tmp_path):
    fill(tmp_path, "photos/C:a\\b.jpg")
    (task,) = make_plan([str(tmp_path / "photos")], str(tmp_path / "labels")).tasks
    assert task.label == str(tmp_path / "labels" / "C:a\\b.png")


def test_absolute(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Task("a.jpg", "s3://b/a.png").absolute() == Task(str(tmp_path / "a.jpg"), "s3://b/a.png")
