"""Squares over all frames: bounds by their sides, and steady motion where their pixels allow it.

The fit of a frame (`fit`) puts a square anywhere in the bounds that its pixels leave (`sides`),
which is most of a pixel, so its velocity would be noise. Squares are the only bodies for which frames
know of each other, and only where their pixels are just those of a steady motion (`straight`).

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import COLOUR
from sightline.physics.parse.edge import SOFT
from sightline.physics.parse.fit import SIGMA_X, R
from sightline.physics.parse.follow import NOTHING
from sightline.physics.parse.outline import UNKNOWN
from sightline.physics.parse.refine import OTHER_SIZE, neighbour
from sightline.physics.parse.sides import BOUNDS, HIGH, HIGH_R, LOW, LOW_R, find_sides
from sightline.physics.parse.straight import next_stretch
from sightline.physics.types import Doubles, Frames

_SQUARE = 1
_SLACK = 0.01  # px by which bounds may be overstepped
_UNTIED = 0.1  # px; what the half side adds to the uncertainty of a frame by itself
_BLURRED = 0.05  # px; least uncertainty in a video that is not sharp
_WINDOW = 4  # frames to each side that are shifted together when uncertainties are measured


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def settle_squares(
    frames: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Doubles,
    clean: NDArray[np.bool_],
    crowded: NDArray[np.bool_],
    shapes: NDArray[np.uint8],
    chosen: NDArray[np.int64],
    notes: NDArray[np.int64],
    sizes: Doubles,
    kinds: NDArray[np.uint8],
    out: Doubles,
) -> None:  # pragma: no cover (compiled)
    """Place squares, run by run of frames in which they are squares of their size.

    Changes `out`, the (T, N, FIT_FIELDS) places of bodies, and the `sizes` of squares; the other
    arguments are those of `refine`.
    """
    count = len(frames)
    bounds = np.empty((count, 2, 2, BOUNDS))
    for k in range(out.shape[1]):
        first, longest = 0, 0
        size = sizes[k]
        for t in range(count + 1):
            blob = chosen[t, k] if t < count else -1
            if blob >= 0 and _is_square(
                shapes[t, blob], kinds[k], notes[t, k], clean[t, blob], out[t, k, R], sizes[k]
            ):
                row = table[t, blob]
                colour = row[COLOUR]
                if crowded[t, blob]:
                    colour = neighbour(table[t], number[t], places[t], blob)
                find_sides(frames[t], mix[row[COLOUR], colour], edge, out[t, k], bounds[t])
                continue
            if t > first:
                start = sizes[k] if sizes[k] > 0 else out[first, k, R]
                r, steady = _settle(bounds[first:t], start, edge[2], out[first:t, k])
                if steady > longest and kinds[k] == _SQUARE and sizes[k] > 0:
                    size, longest = r, steady
            first = t + 1
        sizes[k] = size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_square(
    shape: int, kind: int, note: int, clean: bool, radius: float, size: float
) -> bool:  # pragma: no cover
    """Whether a body is a square of its size in a frame, as far as can be seen."""
    if (kind if shape == UNKNOWN else shape) != _SQUARE or note != NOTHING:
        return False
    return not clean or size == 0 or abs(radius - size) < OTHER_SIZE * size


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _settle(
    bounds: Doubles, size: float, rest: Doubles, out: Doubles
) -> tuple[float, int]:  # pragma: no cover
    """Place a square in a run of frames; return half side and length of its longest stretch."""
    n = len(bounds)
    path = np.empty((n, 2))
    slack = _SLACK + 3 * SOFT / 2 * size * rest[2]
    size_found, longest = size, 0
    first = 0
    while first < n:
        length, r = next_stretch(bounds[first:], size_found, slack, rest[3] > 0, path[first:])
        if length > 0 and abs(r - size) < OTHER_SIZE * size:
            if length > longest:
                size_found, longest = r, length
            last = first + length
            _accept(bounds[first:last], path[first:last], r, rest, out[first:last])
            first = last
        else:
            _alone(bounds[first], size_found, rest, out[first])
            first += 1
    return size_found, longest


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _alone(bound: Doubles, r: float, rest: Doubles, out: Doubles) -> None:  # pragma: no cover
    """Put a square in the middle of the bounds of its frame."""
    for axis in range(2):
        low, high = -np.inf, np.inf
        for side in range(2):
            low = max(low, bound[axis, side, LOW] + bound[axis, side, LOW_R] * r)
            high = min(high, bound[axis, side, HIGH] + bound[axis, side, HIGH_R] * r)
        if high - low < np.inf:
            out[axis] = (low + high) / 2
            out[SIGMA_X + axis] = sqrt(_sigma(high - low, r, rest) ** 2 + _UNTIED**2)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sigma(free: float, r: float, rest: Doubles) -> float:  # pragma: no cover
    """Return the standard deviation of a place that may be anywhere on a way of this length."""
    least = SOFT / 2 * r * rest[2] if rest[3] > 0 else _BLURRED
    return sqrt(free * free / 12 + least * least)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _accept(
    bounds: Doubles, path: Doubles, r: float, rest: Doubles, out: Doubles
) -> None:  # pragma: no cover
    """Take a stretch over; its uncertainty is how far a piece of it may shift within the bounds."""
    n = len(path)
    for axis in range(2):
        for t in range(n):
            down, up = np.inf, np.inf
            for other in range(max(0, t - _WINDOW), min(n, t + _WINDOW + 1)):
                for side in range(2):
                    bound = bounds[other, axis, side]
                    x = path[other, axis]
                    down = min(down, max(x - bound[LOW] - bound[LOW_R] * r, 0.0))
                    up = min(up, max(bound[HIGH] + bound[HIGH_R] * r - x, 0.0))
            out[t, axis] = path[t, axis]
            out[t, SIGMA_X + axis] = _sigma(min(down + up, 1.0), r, rest)
