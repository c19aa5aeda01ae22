"""Random numbers by address: the n-th number of sample k of a seed, without the ones before it.

A counter-based scheme (the finaliser of SplitMix64 over a keyed counter): whatever part of a data set
is made, by whom and in what order, sample k is the same.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numba import njit

from sightline.errors import InputError

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_A, _B, _C, _D = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ONE = np.uint64(1)
_TO_UNIT = 1.0 / (1 << 53)


def tag_of(*words: str) -> int:
    """Return the number of a stream by its name, so that two splits of one seed share no numbers.

    >>> tag_of("uniform", "id") == tag_of("uniform", "ood")
    False
    """
    return zlib.crc32("/".join(words).encode())


def check_address(seed: int, start: int, count: int) -> None:
    """Refuse seeds and places that the streams do not have."""
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
