"""Depth metrics of one map against its truth, and the boundary F1 of Depth Pro.

Boundary F1 (arXiv 2410.02073, §4): two neighboring pixels form an occluding contour when their
distances differ by more than a factor t. Predicted and true contours are compared pair by pair with
their direction (which pixel is in front). Ten thresholds from 5 % to 25 % are averaged with weights
proportional to t, so strong edges count more. A global factor does not change F1, but a wrong shift
of disparity does, so relative maps are aligned first.

* Depth Pro averages precision and recall over four directions. Here the pairs of all directions are
  counted together, so that an image without edges in one direction does not lose a quarter of its
  score, and the truth itself always scores 1.
* A pair counts only where both true depths are known.
* There is no tolerance and no thinning, as published, but `span` may exceed one pixel: depth cameras
  are blind in a strip beside most contours, and a network that works at 256 px spreads a jump over
  several pixels of a larger image. Pairs 1 % of the shorter side apart bridge both; both values are
  reported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sightline.types import BoolArray

#: Share of the squared mean that SI-log takes off. At 1 a common factor costs nothing, as the name says
#: and as KITTI's benchmark has it; training losses use less (spec §1.7: 0.5).
SI_LOG_LAMBDA = 1.0


@dataclass(frozen=True, slots=True)
class Score:
    """Figures of one picture, or their mean over several; NaN where one is not defined.

    Attributes:
        spearman: rank correlation of predicted and true disparity, −1 to 1, before any alignment.
        residual: rank correlation that is left after the row number is taken out of both (see
            `ramp_residual`).
        abs_rel: mean |p − t| / t.
        delta1: share of pixels with max(p/t, t/p) < 1.25.
        delta2: the same with 1.25².
        delta3: the same with 1.25³.
        rmse: root mean square of p − t, in the unit of the space: [m], or [1/m] for disparity.
        rmse_log: root mean square of ln p − ln t.
        si_log: sqrt(mean g² − λ · (mean g)²), g = ln p − ln t, λ = 1.
        log10: mean |log₁₀ p − log₁₀ t|.
        boundary_f1: of neighboring pixels (see `boundary`); only where the truth is dense.
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
    residual: float = math.nan


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


def ramp_residual(prediction: NDArray[Any], truth: NDArray[Any], rows: NDArray[Any]) -> float:
    """Rank correlation of prediction and truth after the row number is regressed out of both.

    On most photographs "lower is nearer" alone ranks pixels well; this is what a model knows beyond
    it. The partial rank correlation (r_pt − r_pr · r_tr) / sqrt((1 − r_pr²)(1 − r_tr²)).

    Args:
        prediction: (n,) of the known pixels, larger is nearer.
        truth: (n,) the same.
        rows: (n,) row number of each.

    Returns:
        −1 to 1; 0 for the row number itself; NaN where the truth is nothing but a ramp.
    """
    r_pt, r_pr, r_tr = (
        spearman(prediction, truth),
        spearman(prediction, rows),
        spearman(truth, rows),
    )
    if 1 - r_tr**2 < 1e-9:
        return math.nan
    left = math.sqrt(max(1 - r_pr**2, 0.0) * (1 - r_tr**2))
    return (r_pt - r_pr * r_tr) / left if left > 1e-9 else 0.0


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


#: Ratios of two distances, from the paper.
THRESHOLDS = np.linspace(1.05, 1.25, 10)
_LOG_THRESHOLDS = np.log(THRESHOLDS)

#: Span of the wide figure as a share of the picture's shorter side.
WIDE = 0.01

#: Both figures in words, for the protocol line.
BOUNDARY_WORDS = "F1 of contours of 5–25 % between neighboring pixels, wide: 1 % of the side apart"


def wide_span(height: int, width: int) -> int:
    """Return the span in [px] of the wide figure for a picture of this size, at least 2.

    >>> wide_span(480, 640)
    5
    """
    return max(2, round(WIDE * min(height, width)))


def boundary_f1(
    prediction: NDArray[Any], truth: NDArray[Any], known: BoolArray, span: int = 1
) -> float:
    """Scale-invariant boundary F1, 0 to 1; NaN when neither map has any contour.

    Args:
        prediction: (H, W) positive depth (or disparity) up to a factor.
        truth: (H, W) of the same kind; what it holds where not known does not matter.
        known: (H, W) where the truth is known.
        span: distance of the two pixels of a pair in [px], along rows and columns; 1 as published.
    """
    p = np.log(np.where(known, prediction, 1.0))
    t = np.log(np.where(known, truth, 1.0))
    totals = np.zeros((3, len(THRESHOLDS)))
    for axis in (0, 1):
        both = _later(known, axis, span) & _earlier(known, axis, span)
        step_p = _later(p, axis, span) - _earlier(p, axis, span)
        step_t = _later(t, axis, span) - _earlier(t, axis, span)
        # Few pairs exceed even the first threshold: look at those alone.
        least = _LOG_THRESHOLDS[0]
        both &= (np.abs(step_p) > least) | (np.abs(step_t) > least)
        for sign in (1, -1):  # which of the two is in front
            totals += _counts(sign * step_p[both], sign * step_t[both])
    return _weighted_f1(*totals)


def _later(array: NDArray[Any], axis: int, span: int) -> NDArray[Any]:
    """All but the first `span` entries along an axis."""
    return array[span:] if axis == 0 else array[:, span:]


def _earlier(array: NDArray[Any], axis: int, span: int) -> NDArray[Any]:
    """All but the last `span` entries along an axis."""
    return array[:-span] if axis == 0 else array[:, :-span]


def _counts(step_p: NDArray[Any], step_t: NDArray[Any]) -> NDArray[np.float64]:
    """Return (3, thresholds): how many contours are predicted, true, and both."""
    p = np.searchsorted(_LOG_THRESHOLDS, step_p, side="left")
    t = np.searchsorted(_LOG_THRESHOLDS, step_t, side="left")
    return np.array([_above(p), _above(t), _above(np.minimum(p, t))], np.float64)


def _above(level: NDArray[np.intp]) -> NDArray[np.int64]:
    """For each threshold, how many pairs exceed it; `level` is how many each pair exceeds."""
    found = np.bincount(level, minlength=len(THRESHOLDS) + 1)
    exceed: NDArray[np.int64] = found[::-1].cumsum()[::-1][1:]
    return exceed


def _weighted_f1(
    predicted: NDArray[np.float64], true: NDArray[np.float64], both: NDArray[np.float64]
) -> float:
    """Combine the thresholds; one that neither map exceeds anywhere has nothing to say."""
    speaks = (predicted + true) > 0
    if not speaks.any():
        return math.nan
    # 2PR / (P + R) with P = both/predicted, R = both/true.
    f1 = 2 * both[speaks] / (predicted + true)[speaks]
    return float(np.average(f1, weights=THRESHOLDS[speaks]))
