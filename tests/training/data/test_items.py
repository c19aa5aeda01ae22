"""Folders of pairs and of labeled photographs: what is listed, what is read, what is refused."""

import csv

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.items import (
    TrainingPair,
    is_held_out,
    photo_items,
    read_pair,
    read_pairs,
    rgbd_items,
)

COLUMNS = ["id", "source", "scene", "kind", "fx", "real"]
COLOR = np.zeros((40, 60, 3), np.uint8)


def write_folder(folder, rows, label, columns=COLUMNS):
    """Write an `rgbd_train`-style folder in which every pair has the same label."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "index.csv").open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])
    for row in rows:
        cv2.imwrite(str(folder / f"{row[0]}.jpg"), COLOR)
        cv2.imwrite(str(folder / f"{row[0]}.png"), label)
    return folder


@pytest.fixture
def steps():
    """A label with three columns of numbers: 0, 2000, 4000."""
    label = np.zeros((40, 60), np.uint16)
    label[:, 20:] = 2000
    label[:, 40:] = 4000
    return label


def test_pairs_of_one_scene_share_its_name(tmp_path):
    (tmp_path / "index.csv").write_text(
        "id,source,scene,kind\n0,a,kitchen,depth_mm\n1,b,kitchen,depth_mm\n2,a,,depth_mm\n"
    )
    scenes = [item.scene for item in rgbd_items(tmp_path)]
    assert scenes == ["a/kitchen", "b/kitchen", None]  # another source's kitchen is another kitchen


def test_measured_pairs_keep_meters_where_they_have_them(tmp_path, steps):
    rows = [["00000", "x", "x", "depth_mm", "", "1"], ["00001", "x", "x", "disparity_rel", "", "1"]]
    metric, relative = read_pairs(rgbd_items(write_folder(tmp_path, rows, steps)), 40)
    for pair in (metric, relative):
        assert not pair.known[:, :20].any()
        assert pair.known[:, 20:].all()
        assert (pair.disparity.max(), pair.pseudo, pair.weight) == (1, False, None)
    assert metric.unit == 0.5  # the nearest, at 2 m
    assert (metric.disparity[0, 30], metric.disparity[0, 50]) == (1, 0.5)
    assert relative.unit is None
    assert (relative.disparity[0, 30], relative.disparity[0, 50]) == (0.5, 1)


def test_pairs_know_their_camera_at_the_size_they_are_kept_at(tmp_path, steps):
    rows = [[f"0000{i}", "x", "x", "depth_mm", fx, "1"] for i, fx in enumerate(("51.0", ""))]
    known, unknown = read_pairs(rgbd_items(write_folder(tmp_path, rows, steps)), 20)
    assert known.pixels.shape == (20, 30, 3)
    assert (known.focal, unknown.focal) == (25.5, None)
    rows[0][4] = "-3"
    with pytest.raises(InputError, match=r"line 2: fx '-3' is not a positive number"):
        rgbd_items(write_folder(tmp_path / "bad", rows, steps))


def test_rendered_scenes_know_their_sky(tmp_path, steps):
    rows = [["000000", "sightline", "0", "inverse_depth", "", "0", "0.0005"]]
    folder = write_folder(tmp_path, rows, steps, [*COLUMNS, "unit"])
    (pair,) = read_pairs(rgbd_items(folder), 40)
    assert pair.known.all()
    assert pair.unit == pytest.approx(2.0)  # 4000 steps of 0.0005/m
    assert pair.disparity[0, [10, 30, 50]].tolist() == [0, 0.5, 1]


def test_depth_at_the_end_of_its_range_is_far(tmp_path, steps):
    steps[:, :20] = 65535
    rows = [["00000", "carla", "x", "depth_mm", "", "0"]]
    (pair,) = read_pairs(rgbd_items(write_folder(tmp_path, rows, steps)), 40)
    assert pair.known.all()
    assert pair.disparity[0, 10] == 0


def test_pairs_are_shrunk_without_mixing_depths(tmp_path, steps):
    rows = [["00000", "x", "x", "depth_mm", "", "1"]]
    (item,) = rgbd_items(write_folder(tmp_path, rows, steps))
    pair = read_pair(item, 13)
    assert pair.pixels.shape == (13, 20, 3)
    assert set(np.unique(pair.disparity).tolist()) == {0, 0.5, 1}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([["../../x", "x", "x", "depth_mm", "", "1"]], "line 2: id '../../x' is not a plain"),
        ([["", "x", "x", "depth_mm", "", "1"]], "line 2: id '' is not a plain"),
        ([["0", "x", "x", "depth_cm", "", "1"]], "line 2: kind 'depth_cm' is not one of"),
        ([["0", "x", "x", "inverse_depth", "", "1"]], "line 2: unit None is not a positive"),
        ([], "lists no pair"),
    ],
)
def test_an_index_that_makes_no_sense(tmp_path, rows, message):
    with (tmp_path / "index.csv").open("w", newline="") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    with pytest.raises(InputError, match=rf"index\.csv: {message}"):
        rgbd_items(tmp_path)


def test_a_folder_without_an_index(tmp_path):
    with pytest.raises(InputError, match=r"no index\.csv"):
        rgbd_items(tmp_path)


def test_a_label_in_which_nothing_is_known(tmp_path):
    rows = [["00000", "x", "x", "depth_mm", "", "1"]]
    folder = write_folder(tmp_path, rows, np.zeros((40, 60), np.uint16))
    with pytest.raises(InputError, match=r"00000\.png: no pixel of it is known"):
        read_pairs(rgbd_items(folder), 40)


def name_with(held_out, index=0):
    """The index-th file name that is held out, or is not."""
    names = (f"p{i}.jpg" for i in range(9999))
    return [name for name in names if is_held_out(name) == held_out][index]


@pytest.fixture
def photos(tmp_path):
    """Three photographs: kept, held out, without a label; and a folder with one teacher's labels."""
    (tmp_path / "photos" / "a").mkdir(parents=True)
    (tmp_path / "labels" / "a").mkdir(parents=True)
    names = [name_with(False), name_with(True), name_with(False, 1)]
    for name in names:
        cv2.imwrite(str(tmp_path / "photos" / "a" / name), COLOR)
    ramp = np.linspace(0, 255, 30).astype(np.uint8)[None].repeat(20, 0)
    for name in names[:2]:
        cv2.imwrite(str((tmp_path / "labels" / "a" / name).with_suffix(".png")), ramp)
    return tmp_path / "photos", tmp_path / "labels"


def test_photographs_with_a_label_are_listed_held_out_ones_not(photos):
    (item,) = photo_items(*photos)
    assert item.picture.name == name_with(False)
    assert item.pseudo
    pair = read_pair(item, 40)
    assert pair.known.all()
    assert (pair.pseudo, pair.unit, pair.weight) == (True, None, None)
    assert pair.disparity.shape == (40, 60)
    assert np.diff(pair.disparity[0].astype(float)).min() >= 0


def test_an_ensemble_is_combined_and_trusted_where_it_agrees(photos, tmp_path):
    second = tmp_path / "second" / "a"
    second.mkdir(parents=True)
    label = (np.linspace(10000, 50000, 90).astype(np.uint16))[None].repeat(60, 0)
    label[:20, :30] = 60000  # 16 bits, another size, another scale, and a corner it sees as near
    for name in (name_with(False), name_with(False, 1)):
        cv2.imwrite(str((second / name).with_suffix(".png")), label)
    both, only = sorted(photo_items(*photos, second.parent), key=lambda item: -len(item.labels))
    assert (len(both.labels), len(only.labels)) == (1, 0)
    pair = read_pair(both, 40)
    assert pair.weight is not None
    assert pair.weight.shape == (40, 60)
    assert pair.weight[2:10, 2:15].max() < 128
    assert pair.weight[20:].min() > 240
    assert pair.disparity.max() == 1
    assert read_pair(only, 40).weight is None


def test_label_folders_are_checked(photos, tmp_path):
    with pytest.raises(InputError, match="no folder of labels was given"):
        photo_items(photos[0])
    with pytest.raises(InputError, match="no such folder"):
        photo_items(photos[0], tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no photograph here has a label"):
        photo_items(photos[0], tmp_path / "empty")
    (photos[1] / "labels.json").write_text("{")
    with pytest.raises(InputError, match=r"labels\.json: is not a label manifest"):
        photo_items(*photos)


def test_a_label_of_another_shape_is_named(tmp_path):
    cv2.imwrite(str(tmp_path / "a.jpg"), COLOR)
    (tmp_path / "labels").mkdir()
    cv2.imwrite(str(tmp_path / "labels" / "a.png"), np.zeros((60, 40), np.uint8))
    with pytest.raises(InputError, match=r"a\.png: label is 40×60"):
        read_pairs(photo_items(tmp_path, tmp_path / "labels"), 40)


def test_a_bad_picture_stops_everything_or_is_left_out(tmp_path, steps):
    rows = [[f"0000{i}", "x", "x", "depth_mm", "", "1"] for i in range(4)]
    items = rgbd_items(write_folder(tmp_path, rows, steps))
    (tmp_path / "00001.jpg").write_bytes(b"\xff\xd8\xff not a picture")
    (tmp_path / "00003.png").unlink()
    with pytest.raises(InputError, match=r"00001\.jpg"):
        read_pairs(items, 40)
    told: list[tuple[TrainingPair, InputError]] = []
    pairs = read_pairs(items, 40, skip=lambda item, error: told.append((item, error)))
    assert len(pairs) == 2
    assert [item for item, _ in told] == [items[1], items[3]]
    assert "00003.png: no such file" in str(told[1][1])
    with pytest.raises(InputError, match="none of the training pairs can be read"):
        read_pairs([items[1]], 40, skip=lambda *_: None)


@pytest.mark.data
def test_the_real_folders(shared_data):
    items = rgbd_items(shared_data / "rgbd_train")
    pairs = read_pairs(items[::60], 128)
    assert all(pair.disparity.max() == 1 for pair in pairs)
    metric = [pair for pair in pairs if pair.unit is not None]
    nearest = np.array([1 / pair.unit for pair in metric])
    assert ((nearest > 0.05) & (nearest < 30)).all()  # meters
    labeled = photo_items(shared_data / "photos", shared_data / "photo_labels" / "tcmonodepth")
    assert len(labeled) > 1000
    assert read_pair(labeled[7], 128).pseudo


def test_pictures_that_share_a_stem_have_labels_by_full_name(tmp_path):
    photos, labels = tmp_path / "photos", tmp_path / "labels"
    for folder in (photos, labels):
        folder.mkdir()
    stem = next(s for s in "abcdefgh" if not any(is_held_out(s + e) for e in (".jpg", ".webp")))
    for suffix, value in ((".jpg", 10), (".webp", 200)):
        cv2.imwrite(str(photos / f"{stem}{suffix}"), COLOR)
        cv2.imwrite(str(labels / f"{stem}{suffix}.png"), np.full((40, 60), value, np.uint16))
    items = photo_items(photos, labels)
    assert [item.label.name for item in items] == [f"{stem}.jpg.png", f"{stem}.webp.png"]
