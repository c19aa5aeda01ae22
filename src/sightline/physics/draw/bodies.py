"""Balls, squares and rings with soft edges, row by row, touching only what they cover.

The picture of the reference (`R-PHY` id_ood_data): pixel (column c, row k from the bottom) stands at
(grid[c], grid[k]) of the unit square, grid = linspace(0, 1, S) with both ends. A body of centre p and
size r, both over the side of the world, has the opacity

    a(d, r) = clip((r² − d²) / (0.03 r²), 0, 1)

where d is the distance to p: Euclidean for a ball, the larger of |dx| and |dy| for a square (so that
its edge is as soft as a ball's). A ring is a ball without its middle: a(d, r) · (1 − a(d, h)) with
h = `HOLE` · r. The new value of a pixel is (1 − a) · old + a · colour, cut to a whole number as the
reference cuts it. The reference cuts once after all bodies, this after each: where the soft edges of
two bodies meet in one pixel it may be one level darker, and everywhere else it is the same byte.

In each row the formula is evaluated on the few soft pixels only: between them the body is opaque.
Inner loops count in unsigned numbers: for signed ones numba provides for negative indexes, which keeps
the compiler from making one copy or one fill of the loop, at eight times the cost.
"""

from __future__ import annotations

from math import ceil, floor, sqrt

import numpy as np
from numba import njit, uintp
from numpy.typing import NDArray

from sightline.physics.types import Doubles, Frames

#: Width of the soft edge, as a share of r².
EDGE = 0.03
#: Radius of the hole of a ring, as a share of the ring's.
HOLE = 0.5

WHITE = 255
_SQUARE, _RING = 1, 2  # values of `Shape`, as numbers that compiled code knows
_SLACK = 1e-5  # pixels; pixels this near to where opaque begins are evaluated, to be sure
_NOWHERE = (0, -1)


@njit(cache=True)  # type: ignore[untyped-decorator]
def paint(
    frames: Frames,
    grid: Doubles,
    positions: Doubles,
    sizes: Doubles,
    colours: NDArray[np.uint8],
    shapes: NDArray[np.uint8],
    boxes: NDArray[np.int32],
) -> bool:
    """Wipe what the boxes say, paint a video, and say in the boxes what is painted.

    Returns False, with nothing touched, for what cannot be drawn: see `positions`, `sizes`, `shapes`.

    Args:
        frames: (T, S·S·3) uint8, white outside the boxes; row 0 at the top.
        grid: (S,) linspace(0, 1, S).
        positions: (T, N, 2) centres (x, y) over the side of the world; must be finite.
        sizes: (N,) over the side of the world; must be finite and positive.
        colours: (N, 3) RGB.
        shapes: (N,) values of `Shape`.
        boxes: (T, N, 4) int32, rows from, to and columns from, to (`to` is not part of it).
    """
    if not np.isfinite(positions.sum()):
        return False
    for body in range(len(sizes)):
        if not (0 < sizes[body] < np.inf and shapes[body] <= _RING):
            return False
    size = len(grid)
    fills = np.empty((len(sizes), 3 * size), np.uint8)
    for body in range(len(sizes)):
        for column in range(size):
            for channel in range(3):
                fills[body, 3 * column + channel] = colours[body, channel]
    for frame in range(len(frames)):
        pixels = frames[frame]
        for body in range(len(sizes)):
            _wipe(pixels, size, boxes[frame, body])
        for body in range(len(sizes)):
            x, y = positions[frame, body]
            shape = shapes[body]
            _paint_body(pixels, grid, x, y, sizes[body], shape, fills[body], boxes[frame, body])
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _wipe(pixels: Frames, size: int, box: NDArray[np.int32]) -> None:
    """Make a box white."""
    for row in range(box[0], box[1]):
        start = row * size
        for byte in range(uintp(3 * (start + box[2])), uintp(3 * (start + box[3]))):
            pixels[byte] = WHITE


@njit(cache=True)  # type: ignore[untyped-decorator]
def _paint_body(
    pixels: Frames,
    grid: Doubles,
    x: float,
    y: float,
    r: float,
    shape: int,
    fill: NDArray[np.uint8],
    box: NDArray[np.int32],
) -> None:
    """Paint one body into one picture; `box` becomes what it covers."""
    size = len(grid)
    first, last = _covered(y, r, size)
    left, right = _covered(x, r, size)
    if last < first or right < left:
        box[:] = 0
        return
    box[0], box[1], box[2], box[3] = size - 1 - last, size - first, left, right + 1
    for k in range(first, last + 1):
        row = pixels[3 * size * (size - 1 - k) : 3 * size * (size - k)]
        up = grid[k] - y
        begin, end = _span(x, up, r * r, shape, size, -_SLACK)
        opaque_begin, opaque_end = _span(x, up, (1 - EDGE) * r * r, shape, size, _SLACK)
        if opaque_end < opaque_begin:  # a row of soft pixels only
            opaque_begin, opaque_end = end + 1, end
        hole = HOLE * r
        if shape == _RING and abs(up) < hole:
            soft_begin, soft_end = _span(x, up, hole * hole, shape, size, -_SLACK)
            open_begin, open_end = _span(x, up, (1 - EDGE) * hole * hole, shape, size, _SLACK)
            if soft_begin <= soft_end:
                if open_end < open_begin:
                    open_begin, open_end = soft_begin, soft_begin - 1
                half = (row, grid, x, up, r, shape, fill)
                _paint_run(*half, begin, open_begin - 1, opaque_begin, soft_begin - 1)
                _paint_run(*half, open_end + 1, end, soft_end + 1, opaque_end)
                continue
        _paint_run(row, grid, x, up, r, shape, fill, begin, end, opaque_begin, opaque_end)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _covered(centre: float, r: float, size: int) -> tuple[int, int]:
    """Return the first and last pixel of the picture that a body may touch, along one axis."""
    low, high = (centre - r) * (size - 1) - _SLACK, (centre + r) * (size - 1) + _SLACK
    if high < 0 or low > size - 1:
        return _NOWHERE
    return ceil(max(low, 0.0)), floor(min(high, size - 1.0))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _span(
    x: float, up: float, square: float, shape: int, size: int, inset: float
) -> tuple[int, int]:
    """Return first and last column where d² < `square`, each `inset` pixels further in.

    `up` is the height of the row over the centre; no column when the first is after the last.
    """
    left = square - up * up
    if left <= 0:
        return _NOWHERE
    half = sqrt(square) if shape == _SQUARE else sqrt(left)
    low, high = (x - half) * (size - 1) + inset, (x + half) * (size - 1) - inset
    if high < 0 or low > size - 1:
        return _NOWHERE
    return ceil(max(low, 0.0)), floor(min(high, size - 1.0))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _paint_run(
    row: Frames,
    grid: Doubles,
    x: float,
    up: float,
    r: float,
    shape: int,
    fill: NDArray[np.uint8],
    begin: int,
    end: int,
    opaque_begin: int,
    opaque_end: int,
) -> None:
    """Paint columns `begin` to `end` of a row, of which some in the middle are opaque."""
    if opaque_end < opaque_begin:
        opaque_begin, opaque_end = end + 1, end
    for column in range(begin, opaque_begin):
        _blend(row, grid[column] - x, up, r, shape, fill, column)
    for byte in range(uintp(3 * opaque_begin), uintp(3 * (opaque_end + 1))):
        row[byte] = fill[byte]
    for column in range(opaque_end + 1, end + 1):
        _blend(row, grid[column] - x, up, r, shape, fill, column)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _blend(
    row: Frames, right: float, up: float, r: float, shape: int, fill: NDArray[np.uint8], column: int
) -> None:
    """Lay a body over one pixel, by the formula."""
    square = right * right + up * up
    if shape == _SQUARE:
        square = max(right * right, up * up)
    opacity = _opacity(square, r)
    if shape == _RING:
        opacity *= 1 - _opacity(square, HOLE * r)
    for channel in range(uintp(3 * column), uintp(3 * column + 3)):
        row[channel] = np.uint8((1 - opacity) * row[channel] + opacity * fill[channel])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _opacity(square: float, r: float) -> float:
    return min(max((r * r - square) / (r * r * EDGE), 0.0), 1.0)
