"""Scenes of the composition and ambiguity probes: gates, spatial and temporal compositions.

Gates (visual ambiguity): two fixed squares stand above and below the path of a ball with an opening of
twice its radius plus twice a margin. With a positive margin the ball passes untouched. With a negative
one it meets the two near corners at the same moment, and by symmetry the elastic impact reverses its
velocity. So the outcome is exact and depends only on the sign. `init` is [r, v, margin].

Spatial composition: a blue square moves above, a red ball bounces below; they never meet. There is no
gravity. The ball bounces off the floor and side walls of the lower part without loss; the square moves
uniformly and may leave the picture. `init` is [ball radius, half side, ball vx, ball vy, square vx].

Temporal composition: two balls between the side walls collide, bounce, or both. One height, no
gravity, no loss: an event-driven simulation in one dimension, exact between events. `init` is [r1, r2,
v1, v2] as in collisions: the red ball is on the left and v1 is to the right, the blue one is on the
right and v2 is to the left; a negative speed is the other way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import SightlineError
from sightline.physics.probes.parts import Gates
from sightline.physics.types import BLUE, FRAMES, RED, WORLD_SIDE, Doubles, Samples, Shape
from sightline.physics.worlds.closed_form import frame_times, rebound
from sightline.physics.worlds.sampling import between, number, stream

#: Half the side of the squares, in world units; they are black.
HALF_SIDE = 1.5
BLACK = (0, 0, 0)

#: Time at which the ball's center would be level with the near side of the gate, in [s].
ARRIVAL = (1.1, 1.7)

_GATE_RADII, _GATE_SPEEDS = (0.7, 1.4), (2.0, 3.0)
_FIRST_X, _HEIGHTS = 0.3, (3.5, 6.5)


def make_gates(part: Gates, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make scenes by their places in the row of a part; the ball is the first of three bodies."""
    count = len(indexes)
    init = np.empty((count, 3))
    positions = np.empty((count, FRAMES, 3, 2))
    velocities = np.zeros_like(positions)
    _make_gate_scenes(
        np.array(part.margin), seed, tag, indexes, frame_times(), init, positions, velocities
    )
    sizes = np.full((count, 3), HALF_SIDE)
    sizes[:, 0] = init[:, 0]
    colors = np.broadcast_to(np.array([RED, BLACK, BLACK], np.uint8), (count, 3, 3)).copy()
    outlines = np.array([Shape.BALL, Shape.SQUARE, Shape.SQUARE], np.uint8)
    shapes = np.broadcast_to(outlines, (count, 3)).copy()
    return Samples("gate", init, positions, velocities, sizes, colors, shapes)


def passes(init: Doubles) -> NDArray[np.bool_]:
    """Say which balls pass, given (M, 3) [r, v, margin]."""
    result: NDArray[np.bool_] = init[:, 2] > 0
    return result


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _make_gate_scenes(
    margins: Any,
    seed: int,
    tag: int,
    indexes: Any,
    times: Any,
    init: Any,
    positions: Any,
    velocities: Any,
) -> None:
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m] // 2)
        r = between(key, 0, _GATE_RADII[0], _GATE_RADII[1])
        speed = between(key, 1, _GATE_SPEEDS[0], _GATE_SPEEDS[1])
        start = between(key, 2, r, r + _FIRST_X)
        height = between(key, 3, _HEIGHTS[0], _HEIGHTS[1])
        face = start + speed * between(key, 4, ARRIVAL[0], ARRIVAL[1])
        margin = between(key, 5, margins[0], margins[1])
        if indexes[m] % 2:
            margin = -margin
        init[m, 0], init[m, 1], init[m, 2] = r, speed, margin
        turn = np.inf
        if margin < 0:
            # The center is one radius from both corners.
            turn = (face - np.sqrt(r * r - (r + margin) ** 2) - start) / speed
        for k in range(len(times)):
            forward = min(times[k], turn)
            back = times[k] - forward
            positions[m, k, 0, 0] = start + speed * (forward - back)
            positions[m, k, 0, 1] = height
            velocities[m, k, 0, 0] = -speed if back > 0 else speed
            for side in range(2):
                away = (r + margin + HALF_SIDE) * (1 - 2 * side)
                positions[m, k, 1 + side, 0] = face + HALF_SIDE
                positions[m, k, 1 + side, 1] = height + away


#: What moves in each kind of scene: the ball, the square.
SPATIAL_KINDS: dict[str, tuple[bool, bool]] = {
    "square-moves": (False, True),
    "ball-bounces": (True, False),
    "both": (True, True),
}

#: Top of the ball's part of the world, and bottom of the square's.
BALL_TOP, SQUARE_BOTTOM = 5.5, 6.0
#: Times between which the first bounce falls, in [s]: 8 frames before it and 8 after.
FIRST_BOUNCE = (0.8, 2.4)

_SPATIAL_RADII, _HALF_SIDES, _SPATIAL_SPEEDS = (0.5, 1.0), (0.5, 1.0), (1.0, 4.0)
_MOST_DRAWS = 100_000
#: Just after the last frame, in [s].
_END = 3.2


def make_spatial(
    kinds: tuple[str, ...], *, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Samples:
    """Make scenes by their places in a row; each kind has the same share."""
    moving = np.array([SPATIAL_KINDS[kind] for kind in kinds])
    count = len(indexes)
    init = np.empty((count, 5))
    starts = np.empty((count, 2, 2))
    if not _draw_spatial(moving, seed, tag, indexes, init, starts):
        raise SightlineError(f"no bouncing ball was found in {_MOST_DRAWS} draws")
    positions = np.empty((count, FRAMES, 2, 2))
    velocities = np.empty_like(positions)
    _move_spatial(init, starts, frame_times(), positions, velocities)
    colors = np.broadcast_to(np.array([RED, BLUE], np.uint8), (count, 2, 3)).copy()
    shapes = np.broadcast_to(np.array([Shape.BALL, Shape.SQUARE], np.uint8), (count, 2)).copy()
    return Samples("spatial", init, positions, velocities, init[:, :2].copy(), colors, shapes)


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
def _draw_spatial(moving: Any, seed: int, tag: int, indexes: Any, init: Any, starts: Any) -> bool:
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m])
        ball_moves, square_moves = moving[int(number(key, 0) * len(moving))]
        half = between(key, 1, _HALF_SIDES[0], _HALF_SIDES[1])
        glide = between(key, 2, _SPATIAL_SPEEDS[0], _SPATIAL_SPEEDS[1])
        furthest = max(WORLD_SIDE - half - 2.4 * glide, half)
        starts[m, 1, 0] = between(key, 3, half, furthest)
        starts[m, 1, 1] = between(key, 4, SQUARE_BOTTOM + half, WORLD_SIDE - half)
        init[m, 1], init[m, 4] = half, glide if square_moves else 0.0
        for attempt in range(_MOST_DRAWS):
            place = 5 + 5 * attempt
            r = between(key, place, _SPATIAL_RADII[0], _SPATIAL_RADII[1])
            x = between(key, place + 1, r, WORLD_SIDE - r)
            y = between(key, place + 2, r, BALL_TOP - r)
            speed = between(key, place + 3, _SPATIAL_SPEEDS[0], _SPATIAL_SPEEDS[1])
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
def _move_spatial(init: Any, starts: Any, times: Any, positions: Any, velocities: Any) -> None:
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


# What must happen: a collision or none; and which ball must bounce, or none may.
_NOBODY, _ANYBODY, _RED, _BLUE = range(4)
TEMPORAL_KINDS: dict[str, tuple[bool, int]] = {
    "collide": (True, _NOBODY),
    "bounce": (False, _ANYBODY),
    "bounce-red": (False, _RED),
    "bounce-blue": (False, _BLUE),
    "collide-bounce": (True, _ANYBODY),
    "collide-bounce-red": (True, _RED),
}

#: Events begin after the frames that a model is given, and leave some to see their outcome, in [s].
FIRST_EVENT, LAST_EVENT = 0.4, 2.8

_TEMPORAL_RADII, _TEMPORAL_SPEEDS = (0.5, 1.2), (1.0, 4.0)
_MARGIN = 0.5


def make_temporal(
    kinds: tuple[str, ...], *, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Samples:
    """Make scenes by their places in a row; each kind has the same share."""
    count = len(indexes)
    wanted = np.array([TEMPORAL_KINDS[kind] for kind in kinds], np.int64)
    init = np.empty((count, 4))
    positions = np.empty((count, FRAMES, 2, 2))
    velocities = np.zeros_like(positions)
    if not _make_temporal_scenes(
        wanted, seed, tag, indexes, frame_times(), init, positions, velocities
    ):
        raise SightlineError(f"no such events were found in {_MOST_DRAWS} draws")
    colors = np.broadcast_to(np.array([RED, BLUE], np.uint8), (count, 2, 3)).copy()
    shapes = np.full((count, 2), Shape.BALL, np.uint8)
    return Samples("temporal", init, positions, velocities, init[:, :2].copy(), colors, shapes)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _make_temporal_scenes(
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
        for attempt in range(_MOST_DRAWS):
            place = 1 + 10 * attempt
            r1 = between(key, place, _TEMPORAL_RADII[0], _TEMPORAL_RADII[1])
            r2 = between(key, place + 1, _TEMPORAL_RADII[0], _TEMPORAL_RADII[1])
            v1 = between(key, place + 2, _TEMPORAL_SPEEDS[0], _TEMPORAL_SPEEDS[1])
            v2 = between(key, place + 3, _TEMPORAL_SPEEDS[0], _TEMPORAL_SPEEDS[1])
            if not collide:
                v1 = v1 if number(key, place + 4) < 0.5 else -v1
                v2 = v2 if number(key, place + 5) < 0.5 else -v2
            x1 = between(key, place + 6, r1, WORLD_SIDE - r1 - 2 * r2)
            x2 = between(key, place + 7, x1 + r1 + r2, WORLD_SIDE - r2)
            init[m, 0], init[m, 1], init[m, 2], init[m, 3] = r1, r2, v1, v2
            if _run_temporal(x1, x2, init[m], times, positions[m], velocities[m], collide, who):
                break
        else:
            return False
        tallest = max(r1, r2)
        positions[m, :, :, 1] = between(
            key, place + 8, tallest + _MARGIN, WORLD_SIDE - tallest - _MARGIN
        )
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _run_temporal(
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
