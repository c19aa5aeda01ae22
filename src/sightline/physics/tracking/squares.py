"""Locate squares over all frames, by the bounds that pixels give for their sides.

All pixels along a straight side change at once: at 128 pixels the soft edge is a fifth of a pixel
wide, so in four of five frames no column is half covered, and any position within most of a pixel
gives the same picture. So a frame gives bounds for a side, not a position. They are linear in the half
side r, which all frames share: with a column c that is opaque, half covered (a) or empty,

    |c − x| ≤ r √(1 − 0.03),   |c − x| = r √(1 − 0.03 a),   |c − x| ≥ r.

In a blurred video the sum of the coverage across a side gives its position to half a pixel, since it
was drawn before it was blurred.

Where a stretch of frames is consistent with constant velocity, or else constant acceleration, within
the bounds, the square is placed on that motion: polynomials x(t), y(t) and the half side r minimize
the squared violation of the bounds plus a small weight on their centers. This is quadratic once the
violated bounds are known, so it is solved repeatedly (active set). Elsewhere each frame stands for
itself, at the center of its bounds, so that unsteady motion is not smoothed away. (The path of least
bending was tried: it hides half of a tremor of 0.4 px.)

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

from sightline.physics.tracking.association import (
    NOTHING,
    OTHER_SIZE,
    Assignment,
    BodySizes,
    neighbor,
)
from sightline.physics.tracking.blobs import COLOR, Blobs
from sightline.physics.tracking.fit import HALF, LEVELS, SIGMA_X, SOFT, EdgeProfile, R, X, coverage
from sightline.physics.tracking.outlines import UNKNOWN
from sightline.physics.types import Doubles, Frames

#: What is said about one side: c and s of the bounds c + s r on the center, from below and above.
LOW, LOW_R, HIGH, HIGH_R = range(4)
BOUNDS = 4

_ACROSS = 0.75  # share of a side that is looked at: corners are left out
_REACH = 2.5  # px to each side of an edge that are looked at
_DRAWN = 0.42  # px; how far from its blurred place a side may have been drawn
_FOREIGN = 0.02  # share of another body's color that spoils a pixel, beside the noise


class SideScan(NamedTuple):
    """The columns (rows for axis 1) across one side of a square, from inside outwards.

    Attributes:
        axis: 0 for x, 1 for y.
        first: innermost column.
        sign: 1 or -1, outwards.
        steps: number of columns minus one.
    """

    axis: int
    first: int
    sign: int
    steps: int


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_sides(
    picture: Frames,
    mix: Doubles,
    edge: EdgeProfile,
    place: Doubles,
    out: Doubles,
) -> None:  # pragma: no cover (compiled)
    """Bound the center of a square by each of its sides.

    Args:
        picture: (H, W, 3) uint8.
        mix: (2, 3) takes a pixel apart into the square's color and its neighbor's.
        edge: profile of the video.
        place: where it is to within a pixel or so.
        out: (2, 2, BOUNDS) receives the bounds by axis (x, y) and side (the lower, the higher);
            infinite where a side does not show.
    """
    reach = _REACH if edge.sharp else _REACH + 2 * edge.blur
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
            scan = SideScan(axis, first, sign, steps)
            count = _profile(picture, mix, edge.noise, place, scan, profile)
            if count == 0:
                continue
            if edge.sharp:
                _bound_sharp(profile[:count], edge, first, sign, out[axis, side])
            elif count == steps + 1:
                drawn = first + sign * (profile[:count].sum() - 0.5)
                out[axis, side, LOW], out[axis, side, HIGH] = drawn - _DRAWN, drawn + _DRAWN
                out[axis, side, LOW_R] = out[axis, side, HIGH_R] = -sign * HALF


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _profile(
    picture: Frames, mix: Doubles, noise: float, place: Doubles, scan: SideScan, out: Doubles
) -> int:  # pragma: no cover
    """Average the coverage along a side, column by column outwards; return the number of columns.

    Ends at the border of the picture, and where another body hides the whole side.
    """
    axis = scan.axis
    across, along = picture.shape[1 - axis], picture.shape[axis]
    middle, reach = place[1 - axis], _ACROSS * place[R] * HALF
    begin, end = max(0, ceil(middle - reach)), min(along - 1, floor(middle + reach))
    foreign = _FOREIGN + 3 * noise
    crowded = mix[1, 0] != 0.0 or mix[1, 1] != 0.0 or mix[1, 2] != 0.0
    for step in range(scan.steps + 1):
        column = scan.first + scan.sign * step
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
    return scan.steps + 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _bound_sharp(
    profile: Doubles, edge: EdgeProfile, first: int, sign: int, out: Doubles
) -> None:  # pragma: no cover
    """Bound the center by the last opaque column, the half covered one, and the first empty."""
    low, high = edge.low, edge.high
    for step in range(len(profile)):
        share = min(max(profile[step], low), high)
        column = float(first + sign * step)
        slope = -sign * edge.scale[int(share * LEVELS + 0.5)]
        full, empty = share >= high, share <= low
        if not (empty if sign > 0 else full):
            out[LOW], out[LOW_R] = column, slope
        if not (full if sign > 0 else empty):
            out[HIGH], out[HIGH_R] = column, slope
        if not full:
            return


#: Least number of frames that are called a motion.
FEWEST = 10
_MOST = 7  # unknowns: three of x, three of y, and r
_MIDDLE = 1e-4  # weight of the middle of the bounds, beside their walls
_ROUNDS = 15
_STILL = 1e-5  # px
_HOPELESS = 0.2  # px; bounds that are still overstepped by this much will be to the end
_UNSURE = 0.1  # px; how far off a fitted motion may be
_APART = 0.1  # px; root mean square by which blurred sides may be elsewhere
_APART_SMOOTH = 0.06  # px; the same for sides that were not drawn in steps
_WORTH = 1.5  # an accelerated stretch must be this much longer than a straight one


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def next_stretch(
    bounds: Doubles, size: float, slack: float, sharp: bool, path: Doubles
) -> tuple[int, float]:  # pragma: no cover (compiled)
    """Put the frames from the first on, as many as possible, on one steady motion.

    Args:
        bounds: (n, 2, 2, BOUNDS) of each frame, axis and side.
        size: half side to begin with.
        slack: by how much bounds may be overstepped.
        sharp: whether the edges of the video are as drawn.
        path: (n, 2) receives the places of the stretch.

    Returns:
        Number of frames in it, 0 when even the fewest do not go together, and its half side.
    """
    steady = _longest(bounds, 1, size, slack, sharp)
    length, degree = steady, 1
    if steady < len(bounds):
        length = _longest(bounds, 2, size, slack, sharp)
        degree = 2
        if length < _WORTH * steady:
            length, degree = steady, 1
    if length < FEWEST:
        return 0, size
    r, _ = fit_motion(bounds[:length], degree, size, path[:length])
    return length, r


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _longest(
    bounds: Doubles, degree: int, size: float, slack: float, sharp: bool
) -> int:  # pragma: no cover
    """Return how many frames from the first on one polynomial takes through their bounds, or 0."""
    path = np.empty((len(bounds), 2))
    low, high = 0, len(bounds) + 1  # `low` frames go together, `high` do not
    length = FEWEST  # most stretches that fail do so at once, and most others never do
    while low < length < high:
        r, worst = fit_motion(bounds[:length], degree, size, path[:length])
        if worst <= slack and (sharp or _agrees(bounds[:length], path[:length], r)):
            length, low = (len(bounds) if low == 0 else (length + high) // 2), length
        elif low == 0:
            break
        else:
            length, high = (low + length) // 2, length
    return low


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _agrees(bounds: Doubles, path: Doubles, r: float) -> bool:  # pragma: no cover
    """Whether blurred sides are where this motion has them, drawn pixel by pixel or without steps.

    Bounds of a blurred video are wide because its sides may have been drawn in steps of a pixel. A
    square that trembles within them does not follow these steps.
    """
    stepped, smooth, count = 0.0, 0.0, 0
    for t in range(len(path)):
        for axis in range(2):
            for side in range(2):
                bound, sign = bounds[t, axis, side], 2 * side - 1
                if bound[HIGH] == np.inf:
                    continue
                x, seen = path[t, axis], (bound[LOW] + bound[HIGH]) / 2
                low, high = drawn_side(x - _UNSURE, r, sign), drawn_side(x + _UNSURE, r, sign)
                stepped += max(low - seen, seen - high, 0.0) ** 2
                smooth += (x + sign * HALF * r - seen) ** 2
                count += 1
    return stepped <= _APART**2 * count or smooth <= _APART_SMOOTH**2 * count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def drawn_side(x: float, r: float, sign: int) -> float:  # pragma: no cover
    """Return where the sum of the coverage across it has a side, drawn as in `draw.bodies`."""
    column = floor(r * HALF + sign * x)
    total = 0.0
    for c in range(column - 1, column + 3):
        away = c - sign * x
        total += min(max((r * r - away * away) / (SOFT * r * r), 0.0), 1.0)
    return float(sign * (column - 1.5 + total))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fit_motion(
    bounds: Doubles, degree: int, size: float, path: Doubles
) -> tuple[float, float]:  # pragma: no cover
    """Fit one polynomial of each coordinate to the bounds of all frames.

    Returns:
        The half side that goes with it, and by how much the worst bound is overstepped. `path`,
        (n, 2), receives the places.
    """
    n, m = len(bounds), 2 * (degree + 1) + 1
    matrix, side = np.empty((_MOST, _MOST)), np.empty(_MOST)
    jacobian = np.empty(_MOST)
    r, worst = size, np.inf
    for turn in range(_ROUNDS):
        matrix[:] = 0.0
        side[:] = 0.0
        matrix[m - 1, m - 1] = _MIDDLE
        side[m - 1] = _MIDDLE * size
        for k in range(m - 1):
            matrix[k, k] = 1e-9
        for t in range(n):
            for axis in range(2):
                jacobian[:] = 0.0
                _powers(t, n, degree, jacobian[axis * (degree + 1) :])
                for s in range(2):
                    at, slope, weight = _pull(bounds[t, axis, s], path[t, axis], r, turn == 0)
                    if weight > 0:
                        jacobian[m - 1] = -slope
                        _add(matrix, side, jacobian, at, weight, m)
        _solve(matrix, side, m)
        moved, worst, r = abs(side[m - 1] - r), 0.0, side[m - 1]
        for t in range(n):
            for axis in range(2):
                _powers(t, n, degree, jacobian)
                x = 0.0
                for k in range(degree + 1):
                    x += jacobian[k] * side[axis * (degree + 1) + k]
                moved = max(moved, abs(x - path[t, axis]))
                path[t, axis] = x
                for s in range(2):
                    bound = bounds[t, axis, s]
                    worst = max(worst, bound[LOW] + bound[LOW_R] * r - x)
                    worst = max(worst, x - bound[HIGH] - bound[HIGH_R] * r)
        if turn > 0 and (moved < _STILL or (turn > 3 and worst > _HOPELESS)):
            break
    return float(r), float(worst)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _powers(t: int, n: int, degree: int, out: Doubles) -> None:  # pragma: no cover
    """Powers of the time, which runs from -1 to 1 over the stretch."""
    u = 2.0 * t / max(n - 1, 1) - 1.0
    power = 1.0
    for k in range(degree + 1):
        out[k] = power
        power *= u


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pull(
    bound: Doubles, x: float, r: float, first: bool
) -> tuple[float, float, float]:  # pragma: no cover
    """Return to which c + s r a side pulls the place x, and how hard: c, s, weight."""
    both = bound[LOW] > -np.inf and bound[HIGH] < np.inf
    if not first and bound[LOW] + bound[LOW_R] * r > x:
        return bound[LOW], bound[LOW_R], 1.0
    if not first and bound[HIGH] + bound[HIGH_R] * r < x:
        return bound[HIGH], bound[HIGH_R], 1.0
    if both:
        middle, slope = (bound[LOW] + bound[HIGH]) / 2, (bound[LOW_R] + bound[HIGH_R]) / 2
        return middle, slope, _MIDDLE
    return 0.0, 0.0, 0.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(
    matrix: Doubles, side: Doubles, jacobian: Doubles, at: float, weight: float, m: int
) -> None:  # pragma: no cover
    """Add one equation to the normal equations."""
    for i in range(m):
        if jacobian[i] != 0.0:
            side[i] += weight * jacobian[i] * at
            for j in range(i, m):
                matrix[i, j] += weight * jacobian[i] * jacobian[j]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _solve(matrix: Doubles, side: Doubles, m: int) -> None:  # pragma: no cover
    """Solve a symmetric positive system, given its upper half; `side` becomes the solution."""
    for i in range(m):
        for k in range(i + 1, m):
            factor = matrix[i, k] / matrix[i, i]
            for j in range(k, m):
                matrix[k, j] -= factor * matrix[i, j]
            side[k] -= factor * side[i]
    for i in range(m - 1, -1, -1):
        for k in range(i + 1, m):
            side[i] -= matrix[i, k] * side[k]
        side[i] /= matrix[i, i]


_SQUARE = 1
_SLACK = 0.01  # px by which bounds may be overstepped
_UNTIED = 0.1  # px; what the half side adds to the uncertainty of a frame by itself
_BLURRED = 0.05  # px; least uncertainty in a video that is not sharp
_WINDOW = 4  # frames to each side that are shifted together when uncertainties are measured


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def settle_squares(
    frames: Frames,
    mix: Doubles,
    edge: EdgeProfile,
    blobs: Blobs,
    assignment: Assignment,
    sizes: BodySizes,
    out: Doubles,
) -> None:  # pragma: no cover (compiled)
    """Place squares, run by run of frames in which they are squares of their size.

    Changes `out`, the (T, N, FIT_FIELDS) places of bodies, and the radii of squares in `sizes`.
    """
    chosen, radii, kinds = assignment.chosen, sizes.radii, sizes.shapes
    count = len(frames)
    bounds = np.empty((count, 2, 2, BOUNDS))
    for k in range(out.shape[1]):
        first, longest = 0, 0
        size = radii[k]
        for t in range(count + 1):
            blob = chosen[t, k] if t < count else -1
            if blob >= 0 and _is_square(
                blobs.shapes[t, blob],
                kinds[k],
                assignment.notes[t, k],
                blobs.clean[t, blob],
                out[t, k, R],
                radii[k],
            ):
                row = blobs.table[t, blob]
                color = row[COLOR]
                if blobs.crowded[t, blob]:
                    color = neighbor(blobs.table[t], blobs.number[t], blobs.places[t], blob)
                find_sides(frames[t], mix[row[COLOR], color], edge, out[t, k], bounds[t])
                continue
            if t > first:
                start = radii[k] if radii[k] > 0 else out[first, k, R]
                r, steady = _settle(bounds[first:t], start, edge, out[first:t, k])
                if steady > longest and kinds[k] == _SQUARE and radii[k] > 0:
                    size, longest = r, steady
            first = t + 1
        radii[k] = size


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
    bounds: Doubles, size: float, edge: EdgeProfile, out: Doubles
) -> tuple[float, int]:  # pragma: no cover
    """Place a square in a run of frames; return half side and length of its longest stretch."""
    n = len(bounds)
    path = np.empty((n, 2))
    slack = _SLACK + 3 * SOFT / 2 * size * edge.noise
    size_found, longest = size, 0
    first = 0
    while first < n:
        length, r = next_stretch(bounds[first:], size_found, slack, edge.sharp, path[first:])
        if length > 0 and abs(r - size) < OTHER_SIZE * size:
            if length > longest:
                size_found, longest = r, length
            last = first + length
            _accept(bounds[first:last], path[first:last], r, edge, out[first:last])
            first = last
        else:
            _alone(bounds[first], size_found, edge, out[first])
            first += 1
    return size_found, longest


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _alone(bound: Doubles, r: float, edge: EdgeProfile, out: Doubles) -> None:  # pragma: no cover
    """Put a square in the middle of the bounds of its frame."""
    for axis in range(2):
        low, high = -np.inf, np.inf
        for side in range(2):
            low = max(low, bound[axis, side, LOW] + bound[axis, side, LOW_R] * r)
            high = min(high, bound[axis, side, HIGH] + bound[axis, side, HIGH_R] * r)
        if high - low < np.inf:
            out[axis] = (low + high) / 2
            out[SIGMA_X + axis] = sqrt(_sigma(high - low, r, edge) ** 2 + _UNTIED**2)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sigma(free: float, r: float, edge: EdgeProfile) -> float:  # pragma: no cover
    """Return the standard deviation of a place that may be anywhere on a way of this length."""
    least = SOFT / 2 * r * edge.noise if edge.sharp else _BLURRED
    return sqrt(free * free / 12 + least * least)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _accept(
    bounds: Doubles, path: Doubles, r: float, edge: EdgeProfile, out: Doubles
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
            out[t, SIGMA_X + axis] = _sigma(min(down + up, 1.0), r, edge)
