"""Reconstruction loss of codecs, weighted toward bodies.

Nine tenths of a frame are background: with equal weights, a codec first learns to omit the balls.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def pixel_weights(video: Tensor, ink: float) -> Tensor:
    """Return the weight of each pixel.

    The darkness of a pixel is 0 for white and 1 for a color with a channel at 0, such as red and
    blue. The maximum over the 3 × 3 neighborhood is used, so that both sides of a rim count.

    Args:
        video: (N, 3, T, H, W) in [−1, 1].
        ink: additional weight at darkness 1.

    Returns:
        (N, 1, T, H, W), from 1 to 1 + ink.
    """
    darkness = (1 - video.amin(dim=1, keepdim=True)) / 2
    return 1 + ink * F.max_pool3d(darkness, (1, 3, 3), stride=1, padding=(0, 1, 1))


def reconstruction_loss(decoded: Tensor, video: Tensor, ink: float) -> Tensor:
    """Return the weighted mean of |d| + d², where d is the difference per pixel and color.

    Args:
        decoded: (N, 3, T, H, W).
        video: (N, 3, T, H, W) in [−1, 1].
        ink: see `pixel_weights`.
    """
    weights = pixel_weights(video, ink)
    difference = decoded - video
    wrong = (difference.abs() + difference.square()).mean(dim=1, keepdim=True)
    return (weights * wrong).sum() / weights.sum()
