"""What a transformer is told of a video: first frames, perhaps numbers or text (PhyWorld, Fig. 12)."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from sightline.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """What is known of N videos.

    Attributes:
        video: (N, C, T, H, W), zero in frames that are not given.
        given: (N, T) bool, True for frames that are given.
        numbers: (N, K), such as radii and speeds.
        text: (N, L, E) embedding of words, for example T5's; (N, L) numbers of words for a network that
            reads by itself.
        words: (N, L) bool, True for words, False for what fills them up to L.
    """

    video: Tensor
    given: Tensor
    numbers: Tensor | None = None
    text: Tensor | None = None
    words: Tensor | None = None

    def __post_init__(self) -> None:
        for name in ("given", "words"):
            mask: Tensor | None = getattr(self, name)
            if mask is not None and mask.dtype != torch.bool:
                raise InputError(f"{name}: expected torch.bool, got {mask.dtype}")

    @property
    def keep(self) -> tuple[Tensor, Tensor]:
        """The given frames and where they are, as `diffusion.sampling.sample` takes them."""
        return self.video, self.given[:, None, :, None, None]


def first_frames(
    video: Tensor,
    count: int,
    *,
    numbers: Tensor | None = None,
    text: Tensor | None = None,
    words: Tensor | None = None,
) -> Condition:
    """Make the condition that gives the first frames of videos.

    Args:
        video: (N, C, T, H, W); only its first frames are looked at.
        count: how many are given, from 1 to T − 1: the paper gives 3, for combinatorial videos 1.
        numbers: see `Condition`.
        text: see `Condition`.
        words: see `Condition`.
    """
    frames = video.shape[2]
    if not 1 <= count < frames:
        raise InputError(f"{count} condition frames of {frames}", remedy=f"give 1 to {frames - 1}")
    shown = torch.zeros_like(video)
    shown[:, :, :count] = video[:, :, :count]
    given = (torch.arange(frames, device=video.device) < count).expand(len(video), -1)
    return Condition(shown, given, numbers, text, words)


def held(condition: Condition) -> Tensor:
    """Return the given frames, and the last of them wherever none is given: (N, C, T, H, W).

    Args:
        condition: with at least one given frame; given frames come first.
    """
    last = condition.given.sum(1) - 1
    where = torch.arange(condition.given.shape[1], device=last.device).clamp(max=last[:, None])
    index = where[:, None, :, None, None].expand(condition.video.shape)
    return condition.video.gather(2, index)
