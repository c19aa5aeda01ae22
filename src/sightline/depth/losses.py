"""Losses of the Depth Anything recipe, as pure functions of batches.

Maps are (N, H, W), masks (N, H, W) bool; every term returns (N,), one figure per map, so that
callers can weight and average them. `relative_loss` and `metric_loss` are the sums that
training uses; in them a map with fewer than `MIN_PIXELS` valid pixels does not contribute.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

MIN_PIXELS = 16

#: A target with less spread than this, where its nearest pixel is 1, is flat.
FLAT_SPREAD = 0.001

#: Spread of a usual map in the range that the anchor keeps outputs in.
USUAL_SPREAD = 0.2

#: A pixel whose features already point the same way as the frozen encoder's is left alone (V1 §3.3).
FEATURE_MARGIN = 0.85


def normalize(values: Tensor, mask: Tensor, eps: float = 1e-6) -> Tensor:
    """Subtract the median, divide by the mean absolute deviation from it (Depth Anything V1 §3.1).

    Args:
        values: (N, H, W).
        mask: (N, H, W); only these pixels set median and spread.
        eps: minimum spread, so that flat maps stay finite.

    Returns:
        (N, H, W), median 0 and mean absolute value 1 over the mask.
    """
    median = median_of(values, mask)
    spread = spread_of(values, mask, median)
    return (values - median[:, None, None]) / spread.clamp(min=eps)[:, None, None]


def median_of(values: Tensor, mask: Tensor) -> Tensor:
    """Median of each (N, H, W) map over its mask, (N,); 0 where the mask is empty."""
    hidden = values.flatten(1).masked_fill(~mask.flatten(1), float("nan"))
    return torch.nan_to_num(hidden.nanmedian(dim=1).values, nan=0.0)


def spread_of(values: Tensor, mask: Tensor, median: Tensor | None = None) -> Tensor:
    """Mean absolute deviation of each (N, H, W) map from its median, over its mask, (N,)."""
    median = median_of(values, mask) if median is None else median
    inside = mask.flatten(1)
    count = inside.sum(1).clamp(min=1)
    return ((values.flatten(1) - median[:, None]).abs() * inside).sum(1) / count


def masked_mean(values: Tensor, weight: Tensor) -> Tensor:
    """Mean of (N, …) values per map; `weight` is a mask or weights ≥ 0; 0 where all of it is zero."""
    weights = weight.flatten(1).to(values.dtype)
    return (values.flatten(1) * weights).sum(1) / weights.sum(1).clamp(min=1e-6)


def difference(prediction: Tensor, target: Tensor, mask: Tensor) -> Tensor:
    """Return the (N, H, W) difference of the two normalized maps, invariant to scale and shift.

    A flat target (sky alone, a wall from the front) does not determine scale, and a prediction divided
    by its own spread could not become flat. Both maps are then divided by `USUAL_SPREAD`, so that
    structure predicted in a flat image is penalized by its size.
    """
    residual = normalize(prediction, mask) - normalize(target, mask)
    flat = spread_of(target, mask) < FLAT_SPREAD
    if not bool(flat.any()):
        return residual
    offset = (median_of(prediction, mask) - median_of(target, mask))[:, None, None]
    plain = (prediction - target - offset) / USUAL_SPREAD
    return torch.where(flat[:, None, None], plain, residual)


def trimmed(residual: Tensor, mask: Tensor, share: float | Tensor) -> Tensor:
    """Remove the largest `share` of valid |residual| of each map from its mask (V2 §5.2: 0.1).

    Args:
        residual: (N, H, W).
        mask: (N, H, W).
        share: 0 to 1, one for all or (N,) one for each map.
    """
    shares = torch.as_tensor(share).expand(len(mask)).tolist()
    kept = mask.clone()
    for number, (values, inside, cut) in enumerate(
        zip(residual.detach().abs(), mask, shares, strict=True)
    ):
        valid = values[inside]
        if cut > 0 and valid.numel():
            count = max(1, round(valid.numel() * (1 - cut)))
            kept[number] &= values <= valid.kthvalue(count).values
    return kept


def scale_shift_invariant(
    prediction: Tensor, target: Tensor, mask: Tensor, trim: float | Tensor = 0.0
) -> Tensor:
    """Mean absolute difference of the two normalized maps (L_ssi, V1 §3.1).

    Args:
        prediction: (N, H, W) disparity of any scale and shift.
        target: (N, H, W) disparity of any scale and shift.
        mask: (N, H, W) valid pixels.
        trim: share of the largest differences to ignore.
    """
    residual = difference(prediction, target, mask)
    return masked_mean(residual.abs(), trimmed(residual, mask, trim))


def gradient_matching(
    prediction: Tensor, target: Tensor, mask: Tensor, scales: int = 4, trim: float | Tensor = 0.0
) -> Tensor:
    """Mean absolute gradient of the normalized difference over dyadic scales (L_gm).

    Scales are subsamplings by 1, 2, 4, 8 as MiDaS defines them; their means are added. Depth Anything
    V2 weights this twice as much as L_ssi, which is where its fine detail comes from (§7.1, B.7).
    """
    residual = difference(prediction, target, mask)
    return gradients(residual, trimmed(residual, mask, trim), scales)


def gradients(residual: Tensor, weight: Tensor, scales: int = 4) -> Tensor:
    """Sum over dyadic scales of the mean absolute step between neighbors of (N, H, W).

    A step is weighted by the product of the weights of its two pixels; with a mask, both must be valid.
    """
    total = residual.new_zeros(residual.shape[0])
    for scale in range(scales):
        step = 2**scale
        d, w = residual[:, ::step, ::step], weight[:, ::step, ::step]
        across = masked_mean((d[:, :, 1:] - d[:, :, :-1]).abs(), w[:, :, 1:] * w[:, :, :-1])
        down = masked_mean((d[:, 1:] - d[:, :-1]).abs(), w[:, 1:] * w[:, :-1])
        total = total + across + down
    return total


def feature_alignment(features: Tensor, frozen: Tensor, margin: float = FEATURE_MARGIN) -> Tensor:
    """One minus the mean cosine to a frozen encoder's features (L_feat, V1 §3.3).

    Args:
        features: (N, D, h, w) of the network that learns.
        frozen: (N, D, h, w) of the encoder it started from; no gradient is propagated.
        margin: places whose cosine is above it are left out, so that parts of one object, alike to
            the frozen encoder, may still differ in depth.

    Returns:
        (N,), 0 where every place is above the margin.
    """
    cosine = F.cosine_similarity(features, frozen.detach(), dim=1)
    return masked_mean(1 - cosine, cosine.detach() <= margin)


def silog(prediction: Tensor, target: Tensor, mask: Tensor, variance_focus: float = 0.5) -> Tensor:
    """Root of mean(g²) − λ · mean(g)², g = ln target − ln prediction (spec of the metric fine-tune).

    λ = 1 ignores errors of scale, λ = 0 penalizes them fully; Depth Anything V2 uses 0.5.

    Args:
        prediction: (N, H, W) > 0, [m].
        target: (N, H, W) > 0 over the mask, [m].
        mask: (N, H, W).
        variance_focus: λ.
    """
    safe = torch.where(mask, target, torch.ones_like(target))
    g = (safe.log() - prediction.clamp(min=1e-6).log()) * mask
    mean, square = masked_mean(g, mask), masked_mean(g * g, mask)
    # The square root has no slope at zero.
    return (square - variance_focus * mean * mean).clamp(min=1e-8).sqrt()


def relative_terms(
    prediction: Tensor,
    target: Tensor,
    mask: Tensor,
    weight: Tensor | None = None,
    *,
    gradient_weight: float = 2.0,
    trim: float | Tensor = 0.0,
) -> Tensor:
    """L_ssi + `gradient_weight` · L_gm of each map, (N,); 0 for maps with too few valid pixels."""
    residual = difference(prediction, target, mask)
    kept = trimmed(residual, mask, trim).to(residual.dtype)
    if weight is not None:
        kept = kept * weight
    per_map = masked_mean(residual.abs(), kept)
    if gradient_weight > 0:
        per_map = per_map + gradient_weight * gradients(residual, kept)
    return per_map * (mask.flatten(1).sum(1) >= MIN_PIXELS)


def relative_loss(
    prediction: Tensor,
    target: Tensor,
    mask: Tensor,
    *,
    weight: Tensor | None = None,
    pasted: Tensor | None = None,
    gradient_weight: float = 2.0,
    trim: float | Tensor = 0.0,
    anchor_weight: float = 0.0,
) -> Tensor:
    """Average the relative loss over the maps that have enough valid pixels.

    Args:
        prediction: (N, H, W) disparity of any scale and shift.
        target: (N, H, W) disparity of any scale and shift.
        mask: (N, H, W) valid pixels.
        weight: (N, H, W) trust in the target, 0 to 1; full where None.
        pasted: (N, H, W) bool, where CutMix put another picture in. The two parts have scales of
            their own, so each is compared by itself and counts by its area (V1 §3.2).
        gradient_weight: weight of L_gm (V2 §7.1: 2).
        trim: share of largest differences ignored, one for all or (N,).
        anchor_weight: weight of the plain absolute difference. L_ssi and L_gm leave scale and shift
            undetermined; a small weight keeps the outputs of all images in one range.
    """

    def terms(part: Tensor) -> Tensor:
        return relative_terms(
            prediction, target, part, weight, gradient_weight=gradient_weight, trim=trim
        )

    if pasted is None:
        per_map = terms(mask)
    else:
        share = pasted.flatten(1).to(prediction.dtype).mean(1)
        per_map = (1 - share) * terms(mask & ~pasted) + share * terms(mask & pasted)
    if anchor_weight > 0:
        per_map = per_map + anchor_weight * masked_mean((prediction - target).abs(), mask)
    return mean_of_maps(per_map, mask)


def metric_loss(
    prediction: Tensor, depth: Tensor, mask: Tensor, *, variance_focus: float = 0.5
) -> Tensor:
    """SiLog averaged over the maps that have enough valid pixels; all in [m]."""
    return mean_of_maps(silog(prediction, depth, mask, variance_focus), mask)


def mean_of_maps(per_map: Tensor, mask: Tensor) -> Tensor:
    """Mean of (N,) over the maps with at least `MIN_PIXELS` valid pixels; 0 if there is none."""
    enough = (mask.flatten(1).sum(1) >= MIN_PIXELS).to(per_map.dtype)
    return (per_map * enough).sum() / enough.sum().clamp(min=1)
