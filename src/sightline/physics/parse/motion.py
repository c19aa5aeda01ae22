"""Velocities from places: plain differences, and slopes that do not smear a collision."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import Doubles

_WINDOW = 5
_BENT = 2e-3  # units²; a path this far from a parabola of five frames has a kink in it


def difference(positions: Doubles, frame_time: float) -> Doubles:
    """Return forward differences of (T, N, 2) positions over time; the last one is repeated."""
    out = np.zeros_like(positions)
    if len(positions) > 1:
        out[:-1] = (positions[1:] - positions[:-1]) / frame_time
        out[-1] = out[-2]
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def slopes(
    positions: Doubles, measured: NDArray[np.bool_], frame_time: float
) -> Doubles:  # pragma: no cover (compiled)
    """Return smoothed velocities, (T, N, 2) in units/s.

    Of the windows of five frames that contain a frame (one ending there, one centred, one beginning
    there) the one nearest to a parabola gives the velocity: its slope at that frame. Where all of them
    contain a kink, lines through three frames are tried too. Fewer than
    three measured frames in each of them give the plain difference, or zero for a single frame.

    Args:
        positions: (T, N, 2) in world units.
        measured: (T, N) which of them are measurements.
        frame_time: seconds between frames.
    """
    frames, bodies = positions.shape[:2]
    out = np.zeros_like(positions)
    for k in range(bodies):
        for t in range(frames):
            best = _choose(
                positions[:, k], measured[:, k], t, _WINDOW, frame_time, np.inf, out[t, k]
            )
            if best > _BENT:  # all of them contain a kink: look closer
                best = _choose(positions[:, k], measured[:, k], t, 3, frame_time, best, out[t, k])
            if best == np.inf and frames > 1:
                a = min(t, frames - 2)
                for axis in range(2):
                    out[t, k, axis] = (
                        positions[a + 1, k, axis] - positions[a, k, axis]
                    ) / frame_time
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _choose(
    places: Doubles,
    measured: NDArray[np.bool_],
    t: int,
    window: int,
    frame_time: float,
    best: float,
    out: Doubles,
) -> float:  # pragma: no cover
    """Take the slope of the best of three windows, if it is better than `best`; return its error."""
    for begin in (t - window // 2, t - window + 1, t):
        first, last = max(begin, 0), min(begin + window, len(places))
        count, slope_x, slope_y, error = _parabola(places, measured, first, last, t)
        if count >= 3 and error < 0.9 * best:
            best = error
            out[0], out[1] = slope_x / frame_time, slope_y / frame_time
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _parabola(
    places: Doubles, measured: NDArray[np.bool_], first: int, last: int, t: int
) -> tuple[int, float, float, float]:  # pragma: no cover
    """Fit x(t), y(t) by parabolas (lines for three frames); return count, slopes at t, error."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    moments = np.zeros((2, 3))
    for f in range(first, last):
        if not measured[f]:
            continue
        u = float(f - t)
        s0 += 1
        s1 += u
        s2 += u * u
        s3 += u * u * u
        s4 += u * u * u * u
        for axis in range(2):
            moments[axis, 0] += places[f, axis]
            moments[axis, 1] += u * places[f, axis]
            moments[axis, 2] += u * u * places[f, axis]
    if s0 < 3:
        return int(s0), 0.0, 0.0, np.inf
    out = np.zeros((2, 3))
    if s0 < 4:
        determinant = s0 * s2 - s1 * s1
        for axis in range(2):
            out[axis, 0] = (moments[axis, 0] * s2 - moments[axis, 1] * s1) / determinant
            out[axis, 1] = (moments[axis, 1] * s0 - moments[axis, 0] * s1) / determinant
    else:
        a, b, c = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
        d, e, g = s0 * s4 - s2 * s2, s1 * s2 - s0 * s3, s0 * s2 - s1 * s1
        determinant = s0 * a + s1 * b + s2 * c
        for axis in range(2):
            m0, m1, m2 = moments[axis]
            out[axis, 0] = (a * m0 + b * m1 + c * m2) / determinant
            out[axis, 1] = (b * m0 + d * m1 + e * m2) / determinant
            out[axis, 2] = (c * m0 + e * m1 + g * m2) / determinant
    error = 1e-9
    for f in range(first, last):
        if measured[f]:
            u = float(f - t)
            for axis in range(2):
                model = out[axis, 0] + out[axis, 1] * u + out[axis, 2] * u * u
                error += (places[f, axis] - model) ** 2
    # A window with fewer frames to spare is easier to please.
    return int(s0), out[0, 1], out[1, 1], error / max(s0 - 3.0, 0.25)
