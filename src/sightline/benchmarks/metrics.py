"""How good is a depth map: pure functions of prediction and truth.

Relative protocol: one scale (not negative) and one shift per picture, fitted by least squares in
disparity space over the known pixels; distances limited to `cap` metres; then AbsRel and δ1 in depth.
Spearman's rank correlation needs no alignment at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sightline.geometry import align
from sightline.types import BoolArray


@dataclass(frozen=True, slots=True)
class RelativeScore:
    """Figures of one picture.

    Attributes:
        spearman: rank correlation of predicted and true disparity, −1 to 1.
        abs_rel: mean |z − z*| / z* after alignment.
        delta1: share of pixels with max(z/z*, z*/z) < 1.25 after alignment.
    """

    spearman: float
    abs_rel: float
    delta1: float


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


def relative_score(
    prediction: NDArray[Any], disparity: NDArray[Any], known: BoolArray, cap: float = 80.0
) -> RelativeScore:
    """Score relative disparity against true disparity.

    Args:
        prediction: (H, W), larger is nearer, any scale and shift.
        disparity: (H, W) true 1/metres or pixels of stereo disparity, larger is nearer.
        known: (H, W) where the truth is known.
        cap: the aligned prediction is limited to this distance (in the unit of 1/`disparity`).
    """
    known = known & np.isfinite(disparity) & (disparity > 0)
    p, d = prediction[known].astype(np.float64), disparity[known].astype(np.float64)
    fit = align(p, d, nonnegative=True)
    aligned = np.maximum(fit.scale * p + fit.shift, 1.0 / cap)
    ratio = np.maximum(aligned / d, d / aligned)
    return RelativeScore(
        spearman(p, d), float(np.mean(np.abs(d / aligned - 1))), float(np.mean(ratio < 1.25))
    )
