"""Counter-based random numbers, and the start positions of balls.

Number n of sample k of a seed is computed directly (the finalizer of SplitMix64 over a keyed counter),
so sample k does not depend on which part of a data set is made, where, and in which order.

Start positions follow the rules of the released generator. One ball: at least 24 frames before it
leaves the picture, or, when it is too fast for that, a start within half a unit of the edge it comes
from. Two balls: at least 8 frames before they meet and 8 after. The released generator tries up to 50
times and drops a pair after ten failures, but its tries all succeed or all fail (up to rounding): they
fail when the shortest allowed distance exceeds the picture. `fits` tests this directly; the literal
loop is in `grids`.

Where the released rules contradict themselves, this code follows their intent: a ball more than twice
as large as the other starts at its side of the picture, the left one too, and a pair always meets in
time.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import FRAME_TIME, FRAMES, WORLD_SIDE, Doubles

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_A, _B, _C, _D = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ONE = np.uint64(1)
_TO_UNIT = 1.0 / (1 << 53)


def tag_of(*words: str) -> int:
    """Return the id of a random stream by its name, so that two splits of a seed share no numbers.

    >>> tag_of("uniform", "id") == tag_of("uniform", "ood")
    False
    """
    return zlib.crc32("/".join(words).encode())


def check_address(seed: int, start: int, count: int) -> None:
    """Refuse invalid seeds and sample indexes."""
    if not 0 <= seed < 2**63:
        raise InputError(f"seed must be from 0 to 2^63 − 1, got {seed}")
    if start < 0 or count < 0:
        raise InputError(f"start and count must not be negative, got {start} and {count}")


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _mixed(key: Any) -> Any:
    """Spread 64 bits over 64 bits."""
    key = (key ^ (key >> _A)) * _FIRST
    key = (key ^ (key >> _B)) * _SECOND
    return key ^ (key >> _C)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def stream(seed: int, tag: int, index: int) -> Any:
    """Key of the numbers of sample `index`; all three whole and not negative."""
    key = _mixed(np.uint64(seed) + _STEP)
    key = _mixed((key ^ np.uint64(tag)) + _STEP)
    return _mixed((key ^ np.uint64(index)) + _STEP)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def number(key: Any, place: int) -> float:
    """Return number `place` of a stream: uniform, from 0 to just below 1, of 53 random bits."""
    return float(_mixed(key + (np.uint64(place) + _ONE) * _STEP) >> _D) * _TO_UNIT


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def between(key: Any, place: int, low: float, high: float) -> float:
    """Return number `place` of a stream, from `low` to just below `high`."""
    return low + number(key, place) * (high - low)


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
    """Return start positions of single balls that move to the right.

    Args:
        init: (M, 2 or more): radius, speed …
        falling: in the top unit of the picture, for a parabola, instead of anywhere.
        seed: of all random choices.
        tag: of the stream of numbers.
        indexes: (M,) place of each sample in its row.

    Returns:
        (M, 1, 2) centers (x, y).
    """
    starts = np.empty((len(init), 1, 2))
    _place_single(init, falling, seed, tag, indexes, starts)
    return starts


def place_pair(init: Doubles, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Doubles:
    """Return start positions of pairs at one height; all must fit.

    Args:
        init: (M, 4): r1, r2, v1, v2.
        seed: of all random choices.
        tag: of the stream of numbers.
        indexes: (M,) place of each sample in its row.

    Returns:
        (M, 2, 2) centers (x, y), the first ball on the left.
    """
    starts = np.empty((len(init), 2, 2))
    _place_pair(init, seed, tag, indexes, starts)
    return starts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fits(r1: float, r2: float, v1: float, v2: float) -> bool:
    """Return whether two balls can meet in the picture with 8 frames before and 8 after.

    Together they fill less than half of the picture, they move, and the distance of eight frames of
    approach leaves both inside at the start.
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
