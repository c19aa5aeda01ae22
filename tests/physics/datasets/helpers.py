"""Samples built by hand, so that these tests need no simulator, and files of them."""

from __future__ import annotations

import h5py
import numpy as np

from sightline.physics.datasets import mp4
from sightline.physics.datasets.writer import encode_samples, write
from sightline.physics.rendering import render
from sightline.physics.types import BLUE, RED, Samples


def two_balls(count: int = 6, frames: int = 5, seed: int = 0) -> Samples:
    """Collisions, as far as the columns are concerned."""
    rng = np.random.default_rng(seed)
    init = rng.uniform(0.5, 1.5, (count, 4))
    start = rng.uniform(2, 8, (count, 1, 2, 2))
    velocities = np.broadcast_to(rng.uniform(-1, 1, (count, 1, 2, 2)), (count, frames, 2, 2)).copy()
    times = 0.1 * np.arange(frames)[:, None, None]
    colors = np.tile(np.array([RED, BLUE], np.uint8), (count, 1, 1))
    shapes = np.zeros((count, 2), np.uint8)
    positions = start + velocities * times
    return Samples("collision", init, positions, velocities, init[:, :2].copy(), colors, shapes)


def one_body(count: int = 6, frames: int = 5, seed: int = 0) -> Samples:
    """One body of any color and shape that curves downward."""
    rng = np.random.default_rng(seed)
    times = 0.1 * np.arange(frames)
    codes = rng.integers(0, 2, count), rng.integers(0, 3, count)
    init = np.stack([rng.uniform(0.7, 1.4, count), rng.uniform(1, 4, count), *codes], axis=1)
    x = rng.uniform(1, 4, (count, 1)) + init[:, 1:2] * times
    y = rng.uniform(6, 9, (count, 1)) - 1.25 * times**2
    speeds = np.broadcast_to(init[:, 1:2], x.shape)
    falling = np.broadcast_to(-2.5 * times, x.shape)
    colors = np.array([RED, BLUE], np.uint8)[codes[0]][:, None]
    return Samples(
        "parabola",
        init,
        np.stack([x, y], -1)[:, :, None],
        np.stack([speeds, falling], -1)[:, :, None],
        init[:, :1].copy(),
        colors,
        codes[1].astype(np.uint8)[:, None],
    )


def assert_same(a: Samples, b: Samples) -> None:
    assert (a.scenario, a.frame_time) == (b.scenario, b.frame_time)
    for name in ("init", "positions", "velocities", "sizes", "colors", "shapes"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
        assert getattr(a, name).dtype == getattr(b, name).dtype, name


def save(path, samples, layout="merged", block=500, size=32, quality="lossless"):
    made = {"seed": 1, "video": quality}
    note = {"scenario": samples.scenario, "frame_time": 0.1, "made": made, "size": size}
    blocks = (
        encode_samples(samples.take(slice(start, start + block)), size, quality)
        for start in range(0, len(samples), block)
    )
    write(path, blocks, len(samples), note, layout)
    return path


def plain(path, samples, key=None, size=32):
    """What the reference itself would write: three streams, no more."""
    positions = samples.positions
    with h5py.File(path, "w") as file:
        name = "{}" if key is None else f"{{}}/{key}"
        positions = positions[:, :, 0] if positions.shape[2] == 1 else positions
        file[name.format("position_streams")] = positions
        file[name.format("init_streams")] = samples.init
        streams = file.create_dataset(
            name.format("video_streams"), (len(samples),), h5py.vlen_dtype(np.uint8)
        )
        for index in range(len(samples)):
            data = mp4.encode(render(samples[index], size))
            streams[index] = np.frombuffer(data, np.uint8)
    return path
