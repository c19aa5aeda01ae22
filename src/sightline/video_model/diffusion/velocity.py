"""Of a noisy video x_t = α·x + σ·ε one can say the video x, the noise ε or the velocity v.

Each follows from each other.

v = α·ε − σ·x (Salimans and Ho 2022, arXiv 2202.00512, §4). With α = cos φ and σ = sin φ it is the
derivative of x_t by φ, hence the name. It is worth learning at every step: at the last one (α = 0)
noise says nothing of the video, at the first one the video is all but given. PhyWorld's print (§2.2)
of the target does not follow from its own x_t; this is the standard form, which does.

Everywhere α and σ are numbers, or tensors that broadcast; α² + σ² = 1.
"""

from __future__ import annotations

from torch import Tensor

Level = Tensor | float


def add_noise(video: Tensor, noise: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return x_t."""
    return alpha * video + sigma * noise


def velocity(video: Tensor, noise: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return v."""
    return alpha * noise - sigma * video


def video_from_velocity(noisy: Tensor, v: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return x; defined at every step."""
    return alpha * noisy - sigma * v


def noise_from_velocity(noisy: Tensor, v: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return ε; defined at every step."""
    return sigma * noisy + alpha * v


def velocity_from_video(noisy: Tensor, video: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return v; needs σ above 0."""
    return (alpha * noisy - video) / sigma


def velocity_from_noise(noisy: Tensor, noise: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return v; needs α above 0, so not at the last step of a schedule that ends at 0."""
    return (noise - sigma * noisy) / alpha
