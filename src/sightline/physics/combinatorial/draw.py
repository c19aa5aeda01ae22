"""Compiled loops that fill circles and quadrilaterals with soft edges a pixel wide.

Pixel (column c, row k from the top) covers a square of side 1 around (c + 0.5, k + 0.5). Its opacity is
what a box of one pixel, turned along the edges of the part, sees of it:

    circle          the overlap of the box with the disc along the line to its centre
    quadrilateral   across one pair of opposite edges times across the other: exact for rectangles
                    along the axes, and near enough for all others

Parts of a body are laid over each other as if they had nothing to do with each other, which is right
where sticks cross and a shade too dark, in a few pixels, where the parts of a jar share an edge.
"""

from __future__ import annotations

from math import ceil, floor, hypot

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import Doubles, Frames


@njit(cache=True)  # type: ignore[untyped-decorator]
def paint_bodies(
    frames: Frames, corners: Doubles, radii: Doubles, ends: NDArray[np.int64], colours: Frames
) -> None:
    """Paint a video; later bodies over earlier ones.

    Args:
        frames: (T, S, S, 3) uint8, row 0 at the top; what is there shows where no body is.
        corners: (T, P, 4, 2) float64 (column, row) in [px] from the upper left corner of the picture.
        radii: (P,) in [px]; 0 for quadrilaterals.
        ends: (N,) body n has the parts from ends[n − 1] to before ends[n].
        colours: (N, 3) uint8 RGB.
    """
    size = frames.shape[1]
    edges = np.empty((corners.shape[1], 4, 3))
    for frame in range(len(frames)):
        begin = 0
        for body in range(len(ends)):
            end = ends[body]
            for part in range(begin, end):
                if radii[part] == 0:
                    _find_edges(corners[frame, part], edges[part])
            low_x, high_x = _range(corners[frame, begin:end, :, 0], radii[begin:end], size)
            low_y, high_y = _range(corners[frame, begin:end, :, 1], radii[begin:end], size)
            for row in range(low_y, high_y):
                for column in range(low_x, high_x):
                    x, y = column + 0.5, row + 0.5
                    opacity = 0.0
                    for part in range(begin, end):
                        if radii[part] > 0:
                            centre = corners[frame, part, 0]
                            seen = _disc(x - centre[0], y - centre[1], radii[part])
                        else:
                            seen = _quad(x, y, edges[part])
                        opacity += (1 - opacity) * seen
                    if opacity > 0:
                        for channel in range(3):
                            old = frames[frame, row, column, channel]
                            new = (1 - opacity) * old + opacity * colours[body, channel]
                            frames[frame, row, column, channel] = np.uint8(new + 0.5)
            begin = end


@njit(cache=True)  # type: ignore[untyped-decorator]
def _range(values: Doubles, radii: Doubles, size: int) -> tuple[int, int]:
    """Return first and behind last pixel of the picture that parts may touch, along one axis."""
    low, high = np.inf, -np.inf
    for part in range(len(radii)):
        for corner in range(4):
            low = min(low, values[part, corner] - radii[part])
            high = max(high, values[part, corner] + radii[part])
    return max(floor(low - 1), 0), min(ceil(high + 1), size)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _find_edges(quad: Doubles, edges: Doubles) -> None:
    """Write the four edges as (a, b, c): a x + b y + c is the distance inward, in [px]."""
    middle_x, middle_y = quad[:, 0].mean(), quad[:, 1].mean()
    for corner in range(4):
        start, end = quad[corner], quad[(corner + 1) % 4]
        along_x, along_y = end[0] - start[0], end[1] - start[1]
        length = hypot(along_x, along_y)
        a, b = -along_y / length, along_x / length
        c = -(a * start[0] + b * start[1])
        sign = 1.0 if a * middle_x + b * middle_y + c >= 0 else -1.0
        edges[corner, 0], edges[corner, 1], edges[corner, 2] = sign * a, sign * b, sign * c


@njit(cache=True)  # type: ignore[untyped-decorator]
def _quad(x: float, y: float, edges: Doubles) -> float:
    """Return the opacity of a quadrilateral at a pixel."""
    opacity = 1.0
    for pair in range(2):
        across = -1.0
        for edge in (pair, pair + 2):
            distance = edges[edge, 0] * x + edges[edge, 1] * y + edges[edge, 2]
            across += min(max(distance + 0.5, 0.0), 1.0)
        if across <= 0:
            return 0.0
        opacity *= across
    return opacity


@njit(cache=True)  # type: ignore[untyped-decorator]
def _disc(right: float, down: float, radius: float) -> float:
    """Return the opacity of a disc at a pixel this far from its centre."""
    distance = hypot(right, down)
    far, near = min(radius, distance + 0.5), max(-radius, distance - 0.5)
    return min(max(far - near, 0.0), 1.0)
