import csv

import cv2
import numpy as np
import pytest

from sightline.depth.training.data import FolderPairs, open_photos, open_sources, split_share
from sightline.depth.training.datasets import open_set
from sightline.errors import InputError


def write_pairs(folder, kinds, *, spoil=None):
    folder.mkdir()
    rng = np.random.default_rng(0)
    with (folder / "index.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "source", "scene", "kind", "fx", "real"])
        for number, kind in enumerate(kinds):
            name = f"{number:05d}"
            rows.writerow([name, "x", "x", kind, "", 1])
            label = rng.integers(500, 4000, (30, 40)).astype(np.uint16)
            cv2.imwrite(str(folder / f"{name}.jpg"), np.full((30, 40, 3), 90, np.uint8))
            cv2.imwrite(str(folder / f"{name}.png"), label)
    if spoil is not None:
        (folder / f"{spoil:05d}.jpg").write_bytes(b"no picture")
    return folder


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pairs:a@3", ("pairs:a", 3)),
        ("pairs:a", ("pairs:a", 8)),
        ("pairs:a@b", ("pairs:a@b", 8)),
        ("pairs:a@b@12", ("pairs:a@b", 12)),
    ],
)
def test_the_share_is_what_follows_the_last_at(text, expected):
    assert split_share(text) == expected


def test_sources_of_several_sets(tmp_path):
    a = write_pairs(tmp_path / "a", ["depth_mm"] * 3)
    b = write_pairs(tmp_path / "b", ["disparity_rel"] * 2)
    first, second = open_sources([f"pairs:{a}@3", str(b)], 24)
    assert (len(first.pairs), first.share) == (3, 3)
    assert (len(second.pairs), second.share) == (2, 8)
    assert first.pairs.pair(0, (0,)).pixels.shape == (30, 40, 3), "25 % room to crop"


def test_a_metric_source_keeps_what_is_in_metres(tmp_path):
    mixed = write_pairs(tmp_path / "a", ["depth_mm", "disparity_rel", "depth_mm"])
    lines = []
    (source,) = open_sources([f"pairs:{mixed}"], 24, metric=True, notify=lines.append)
    assert len(source.pairs) == 2
    assert lines == ["1 of 3 pairs left out: without metres"]
    none = write_pairs(tmp_path / "b", ["disparity_rel"])
    with pytest.raises(InputError, match="none of these pairs has metres"):
        open_sources([f"pairs:{none}"], 24, metric=True)
    with pytest.raises(InputError, match="none of these pairs has metres and a focal length"):
        open_sources([f"pairs:{mixed}"], 24, metric=True, camera=True)


def test_a_picture_that_does_not_decode_is_named_or_left_out(tmp_path):
    folder = write_pairs(tmp_path / "a", ["depth_mm"] * 3, spoil=1)
    with pytest.raises(InputError, match=r"00001\.jpg"):
        open_sources([f"pairs:{folder}"], 24)
    lines = []
    (source,) = open_sources([f"pairs:{folder}"], 24, notify=lines.append)
    assert len(source.pairs) == 2
    assert "00001.jpg" in lines[0]


def test_large_sets_are_read_as_they_are_needed(tmp_path, monkeypatch):
    folder = write_pairs(tmp_path / "a", ["depth_mm"] * 5)
    (held,) = open_sources([f"pairs:{folder}"], 24)
    monkeypatch.setattr("sightline.depth.training.data.MOST_IN_MEMORY", 4)
    (lazy,) = open_sources([f"pairs:{folder}"], 24)
    assert isinstance(lazy.pairs, FolderPairs)
    assert len(open_set(str(folder)).items) == len(lazy.pairs) == 5
    for position in range(12):
        a, b = (source.pairs.pair(position, (7,)) for source in (held, lazy))
        assert np.array_equal(a.disparity, b.disparity)


def test_photographs_with_labels_of_two_teachers(tmp_path):
    photos = tmp_path / "photos"
    photos.mkdir()
    cv2.imwrite(str(photos / "a.jpg"), np.full((30, 40, 3), 90, np.uint8))
    ramp = np.linspace(0, 60000, 40).astype(np.uint16)[None].repeat(30, 0)
    for teacher, label in (("one", ramp), ("two", ramp // 2 + 9)):
        (tmp_path / teacher).mkdir()
        cv2.imwrite(str(tmp_path / teacher / "a.png"), label)
    source = open_photos(photos, [tmp_path / "one", tmp_path / "two"], 24, 5)
    pair = source.pairs.pair(0, (0,))
    assert source.share == 5
    assert pair.pseudo
    assert pair.weight.min() > 250, "they agree up to scale and shift"
