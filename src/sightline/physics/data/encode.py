"""A block of a data set, from nothing but the settings and its number."""

from __future__ import annotations

from typing import cast

from sightline.physics.data import mp4, runs
from sightline.physics.data.block import pack
from sightline.physics.data.spec import BLOCK, DataSpec, draw
from sightline.physics.render import Canvas
from sightline.physics.types import Samples


def make_block(spec: DataSpec, number: int, videos: int) -> bytes:
    """Simulate, render and encode a block. Pure: the same bytes wherever it runs.

    Args:
        spec: of the data set.
        number: of the block; it begins with video `BLOCK` times this.
        videos: how many.
    """
    samples = draw(spec, number * BLOCK, videos)
    return pack(samples, encode_videos(samples, spec.size, spec.video))


def encode_videos(samples: Samples, size: int, video: str) -> list[bytes]:
    """Render samples and encode each as runs or mp4 (see `DataSpec.video`)."""
    canvas = Canvas(size, samples.positions.shape[1])
    encoded = []
    for index in range(len(samples)):
        frames = canvas.paint(samples[index])
        if video == "runs":
            encoded.append(runs.encode(frames, canvas.boxes))
        else:
            encoded.append(mp4.encode(frames, cast(mp4.Quality, video)))
    return encoded
