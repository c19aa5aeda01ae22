"""Where balls start: the reference's rules, so that there is something to see in enough frames.

One ball: at least 24 frames before it leaves the picture, or, when it is too fast for that, a start
within half a unit of the edge it comes from. Two balls: at least 8 frames before they meet and 8 after.
In the reference a pair is placed by up to 50 tries and dropped when ten or more fail. Its tries can
only all succeed or all fail, though (but for rounding): they fail when the shortest distance allowed is
longer than the picture has room for. `fits` says so at once; the literal loop is in `reference.py`.

Where the reference contradicts itself, this follows what it means to do: a ball more than twice as
large as the other starts at its side of the picture, the left one too (there a later branch overrules
the first), and closeness never makes the pair meet too late (there slow pairs may never meet).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import FRAME_TIME, FRAMES, WORLD_SIDE, Doubles
from sightline.physics.worlds.draws import between, stream

#: Frames before a ball leaves the picture, before a pair meets, and after it.
VISIBLE_FRAMES = 24
FRAMES_BEFORE, FRAMES_AFTER = 8, 8
#: Share of the world kept free above and below, and how near to its side a shoved ball starts.
MARGIN = 0.05

_FREE = MARGIN * WORLD_SIDE
_VISIBLE = VISIBLE_FRAMES * FRAME_TIME
_SOONEST, _LATEST = FRAMES_BEFORE * FRAME_TIME, (FRAMES - FRAMES_AFTER) * FRAME_TIME


def place_single(
    init: Doubles, *, falling: bool, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Doubles:
    """Place single balls that will move to the right.

    Args:
        init: (M, 2 or more): radius, speed …
        falling: in the top unit of the picture, for a parabola, instead of anywhere.
        seed: of all random choices.
        tag: of the stream of numbers.
        indexes: (M,) place of each sample in its row.

    Returns:
        (M, 1, 2) centres (x, y).
    """
    starts = np.empty((len(init), 1, 2))
    _place_single(init, falling, seed, tag, indexes, starts)
    return starts


def place_pair(init: Doubles, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Doubles:
    """Place pairs at one height; all must fit.

    Args:
        init: (M, 4): r1, r2, v1, v2.
        seed: of all random choices.
        tag: of the stream of numbers.
        indexes: (M,) place of each sample in its row.

    Returns:
        (M, 2, 2) centres (x, y), the first ball on the left.
    """
    starts = np.empty((len(init), 2, 2))
    _place_pair(init, seed, tag, indexes, starts)
    return starts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fits(r1: float, r2: float, v1: float, v2: float) -> bool:
    """Say whether two balls can meet in the picture with 8 frames before and 8 after.

    They fill less than half of the picture together, they move, and the distance that eight frames of
    approach need leaves both inside at the start.
    """
    reach, closing = r1 + r2, v1 + v2
    return (
        reach < 0.5 * WORLD_SIDE
        and closing > 0
        and _SOONEST * closing + reach <= WORLD_SIDE - reach
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def all_fit(init: Any) -> Any:
    """Return `fits` for (M, 4) rows of r1, r2, v1, v2, as (M,) bool."""
    result = np.empty(len(init), np.bool_)
    for m in range(len(init)):
        result[m] = fits(init[m, 0], init[m, 1], init[m, 2], init[m, 3])
    return result


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _place_single(init: Any, falling: bool, seed: int, tag: int, indexes: Any, starts: Any) -> None:
    for m in range(len(init)):
        key = stream(seed, tag, indexes[m])
        radius, speed = init[m, 0], init[m, 1]
        furthest = WORLD_SIDE - radius - _VISIBLE * speed
        if furthest < radius:
            furthest = radius + between(key, 0, 0.0, _FREE)
        top = WORLD_SIDE - _FREE - radius
        bottom = top - 1.0 if falling else radius + _FREE
        starts[m, 0, 0] = between(key, 1, radius, furthest)
        starts[m, 0, 1] = between(key, 2, bottom, top)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _place_pair(init: Any, seed: int, tag: int, indexes: Any, starts: Any) -> None:
    for m in range(len(init)):
        key = stream(seed, tag, indexes[m])
        r1, r2, closing = init[m, 0], init[m, 1], init[m, 2] + init[m, 3]
        reach = r1 + r2
        shortest = _SOONEST * closing + reach
        longest = min(_LATEST * closing + reach, WORLD_SIDE - reach)
        if r1 > 2 * r2 or r2 > 2 * r1:
            longest = min(longest, 1.25 * shortest)
        distance = between(key, 0, shortest, longest)
        left, right = r1, WORLD_SIDE - r2 - distance
        if r1 > 2 * r2:
            right = min(right, left + _FREE)
        elif r2 > 2 * r1:
            left = max(left, right - _FREE)
        x = between(key, 1, left, right)
        tallest = max(r1, r2)
        height = between(key, 2, tallest + _FREE, WORLD_SIDE - _FREE - tallest)
        starts[m, 0, 0], starts[m, 1, 0] = x, x + distance
        starts[m, 0, 1], starts[m, 1, 1] = height, height
