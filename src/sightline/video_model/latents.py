"""Latents of the videos that training asks for, kept in memory where there is room.

Every video is coded by itself and rounded to half precision, so that its latents are the same bytes
whoever makes them, in whatever batch, before a break or after it.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

from sightline.video_model.autoencoder.codec import Codec, encode_bytes, latent_shape, usable_frames
from sightline.video_model.data import padded
from sightline.video_model.mixture import Mixture, Pick

#: Latents by what they are of.
Kept = dict[Pick, Tensor]


class Latents:
    """Videos of a mixture as latents.

    Args:
        videos: to learn from.
        codec: in eval mode.
        keep: how many videos' latents are kept.
        device: that the codec is on.
        kept: latents of the same videos by the same codec that are there already; more are added.
    """

    def __init__(
        self,
        videos: Mixture,
        codec: Codec,
        *,
        keep: int = 0,
        device: torch.device | str = "cpu",
        kept: Kept | None = None,
    ) -> None:
        frames, size = videos.shape
        self.videos, self.codec, self.keep, self.device = videos, codec, keep, device
        self.frames = usable_frames(codec, frames)
        self.shape = latent_shape(codec, self.frames, size)
        self._kept = {} if kept is None else kept

    def batch(self, numbers: Iterable[int]) -> Tensor:
        """Return samples of the training by their numbers: (N, C, t, h, w) float32 on the device."""
        made = [self._one(self.videos.pick(number)) for number in numbers]
        return torch.stack(made).to(self.device, torch.float32)

    def describe(self, numbers: Iterable[int], columns: int) -> Tensor:
        """Return radii and speeds of the same samples: (N, columns), zeros where there are fewer."""
        picks = [self.videos.pick(number) for number in numbers]
        return padded([self.videos.numbers(pick) for pick in picks], columns).to(self.device)

    def _one(self, pick: Pick) -> Tensor:
        found = self._kept.get(pick)
        if found is None:
            planes = torch.from_numpy(self.videos.video(pick))[None, :, : self.frames]
            found = encode_bytes(self.codec, planes.to(self.device))[0].to("cpu", torch.float16)
            if len(self._kept) < self.keep:
                self._kept[pick] = found
        return found
