"""Steady motion through the bounds that the frames leave a square, where there is any.

Within its bounds (`sides`) every place of a square gives the same pixels. Where a stretch of frames
can be had with one velocity, or else with one acceleration, its pixels are those of a body that
moves so, and it is put there. Where that cannot be, something shows that is no steady motion, and it
must not be smoothed away: there each frame stands for itself, in the middle of its bounds. (The path
of least bending within the bounds was tried: it hides half of a tremor of 0.4 pixels.)

A stretch is fitted by polynomials x(t), y(t) and the half side r, which minimise the squared
distances to the bounds, plus a little of those to their middle. That is quadratic once it is known
which bounds are overstepped, so these are looked up and it is solved, again and again.

All lengths are pixels.
"""

from __future__ import annotations

from math import floor

import numpy as np
from numba import njit

from sightline.physics.parse.edge import HALF, SOFT
from sightline.physics.parse.sides import HIGH, HIGH_R, LOW, LOW_R
from sightline.physics.types import Doubles

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
