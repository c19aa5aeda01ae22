"""Render combinatorial worlds.

The picture is that of PHYRE (src/simulator/image_to_box2d.cpp, vis.py): flat colors on white, the red
ball last; neither walls nor the rotation of balls are visible. Pixels are squares that fill the scene:
the point (x, y) is at column x · S and row (1 − y) · S from the upper left corner. This is not the
grid of the other worlds. Edges are antialiased where those of PHYRE are hard.

Pixel (column c, row k from the top) covers a square of side 1 around (c + 0.5, k + 0.5). Its opacity
is the part of a box of one pixel, aligned with the edges of the part, that the part covers:

    circle          the overlap of the box with the disc along the line to its center
    quadrilateral   across one pair of opposite edges times across the other: exact for rectangles
    along the
                    axes, a good approximation for all others

Parts of a body are blended independently, which is right where sticks cross and slightly too dark, in
a few pixels, where the parts of a jar share an edge.
"""

from __future__ import annotations

from math import ceil, floor, hypot

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import (
    ANGLE,
    DIAMETER,
    X,
    Y,
    colors,
    outlines,
    parts_of,
    turned,
)
from sightline.physics.combinatorial.simulation import CombinatorialSample
from sightline.physics.rendering import check_size
from sightline.physics.types import Doubles, Frames

#: Pixels along a side of the reference's videos.
SIZE = 256

_WHITE = 255


def render_scene(sample: CombinatorialSample, size: int = SIZE) -> Frames:
    """Return the video of a sample: (T, size, size, 3) uint8 RGB, row 0 at the top."""
    return render_objects(sample.objects, size)


def render_objects(objects: Doubles, size: int = SIZE) -> Frames:
    """Return the video of features: they say all that is to be seen.

    Args:
        objects: (T, N, 14) as in `bodies`.
        size: width and height in [px], 16 to 1024.

    Returns:
        (T, size, size, 3) uint8 RGB, row 0 at the top.
    """
    corners, radii, ends = place_parts(objects)
    if not np.isfinite(corners).all():
        raise InputError("an object is at a place that is not finite")
    corners[..., 1] = 1 - corners[..., 1]
    frames = np.full((len(objects), check_size(size), size, 3), _WHITE, np.uint8)
    paint_bodies(frames, corners * size, radii * size, np.asarray(ends), colors(objects))
    return frames


def place_parts(objects: Doubles) -> tuple[Doubles, Doubles, list[int]]:
    """Return where the parts of objects are in each frame.

    Args:
        objects: (T, N, 14) features.

    Returns:
        (T, P, 4, 2) corners (x, y) in scene units, (P,) radii (`outlines.BodyParts`), and for each
        object the number of the part behind its last.
    """
    corners, radii = [], []
    ends: list[int] = []
    for place, outline in enumerate(outlines(objects)):
        rows = objects[:, place]
        parts = parts_of(outline, float(rows[0, DIAMETER]))
        corners.append(turned(parts.corners, rows[:, X], rows[:, Y], 2 * np.pi * rows[:, ANGLE]))
        radii.append(parts.radii)
        ends.append(len(parts.radii) + (ends[-1] if ends else 0))
    return np.concatenate(corners, axis=1), np.concatenate(radii), ends


@njit(cache=True)  # type: ignore[untyped-decorator]
def paint_bodies(
    frames: Frames, corners: Doubles, radii: Doubles, ends: NDArray[np.int64], colors: Frames
) -> None:
    """Paint a video; later bodies over earlier ones.

    Args:
        frames: (T, S, S, 3) uint8, row 0 at the top; what is there shows where no body is.
        corners: (T, P, 4, 2) float64 (column, row) in [px] from the upper left corner of the picture.
        radii: (P,) in [px]; 0 for quadrilaterals.
        ends: (N,) body n has the parts from ends[n − 1] to before ends[n].
        colors: (N, 3) uint8 RGB.
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
                            center = corners[frame, part, 0]
                            seen = _disc(x - center[0], y - center[1], radii[part])
                        else:
                            seen = _quad(x, y, edges[part])
                        opacity += (1 - opacity) * seen
                    if opacity > 0:
                        for channel in range(3):
                            old = frames[frame, row, column, channel]
                            new = (1 - opacity) * old + opacity * colors[body, channel]
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
    """Return the opacity of a disc at a pixel this far from its center."""
    distance = hypot(right, down)
    far, near = min(radius, distance + 0.5), max(-radius, distance - 0.5)
    return min(max(far - near, 0.0), 1.0)
