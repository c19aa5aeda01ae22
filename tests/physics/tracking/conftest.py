"""Ways to spoil a video, and small worlds to parse."""

from __future__ import annotations

import io

import av
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from sightline.physics.types import BLUE, RED, Motion


def mp4(frames):
    """Through x264 at its default quality, 10 frames a second, yuv420p."""
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    file.seek(0)
    with av.open(file) as container:
        return np.stack([f.to_ndarray(format="rgb24") for f in container.decode(video=0)])


def noise(frames):
    """±5 gray levels."""
    levels = np.random.default_rng(0).integers(-5, 6, frames.shape)
    return np.clip(frames.astype(np.int16) + levels, 0, 255).astype(np.uint8)


def blur(frames):
    """A Gaussian of one pixel."""
    return gaussian_filter(frames.astype(np.float32), (0, 1, 1, 0)).round().astype(np.uint8)


@pytest.fixture
def spoil():
    """Ways to spoil a video, by name."""
    return {"clean": lambda frames: frames, "noise": noise, "blur": blur, "mp4": mp4}


@pytest.fixture
def world():
    """Make a motion from paths: `world([(x, y, vx, vy, r, color, shape)], frames)`."""

    def make(bodies, frames=16, frame_time=0.1):
        time = np.arange(frames) * frame_time
        positions = np.stack(
            [np.stack([b[0] + b[2] * time, b[1] + b[3] * time], axis=-1) for b in bodies], axis=1
        )
        velocities = np.broadcast_to([b[2:4] for b in bodies], positions.shape).astype(np.float64)
        colors = [b[5] if len(b) > 5 else (RED, BLUE)[k % 2] for k, b in enumerate(bodies)]
        shapes = [b[6] if len(b) > 6 else 0 for b in bodies]
        return Motion(
            positions,
            velocities,
            np.array([b[4] for b in bodies], np.float64),
            np.array(colors, np.uint8),
            np.array(shapes, np.uint8),
            frame_time,
        )

    return make
