"""Checks of what a run is asked for: one line says which number is wrong."""

from __future__ import annotations

import math

from sightline.errors import InputError


def at_least_one(options: object, *names: str) -> None:
    """Refuse fields below 1."""
    for name in names:
        if getattr(options, name) < 1:
            raise InputError(f"{name} must be at least 1, got {getattr(options, name)}")


def not_negative(options: object, *names: str) -> None:
    """Refuse fields that are negative, infinite or not a number."""
    for name in names:
        if not 0 <= getattr(options, name) < math.inf:
            raise InputError(f"{name} must be a number from 0 up, got {getattr(options, name)}")


def above_zero(options: object, *names: str) -> None:
    """Refuse fields that are not above 0, infinite or not a number."""
    for name in names:
        if not 0 < getattr(options, name) < math.inf:
            raise InputError(f"{name} must be a number above 0, got {getattr(options, name)}")


def shares(options: object, *names: str, zero: bool = True) -> None:
    """Refuse fields outside 0 to 1; with `zero` off, 0 itself too."""
    for name in names:
        value = getattr(options, name)
        if not (0 <= value <= 1 and (zero or value > 0)):
            least = "from 0" if zero else "above 0, up"
            raise InputError(f"{name} must be {least} to 1, got {value}")


#: Seeds lie below this: torch takes no larger ones.
SEEDS = 2**63


def check_seed(seed: int) -> None:
    """Refuse seeds that torch does not take."""
    if not 0 <= seed < SEEDS:
        raise InputError(f"seed must be a number from 0 to {SEEDS - 1}, got {seed}")


def seed_and_threads(options: object) -> None:
    """Refuse seeds and numbers of threads that torch does not take."""
    seed, threads = getattr(options, "seed"), getattr(options, "threads")  # noqa: B009 - any options
    check_seed(seed)
    if threads is not None and threads < 1:
        raise InputError(f"threads must be at least 1, got {threads}")


def learning_rate(options: object) -> None:
    """Refuse rates that no training survives."""
    rate = getattr(options, "rate")  # noqa: B009 - any options
    if not 0 <= rate <= 1:
        raise InputError(f"rate must be a number from 0 to 1, got {rate}")
