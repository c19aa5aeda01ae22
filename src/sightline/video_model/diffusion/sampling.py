"""From noise to a video, without chance: DDIM with η = 0 (Song et al. 2021, arXiv 2010.02502, eq. 12).

Steps are spaced so that the last one, pure noise, is where sampling begins, as in training (`trailing`
in Lin et al. 2023, arXiv 2305.08891, §3.3). PhyWorld names neither its sampler nor its steps.
"""

from __future__ import annotations

import math
from typing import Protocol, TypeVar

import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.diffusion.velocity import add_noise, video_from_velocity

Known_contra = TypeVar("Known_contra", contravariant=True)


class VelocityModel(Protocol[Known_contra]):
    """Says the velocity of noisy videos."""

    def __call__(self, noisy: Tensor, t: Tensor, condition: Known_contra, /) -> Tensor:
        """Return v, shaped like `noisy`.

        Args:
            noisy: (N, …) videos.
            t: (N,) int64 steps.
            condition: what is known of the videos.
        """
        ...


def trailing_steps(total: int, count: int) -> list[int]:
    """Choose steps of a schedule, evenly spaced, the last one first.

    Args:
        total: steps of the schedule.
        count: how many are wanted, from 1 to `total`.
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
    """Turn noise into videos.

    Args:
        model: says the velocity.
        noise: (N, …) standard normal, for example from `draws.draw_noise`, which makes a video the
            same in any batch.
        condition: handed to the model.
        gammas: (steps,) schedule that the model was trained with; it ends at 0.
        steps: how often the model is asked.
        keep: values and a boolean mask, both broadcasting to `noise`: where the mask is True, the video
            has these values, at every step.
        limit: the video is kept within ±limit at every step; pixels in [−1, 1] have the limit 1.

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
        # The noise that belongs to the video as it is now, limited and with what is kept.
        left = (noisy - alpha * video) / sigma
        noisy = add_noise(video, left, math.sqrt(next_gamma), math.sqrt(1 - next_gamma))
    return noisy
