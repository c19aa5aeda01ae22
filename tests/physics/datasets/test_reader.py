"""The reference's layout: as plain h5py sees it, there and back, and files without our additions."""

import io
import time

import av
import h5py
import numpy as np
import pytest

from sightline.physics.datasets import mp4
from sightline.physics.datasets.reader import differences, open_dataset
from sightline.physics.rendering import render

from .helpers import assert_same, one_body, plain, save, two_balls


@pytest.mark.parametrize("layout", ["merged", "shard"])
def test_everything_comes_back(tmp_path, samples, layout):
    path = save(tmp_path / "a.h5", samples, layout, block=4)
    with open_dataset(path) as data:
        assert_same(data.samples, samples)
        assert (len(data), data.made["seed"]) == (6, 1)
        assert layout in data.format
        for index in (5, 0, -1):
            np.testing.assert_array_equal(data.video(index), render(samples[index], 32))


def test_plain_h5py_sees_the_layout_of_the_reference(tmp_path):
    samples = two_balls(1003, frames=2)
    path = save(tmp_path / "a.h5", samples, block=250, size=16)
    with h5py.File(path) as file:
        for name in ("video_streams", "position_streams", "init_streams"):
            assert list(file[name]) == ["00000", "00001"]
        np.testing.assert_array_equal(file["position_streams/00000"], samples.positions[:1000])
        assert file["position_streams/00001"].shape == (3, 2, 2, 2)
        np.testing.assert_array_equal(file["init_streams/00001"], samples.init[1000:])
        streams = file["video_streams/00001"]
        assert streams.shape == (3,)
        assert h5py.check_vlen_dtype(streams.dtype) == np.uint8
        with av.open(io.BytesIO(streams[2].tobytes())) as container:
            frames = [f.to_ndarray(format="rgb24") for f in container.decode(video=0)]
    np.testing.assert_array_equal(frames, render(samples[1002], 16))
    with open_dataset(path) as data:
        assert len(data) == 1003
        assert_same(data.read_samples(998, 1002), samples.take(slice(998, 1002)))
        np.testing.assert_array_equal(data.video(1001), render(samples[1001], 16))


def test_flipped_frames_meet_the_positions(tmp_path, single):
    """As the reference's evaluator compares them: flip, then rows grow with y."""
    path = save(tmp_path / "a.h5", single, "shard", size=64, quality="standard")
    with h5py.File(path) as file:
        assert file["position_streams"].shape == (6, 5, 2)
        frames = mp4.decode(file["video_streams"][0].tobytes())[:, ::-1]
        x, y = file["position_streams"][0, 0]
    rows, columns = np.nonzero(frames[0].min(axis=2) < 128)
    assert abs(rows.mean() / 64 * 10 - y) < 0.2
    assert abs(columns.mean() / 64 * 10 - x) < 0.2


@pytest.mark.parametrize("layout", ["merged", "shard"])
@pytest.mark.parametrize("count", [1, 3])
def test_videos_of_the_same_length(tmp_path, layout, count):
    """One alone, or some that are all alike, of which h5py would gladly make one array."""
    samples = two_balls(1, frames=2).take(np.zeros(count, np.int64))
    path = save(tmp_path / "a.h5", samples, layout, block=2, size=16)
    with open_dataset(path) as data:
        assert_same(data.samples, samples)
        for index in range(count):
            np.testing.assert_array_equal(data.video(index), render(samples[0], 16))


def test_the_same_bytes_later(tmp_path, samples):
    one = save(tmp_path / "a.h5", samples).read_bytes()
    time.sleep(1.1)  # times are kept in seconds, if at all
    assert save(tmp_path / "b.h5", samples).read_bytes() == one


def test_digest_is_that_of_the_file(tmp_path, samples):
    import hashlib

    path = save(tmp_path / "a.h5", samples)
    assert open_dataset(path).digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("key", [None, "00000"])
def test_released_collisions(tmp_path, pair, key):
    with open_dataset(plain(tmp_path / "a.hdf5", pair, key)) as data:
        assert (data.scenario, len(data), data.made) == ("collision", 6, {})
        samples = data.samples
        np.testing.assert_array_equal(samples.sizes, pair.init[:, :2])
        np.testing.assert_array_equal(samples.colors, pair.colors)
        # Nothing is accelerated here, so that differences are the velocities.
        np.testing.assert_allclose(samples.velocities, pair.velocities, atol=1e-12)
        assert data.video(2).shape == (5, 32, 32, 3)


@pytest.mark.parametrize("columns", [2, 3, 4])
def test_released_single_bodies(tmp_path, single, columns):
    cut = single.take(slice(None))
    object.__setattr__(cut, "init", single.init[:, :columns])
    with open_dataset(plain(tmp_path / "a.hdf5", cut)) as data:
        samples = data.samples
        assert data.scenario == "parabola"
        assert samples.positions.shape == (6, 5, 1, 2)
        np.testing.assert_array_equal(samples.sizes, single.sizes)
        if columns > 2:
            np.testing.assert_array_equal(samples.colors, single.colors)
        if columns > 3:
            np.testing.assert_array_equal(samples.shapes, single.shapes)


def test_straight_lines_are_uniform(tmp_path):
    flat = one_body()
    flat.positions[..., 1] = 5
    assert open_dataset(plain(tmp_path / "a.hdf5", flat)).scenario == "uniform"


def test_shards_are_in_the_order_of_their_numbers(tmp_path, pair):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for key in ("00010", "00002"):
            file[f"position_streams/{key}"] = pair.positions + int(key)
            file[f"init_streams/{key}"] = pair.init
            streams = file.create_dataset(f"video_streams/{key}", (6,), h5py.vlen_dtype(np.uint8))
            streams[:] = [np.zeros(3, np.uint8)] * 6
    with open_dataset(tmp_path / "a.h5") as data:
        np.testing.assert_array_equal(data.motion(0).positions, pair.positions[0] + 2)
        np.testing.assert_array_equal(data.motion(6).positions, pair.positions[0] + 10)


def test_differences():
    positions = np.array([0.0, 1.0, 3.0]).reshape(1, 3, 1, 1) * np.ones(2)
    np.testing.assert_allclose(differences(positions, 0.5)[0, :, 0, 0], [2, 4, 4])
    assert differences(positions[:, :1], 0.5).shape == (1, 1, 1, 2)
