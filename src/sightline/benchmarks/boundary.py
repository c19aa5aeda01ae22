"""Are the edges where they belong: scale-invariant boundary F1, after Depth Pro.

ArXiv 2410.02073, §4. Two neighbouring pixels form an occluding contour when their distances differ
by more than a factor t. Predicted and true contours are compared pair by pair, with their direction
(which of the two is in front), and F1 is the harmonic mean of precision and recall. Ten thresholds
from 5 % to 25 %, evenly spaced; their F1 are averaged with weights in proportion to t, so that
strong edges count more. A factor does not change it; a wrong shift of disparity does, so relative
maps are aligned first.

* Depth Pro takes precision and recall per direction (left, right, up, down) and averages the four;
  here the pairs of all directions are counted together, so that a picture without, say, any edge
  towards the top does not lose a quarter of its score, and the truth itself always scores 1.
* A pair counts only where the truth of both pixels is known: at holes nothing is claimed either
  way.
* No tolerance and no thinning, as published. But `span` may be more than one pixel. A depth camera
  sees nothing in a strip beside most contours, and what it sees there is off by a few pixels: among
  direct neighbours most of its contours are missing. A network that works at 256 pixels, on the
  other hand, spreads any jump over several pixels of a larger picture and scores nearly zero,
  however well it knows the outline. Pairs 1 % of the shorter side apart (5 px at 480) bridge both.
  Both figures are reported.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.types import BoolArray

#: Ratios of two distances, from the paper.
THRESHOLDS = np.linspace(1.05, 1.25, 10)
_LOG_THRESHOLDS = np.log(THRESHOLDS)

#: Span of the wide figure as a share of the picture's shorter side.
WIDE = 0.01

#: Both figures in words, for the protocol line.
BOUNDARY_WORDS = "F1 of contours of 5–25 % between neighbouring pixels, wide: 1 % of the side apart"


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
