"""Small draws from a random generator, quick enough to be made thousands of times a scene."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


def chance(rng: np.random.Generator, share: float) -> bool:
    """Say yes in this share of cases, 0 to 1."""
    return bool(rng.random() < share)


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Draw evenly from low to high."""
    return low + (high - low) * float(rng.random())


def either(rng: np.random.Generator) -> float:
    """Draw −1.0 or 1.0."""
    return 1.0 if rng.random() < 0.5 else -1.0


def pick(rng: np.random.Generator, options: Sequence[T]) -> T:
    """Draw one of the options, all equally likely (numpy's `choice` takes ten times as long)."""
    return options[int(rng.random() * len(options))]


def weighted(rng: np.random.Generator, options: Sequence[tuple[T, float]]) -> T:
    """Draw one of (option, weight) pairs; weights need not add up to one."""
    rest = float(rng.random()) * sum(weight for _, weight in options)
    for option, weight in options:
        rest -= weight
        if rest < 0:
            return option
    return options[-1][0]


def some(rng: np.random.Generator, low: int, high: int) -> int:
    """Draw a whole number from low to high, both included."""
    return low + int(rng.random() * (high - low + 1))
