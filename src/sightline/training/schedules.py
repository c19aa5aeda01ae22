"""Learning-rate schedules: factors of the peak rate as functions of the step."""

from __future__ import annotations

import math


def cosine_rate(step: int, steps: int, warmup: int) -> float:
    """Return a factor in 0 to 1: linear warm-up over `warmup` steps, then half a cosine down to 0.

    Args:
        step: Number of the step, from 0.
        steps: Number of steps of the run.
        warmup: Number of warm-up steps.

    >>> [round(cosine_rate(step, 6, 2), 2) for step in range(6)]
    [0.5, 1.0, 1.0, 0.85, 0.5, 0.15]
    """
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, steps - warmup)))


def trapezoid_rate(
    step: int, steps: int, warmup: int, decay: float = 0.5, power: float = 1.0
) -> float:
    """Return a factor in 0 to 1: linear warm-up, constant, then polynomial decay to 0.

    A run can be shortened or extended while the rate is constant, because the factor of a past step
    does not depend on `steps`.

    Args:
        step: Number of the step, from 0.
        steps: Number of steps of the run.
        warmup: Number of warm-up steps.
        decay: Fraction of the steps, at the end, over which the rate decays.
        power: Exponent of the decay; 1 is linear.

    >>> [round(trapezoid_rate(step, 6, 2, decay=0.5), 2) for step in range(6)]
    [0.5, 1.0, 1.0, 1.0, 0.67, 0.33]
    """
    falling = max(1, round(steps * decay))
    up = min(1.0, (step + 1) / max(1, warmup))
    down = min(1.0, (steps - step) / falling) ** power
    return min(up, down)
