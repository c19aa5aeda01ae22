"""Shards: what goes in comes out, in an order that is a function of seed and position alone."""

import hashlib
import io
import json
import tarfile
import zlib
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage import data

from sightline.errors import InputError
from sightline.training.data.items import photo_items, read_pairs, rgbd_items
from sightline.training.data.pairs import Pair
from sightline.training.data.shard_files import decode_pair, encode_pair, read_tar
from sightline.training.data.shards import (
    MemoryPairs,
    SceneSampler,
    ShardPairs,
    pick,
    write_shards,
)

COUNT = 11


def write_pairs(folder, count=COUNT):
    """Write an `rgbd_train`-style folder; pair number i is i + 1 meters away."""
    folder.mkdir(parents=True)
    names = [f"{i:05d}" for i in range(count)]
    (folder / "index.csv").write_text("id,kind\n" + "".join(f"{n},depth_mm\n" for n in names))
    for i, name in enumerate(names):
        photo = data.coffee()[i * 20 : i * 20 + 40, :60]
        label = np.full((40, 60), 1000 * (i + 1), np.uint16)
        label[:5] = 0
        cv2.imwrite(str(folder / f"{name}.jpg"), photo)
        cv2.imwrite(str(folder / f"{name}.png"), label)
    return rgbd_items(folder)


@pytest.fixture
def items(tmp_path):
    return write_pairs(tmp_path / "set")


@pytest.fixture
def shards(tmp_path, items):
    write_shards(items, tmp_path / "shards", per_shard=4, short_side=40)
    return tmp_path / "shards"


def meters(pair):
    """Which pair it is: its distance."""
    return round(1 / pair.unit)


def tars(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def same_label(one, two):
    np.testing.assert_array_equal(one.disparity, two.disparity)
    np.testing.assert_array_equal(one.known, two.known)
    assert (one.unit, one.pseudo, one.focal) == (two.unit, two.pseudo, two.focal)
    if one.weight is None or two.weight is None:
        assert one.weight is two.weight
    else:
        np.testing.assert_array_equal(one.weight, two.weight)


# What is stored


@given(
    st.integers(1, 20),
    st.integers(1, 20),
    st.one_of(st.none(), st.floats(1e-6, 1e6)),
    st.booleans(),
    st.integers(0, 999),
)
def test_labels_survive_to_the_bit(height, width, unit, trusted, seed):
    rng = np.random.default_rng(seed)
    known = rng.random((height, width)) < 0.8
    disparity = np.where(known, rng.random((height, width)) ** 4, 0).astype(np.float16)
    weight = rng.integers(0, 256, (height, width)).astype(np.uint8) if trusted else None
    pixels = np.full((height, width, 3), rng.integers(0, 256, 3), np.uint8)
    pair = Pair(pixels, disparity, known, unit, trusted, weight, unit)
    found = decode_pair(encode_pair(pair, "a.jpg"))
    same_label(pair, found)
    assert np.abs(found.pixels.astype(int) - pixels).max() <= 4


def test_shards_give_what_memory_gives(items, shards):
    stored = ShardPairs(shards)
    seen = {meters(pair): pair for pair in (stored.pair(i, (0,)) for i in range(COUNT))}
    for pair in read_pairs(items, 40):
        same_label(pair, seen[meters(pair)])
        apart = np.abs(pair.pixels.astype(int) - seen[meters(pair)].pixels).mean()
        assert apart < 3  # JPEG, and red is still red


def test_pseudo_labels_keep_their_trust(tmp_path):
    for folder in ("photos", "one", "two"):
        (tmp_path / folder).mkdir()
    cv2.imwrite(str(tmp_path / "photos" / "p.jpg"), data.coffee()[:40, :60])
    ramp = np.linspace(0, 255, 60).astype(np.uint8)[None].repeat(40, 0)
    cv2.imwrite(str(tmp_path / "one" / "p.png"), ramp)
    cv2.imwrite(str(tmp_path / "two" / "p.png"), np.roll(ramp, 10, 1))
    items = photo_items(*(tmp_path / folder for folder in ("photos", "one", "two")))
    write_shards(items, tmp_path / "shards", short_side=40)
    pair = ShardPairs(tmp_path / "shards").pair(0, (0,))
    assert pair.weight is not None
    same_label(read_pairs(items, 40)[0], pair)


def test_the_same_bytes_wherever_and_with_however_many_workers(tmp_path, items, shards):
    other = write_pairs(tmp_path / "elsewhere" / "moved")
    write_shards(other, tmp_path / "b", per_shard=4, short_side=40, workers=2)
    assert tars(shards) == tars(tmp_path / "b")
    assert sorted(tars(shards)) == ["000000.tar", "000001.tar", "000002.tar", "index.json"]
    index = json.loads((shards / "index.json").read_text())
    assert [shard["count"] for shard in index["shards"]] == [4, 4, 3]
    with tarfile.open(shards / "000000.tar") as tar:
        assert {(m.mtime, m.uid, m.gid, m.uname) for m in tar} == {(0, 0, 0, "")}


# Writing: restart, refusal


def test_a_second_run_keeps_what_the_first_finished(tmp_path, items):
    folder = tmp_path / "shards"

    def killed_at_nine(item, short_side):
        if item is items[9]:
            raise KeyboardInterrupt
        return read_pairs([item], short_side)[0]

    with pytest.raises(KeyboardInterrupt):
        write_shards(items, folder, read=killed_at_nine, per_shard=4, short_side=40)
    assert sorted(tars(folder)) == ["000000.tar", "000001.tar"]  # no half shard, no index
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    read = []

    def counting(item, short_side):
        read.append(item)
        return read_pairs([item], short_side)[0]

    write_shards(items, folder, read=counting, per_shard=4, short_side=40)
    assert read == items[8:]
    assert all(path.stat().st_mtime_ns == time for path, time in before.items())
    write_shards(items, tmp_path / "whole", per_shard=4, short_side=40)
    assert tars(folder) == tars(tmp_path / "whole")


def test_shards_of_something_else_are_refused(items, shards):
    for changes in ({"short_side": 32}, {"per_shard": 5}):
        with pytest.raises(InputError, match=r"000000\.tar: is a shard of other items or sizes"):
            write_shards(items, shards, **{"per_shard": 4, "short_side": 40, **changes})
    with pytest.raises(InputError, match=r"000000\.tar: is a shard of other items"):
        write_shards(items[::-1], shards, per_shard=4, short_side=40)
    (shards / "000000.tar").write_bytes(b"something else")
    with pytest.raises(InputError, match=r"000000\.tar: is in the way, and no shard"):
        write_shards(items, shards, per_shard=4, short_side=40)


def test_bad_pictures_stop_or_are_left_out(tmp_path, items):
    for broken in (items[1], *items[4:8]):
        broken.picture.write_bytes(b"\xff\xd8\xff no picture")
    folder = tmp_path / "shards"
    with pytest.raises(InputError, match=r"00001\.jpg"):
        write_shards(items, folder, per_shard=4, short_side=40)
    assert not folder.exists() or not any(folder.iterdir())
    told = []
    for _ in range(2):  # the second run names them again
        told.clear()
        write_shards(items, folder, per_shard=4, short_side=40, skip=lambda i, _: told.append(i))
        assert told == [items[1], *items[4:8]]
        assert sorted(tars(folder)) == ["000000.tar", "000002.tar", "index.json"]
        assert len(ShardPairs(folder)) == COUNT - 5
    with pytest.raises(InputError, match=r"00001\.jpg"):
        write_shards(items, folder, per_shard=4, short_side=40)
    with pytest.raises(InputError, match="none of the training pairs"):
        write_shards(items[4:6], tmp_path / "none", short_side=40, skip=lambda *_: None)
    with pytest.raises(InputError, match="shards need items"):
        write_shards([], tmp_path / "none")


# The walk


def test_every_epoch_takes_every_pair_once_shard_by_shard(shards):
    stored = ShardPairs(shards)
    walks = []
    for epoch in range(4):
        places = [stored.locate(epoch * COUNT + i, (3, 1)) for i in range(COUNT)]
        assert len(set(places)) == COUNT
        runs = [shard for shard, _ in groupby(shard for shard, _ in places)]
        assert sorted(runs) == [0, 1, 2]  # each shard is opened once
        walks.append(places)
    assert len({tuple(walk) for walk in walks}) == 4
    assert len({tuple(shard for shard, _ in walk) for walk in walks}) > 1


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20), st.integers(0, 99))
def test_a_position_does_not_depend_on_what_came_before(positions, seed):
    pairs = [Pair(np.zeros((1, 1, 3), np.uint8), None, None, unit=i + 1.0) for i in range(7)]
    one, two = MemoryPairs(pairs), MemoryPairs(pairs)
    last = one.pair(positions[-1], (seed,))
    assert [two.pair(p, (seed,)) for p in positions][-1] is last


def test_streaming_does_not_depend_on_what_came_before(shards):
    fresh, used = ShardPairs(shards), ShardPairs(shards, cache_shards=1)
    for position in (30, 2, 17, 2):
        used.pair(position, (5,))
    for position in (0, 9, 25):
        same_label(fresh.pair(position, (5,)), used.pair(position, (5,)))
    walk = [meters(fresh.pair(i, (5,))) for i in range(COUNT)]
    assert sorted(walk) == list(range(1, COUNT + 1))
    assert walk != [meters(fresh.pair(i, (6,))) for i in range(COUNT)]


def test_memory_walks_in_new_shuffles():
    walk = [pick(7, position, (0, 1)) for position in range(21)]
    assert [sorted(walk[i : i + 7]) for i in (0, 7, 14)] == [list(range(7))] * 3
    assert walk[:7] != walk[7:14]
    with pytest.raises(InputError, match="no training pairs"):
        MemoryPairs([])


def test_a_scene_counts_once_however_many_pairs_it_has():
    sampler = SceneSampler(["a", "a", "a", None, "b", None])
    epochs = [[sampler.index(4 * e + i, (3,)) for i in range(4)] for e in range(30)]
    for epoch in epochs:
        assert {3, 4, 5} <= set(epoch)
        assert len(set(epoch) & {0, 1, 2}) == 1
    shown = [next(i for i in epoch if i < 3) for epoch in epochs]
    assert [sorted(shown[k : k + 3]) for k in range(0, 30, 3)] == [[0, 1, 2]] * 10
    plain = SceneSampler([None] * 7)
    assert [plain.index(i, (0, 1)) for i in range(21)] == [pick(7, i, (0, 1)) for i in range(21)]


def test_each_shard_is_read_once_per_epoch_even_by_several_threads(shards, monkeypatch):
    stored = ShardPairs(shards, cache_shards=3)  # all: a thread may be late by more than a shard
    read = []
    original = ShardPairs._read

    def counting(self, shard):
        read.append(shard)
        return original(self, shard)

    monkeypatch.setattr(ShardPairs, "_read", counting)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda i: meters(stored.pair(i, (5,))), range(COUNT)))
    assert sorted(found) == list(range(1, COUNT + 1))
    assert sorted(read) == [0, 1, 2]
    alone = ShardPairs(shards)
    assert found == [meters(alone.pair(i, (5,))) for i in range(COUNT)]


# Damage and malice


def replace(folder, name, content, count=None):
    """Put another file in a shard's place, and make the index vouch for it."""
    (folder / name).write_bytes(content)
    index = json.loads((folder / "index.json").read_text())
    for shard in index["shards"]:
        if shard["name"] == name:
            shard["sha256"] = hashlib.sha256(content).hexdigest()
            shard["count"] = shard["count"] if count is None else count
    (folder / "index.json").write_text(json.dumps(index))


def read_all(folder):
    stored = ShardPairs(folder)
    return [stored.pair(i, (0,)) for i in range(len(stored))]


def test_a_shard_that_is_not_the_listed_one(shards):
    whole = (shards / "000001.tar").read_bytes()
    (shards / "000001.tar").write_bytes(whole[:3000])
    with pytest.raises(InputError, match=r"000001\.tar: is not the shard that index\.json lists"):
        read_all(shards)
    (shards / "000001.tar").unlink()
    with pytest.raises(InputError, match=r"000001\.tar: no such file"):
        read_all(shards)


def test_truncated_and_empty_shards(shards):
    whole = (shards / "000001.tar").read_bytes()
    for end in (700, 1600, 3000, len(whole) // 2):
        replace(shards, "000001.tar", whole[:end])
        with pytest.raises(InputError, match=r"000001\.tar: "):
            read_all(shards)
    empty = io.BytesIO()
    tarfile.open(fileobj=empty, mode="w").close()
    replace(shards, "000001.tar", empty.getvalue())
    with pytest.raises(InputError, match=r"000001\.tar: is an empty shard"):
        read_all(shards)
    replace(shards, "000001.tar", b"no tar at all" * 100)
    with pytest.raises(InputError, match=r"000001\.tar: is a damaged or truncated shard"):
        read_all(shards)
    replace(shards, "000001.tar", whole, count=3)
    with pytest.raises(InputError, match=r"000001\.tar: has 4 pairs, index\.json says 3"):
        read_all(shards)


def tar_with(name, *, kind=tarfile.REGTYPE, size=4, link=""):
    """A tar of one member whose header says what it likes."""
    info = tarfile.TarInfo(name)
    info.type, info.size, info.linkname = kind, size, link
    return info.tobuf(tarfile.GNU_FORMAT) + b"data".ljust(512, b"\0") + bytes(1024)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (tar_with("../../etc/passwd"), "'../../etc/passwd', which is no part of a pair"),
        (tar_with("/000000.jpg"), "which is no part of a pair"),
        (tar_with("a/000000.jpg"), "which is no part of a pair"),
        (tar_with("000000.jpg", kind=tarfile.SYMTYPE, size=0, link="/etc/passwd"), "not a plain"),
        (tar_with("000000.jpg", kind=tarfile.LNKTYPE, size=0, link="x"), "not a plain file"),
        (tar_with("000000.jpg", kind=tarfile.DIRTYPE, size=0), "not a plain file"),
        (tar_with("000000.jpg", kind=tarfile.CHRTYPE, size=0), "not a plain file"),
        (tar_with("000000.jpg", kind=tarfile.GNUTYPE_SPARSE), "not a plain file"),
        (tar_with("000000.jpg", size=10**12), "which is too large"),
        (tar_with("000000.jpg", size=10**7), "truncated shard"),
        (tar_with("000007.jpg"), "pairs are missing"),
    ],
)
def test_hostile_tars(tmp_path, data, message):
    with pytest.raises(InputError, match=rf"bad\.tar: .*{message}"):
        read_tar(data, tmp_path / "bad.tar")


def test_pairs_that_make_no_sense():
    pixels = np.zeros((4, 6, 3), np.uint8)
    pair = Pair(pixels, np.ones((4, 6), np.float16), np.ones((4, 6), bool), 0.5)
    good = encode_pair(pair, "a.jpg")

    def png(array):
        return bytes(cv2.imencode(".png", array)[1])

    for change, message in (
        ({"jpg": b"\xff\xd8 no"}, "does not decode"),
        ({"jpg": b""}, "does not decode"),
        ({"png": png(np.zeros((4, 6), np.uint8))}, "does not decode"),
        ({"png": png(np.zeros((4, 5), np.uint16))}, "not of its picture's size"),
        ({"png": png(np.full((4, 6), 0x3C01, np.uint16))}, "not within 0 and 1"),
        ({"png": png(np.full((4, 6), 0x7E00, np.uint16))}, "not within 0 and 1"),  # NaN
        ({"png": good["png"][:40]}, "truncated|does not decode"),
        ({"trust.png": png(np.zeros((3, 3), np.uint8))}, "not of its picture's size"),
        ({"json": b"{"}, "unit cannot be read"),
        ({"json": b'{"pseudo": false, "unit": -1}'}, "unit makes no sense"),
        ({"json": b'{"pseudo": false, "unit": NaN}'}, "unit makes no sense"),
        ({"json": b'{"pseudo": false, "unit": 1, "focal": -2}'}, "unit makes no sense"),
        ({"json": b"[]"}, "unit cannot be read"),
        ({"json": b'{"pseudo": 3, "unit": null}'}, "makes no sense"),
    ):
        with pytest.raises(InputError, match=message):
            decode_pair({**good, **change})
    huge = bytearray(png(np.zeros((1, 1), np.uint16)))
    huge[16:24] = (60000).to_bytes(4, "big") * 2
    huge[29:33] = zlib.crc32(huge[12:29]).to_bytes(4, "big")
    with pytest.raises(InputError, match="more than the limit"):
        decode_pair({**good, "png": bytes(huge)})
    del good["png"]
    with pytest.raises(InputError, match=r"has no \.png"):
        decode_pair(good)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "is not a list of shards"),
        ("{", "is not a list of shards"),
        ('{"format": "other", "shards": []}', "is not a list of shards of format"),
        ('{"format": "sightline shards 1", "shards": []}', "lists no shard"),
        (
            '{"format": "sightline shards 1", "shards": '
            '[{"name": "../a.tar", "count": 1, "sha256": ""}]}',
            "which is not a shard's name",
        ),
        (
            '{"format": "sightline shards 1", "shards": '
            '[{"name": "0.tar", "count": 0, "sha256": ""}]}',
            "the empty shard",
        ),
    ],
)
def test_an_index_that_makes_no_sense(tmp_path, text, message):
    (tmp_path / "index.json").write_text(text)
    with pytest.raises(InputError, match=rf"index\.json: .*{message}"):
        ShardPairs(tmp_path)
