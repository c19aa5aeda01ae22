"""Confidence intervals of proportions."""

from __future__ import annotations

import math

from sightline.errors import InputError

#: 97.5th percentile of the normal distribution, for 95 % intervals.
_Z = 1.959964


def wilson(right: int, asked: int, z: float = _Z) -> tuple[float, float]:
    """Return the interval in which the true share lies with 95 % confidence (Wilson 1927).

    Unlike the plain normal one it stays between 0 and 1 and has a width where all or none are right.

    >>> [round(x, 3) for x in wilson(8, 10)]
    [0.49, 0.943]
    """
    if asked < 1 or not 0 <= right <= asked:
        raise InputError(f"{right} right of {asked} is no share")
    share, square = right / asked, z * z
    middle = (share + square / (2 * asked)) / (1 + square / asked)
    half = (
        z
        / (1 + square / asked)
        * math.sqrt(share * (1 - share) / asked + square / (4 * asked * asked))
    )
    low, high = max(0.0, middle - half), min(1.0, middle + half)
    return (0.0 if right == 0 else low), (1.0 if right == asked else high)
