"""Diffusion: noise schedules, velocity prediction, losses, DDIM sampling and weight averaging.

A schedule is a (steps,) float64 tensor of γ (ᾱ in DDPM), decreasing from almost 1. The noisy video at
step t, from 0, is x_t = α·x + σ·ε with α = √γ_t and σ = √(1 − γ_t) (PhyWorld §2.2).

The network predicts the velocity v = α·ε − σ·x (Salimans and Ho 2022, arXiv 2202.00512, §4). With
α = cos φ and σ = sin φ it is the derivative of x_t with respect to φ. It is a useful target at every
step: at the last one (α = 0) the noise carries no information about the video, at the first one the
video is almost given. The target printed in PhyWorld §2.2 does not follow from its own x_t; this is the
standard form, which does.

Random numbers are drawn from (seed, sample index). So neither the number of processes, nor the batch
size, nor an interrupted run changes what a sample gets.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from sightline.errors import InputError

ScheduleName = Literal["cosine", "linear"]

#: Maximum β of a step (Nichol and Dhariwal 2021, §3.2).
_LARGEST = 0.999


def cosine_schedule(steps: int) -> Tensor:
    """Return γ of Nichol and Dhariwal (2021, arXiv 2102.09672, eq. 17): (steps,) float64."""
    places = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    left = (math.pi / 2 * (places + 0.008) / 1.008).cos().square()
    return _left(1 - left[1:] / left[:-1])


def linear_schedule(steps: int) -> Tensor:
    """Return γ of DDPM (Ho et al. 2020, arXiv 2006.11239, §4): (steps,) float64.

    β rises linearly from 1e-4 to 0.02 over 1000 steps; with fewer steps it is scaled up accordingly.
    """
    return _left(torch.linspace(1e-4, 0.02, steps, dtype=torch.float64) * 1000 / steps)


def end_at_zero(gammas: Tensor) -> Tensor:
    """Shift and scale α to reach exactly 0 at the last step (Lin et al. 2023, arXiv 2305.08891, §3.1).

    The usual schedules leave a little signal at the last step: training sees the mean brightness there,
    but sampling starts from pure noise. PhyWorld rescales as well.

    Args:
        gammas: (steps,) decreasing; at least two steps.
    """
    # α ← (α − α_T) · α_0 / (α_0 − α_T): α_T becomes 0 and α_0 stays.
    alphas = gammas.sqrt()
    first, last = alphas[0], alphas[-1]
    return ((alphas - last) * (first / (first - last))).square()


def make_schedule(name: ScheduleName = "cosine", steps: int = 1000) -> Tensor:
    """Return the γ of a schedule that ends at 0: (steps,) float64.

    Args:
        name: `cosine`, or `linear` for that of DDPM.
        steps: number of steps, at least 2.
    """
    makers = {"cosine": cosine_schedule, "linear": linear_schedule}
    if name not in makers:
        raise InputError(f"no schedule is called {name!r}", remedy=f"give {' or '.join(makers)}")
    if steps < 2:
        raise InputError(f"a schedule has at least 2 steps, got {steps}")
    return end_at_zero(makers[name](steps))


def levels(gammas: Tensor, t: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return α and σ of each sample, shaped to broadcast with `like`.

    Args:
        gammas: (steps,) schedule.
        t: (N,) int64 steps.
        like: (N, …) tensor that sets dtype and device.

    Returns:
        α and σ, each (N, 1, …) with as many axes as `like`.
    """
    gamma = gammas.to(t.device)[t].view(-1, *[1] * (like.ndim - 1))
    return gamma.sqrt().to(like), (1 - gamma).sqrt().to(like)


def _left(taken: Tensor) -> Tensor:
    """Return the cumulative product of 1 − β, with β clipped."""
    return (1 - taken.clamp(max=_LARGEST)).cumprod(0)


Level = Tensor | float


def add_noise(video: Tensor, noise: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return the noisy video x_t = α·x + σ·ε.

    α and σ are numbers or broadcasting tensors with α² + σ² = 1, here and below.
    """
    return alpha * video + sigma * noise


def velocity(video: Tensor, noise: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return the velocity v = α·ε − σ·x."""
    return alpha * noise - sigma * video


def video_from_velocity(noisy: Tensor, v: Tensor, alpha: Level, sigma: Level) -> Tensor:
    """Return the video x = α·x_t − σ·v, which is defined at every step."""
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


_STEPS, _NOISE = 0, 1


def draw_steps(seed: int, numbers: Iterable[int], steps: int) -> Tensor:
    """Draw a uniformly distributed step for each sample.

    Args:
        seed: random seed of the run.
        numbers: sample indices; in training counted from its beginning, so a repeated video gets a new
            step.
        steps: steps of the schedule.

    Returns:
        (N,) int64, from 0 to steps − 1.
    """
    drawn = [int(_random(seed, _STEPS, number).integers(steps)) for number in numbers]
    return torch.tensor(drawn, dtype=torch.int64)


def draw_noise(seed: int, numbers: Iterable[int], shape: Sequence[int]) -> Tensor:
    """Draw standard normal noise for each sample.

    Args:
        seed: random seed of the run.
        numbers: sample indices.
        shape: shape of one sample.

    Returns:
        (N, *shape) float32.
    """
    size = tuple(shape)
    drawn = [_random(seed, _NOISE, n).standard_normal(size, dtype=np.float32) for n in numbers]
    return torch.from_numpy(np.stack(drawn))


def _random(seed: int, purpose: int, number: int) -> np.random.Generator:
    # A spawn key, because as entropy (5,) and (5, 0) would give the same stream.
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, number)))


def noisy_and_target(
    video: Tensor, noise: Tensor, t: Tensor, gammas: Tensor
) -> tuple[Tensor, Tensor]:
    """Return noisy videos and the velocity to be predicted from them.

    Args:
        video: (N, …) pixels or latents.
        noise: (N, …) standard normal.
        t: (N,) int64 steps.
        gammas: (steps,) schedule.
    """
    alpha, sigma = levels(gammas, t, video)
    return add_noise(video, noise, alpha, sigma), velocity(video, noise, alpha, sigma)


#: Lower bound of σ in `video_loss`: without it, almost clean videos would dominate the loss.
LEAST_SIGMA = 0.5


def video_loss(said: Tensor, video: Tensor, sigma: Tensor, given: Tensor | None = None) -> Tensor:
    """Return the mean squared velocity error that follows from predicted videos: (N,) float32.

    A prediction x̂ of x has the velocity error (x̂ − x) / σ (Li and He 2025, arXiv 2511.13720, §4).

    Args:
        said: (N, C, T, H, W) predicted video.
        video: (N, C, T, H, W) true video.
        sigma: (N, 1, …) σ of the noisy videos.
        given: see `velocity_loss`.
    """
    counts = sigma.flatten().float().clamp(min=LEAST_SIGMA).square()
    return velocity_loss(said, video, given) / counts


def velocity_loss(said: Tensor, target: Tensor, given: Tensor | None = None) -> Tensor:
    """Return the mean squared error of each video: (N,) float32.

    Args:
        said: (N, C, T, H, W) predicted velocity.
        target: (N, C, T, H, W) true velocity.
        given: (N, T) True for condition frames, which are excluded; None includes all frames.
    """
    frames = F.mse_loss(said.float(), target.float(), reduction="none").mean((1, 3, 4))
    if given is None:
        return frames.mean(1)
    counts = (~given).to(frames)
    return (frames * counts).sum(1) / counts.sum(1).clamp(min=1)


Known_contra = TypeVar("Known_contra", contravariant=True)


class VelocityModel(Protocol[Known_contra]):
    """Predict the velocity of noisy videos."""

    def __call__(self, noisy: Tensor, t: Tensor, condition: Known_contra, /) -> Tensor:
        """Return v, shaped like `noisy`.

        Args:
            noisy: (N, …) videos.
            t: (N,) int64 steps.
            condition: condition of the videos.
        """
        ...


def trailing_steps(total: int, count: int) -> list[int]:
    """Choose evenly spaced steps of a schedule in descending order, beginning with the last one.

    Sampling then starts at the pure noise that training saw (`trailing` in Lin et al. 2023,
    arXiv 2305.08891, §3.3).

    Args:
        total: steps of the schedule.
        count: number of steps to choose, 1 to `total`.
    """
    if not 1 <= count <= total:
        raise InputError(
            f"{count} sampling steps of a schedule of {total}", remedy=f"give 1 to {total}"
        )
    return [math.floor(total * left / count + 0.5) - 1 for left in range(count, 0, -1)]


@torch.no_grad()
def sample(
    model: VelocityModel[Known_contra],
    noise: Tensor,
    condition: Known_contra,
    gammas: Tensor,
    *,
    steps: int = 50,
    keep: tuple[Tensor, Tensor] | None = None,
    limit: float | None = None,
) -> Tensor:
    """Sample videos deterministically: DDIM with η = 0 (Song et al. 2021, arXiv 2010.02502, eq. 12).

    Args:
        model: predicts the velocity.
        noise: (N, …) standard normal, for example of `draw_noise`, which makes a video the same in any
            batch.
        condition: passed to the model.
        gammas: (steps,) schedule that the model was trained with; it ends at 0.
        steps: number of network evaluations.
        keep: values and a boolean mask, both broadcasting to `noise`: where the mask is True, the video
            takes these values at every step.
        limit: clamp the predicted video to ±limit at every step; 1 for pixels in [−1, 1].

    Returns:
        Videos, shaped like `noise`.
    """
    chosen = trailing_steps(len(gammas), steps)
    after = [float(gammas[t]) for t in chosen[1:]] + [1.0]
    noisy = noise
    for t, next_gamma in zip(chosen, after, strict=True):
        gamma = float(gammas[t])
        alpha, sigma = math.sqrt(gamma), math.sqrt(1 - gamma)
        said = model(noisy, torch.full((len(noisy),), t, device=noisy.device), condition)
        video = video_from_velocity(noisy, said, alpha, sigma)
        if limit is not None:
            video = video.clamp(-limit, limit)
        if keep is not None:
            video = torch.where(keep[1], keep[0], video)
        # ε̂ of the video after clamping and inpainting; x at the next step is α'·x̂ + σ'·ε̂.
        left = (noisy - alpha * video) / sigma
        noisy = add_noise(video, left, math.sqrt(next_gamma), math.sqrt(1 - next_gamma))
    return noisy
