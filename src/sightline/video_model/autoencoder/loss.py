"""What a codec is trained for: pixels, those of bodies above all.

Nine tenths of a frame are background. Let all pixels count alike, and a codec first learns to forget
the balls.
"""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F


def pixel_weights(video: Tensor, ink: float) -> Tensor:
    """Return how much each pixel counts.

    The darkness of a pixel is 0 for white and 1 for a colour with a channel at 0, such as red and blue.
    The darkest of a pixel and its eight neighbours counts, so that a body's rim is judged from both
    sides.

    Args:
        video: (N, 3, T, H, W) in [−1, 1].
        ink: what a darkness of 1 adds.

    Returns:
        (N, 1, T, H, W), from 1 to 1 + ink.
    """
    darkness = (1 - video.amin(dim=1, keepdim=True)) / 2
    return 1 + ink * F.max_pool3d(darkness, (1, 3, 3), stride=1, padding=(0, 1, 1))


def reconstruction_loss(decoded: Tensor, video: Tensor, ink: float) -> Tensor:
    """Return the weighted means of |d| and d² together, d the difference of each pixel and colour.

    Args:
        decoded: (N, 3, T, H, W).
        video: (N, 3, T, H, W) in [−1, 1].
        ink: see `pixel_weights`.
    """
    weights = pixel_weights(video, ink)
    difference = decoded - video
    wrong = (difference.abs() + difference.square()).mean(dim=1, keepdim=True)
    return (weights * wrong).sum() / weights.sum()
