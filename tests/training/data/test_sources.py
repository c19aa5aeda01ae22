import csv

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data import sources as data
from sightline.training.data.datasets import open_set
from sightline.training.data.shards import write_shards
from sightline.training.data.sources import (
    describe_sources,
    open_photos,
    open_sources,
    split_share,
)


def write_pairs(folder, kinds, *, spoil=None, fx=""):
    folder.mkdir()
    rng = np.random.default_rng(0)
    with (folder / "index.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "source", "scene", "kind", "fx", "real"])
        for number, kind in enumerate(kinds):
            name = f"{number:05d}"
            rows.writerow([name, "x", "x", kind, fx, 1])
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


def test_a_metric_source_keeps_what_is_in_meters(tmp_path):
    mixed = write_pairs(tmp_path / "a", ["depth_mm", "disparity_rel", "depth_mm"])
    lines = []
    (source,) = open_sources([f"pairs:{mixed}"], 24, metric=True, notify=lines.append)
    assert len(source.pairs) == 2
    assert lines == ["1 of 3 pairs left out: without meters"]
    none = write_pairs(tmp_path / "b", ["disparity_rel"])
    with pytest.raises(InputError, match="none of these pairs has meters"):
        open_sources([f"pairs:{none}"], 24, metric=True)
    with pytest.raises(InputError, match="none of these pairs has meters and a focal length"):
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
    monkeypatch.setattr("sightline.training.data.sources.MOST_IN_MEMORY", 4)
    (lazy,) = open_sources([f"pairs:{folder}"], 24)
    assert isinstance(lazy.pairs, data.Streamed)
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


def test_streams_of_large_sets_and_shards_keep_what_is_of_use(tmp_path, monkeypatch):
    """Every third pair has meters, one cannot be read: others are drawn in their place."""
    kinds = ["depth_mm", "disparity_rel", "disparity_rel"] * 3
    folder = write_pairs(tmp_path / "a", kinds, spoil=4, fx="50")
    lines = []
    write_shards(
        open_set(str(folder)).items,
        tmp_path / "shards",
        short_side=24,
        skip=lambda _, error: lines.append(str(error)),
    )
    monkeypatch.setattr(data, "MOST_IN_MEMORY", 1)
    for where in (f"pairs:{folder}", f"shards:{tmp_path / 'shards'}"):
        lines.clear()
        (source,) = open_sources([where], 24, metric=True, camera=True, notify=lines.append)
        drawn = [source.pairs.pair(position, (5,)) for position in range(30)]
        assert all(pair.unit is not None and pair.focal is not None for pair in drawn)
        again = source.pairs.pair(7, (5,))
        assert np.array_equal(again.disparity, drawn[7].disparity)
        assert len(lines) == (1 if where.startswith("pairs") else 0)


@pytest.mark.parametrize("camera", [False, True])
def test_a_stream_without_any_meters_is_refused_when_it_is_drawn_from(tmp_path, camera):
    kind = "depth_mm" if camera else "disparity_rel"
    folder = write_pairs(tmp_path / "a", [kind] * 3)
    write_shards(open_set(str(folder)).items, tmp_path / "shards", short_side=24)
    (source,) = open_sources([f"shards:{tmp_path / 'shards'}"], 24, metric=True, camera=camera)
    with pytest.raises(
        InputError, match=r"50 pairs in a row cannot be read, or are without meters"
    ):
        source.pairs.pair(0, (0,))


def test_photographs_beyond_memory_are_read_as_they_are_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(data, "MOST_IN_MEMORY", 1)
    photos, labels = tmp_path / "photos", tmp_path / "labels"
    for folder in (photos, labels):
        folder.mkdir()
    for name in ("a", "b", "c"):
        cv2.imwrite(str(photos / f"{name}.jpg"), np.full((30, 40, 3), 90, np.uint8))
        cv2.imwrite(str(labels / f"{name}.png"), np.full((30, 40), 7, np.uint16))
    source = open_photos(photos, [labels], 24, 2)
    assert isinstance(source.pairs, data.Streamed)
    assert source.pairs.pair(0, (1,)).pseudo


def test_a_run_knows_what_it_learned_from(tmp_path):
    folder = write_pairs(tmp_path / "a", ["depth_mm"] * 3)
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "labels.json").write_text('{"sha256": "1"}')
    sources = open_sources([f"pairs:{folder}@2"], 24)
    named = [f"pairs:{folder}@2", str(labels)]
    before = describe_sources(named, sources)
    assert before["pairs"] == [3]
    assert before == describe_sources(named, sources)
    (labels / "labels.json").write_text('{"sha256": "2"}')
    assert before != describe_sources(named, sources)
