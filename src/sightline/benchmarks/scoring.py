"""Score one depth map against measured depth, by a protocol."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from sightline.benchmarks import metrics
from sightline.benchmarks.metrics import Score, boundary_f1, wide_span
from sightline.benchmarks.protocol import Protocol, UnfitError, counted
from sightline.depth.preprocessing import to_picture_size
from sightline.errors import InputError
from sightline.geometry import align
from sightline.io.rgbd import Truth
from sightline.types import BoolArray, DepthMap, Kind

Doubles = NDArray[np.float64]

#: Alignments that cannot judge a map of unknown shift.
SCALE_ONLY = ("scale", "median", "moge-scale", "none")

#: A fit that is not linear looks at no more samples than this, evenly spread.
_FIT_SAMPLES = 20_000

#: A robust fit, no more than this.
_ROBUST_SAMPLES = 4_096


def score(prediction: DepthMap, truth: Truth, protocol: Protocol, *, edges: bool = True) -> Score:
    """Score a depth map.

    Args:
        prediction: of any kind; of another size than the truth, it is resized bilinearly in disparity.
            Pixels without an answer count as infinitely far.
        truth: the photograph's measured depth.
        protocol: how.
        edges: also compute the boundary figures, where the truth is dense.

    Raises:
        InputError: nothing to compare.
        UnfitError: the protocol cannot judge this kind of prediction.
    """
    known = counted(truth.disparity, truth.known, protocol)
    if not known.any():
        raise InputError(f"{truth.sample}: no pixel of known depth within crop and range")
    disparity = predicted_disparity(prediction, truth.disparity.shape)
    target = truth.disparity.astype(np.float64)
    aligned = to_truth(disparity, target, known, protocol, prediction.kind)
    p, t = aligned[known], target[known]
    if protocol.space == "depth":
        p, t = 1 / p, 1 / t
    narrow = wide = math.nan
    if edges and truth.dense:
        narrow = boundary_f1(aligned, target, known)
        wide = boundary_f1(aligned, target, known, wide_span(*known.shape))
    return Score(
        spearman=metrics.spearman(disparity[known], target[known]),
        abs_rel=metrics.abs_rel(p, t),
        delta1=metrics.delta(p, t),
        delta2=metrics.delta(p, t, 2),
        delta3=metrics.delta(p, t, 3),
        # Without a unit there are no meters to be wrong by.
        rmse=metrics.rmse(p, t) if truth.metric else math.nan,
        rmse_log=metrics.rmse_log(p, t),
        si_log=metrics.si_log(p, t),
        log10=metrics.log10(p, t),
        boundary_f1=narrow,
        wide_f1=wide,
        residual=metrics.ramp_residual(disparity[known], target[known], np.nonzero(known)[0]),
    )


def predicted_disparity(prediction: DepthMap, hw: tuple[int, ...] | None = None) -> Doubles:
    """Return (H, W) larger is nearer, 0 where there is no answer; of the size `hw` if given."""
    values = prediction.values
    if prediction.kind is Kind.METRIC_DEPTH:
        values = np.where(prediction.valid, 1 / np.where(prediction.valid, values, 1), 0)
    if hw is not None and values.shape != hw:
        values = to_picture_size(values, (hw[0], hw[1]))
    return values.astype(np.float64)


def to_truth(
    disparity: NDArray[Any], target: NDArray[Any], known: BoolArray, protocol: Protocol, kind: Kind
) -> Doubles:
    """Bring predicted disparity to the truth's scale.

    Args:
        disparity: (H, W) prediction, larger is nearer.
        target: (H, W) true disparity.
        known: (H, W) the pixels the fit may see.
        protocol: gives the alignment and the cap.
        kind: of the prediction: relative disparity has an unknown shift, which a factor cannot mend.

    Returns:
        (H, W) disparity, at least 1/cap.
    """
    relative = kind is Kind.RELATIVE_DISPARITY
    if relative and protocol.align in SCALE_ONLY:
        raise UnfitError(
            f"relative disparity has an unknown shift, so --align {protocol.align} cannot judge it",
            remedy="use --align disparity, or a metric model",
        )
    p, t = disparity[known], target[known]
    furthest = float(t.min()) if protocol.cap is None else 1 / protocol.cap
    if protocol.align == "none":
        result = disparity
    elif protocol.align == "disparity":
        fit = align(p, t, nonnegative=True)
        result = fit.scale * disparity + fit.shift
    elif relative:
        scale, shift = _relative_fit(p, t, furthest, protocol)
        result = scale * disparity + shift
    else:
        depth = 1 / np.maximum(disparity, _least_disparity(disparity, protocol.cap))
        result = 1 / np.maximum(_depth_to_truth(depth, 1 / t, known, protocol), protocol.near)
    return np.maximum(result, furthest)


def _least_disparity(disparity: NDArray[Any], cap: float | None) -> float:
    """Return 1/cap, or without one the least predicted disparity: before the fit, scales differ."""
    if cap is not None:
        return 1 / cap
    found = disparity[disparity > 0]
    return float(found.min()) if found.size else 1.0


def _depth_to_truth(
    depth: Doubles, target: Doubles, known: BoolArray, protocol: Protocol
) -> Doubles:
    """Align (H, W) predicted depth to the (n,) true depth of the known pixels."""
    z = depth[known]
    if protocol.align == "log":
        return depth * np.exp(np.mean(np.log(target) - np.log(z)))
    if protocol.align == "moge-scale":
        return depth * weighted_median(target / z, z / target)
    if protocol.align == "moge-affine":
        scale, shift = least_relative_line(z, target)
        return scale * depth + shift
    if protocol.align == "median":
        return depth * (np.median(target) / np.median(z))
    if protocol.align == "scale":
        return depth * (float((z * target).sum()) / float((z * z).sum()))
    fit = align(z, target, nonnegative=True)
    return fit.scale * depth + fit.shift


def _relative_fit(
    p: Doubles, t: Doubles, furthest: float, protocol: Protocol
) -> tuple[float, float]:
    """Find scale ≥ 0 and shift of disparity `p`, best in the space of the protocol.

    The family of maps is the same as for a fit in disparity; only the weights of near and far differ.
    """
    if protocol.align == "moge-affine":
        return least_relative_line(p, t)
    start = align(p, t, nonnegative=True)
    step = -(-len(p) // _FIT_SAMPLES)
    p, z = p[::step], 1 / t[::step]

    def depth_residual(x: Doubles) -> Doubles:
        result: Doubles = 1 / np.maximum(x[0] * p + x[1], furthest) - z
        return result

    def log_residual(x: Doubles) -> Doubles:
        result: Doubles = np.log(np.maximum(x[0] * p + x[1], furthest) * z)
        return result

    residual = log_residual if protocol.align == "log" else depth_residual
    bounds = ([0.0, -np.inf], [np.inf, np.inf])
    found = least_squares(residual, [start.scale, start.shift], bounds=bounds, x_scale="jac")
    return float(found.x[0]), float(found.x[1])


def weighted_median(values: NDArray[Any], weights: NDArray[Any]) -> float:
    """Return the value that minimizes Σ w · |v − x|.

    >>> weighted_median(np.array([1.0, 2.0, 9.0]), np.array([1.0, 1.0, 5.0]))
    9.0
    """
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])


def least_relative_line(x: Doubles, y: Doubles, iterations: int = 60) -> tuple[float, float]:
    """Return scale ≥ 0 and shift of the least Σ |scale · x + shift − y| / y.

    By reweighted least squares, on about as many samples as MoGe fits (64 × 64), evenly spread.

    Args:
        x: (n,) prediction.
        y: (n,) positive truth.
        iterations: of the reweighting.
    """
    step = -(-len(x) // _ROBUST_SAMPLES)
    x, y = x[::step], y[::step]
    weights = 1 / y
    fit = align(x, y, weights=weights**2, nonnegative=True)
    floor = 1e-6
    for _ in range(iterations):
        error = np.abs(fit.scale * x + fit.shift - y) / y
        # |e| / y = w · e² with w = 1 / (|e| · y)
        fit = align(x, y, weights=weights**2 / np.maximum(error, floor), nonnegative=True)
    return fit.scale, fit.shift
