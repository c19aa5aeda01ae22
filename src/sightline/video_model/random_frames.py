"""Frames of a mixture for a codec to learn from."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.mixture import Mixture
from sightline.video_model.packed import PackedVideos


class RandomFrames:
    """Frames of a mixture for a codec to learn from: a `FrameSource` of the autoencoder.

    Args:
        videos: to take them from, one of each in turn.
        batch: places of a batch.
        seed: of which frames.
        clip: consecutive frames of a video; None: one, without an axis of time.
    """

    def __init__(
        self, videos: Mixture, batch: int, *, seed: int = 0, clip: int | None = None
    ) -> None:
        self.videos, self.batch, self.seed, self.clip = videos, batch, seed, clip
        self._packed = PackedVideos(videos)
        if (clip or 1) > videos.shape[0]:
            raise InputError(
                f"clips of {clip} frames from videos of {videos.shape[0]}", path=videos.path
            )

    def frames(self, step: int) -> Tensor:
        """Return batch number `step`: (B, 3, S, S) uint8, or (B, 3, clip, S, S)."""
        length = self.clip or 1
        when = np.random.default_rng([self.seed, 4, step]).integers(
            self.videos.shape[0] - length + 1, size=self.batch
        )
        numbers = range(step * self.batch, (step + 1) * self.batch)
        made = np.stack(
            [
                self._packed.video(self.videos.pick(number))[:, first : first + length]
                for number, first in zip(numbers, when, strict=True)
            ]
        )
        return torch.from_numpy(made[:, :, 0] if self.clip is None else made)
