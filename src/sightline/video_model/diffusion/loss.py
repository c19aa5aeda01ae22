"""What a model learns: to say the velocity of a noisy video (PhyWorld §2.2)."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional as F

from sightline.video_model.diffusion.schedule import levels
from sightline.video_model.diffusion.velocity import add_noise, velocity


def noisy_and_target(
    video: Tensor, noise: Tensor, t: Tensor, gammas: Tensor
) -> tuple[Tensor, Tensor]:
    """Return noisy videos and the velocity that a model should say of them.

    Args:
        video: (N, …) pixels or latents.
        noise: (N, …) standard normal.
        t: (N,) int64 steps.
        gammas: (steps,) schedule.
    """
    alpha, sigma = levels(gammas, t, video)
    return add_noise(video, noise, alpha, sigma), velocity(video, noise, alpha, sigma)


#: Below this σ an error of the video no longer counts for more: the first frames say less of what is
#: almost given already, and it would be most of the loss.
LEAST_SIGMA = 0.5


def video_loss(said: Tensor, video: Tensor, sigma: Tensor, given: Tensor | None = None) -> Tensor:
    """Return the mean square error of the velocity that follows from videos: (N,) float32.

    With x̂ for x, v is wrong by (x̂ − x) / σ (Li and He 2025, arXiv 2511.13720, §4).

    Args:
        said: (N, C, T, H, W) video by the model.
        video: (N, C, T, H, W) true video.
        sigma: (N, 1, …) of the noisy videos.
        given: see `velocity_loss`.
    """
    counts = sigma.flatten().float().clamp(min=LEAST_SIGMA).square()
    return velocity_loss(said, video, given) / counts


def velocity_loss(said: Tensor, target: Tensor, given: Tensor | None = None) -> Tensor:
    """Return the mean square error of each video: (N,) float32.

    Args:
        said: (N, C, T, H, W) velocity by the model.
        target: (N, C, T, H, W) true velocity.
        given: (N, T) True for frames that the model was given: they do not count. All count if None.
    """
    frames = F.mse_loss(said.float(), target.float(), reduction="none").mean((1, 3, 4))
    if given is None:
        return frames.mean(1)
    counts = (~given).to(frames)
    return (frames * counts).sum(1) / counts.sum(1).clamp(min=1)
