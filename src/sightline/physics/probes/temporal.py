"""Temporal composition: two balls between the picture's side walls, which collide, bounce, or do both.

One height, no gravity, nothing lost: an event-driven simulation in one dimension, exact between events.
`init` is [r1, r2, v1, v2] as in collisions: the red ball is on the left and v1 is to the right, the
blue one is on the right and v2 is to the left; a negative speed is the other way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import SightlineError
from sightline.physics.types import BLUE, FRAMES, RED, WORLD_SIDE, Samples, Shape
from sightline.physics.worlds.draws import between, number, stream
from sightline.physics.worlds.exact import frame_times, rebound

# What must happen: a collision or none; and which ball must bounce, or none may.
_NOBODY, _ANYBODY, _RED, _BLUE = range(4)
KINDS: dict[str, tuple[bool, int]] = {
    "collide": (True, _NOBODY),
    "bounce": (False, _ANYBODY),
    "bounce-red": (False, _RED),
    "bounce-blue": (False, _BLUE),
    "collide-bounce": (True, _ANYBODY),
    "collide-bounce-red": (True, _RED),
}

#: Events begin after the frames that a model is given, and leave some to see their outcome, in [s].
FIRST_EVENT, LAST_EVENT = 0.4, 2.8

_RADII, _SPEEDS = (0.5, 1.2), (1.0, 4.0)
_MOST = 100_000
_MARGIN = 0.5


def make_temporal(
    kinds: tuple[str, ...], *, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Samples:
    """Make scenes by their places in a row; each kind has the same share."""
    count = len(indexes)
    wanted = np.array([KINDS[kind] for kind in kinds], np.int64)
    init = np.empty((count, 4))
    positions = np.empty((count, FRAMES, 2, 2))
    velocities = np.zeros_like(positions)
    if not _make(wanted, seed, tag, indexes, frame_times(), init, positions, velocities):
        raise SightlineError(f"no such events were found in {_MOST} draws")
    colours = np.broadcast_to(np.array([RED, BLUE], np.uint8), (count, 2, 3)).copy()
    shapes = np.full((count, 2), Shape.BALL, np.uint8)
    return Samples("temporal", init, positions, velocities, init[:, :2].copy(), colours, shapes)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _make(
    wanted: Any,
    seed: int,
    tag: int,
    indexes: Any,
    times: Any,
    init: Any,
    positions: Any,
    velocities: Any,
) -> bool:
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m])
        collide, who = wanted[int(number(key, 0) * len(wanted))]
        for attempt in range(_MOST):
            place = 1 + 10 * attempt
            r1 = between(key, place, _RADII[0], _RADII[1])
            r2 = between(key, place + 1, _RADII[0], _RADII[1])
            v1 = between(key, place + 2, _SPEEDS[0], _SPEEDS[1])
            v2 = between(key, place + 3, _SPEEDS[0], _SPEEDS[1])
            if not collide:
                v1 = v1 if number(key, place + 4) < 0.5 else -v1
                v2 = v2 if number(key, place + 5) < 0.5 else -v2
            x1 = between(key, place + 6, r1, WORLD_SIDE - r1 - 2 * r2)
            x2 = between(key, place + 7, x1 + r1 + r2, WORLD_SIDE - r2)
            init[m, 0], init[m, 1], init[m, 2], init[m, 3] = r1, r2, v1, v2
            if _run(x1, x2, init[m], times, positions[m], velocities[m], collide, who):
                break
        else:
            return False
        tallest = max(r1, r2)
        positions[m, :, :, 1] = between(
            key, place + 8, tallest + _MARGIN, WORLD_SIDE - tallest - _MARGIN
        )
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _run(
    x1: float,
    x2: float,
    init: Any,
    times: Any,
    positions: Any,
    velocities: Any,
    collide: int,
    who: int,
) -> bool:
    """Fill in one video along x; say whether what happened in it is what was wanted."""
    r1, r2, u1, u2 = init[0], init[1], init[2], -init[3]
    now, frame, last = 0.0, 0, times[-1]
    met, red, blue = 0, 0, 0
    while True:
        meet = (x2 - x1 - r1 - r2) / (u1 - u2) if u1 > u2 else np.inf
        left = (x1 - r1) / -u1 if u1 < 0 else np.inf
        right = (WORLD_SIDE - r2 - x2) / u2 if u2 > 0 else np.inf
        wait = max(min(meet, left, right), 0.0)
        while frame < len(times) and times[frame] <= now + wait:
            passed = times[frame] - now
            positions[frame, 0, 0], positions[frame, 1, 0] = x1 + u1 * passed, x2 + u2 * passed
            velocities[frame, 0, 0], velocities[frame, 1, 0] = u1, u2
            frame += 1
        now += wait
        if now > last:
            break
        if now < FIRST_EVENT or now > LAST_EVENT:
            return False
        x1, x2 = x1 + u1 * wait, x2 + u2 * wait
        if meet <= left and meet <= right:
            met += 1
            u1, u2 = rebound(u1, u2, r1 * r1, r2 * r2)
        elif collide and not met:
            return False  # a bounce before the collision
        elif left <= right:
            red, u1 = red + 1, -u1
        else:
            blue, u2 = blue + 1, -u2
    if met != collide:
        return False
    if who == _RED:
        return red > 0 and blue == 0
    if who == _BLUE:
        return blue > 0 and red == 0
    return (red + blue > 0) == (who == _ANYBODY)
