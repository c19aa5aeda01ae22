"""Where the four sides of a square may be, from the pixels of one frame.

All pixels along a straight side change at once: at 128 pixels the soft edge is a fifth of a pixel
wide, so in four frames of five no column is half covered, and any place within most of a pixel
gives the very same picture. So what a frame says about a side is not a place but bounds. They are
linear in the half side r, which all frames share: with a column c that is opaque, half covered (a)
or empty,

    |c - x| ≤ r √(1 - 0.03),   |c - x| = r √(1 - 0.03 a),   |c - x| ≥ r.

A video that is not as sharp as drawn was drawn before it was blurred, so its sides are as unsure:
the sum of the coverage across a side says where it was drawn, to half a pixel.

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import ceil, floor

import numpy as np
from numba import njit

from sightline.physics.parse.edge import HALF, LEVELS
from sightline.physics.parse.fit import R, X, coverage
from sightline.physics.types import Doubles, Frames

#: What is said about one side: c and s of the bounds c + s r on the centre, from below and above.
LOW, LOW_R, HIGH, HIGH_R = range(4)
BOUNDS = 4

_ACROSS = 0.75  # share of a side that is looked at: corners are left out
_REACH = 2.5  # px to each side of an edge that are looked at
_DRAWN = 0.42  # px; how far from its blurred place a side may have been drawn
_FOREIGN = 0.02  # share of another body's colour that spoils a pixel, beside the noise


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_sides(
    picture: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    place: Doubles,
    out: Doubles,
) -> None:  # pragma: no cover (compiled)
    """Bound the centre of a square by each of its sides.

    Args:
        picture: (H, W, 3) uint8.
        mix: (2, 3) takes a pixel apart into the square's colour and its neighbour's.
        edge: of the video, packed.
        place: where it is to within a pixel or so.
        out: (2, 2, BOUNDS) receives the bounds by axis (x, y) and side (the lower, the higher);
            infinite where a side does not show.
    """
    scale, _, rest = edge
    sharp = rest[3] > 0
    reach = _REACH if sharp else _REACH + 2 * rest[5]
    reach = min(reach, max(0.5 * place[R], 1.0))
    profile = np.empty(2 * int(reach + 2) + 1)
    for axis in range(2):
        for side in range(2):
            out[axis, side, LOW], out[axis, side, HIGH] = -np.inf, np.inf
            out[axis, side, LOW_R] = out[axis, side, HIGH_R] = 0.0
            sign = 2 * side - 1  # outwards
            at = place[axis] + sign * place[R] * HALF
            # Columns from `first`, which is inside, outwards.
            first = ceil(at - reach) if side == 1 else floor(at + reach)
            last = floor(at + reach) if side == 1 else ceil(at - reach)
            steps = sign * (last - first)
            count = _profile(picture, mix, rest, place, axis, first, sign, steps, profile)
            if count == 0:
                continue
            if sharp:
                _bound_sharp(profile[:count], scale, rest, first, sign, out[axis, side])
            elif count == steps + 1:
                drawn = first + sign * (profile[:count].sum() - 0.5)
                out[axis, side, LOW], out[axis, side, HIGH] = drawn - _DRAWN, drawn + _DRAWN
                out[axis, side, LOW_R] = out[axis, side, HIGH_R] = -sign * HALF


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _profile(
    picture: Frames,
    mix: Doubles,
    rest: Doubles,
    place: Doubles,
    axis: int,
    first: int,
    sign: int,
    steps: int,
    out: Doubles,
) -> int:  # pragma: no cover
    """Average the coverage along a side, column by column outwards; return the number of columns.

    Ends at the border of the picture, and where another body hides the whole side.
    """
    across, along = picture.shape[1 - axis], picture.shape[axis]
    middle, reach = place[1 - axis], _ACROSS * place[R] * HALF
    begin, end = max(0, ceil(middle - reach)), min(along - 1, floor(middle + reach))
    foreign = _FOREIGN + 3 * rest[2]
    crowded = mix[1, 0] != 0.0 or mix[1, 1] != 0.0 or mix[1, 2] != 0.0
    for step in range(steps + 1):
        column = first + sign * step
        if not 0 <= column < across:
            return step
        total, number = 0.0, 0
        for row in range(begin, end + 1):
            x, y = (column, row) if axis == X else (row, column)
            if not crowded or abs(coverage(picture, mix, x, y, 1)) < foreign:
                total += coverage(picture, mix, x, y, 0)
                number += 1
        if number == 0:
            return step
        out[step] = total / number
    return steps + 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _bound_sharp(
    profile: Doubles, scale: Doubles, rest: Doubles, first: int, sign: int, out: Doubles
) -> None:  # pragma: no cover
    """Bound the centre by the last opaque column, the half covered one, and the first empty."""
    low, high = rest[0], rest[1]
    for step in range(len(profile)):
        share = min(max(profile[step], low), high)
        column = float(first + sign * step)
        slope = -sign * scale[int(share * LEVELS + 0.5)]
        full, empty = share >= high, share <= low
        if not (empty if sign > 0 else full):
            out[LOW], out[LOW_R] = column, slope
        if not (full if sign > 0 else empty):
            out[HIGH], out[HIGH_R] = column, slope
        if not full:
            return
