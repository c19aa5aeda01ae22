"""The lossless format: there and back, any video at once, and every kind of damage noticed."""

import hashlib
import json
import pickle
import struct
import zlib
from contextlib import suppress

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.data import pack
from sightline.physics.data.block import Layout
from sightline.physics.data.block import pack as pack_block
from sightline.physics.data.encode import encode_videos
from sightline.physics.data.open import open_dataset
from sightline.physics.render import render

from .helpers import assert_same


def write(path, samples, block=4, size=32, **changes):
    blocks = []
    for start in range(0, len(samples), block):
        some = samples.take(slice(start, start + block))
        whole = pack_block(some, encode_videos(some, size, "runs"))
        blocks.append((whole, hashlib.sha256(whole).hexdigest()))
    layout = Layout.of(samples)
    facts = {
        "scenario": samples.scenario,
        "frame_time": samples.frame_time,
        "made": {"seed": 3},
        "count": len(samples),
        "block": block,
        "size": size,
        "parameters": layout.parameters,
        "frames": layout.frames,
        "bodies": layout.bodies,
    }
    with path.open("wb") as file:
        pack.write(file, blocks, {**facts, **changes})
    return path


@pytest.fixture
def path(tmp_path, samples):
    return write(tmp_path / "a.slv", samples)


def test_everything_comes_back(path, samples):
    with open_dataset(path) as data:
        assert len(data) == 6
        assert_same(data.samples, samples)
        assert data.made == {"seed": 3}
        for index in (5, 0, 4, -1):
            np.testing.assert_array_equal(data.video(index), render(samples[index], 32))
            np.testing.assert_array_equal(data.motion(index).positions, samples.positions[index])
        for start, stop in ((0, 2), (3, 5), (4, 6), (2, 2)):
            assert_same(data.read_samples(start, stop), samples.take(slice(start, stop)))
        data.verify()
        assert [motion.sizes.tolist() for motion, _ in data] == samples.sizes.tolist()


def test_digest_stands_for_the_content(tmp_path, samples):
    one = open_dataset(write(tmp_path / "a.slv", samples)).digest
    assert open_dataset(write(tmp_path / "b.slv", samples)).digest == one
    assert open_dataset(write(tmp_path / "c.slv", samples, size=40)).digest != one


def test_it_survives_a_pickle(path, samples):
    data = pickle.loads(pickle.dumps(open_dataset(path)))
    np.testing.assert_array_equal(data.video(1), render(samples[1], 32))


def test_no_such_video(path):
    data = open_dataset(path)
    for index in (6, -7):
        with pytest.raises(InputError, match="no video"):
            data.video(index)
    data.close()
    data.close()
    with pytest.raises(InputError, match="closed"):
        data.video(0)


def test_every_flipped_byte_is_noticed(path, rng):
    """A bit flipped anywhere ends in one clear error, and never in another video."""
    whole = path.read_bytes()
    with open_dataset(path) as data:
        videos = [data.video(index) for index in range(len(data))]
    for place in [*range(64), *rng.integers(64, len(whole), 60)]:
        damaged = bytearray(whole)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=r"a\.slv"):
            open_dataset(path).verify()
        with suppress(InputError), open_dataset(path) as data:
            for index, video in enumerate(videos):
                np.testing.assert_array_equal(data.video(index), video)


def test_a_damaged_video_costs_no_other(path):
    whole = bytearray(path.read_bytes())
    data = open_dataset(path)
    records = data._records(1)
    offset, _ = records.place(1)
    whole[data._index.places[1][0] + offset + 3] ^= 1
    path.write_bytes(whole)
    data = open_dataset(path)
    assert data.video(4).shape == (5, 32, 32, 3)
    with pytest.raises(InputError, match="checksum of video 1"):
        data.video(5)
    with pytest.raises(InputError, match="block 1 is damaged"):
        data.verify()


def test_every_cut_is_noticed(path):
    whole = path.read_bytes()
    for length in (1, 20, 63, 64, 500, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            open_dataset(path)


def forge(path, change):
    """Change the index and make its hash right again, as somebody who means harm would."""
    whole = path.read_bytes()
    offset, length = struct.unpack_from("<QQ", whole, 16)
    facts = json.loads(whole[offset : offset + length])
    change(facts)
    index = json.dumps(facts).encode()
    head = struct.pack("<16sQQ32s", whole[:16], offset, len(index), hashlib.sha256(index).digest())
    path.write_bytes(head + whole[64:offset] + index)


@pytest.mark.parametrize(
    "change",
    [
        {"count": 10**15},
        {"count": -1},
        {"count": 6.5},
        {"frames": 10**9},
        {"bodies": 10**9},
        {"size": 10**6},
        {"size": True},
        {"block": 0},
        {"frame_time": float("nan")},
        {"blocks": []},
        {"blocks": [[0, 2**63, ""]] * 2},
        {"blocks": "many"},
        {"made": 3},
        {"frames": 6},
        {"scenario": "combinatorial"},
        {"block": 100_000, "count": 100_000, "frames": 1024, "bodies": 64},
    ],
)
def test_a_forged_index_is_refused(path, change):
    forge(path, lambda facts: facts.update(change))
    with pytest.raises(InputError, match=r"makes no sense|checksum of a block"):
        open_dataset(path).video(0)


def test_blocks_do_not_share_their_bytes(path):
    """So that a file cannot claim more videos than it has room for."""

    def repeat(facts):
        facts["count"], facts["blocks"] = 4 * 10_000, facts["blocks"][:1] * 10_000

    forge(path, repeat)
    with pytest.raises(InputError, match="makes no sense"):
        open_dataset(path)


def test_no_videos_at_all(path):
    forge(path, lambda facts: facts.update(count=0, blocks=[]))
    with pytest.raises(InputError, match="holds no video"):
        open_dataset(path)


@pytest.mark.parametrize(("name", "value"), [("offset", 2**64 - 100), ("length", 2**32 - 1)])
def test_a_forged_record_is_refused(path, name, value):
    """Places that run over, or that a sparse file would hold."""
    whole = bytearray(path.read_bytes())
    with open_dataset(path) as data:
        start = data._index.places[0][0]
        table = data._records(0).table.copy()
    table[name][0] = value
    records = table.tobytes()
    checked = records + zlib.crc32(records).to_bytes(4, "little")
    whole[start : start + len(checked)] = checked
    path.write_bytes(whole)
    if name == "length":

        def stretch(facts):
            end = 64 + 2**33
            facts["blocks"] = [[start, end - start, ""], [end, 2**33, ""]]

        forge(path, stretch)
        move_index(path, 64 + 2**34)
    with open_dataset(path) as data, pytest.raises(InputError, match=r"outside|longer than it can"):
        data.video(0)


def move_index(path, place):
    """Put the index far behind, with a hole before it."""
    whole = path.read_bytes()
    offset, length = struct.unpack_from("<QQ", whole, 16)
    with path.open("r+b") as file:
        file.seek(place)
        file.write(whole[offset : offset + length])
        file.seek(16)
        file.write(struct.pack("<Q", place))


def test_a_newer_version_is_named(path):
    forge(path, lambda facts: facts.update(version=2))
    with pytest.raises(InputError, match="version 2 of the format; use a newer"):
        open_dataset(path)


def test_other_files_are_refused(tmp_path):
    for name, content in {"text.slv": b"hello", "empty.slv": b"", "zip.h5": b"PK\3\4" * 9}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            open_dataset(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        open_dataset(tmp_path / "missing.slv")
    with pytest.raises(InputError, match="is a folder"):
        open_dataset(tmp_path)
