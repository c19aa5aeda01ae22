"""The losses that Metric from Human compares in its Table 5, with their gradients.

Each takes predictions and targets of one quantity, inverse depth in [1/m] by default, and returns the
loss and its derivative by every prediction.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
LossName = Literal["l1", "l2", "log_mse", "silog"]

#: Added before logarithms are taken, as the authors' code does.
EPSILON = 1e-7

#: λ of mean(g²) - λ mean(g)². The paper prints 0.15 below this formula (Eq. 5); its code computes
#: var(g) + 0.15 mean(g)², which is this formula with 0.85, and so are its published figures.
LAMBDA_CODE = 0.85
LAMBDA_PRINTED = 0.15


def l1(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean absolute difference."""
    off = predicted - target
    return float(np.abs(off).mean()), np.sign(off) / len(off)


def l2(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean squared difference."""
    off = predicted - target
    return float((off**2).mean()), 2 * off / len(off)


def log_mse(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean squared difference of logarithms: `silog` with λ = 0, without the root."""
    g = np.log(predicted + EPSILON) - np.log(target + EPSILON)
    return float((g**2).mean()), 2 * g / len(g) / (predicted + EPSILON)


def silog(
    predicted: Doubles, target: Doubles, weight: float = LAMBDA_CODE
) -> tuple[float, Doubles]:
    """Return 10 · sqrt(mean(g²) - λ mean(g)²) with g = ln predicted - ln target.

    Args:
        predicted: (N,) positive.
        target: (N,) positive.
        weight: λ; 1 forgives any common factor, 0 none.
    """
    g = np.log(predicted + EPSILON) - np.log(target + EPSILON)
    count, mean = len(g), g.mean()
    root = np.sqrt(max((g**2).mean() - weight * mean**2, 1e-18))
    slope = 10 / root * (g - weight * mean) / count
    return float(10 * root), slope / (predicted + EPSILON)


LOSSES: dict[LossName, Callable[[Doubles, Doubles], tuple[float, Doubles]]] = {
    "l1": l1,
    "l2": l2,
    "log_mse": log_mse,
    "silog": silog,
}
