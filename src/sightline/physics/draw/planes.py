"""A video with its colours apart, channels first, as networks take it: one pass over the pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, uintp
from numpy.typing import NDArray

from sightline.physics.types import Frames

_LEVELS = np.arange(256, dtype=np.uint8)
_UNIT = (np.arange(256) / 127.5 - 1).astype(np.float32)


def to_planes(frames: Frames, *, floats: bool = False, mirror: bool = False) -> NDArray[Any]:
    """Return a video channels first.

    Args:
        frames: (T, H, W, 3) uint8.
        floats: float32 from −1 (0) to 1 (255) instead of uint8.
        mirror: flip left and right.

    Returns:
        (3, T, H, W).
    """
    count, height, width, _ = frames.shape
    table = _UNIT if floats else _LEVELS
    planes = np.empty((3, count * height, width), table.dtype)
    _spread(np.ascontiguousarray(frames).reshape(count * height, -1), table, mirror, planes)
    return planes.reshape(3, count, height, width)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _spread(rows: Frames, table: NDArray[Any], mirror: bool, planes: NDArray[Any]) -> None:
    """Fill (3, R, W) planes from (R, 3 W) rows; unsigned numbers for the reason of `bodies`."""
    width = uintp(planes.shape[2])
    for row in range(len(rows)):
        pixels = rows[row]
        for channel in range(uintp(3)):
            plane = planes[channel, row]
            if mirror:
                for column in range(width):
                    place = uintp(3) * (width - column - uintp(1)) + channel
                    plane[column] = table[uintp(pixels[place])]
            else:
                for column in range(width):
                    plane[column] = table[uintp(pixels[uintp(3) * column + channel])]
