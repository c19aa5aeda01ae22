"""Noise schedules: how much of a video is left at each step.

A schedule is a (steps,) float64 tensor of γ (elsewhere ᾱ), falling from almost 1. The noisy video of
step t, from 0, is α·x + σ·ε with α = √γ_t and σ = √(1 − γ_t) (PhyWorld §2.2).

The usual schedules leave a little of the video even at the last step, where sampling begins from
pure noise: brightness leaks through in training and is missed in sampling. So α is shifted and
stretched to end at exactly 0 (Lin et al. 2023, arXiv 2305.08891, §3.1). PhyWorld does so too; the end
value of γ in its print, like its target, is taken for a misprint.
"""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor

from sightline.errors import InputError

ScheduleName = Literal["cosine", "linear"]

#: The largest share of what is left that one step may take away (Nichol and Dhariwal 2021, §3.2).
_LARGEST = 0.999


def cosine_schedule(steps: int) -> Tensor:
    """Return γ of Nichol and Dhariwal (2021, arXiv 2102.09672, eq. 17): (steps,) float64."""
    places = torch.linspace(0, 1, steps + 1, dtype=torch.float64)
    left = (math.pi / 2 * (places + 0.008) / 1.008).cos().square()
    return _left(1 - left[1:] / left[:-1])


def linear_schedule(steps: int) -> Tensor:
    """Return γ of DDPM (Ho et al. 2020, arXiv 2006.11239, §4): (steps,) float64.

    Its β rises evenly from 1e-4 to 0.02 over 1000 steps; fewer steps take away as much more.
    """
    return _left(torch.linspace(1e-4, 0.02, steps, dtype=torch.float64) * 1000 / steps)


def end_at_zero(gammas: Tensor) -> Tensor:
    """Shift and stretch α so that nothing is left at the last step; the first stays as it is.

    Args:
        gammas: (steps,) falling; at least two steps.
    """
    alphas = gammas.sqrt()
    first, last = alphas[0], alphas[-1]
    return ((alphas - last) * (first / (first - last))).square()


def make_schedule(name: ScheduleName = "cosine", steps: int = 1000) -> Tensor:
    """Return the γ of a schedule that ends at 0: (steps,) float64.

    Args:
        name: `cosine`, or `linear` for DDPM's.
        steps: at least 2.
    """
    makers = {"cosine": cosine_schedule, "linear": linear_schedule}
    if name not in makers:
        raise InputError(f"no schedule is called {name!r}", remedy=f"give {' or '.join(makers)}")
    if steps < 2:
        raise InputError(f"a schedule has at least 2 steps, got {steps}")
    return end_at_zero(makers[name](steps))


def levels(gammas: Tensor, t: Tensor, like: Tensor) -> tuple[Tensor, Tensor]:
    """Return α and σ of each sample, shaped to be multiplied with `like`.

    Args:
        gammas: (steps,).
        t: (N,) int64 steps.
        like: (N, …); type and device of the result are its.

    Returns:
        α and σ, each (N, 1, …) with as many axes as `like`.
    """
    gamma = gammas.to(t.device)[t].view(-1, *[1] * (like.ndim - 1))
    return gamma.sqrt().to(like), (1 - gamma).sqrt().to(like)


def _left(taken: Tensor) -> Tensor:
    """Return what is left after each step of what the step before left."""
    return (1 - taken.clamp(max=_LARGEST)).cumprod(0)
