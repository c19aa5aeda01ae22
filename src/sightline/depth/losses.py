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


def difference(prediction: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Return (N, H, W) the difference of the two normalised maps: free of scale and shift."""
    return normalise(prediction, mask) - normalise(target, mask)


def trimmed(residual: Tensor, mask: Tensor, share: float) -> Tensor:
    """Take the largest `share` of valid |residual| of each map out of its mask (V2 §5.2: 0.1)."""
    if share <= 0:
        return mask
    limits = []
    for values, inside in zip(residual.detach().abs(), mask, strict=True):
        valid = values[inside]
        keep = max(1, round(valid.numel() * (1 - share)))
        limits.append(valid.kthvalue(keep).values if valid.numel() else values.new_zeros(()))
    return mask & (residual.detach().abs() <= torch.stack(limits)[:, None, None])


def scale_shift_invariant(
    prediction: Tensor, target: Tensor, mask: Tensor, trim: float = 0.0
) -> Tensor:
    """Mean absolute difference of the two normalised maps (L_ssi, V1 §3.1).

    Args:
        prediction: (N, H, W) disparity of any scale and shift.
        target: (N, H, W) disparity of any scale and shift.
        mask: (N, H, W) valid pixels.
        trim: share of the largest differences to ignore.
    """
    residual = difference(prediction, target, mask)
    return masked_mean(residual.abs(), trimmed(residual, mask, trim))


def gradient_matching(
    prediction: Tensor, target: Tensor, mask: Tensor, scales: int = 4, trim: float = 0.0
) -> Tensor:
    """Mean absolute gradient of the normalised difference over dyadic scales (L_gm).

    Scales are subsamplings by 1, 2, 4, 8 as MiDaS defines them; their means are added. Depth Anything
    V2 weights this twice as much as L_ssi, which is where its fine detail comes from (§7.1, B.7).
    """
    residual = difference(prediction, target, mask)
    return gradients(residual, trimmed(residual, mask, trim), scales)


def gradients(residual: Tensor, mask: Tensor, scales: int = 4) -> Tensor:
    """Sum over dyadic scales of the mean absolute step between valid neighbours of (N, H, W)."""
    total = residual.new_zeros(residual.shape[0])
    for scale in range(scales):
        step = 2**scale
        d, m = residual[:, ::step, ::step], mask[:, ::step, ::step]
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
    residual = difference(prediction, target, mask)
    kept = trimmed(residual, mask, trim)
    per_map = masked_mean(residual.abs(), kept)
    if gradient_weight > 0:
        per_map = per_map + gradient_weight * gradients(residual, kept)
    if anchor_weight > 0:
        per_map = per_map + anchor_weight * masked_mean((prediction - target).abs(), mask)
    enough = (mask.flatten(1).sum(1) >= MIN_PIXELS).to(per_map.dtype)
    return (per_map * enough).sum() / enough.sum().clamp(min=1)
