"""Draw small random choices; cheap enough to call thousands of times per scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

import numpy as np

#: Random generator that every builder draws from.
Random: TypeAlias = np.random.Generator

T = TypeVar("T")


def chance(rng: Random, share: float) -> bool:
    """Return True with this probability."""
    return bool(rng.random() < share)


def between(rng: Random, low: float, high: float) -> float:
    """Draw evenly from low to high."""
    return low + (high - low) * float(rng.random())


def random_sign(rng: Random) -> float:
    """Draw −1.0 or 1.0."""
    return 1.0 if rng.random() < 0.5 else -1.0


def pick(rng: Random, options: Sequence[T]) -> T:
    """Draw one of the options, all equally likely (numpy's `choice` takes ten times as long)."""
    return options[int(rng.random() * len(options))]


def weighted(rng: Random, options: Sequence[tuple[T, float]]) -> T:
    """Draw one of (option, weight) pairs; weights need not add up to one."""
    rest = float(rng.random()) * sum(weight for _, weight in options)
    for option, weight in options:
        rest -= weight
        if rest < 0:
            return option
    return options[-1][0]


def randint(rng: Random, low: int, high: int) -> int:
    """Draw a whole number from low to high, both included."""
    return low + int(rng.random() * (high - low + 1))
