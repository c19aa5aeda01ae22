"""Uniform motion, parabolas and elastic collisions in closed form.

There is no time step and no overlap; momentum and energy are conserved to the last bits. Frame k is at
t = 0.01 + 0.1 k, as in the released data.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sightline.physics.types import FRAME_TIME, FRAMES, GRAVITY, SUB_STEP, Doubles


def frame_times() -> Doubles:
    """Return the (32,) times of the frames, in [s]: 0.01, 0.11, … 3.11."""
    return SUB_STEP + FRAME_TIME * np.arange(FRAMES, dtype=np.float64)


def free(starts: Doubles, velocities: Doubles, *, falling: bool) -> tuple[Doubles, Doubles]:
    """Return the motion of single balls: a straight line or a parabola.

    Args:
        starts: (M, 1, 2) centers (x, y) at t = 0.
        velocities: (M, 1, 2) at t = 0, in units/s.
        falling: whether there is gravity.

    Returns:
        Centers and velocities, each (M, 32, 1, 2).
    """
    positions = np.empty((len(starts), FRAMES, 1, 2))
    speeds = np.empty_like(positions)
    _free(starts, velocities, GRAVITY if falling else 0.0, frame_times(), positions, speeds)
    return positions, speeds


def pair(starts: Doubles, velocities: Doubles, radii: Doubles) -> tuple[Doubles, Doubles]:
    """Return the motion of two balls along x before and after an elastic collision.

    Args:
        starts: (M, 2, 2) centers (x, y) at t = 0: one height, the first on the left.
        velocities: (M, 2, 2) at t = 0, in units/s; along x.
        radii: (M, 2); the masses are r².

    Returns:
        Centers and velocities, each (M, 32, 2, 2).
    """
    positions = np.empty((len(starts), FRAMES, 2, 2))
    speeds = np.empty_like(positions)
    _pair(starts, velocities, radii, frame_times(), positions, speeds)
    return positions, speeds


def collision_times(starts: Doubles, velocities: Doubles, radii: Doubles) -> Doubles:
    """Return the (M,) times at which the balls touch, in [s]; infinity where they never do."""
    gap = starts[:, 1, 0] - starts[:, 0, 0] - radii.sum(1)
    closing = velocities[:, 0, 0] - velocities[:, 1, 0]
    times = np.full(len(starts), np.inf)
    return np.divide(gap, closing, out=times, where=closing > 0)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def rebound(first: float, second: float, m1: float, m2: float) -> tuple[float, float]:
    """Return velocities after a 1D elastic collision: mirrored about the center-of-mass velocity."""
    common = (m1 * first + m2 * second) / (m1 + m2)
    return 2 * common - first, 2 * common - second


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _free(
    starts: Any, velocities: Any, gravity: float, times: Any, positions: Any, speeds: Any
) -> None:
    for m in range(len(starts)):
        x, y = starts[m, 0, 0], starts[m, 0, 1]
        u, v = velocities[m, 0, 0], velocities[m, 0, 1]
        for k in range(len(times)):
            t = times[k]
            positions[m, k, 0, 0] = x + u * t
            positions[m, k, 0, 1] = y + v * t - 0.5 * gravity * t * t
            speeds[m, k, 0, 0] = u
            speeds[m, k, 0, 1] = v - gravity * t


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pair(
    starts: Any, velocities: Any, radii: Any, times: Any, positions: Any, speeds: Any
) -> None:
    for m in range(len(starts)):
        u1, u2 = velocities[m, 0, 0], velocities[m, 1, 0]
        r1, r2 = radii[m, 0], radii[m, 1]
        w1, w2 = rebound(u1, u2, r1 * r1, r2 * r2)
        closing = u1 - u2
        contact = np.inf
        if closing > 0:
            contact = (starts[m, 1, 0] - starts[m, 0, 0] - r1 - r2) / closing
        for k in range(len(times)):
            before = min(times[k], contact)
            after = times[k] - before
            positions[m, k, 0, 0] = starts[m, 0, 0] + u1 * before + w1 * after
            positions[m, k, 1, 0] = starts[m, 1, 0] + u2 * before + w2 * after
            speeds[m, k, 0, 0] = w1 if after > 0 else u1
            speeds[m, k, 1, 0] = w2 if after > 0 else u2
            for body in range(2):
                positions[m, k, body, 1] = starts[m, body, 1]
                speeds[m, k, body, 1] = 0.0
