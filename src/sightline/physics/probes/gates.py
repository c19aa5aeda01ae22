"""Visual ambiguity: a ball passes a gate or turns back, and less than a pixel decides.

Two fixed squares stand above and below the ball's path with an opening of twice its radius plus twice a
margin. With a positive margin the ball passes untouched. With a negative one it meets the two near
corners at the same moment; by symmetry the smooth, elastic impact turns its velocity round. So the
outcome is exact and depends on nothing but the sign. `init` is [r, v, margin].
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.probes.parts import Gates
from sightline.physics.types import FRAMES, RED, Doubles, Samples, Shape
from sightline.physics.worlds.draws import between, stream
from sightline.physics.worlds.exact import frame_times

#: Half the side of the squares, in world units; they are black.
HALF_SIDE = 1.5
BLACK = (0, 0, 0)

#: Time at which the ball's centre would be level with the near side of the gate, in [s].
ARRIVAL = (1.1, 1.7)

_RADII, _SPEEDS = (0.7, 1.4), (2.0, 3.0)
_FIRST_X, _HEIGHTS = 0.3, (3.5, 6.5)


def make_gates(part: Gates, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make scenes by their places in the row of a part; the ball is the first of three bodies."""
    count = len(indexes)
    init = np.empty((count, 3))
    positions = np.empty((count, FRAMES, 3, 2))
    velocities = np.zeros_like(positions)
    _make(np.array(part.margin), seed, tag, indexes, frame_times(), init, positions, velocities)
    sizes = np.full((count, 3), HALF_SIDE)
    sizes[:, 0] = init[:, 0]
    colours = np.broadcast_to(np.array([RED, BLACK, BLACK], np.uint8), (count, 3, 3)).copy()
    outlines = np.array([Shape.BALL, Shape.SQUARE, Shape.SQUARE], np.uint8)
    shapes = np.broadcast_to(outlines, (count, 3)).copy()
    return Samples("gate", init, positions, velocities, sizes, colours, shapes)


def passes(init: Doubles) -> NDArray[np.bool_]:
    """Say which balls pass, given (M, 3) [r, v, margin]."""
    result: NDArray[np.bool_] = init[:, 2] > 0
    return result


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _make(
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
        r = between(key, 0, _RADII[0], _RADII[1])
        speed = between(key, 1, _SPEEDS[0], _SPEEDS[1])
        start = between(key, 2, r, r + _FIRST_X)
        height = between(key, 3, _HEIGHTS[0], _HEIGHTS[1])
        face = start + speed * between(key, 4, ARRIVAL[0], ARRIVAL[1])
        margin = between(key, 5, margins[0], margins[1])
        if indexes[m] % 2:
            margin = -margin
        init[m, 0], init[m, 1], init[m, 2] = r, speed, margin
        turn = np.inf
        if margin < 0:
            # The centre is one radius from both corners.
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
