"""How learning rates rise and fall over a run."""

from __future__ import annotations

import math


def cosine_rate(step: int, steps: int, rise: int) -> float:
    """Return a factor in 0 to 1: up in a line over `rise` steps, then half a cosine down to 0.

    >>> [round(cosine_rate(step, 6, 2), 2) for step in range(6)]
    [0.5, 1.0, 1.0, 0.85, 0.5, 0.15]
    """
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1 + math.cos(math.pi * (step - rise) / max(1, steps - rise)))
