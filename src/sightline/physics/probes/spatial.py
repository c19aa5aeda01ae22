"""Spatial composition: a blue square glides above, a red ball bounces below; neither meets the other.

There is no gravity. The ball keeps to the lower part of the picture and bounces off its floor and side
walls without loss; the square moves in its lane as in uniform motion and may leave the picture.
`init` is [ball radius, half side, ball vx, ball vy, square vx].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import SightlineError
from sightline.physics.types import BLUE, FRAMES, RED, WORLD_SIDE, Samples, Shape
from sightline.physics.worlds.draws import between, number, stream
from sightline.physics.worlds.exact import frame_times

#: What moves in each kind of scene: the ball, the square.
KINDS: dict[str, tuple[bool, bool]] = {
    "square-moves": (False, True),
    "ball-bounces": (True, False),
    "both": (True, True),
}

#: Top of the ball's part of the world, and bottom of the square's.
BALL_TOP, SQUARE_BOTTOM = 5.5, 6.0
#: Times between which the first bounce falls, in [s]: 8 frames before it and 8 after.
FIRST_BOUNCE = (0.8, 2.4)

_RADII, _HALF_SIDES, _SPEEDS = (0.5, 1.0), (0.5, 1.0), (1.0, 4.0)
_MOST = 100_000
#: Just after the last frame, in [s].
_END = 3.2


def make_spatial(
    kinds: tuple[str, ...], *, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Samples:
    """Make scenes by their places in a row; each kind has the same share."""
    moving = np.array([KINDS[kind] for kind in kinds])
    count = len(indexes)
    init = np.empty((count, 5))
    starts = np.empty((count, 2, 2))
    if not _draw(moving, seed, tag, indexes, init, starts):
        raise SightlineError(f"no bouncing ball was found in {_MOST} draws")
    positions = np.empty((count, FRAMES, 2, 2))
    velocities = np.empty_like(positions)
    _move(init, starts, frame_times(), positions, velocities)
    colours = np.broadcast_to(np.array([RED, BLUE], np.uint8), (count, 2, 3)).copy()
    shapes = np.broadcast_to(np.array([Shape.BALL, Shape.SQUARE], np.uint8), (count, 2)).copy()
    return Samples("spatial", init, positions, velocities, init[:, :2].copy(), colours, shapes)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _first_bounce(x: float, y: float, r: float, u: float, v: float) -> float:
    """Return when a ball first touches the floor or a side, in [s]; infinity if it never does."""
    first = np.inf
    if u > 0:
        first = (WORLD_SIDE - r - x) / u
    elif u < 0:
        first = (x - r) / -u
    if v < 0:
        first = min(first, (y - r) / -v)
    return first


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _folded(start: float, speed: float, t: float, low: float, high: float) -> tuple[float, float]:
    """Place and velocity of a point that runs to and fro between two walls."""
    span = high - low
    run = (start - low + speed * t) % (2 * span)
    if run > span:
        return high - (run - span), -speed
    return low + run, speed


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _draw(moving: Any, seed: int, tag: int, indexes: Any, init: Any, starts: Any) -> bool:
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m])
        ball_moves, square_moves = moving[int(number(key, 0) * len(moving))]
        half = between(key, 1, _HALF_SIDES[0], _HALF_SIDES[1])
        glide = between(key, 2, _SPEEDS[0], _SPEEDS[1])
        furthest = max(WORLD_SIDE - half - 2.4 * glide, half)
        starts[m, 1, 0] = between(key, 3, half, furthest)
        starts[m, 1, 1] = between(key, 4, SQUARE_BOTTOM + half, WORLD_SIDE - half)
        init[m, 1], init[m, 4] = half, glide if square_moves else 0.0
        for attempt in range(_MOST):
            place = 5 + 5 * attempt
            r = between(key, place, _RADII[0], _RADII[1])
            x = between(key, place + 1, r, WORLD_SIDE - r)
            y = between(key, place + 2, r, BALL_TOP - r)
            speed = between(key, place + 3, _SPEEDS[0], _SPEEDS[1])
            angle = between(key, place + 4, 0.0, 2 * np.pi)
            u, v = speed * np.cos(angle), speed * np.sin(angle)
            highest = r + abs(y - r + v * _END)
            first = _first_bounce(x, y, r, u, v)
            if highest <= BALL_TOP - r and FIRST_BOUNCE[0] <= first <= FIRST_BOUNCE[1]:
                break
        else:
            return False
        init[m, 0], init[m, 2], init[m, 3] = r, u, v
        if not ball_moves:
            init[m, 2], init[m, 3] = 0.0, 0.0
        starts[m, 0, 0], starts[m, 0, 1] = x, y
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _move(init: Any, starts: Any, times: Any, positions: Any, velocities: Any) -> None:
    for m in range(len(init)):
        r, u, v, glide = init[m, 0], init[m, 2], init[m, 3], init[m, 4]
        for k in range(len(times)):
            x, along = _folded(starts[m, 0, 0], u, times[k], r, WORLD_SIDE - r)
            y, up = _folded(starts[m, 0, 1], v, times[k], r, WORLD_SIDE - r)
            positions[m, k, 0, 0], positions[m, k, 0, 1] = x, y
            velocities[m, k, 0, 0], velocities[m, k, 0, 1] = along, up
            positions[m, k, 1, 0] = starts[m, 1, 0] + glide * times[k]
            positions[m, k, 1, 1] = starts[m, 1, 1]
            velocities[m, k, 1, 0], velocities[m, k, 1, 1] = glide, 0.0
