"""Losses of the Depth Anything recipe, as pure functions of batches.

Maps are (N, H, W), masks (N, H, W) bool; every loss returns (N,), one figure per map, so that callers
weight and average as they like. A map with fewer than `MIN_PIXELS` valid pixels counts as zero.
"""

from __future__ import annotations

import torch
from torch import Tensor

MIN_PIXELS = 16


def normalise(values: Tensor, mask: Tensor, eps: float = 1e-6) -> Tensor:
    """Subtract the median, divide by the mean absolute deviation from it (Depth Anything V1 §3.1).

    Args:
        values: (N, H, W).
        mask: (N, H, W); only these pixels set median and spread.
        eps: least spread, so that flat maps stay finite.

    Returns:
        (N, H, W), median 0 and mean absolute value 1 over the mask.
    """
    flat = values.flatten(1)
    inside = mask.flatten(1)
    hidden = flat.masked_fill(~inside, float("nan"))
    median = torch.nan_to_num(hidden.nanmedian(dim=1).values, nan=0.0)
    count = inside.sum(1).clamp(min=1)
    spread = ((flat - median[:, None]).abs() * inside).sum(1) / count
    return (values - median[:, None, None]) / spread.clamp(min=eps)[:, None, None]


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of (N, …) values over a mask of the same shape, per map; 0 where the mask is empty."""
    weights = mask.flatten(1).to(values.dtype)
    return (values.flatten(1) * weights).sum(1) / weights.sum(1).clamp(min=1)


def scale_shift_invariant(
    prediction: Tensor, target: Tensor, mask: Tensor, trim: float = 0.0
) -> Tensor:
    """Mean absolute difference of the two normalised maps (L_ssi, V1 §3.1).

    Args:
        prediction: (N, H, W) disparity of any scale and shift.
        target: (N, H, W) disparity of any scale and shift.
        mask: (N, H, W) valid pixels.
        trim: share of the largest differences to ignore; 0.1 on pseudo-labels (V2 §5.2).
    """
    residual = (normalise(prediction, mask) - normalise(target, mask)).abs()
    if trim > 0:
        mask = mask & (residual <= trim_threshold(residual, mask, trim)[:, None, None])
    return masked_mean(residual, mask)


def trim_threshold(residual: Tensor, mask: Tensor, trim: float) -> Tensor:
    """Return (N,) the residual above which the largest `trim` share of valid pixels lies."""
    hidden = residual.detach().flatten(1).masked_fill(~mask.flatten(1), float("nan"))
    limit = torch.nanquantile(hidden, 1.0 - trim, dim=1)
    return torch.nan_to_num(limit, nan=float("inf"))


def gradient_matching(
    prediction: Tensor, target: Tensor, mask: Tensor, scales: int = 4, trim: float = 0.0
) -> Tensor:
    """Mean absolute gradient of the normalised difference over dyadic scales (L_gm).

    Scales are subsamplings by 1, 2, 4, 8 as MiDaS defines them; their means are added. Depth Anything
    V2 weights this twice as much as L_ssi, which is where its fine detail comes from (§7.1, B.7).
    """
    difference = normalise(prediction, mask) - normalise(target, mask)
    if trim > 0:
        limit = trim_threshold(difference.abs(), mask, trim)
        mask = mask & (difference.abs() <= limit[:, None, None])
    total = prediction.new_zeros(prediction.shape[0])
    for scale in range(scales):
        step = 2**scale
        d, m = difference[:, ::step, ::step], mask[:, ::step, ::step]
        across = masked_mean((d[:, :, 1:] - d[:, :, :-1]).abs(), m[:, :, 1:] & m[:, :, :-1])
        down = masked_mean((d[:, 1:] - d[:, :-1]).abs(), m[:, 1:] & m[:, :-1])
        total = total + across + down
    return total


def relative_loss(
    prediction: Tensor,
    target: Tensor,
    mask: Tensor,
    *,
    gradient_weight: float = 2.0,
    trim: float = 0.0,
    anchor_weight: float = 0.0,
) -> Tensor:
    """L_ssi + `gradient_weight` · L_gm, averaged over the maps that have enough valid pixels.

    `anchor_weight` adds the plain absolute difference. L_ssi and L_gm leave scale and shift free to
    wander; a weak anchor keeps the output of all pictures in one range.
    """
    per_map = scale_shift_invariant(prediction, target, mask, trim)
    if anchor_weight > 0:
        per_map = per_map + anchor_weight * masked_mean((prediction - target).abs(), mask)
    if gradient_weight > 0:
        matched = gradient_matching(prediction, target, mask, trim=trim)
        per_map = per_map + gradient_weight * matched
    enough = (mask.flatten(1).sum(1) >= MIN_PIXELS).to(per_map.dtype)
    return (per_map * enough).sum() / enough.sum().clamp(min=1)
