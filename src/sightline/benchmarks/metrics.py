"""How good a depth map is: pure functions of a prediction that is already aligned, and the truth.

All take the known pixels as flat arrays of positive numbers of one unit, the truth second. They work
in depth or in disparity alike: hand them whichever space the protocol asks for. Ratios (δ and the
logarithms) are the same in both; AbsRel and RMSE are not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

#: Share of the squared mean that SI-log takes off. At 1 a common factor costs nothing, as the name says
#: and as KITTI's benchmark has it; training losses use less (spec §1.7: 0.5).
SI_LOG_LAMBDA = 1.0


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one picture, or their mean over several; NaN where one is not defined.

    Attributes:
        spearman: rank correlation of predicted and true disparity, −1 to 1, before any alignment.
        abs_rel: mean |p − t| / t.
        delta1: share of pixels with max(p/t, t/p) < 1.25.
        delta2: the same with 1.25².
        delta3: the same with 1.25³.
        rmse: root mean square of p − t, in the unit of the space: [m], or [1/m] for disparity.
        rmse_log: root mean square of ln p − ln t.
        si_log: sqrt(mean g² − λ · (mean g)²), g = ln p − ln t, λ = 1.
        log10: mean |log₁₀ p − log₁₀ t|.
        boundary_f1: of neighbouring pixels (see `boundary`); only where the truth is dense.
        wide_f1: the same of pixels 1 % of the picture's shorter side apart.
    """

    spearman: float
    abs_rel: float
    delta1: float
    delta2: float
    delta3: float
    rmse: float
    rmse_log: float
    si_log: float
    log10: float
    boundary_f1: float = math.nan
    wide_f1: float = math.nan


def spearman(a: NDArray[Any], b: NDArray[Any]) -> float:
    """Rank correlation of two samples of equal length, ties sharing their mean rank.

    >>> spearman(np.array([1.0, 2.0, 3.0]), np.array([10.0, 20.0, 90.0]))
    1.0
    """
    x, y = rankdata(a), rankdata(b)
    x -= x.mean()
    y -= y.mean()
    scale = float(np.sqrt((x * x).sum() * (y * y).sum()))
    return float((x * y).sum() / scale) if scale > 0 else 0.0


def abs_rel(prediction: NDArray[Any], truth: NDArray[Any]) -> float:
    """Mean |p − t| / t."""
    return float(np.mean(np.abs(prediction - truth) / truth))


def delta(prediction: NDArray[Any], truth: NDArray[Any], power: int = 1) -> float:
    """Share of pixels with max(p/t, t/p) < 1.25 to the `power`.

    >>> delta(np.array([1.0, 1.3]), np.array([1.0, 1.0])), delta(np.array([1.3]), np.array([1.0]), 2)
    (0.5, 1.0)
    """
    ratio = np.maximum(prediction / truth, truth / prediction)
    return float(np.mean(ratio < 1.25**power))


def rmse(prediction: NDArray[Any], truth: NDArray[Any]) -> float:
    """Root mean square of p − t, in their unit."""
    return float(np.sqrt(np.mean((prediction - truth) ** 2)))


def rmse_log(prediction: NDArray[Any], truth: NDArray[Any]) -> float:
    """Root mean square of ln p − ln t."""
    return rmse(np.log(prediction), np.log(truth))


def si_log(prediction: NDArray[Any], truth: NDArray[Any], share: float = SI_LOG_LAMBDA) -> float:
    """Scale-invariant log error: sqrt(mean g² − λ · (mean g)²) with g = ln p − ln t.

    Args:
        prediction: positive.
        truth: positive, same shape.
        share: λ; 1 forgives any common factor, 0 gives `rmse_log`.
    """
    g = np.log(prediction) - np.log(truth)
    # Rounding may leave a negative zero where all is one factor.
    return float(np.sqrt(max(np.mean(g**2) - share * np.mean(g) ** 2, 0.0)))


def log10(prediction: NDArray[Any], truth: NDArray[Any]) -> float:
    """Mean |log₁₀ p − log₁₀ t|."""
    return float(np.mean(np.abs(np.log10(prediction) - np.log10(truth))))
