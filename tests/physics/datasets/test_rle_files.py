"""Files with run-length coded videos: round trip, random access, and damage that is noticed."""

import pickle
from contextlib import suppress

import h5py
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.rendering import render

from .helpers import assert_same, save


@pytest.fixture
def path(tmp_path, samples):
    return save(tmp_path / "a.h5", samples, block=4, quality="rle")


@pytest.mark.parametrize("layout", ["merged", "shard"])
def test_everything_comes_back(tmp_path, samples, layout):
    path = save(tmp_path / "a.h5", samples, layout, block=4, quality="rle")
    with open_dataset(path) as data:
        assert len(data) == 6
        assert_same(data.samples, samples)
        assert data.made["seed"] == 1
        assert not data.lossy
        for index in (5, 0, 4, -1):
            np.testing.assert_array_equal(data.video(index), render(samples[index], 32))
            np.testing.assert_array_equal(data.motion(index).positions, samples.positions[index])
        for start, stop in ((0, 2), (3, 5), (4, 6)):
            assert_same(data.read_samples(start, stop), samples.take(slice(start, stop)))
        assert len(data.read_samples(2, 2)) == 0
        assert [motion.sizes.tolist() for motion, _ in data] == samples.sizes.tolist()


def test_digest_stands_for_the_content(tmp_path, samples):
    one = open_dataset(save(tmp_path / "a.h5", samples, quality="rle")).digest
    assert open_dataset(save(tmp_path / "b.h5", samples, quality="rle")).digest == one
    assert open_dataset(save(tmp_path / "c.h5", samples, size=40, quality="rle")).digest != one


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
    with pytest.raises(InputError, match=r"a\.h5"):
        data.video(0)


def test_a_flipped_byte_never_gives_another_video(path, rng):
    whole = path.read_bytes()
    with open_dataset(path) as data:
        videos = [data.video(index) for index in range(len(data))]
    for place in rng.integers(0, len(whole), 40):
        damaged = bytearray(whole)
        damaged[place] ^= 4
        path.write_bytes(damaged)
        with suppress(InputError), open_dataset(path) as data:
            for index, video in enumerate(videos):
                np.testing.assert_array_equal(data.video(index), video)


def test_a_damaged_video_costs_no_other(path, samples):
    whole = bytearray(path.read_bytes())
    with h5py.File(path) as file:
        encoded = file["rle_streams/00000"][5].tobytes()
    place = whole.index(encoded)
    whole[place + 3] ^= 1
    path.write_bytes(whole)
    with open_dataset(path) as data:
        np.testing.assert_array_equal(data.video(4), render(samples[4], 32))
        with pytest.raises(
            InputError, match="sample 5 of rle_streams/00000: the checksum is wrong"
        ):
            data.video(5)


def test_every_cut_is_noticed(path):
    whole = path.read_bytes()
    for length in (1, 20, 63, 500, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(InputError):
            open_dataset(path)


@pytest.mark.parametrize("size", [None, "32", 5, 10**6, 33])
def test_a_wrong_frame_size_is_refused(path, size):
    import json

    with h5py.File(path, "a") as file:
        note = json.loads(file.attrs["sightline"])
        file.attrs["sightline"] = np.bytes_(json.dumps({**note, "size": size}))
    with open_dataset(path) as data, pytest.raises(InputError, match=r"frame size|damaged"):
        data.video(0)


def test_other_files_are_refused(tmp_path):
    for name, content in {"text.h5": b"hello", "empty.h5": b"", "zip.h5": b"PK\3\4" * 9}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            open_dataset(tmp_path / name)
    with pytest.raises(InputError, match="no such file"):
        open_dataset(tmp_path / "missing.h5")
    with pytest.raises(InputError, match="is a folder"):
        open_dataset(tmp_path)
