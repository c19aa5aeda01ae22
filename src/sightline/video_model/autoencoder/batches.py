"""What a codec learns from, batch by batch, and the noise of a step."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.autoencoder.codec import to_floats


class FrameSource(Protocol):
    """Anything that gives batches by number."""

    def frames(self, step: int) -> Tensor | tuple[Tensor, Tensor]:
        """Return batch number `step`, the same whenever it is asked for.

        Returns:
            (B, 3, S, S) uint8, or (B, 3, T, S, S) for codecs that look at time. Two of them: what is
            coded, and what it is to be decoded to.
        """
        ...


def draw_noise(seed: int, step: int, shape: tuple[int, ...]) -> Tensor:
    """Draw the standard normal noise of a step."""
    words = np.random.SeedSequence(seed, spawn_key=(step,)).generate_state(1, np.uint64)
    generator = torch.Generator().manual_seed(int(words[0] >> np.uint64(1)))
    return torch.randn(shape, generator=generator)


def take_batch(source: FrameSource, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
    """Return a batch and what it is to be decoded to, as videos in floats on a device."""
    found = source.frames(step)
    shown, wanted = found if isinstance(found, tuple) else (found, found)
    for frames in (shown, wanted):
        if frames.ndim not in (4, 5) or frames.dtype != torch.uint8 or not len(frames):
            raise InputError(
                f"batch {step} is {frames.dtype} of shape {tuple(frames.shape)}, "
                "expected bytes of (B, 3, S, S) or (B, 3, T, S, S)"
            )
    if shown.shape != wanted.shape:
        raise InputError(f"batch {step} is {tuple(shown.shape)}, wanted is {tuple(wanted.shape)}")
    first = _as_video(shown, device)
    return first, first if wanted is shown else _as_video(wanted, device)


def _as_video(frames: Tensor, device: torch.device) -> Tensor:
    return to_floats((frames[:, :, None] if frames.ndim == 4 else frames).to(device))
