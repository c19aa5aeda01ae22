"""A codec that learns: its latents have mean 0 and spread 1 per channel, by stored statistics.

The network makes raw latents of any size; mean and spread of each channel are measured once, after
training, and taken off and put back. So diffusion can use latents as they are, and what is coded does
not depend on what else is in the batch.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.video_model.autoencoder.codec import check_latents, check_video

#: Dimensions of (N, C, T, H, W) that statistics of a channel are taken over.
_ALL_BUT_CHANNELS = (0, 2, 3, 4)
#: Keeps the square root's slope finite where a channel is the same everywhere.
_SMALL = 1e-6
#: Frames that pass through the network at a time when nothing is learnt.
_CHUNK = 512


class NormalisedCodec(nn.Module, ABC):
    """Videos to latents and back, with networks of a subclass.

    Args:
        channels: of a latent.
        stride: pixels along each side of a latent.
        frame_stride: frames that a latent stands for.
        side: the only width and height that it takes in [px]; None: multiples of `stride`.

    Attributes:
        mean: (C,) of raw latents.
        spread: (C,) their standard deviation.
    """

    mean: Tensor
    spread: Tensor

    def __init__(
        self, channels: int, stride: int, frame_stride: int = 1, side: int | None = None
    ) -> None:
        super().__init__()
        self.side = side
        self.channels, self.stride, self.frame_stride = channels, stride, frame_stride
        self.register_buffer("mean", torch.zeros(channels))
        self.register_buffer("spread", torch.ones(channels))

    @abstractmethod
    def to_raw(self, video: Tensor) -> Tensor:
        """(N, 3, T, H, W) in [−1, 1] → (N, C, t, h, w) raw latents."""

    @abstractmethod
    def from_raw(self, raw: Tensor) -> Tensor:
        """(N, C, t, h, w) raw latents → (N, 3, T, H, W), not cut off at −1 and 1."""

    def forward(self, video: Tensor, noise: Tensor | None = None) -> Tensor:
        """Code and decode a video, as training does it.

        Args:
            video: (N, 3, T, H, W) in [−1, 1].
            noise: (N, C, t, h, w), added in units of the spread that the channel has in this batch, so
                that larger latents are no way round it.

        Returns:
            (N, 3, T, H, W), not cut off at −1 and 1.
        """
        check_video(self, video)
        raw = self.to_raw(video)
        if noise is not None:
            variance = raw.var(_ALL_BUT_CHANNELS, correction=0, keepdim=True)
            raw = raw + noise * (variance + _SMALL).sqrt()
        return self.from_raw(raw)

    @torch.no_grad()
    def encode(self, video: Tensor) -> Tensor:
        """(N, 3, T, H, W) in [−1, 1] → (N, C, t, h, w) of mean 0 and spread 1."""
        check_video(self, video)
        parts = torch.split(video, max(1, _CHUNK // video.shape[2]))
        raw = torch.cat([self.to_raw(part) for part in parts])
        return (raw - _along(self.mean)) / _along(self.spread)

    @torch.no_grad()
    def decode(self, latents: Tensor) -> Tensor:
        """(N, C, t, h, w) → (N, 3, T, H, W) in [−1, 1]."""
        check_latents(self, latents)
        raw = latents * _along(self.spread) + _along(self.mean)
        parts = torch.split(raw, max(1, _CHUNK // (latents.shape[2] * self.frame_stride)))
        return torch.cat([self.from_raw(part) for part in parts]).clamp(-1, 1)

    @torch.no_grad()
    def measure(self, videos: Iterable[Tensor]) -> None:
        """Take mean and spread of the latents of videos as the statistics.

        A channel that is the same everywhere, which says nothing, keeps a spread of 1.

        Args:
            videos: (N, 3, T, H, W) each, in [−1, 1].
        """
        count = 0
        total = torch.zeros(self.channels, dtype=torch.float64, device=self.mean.device)
        squares = torch.zeros_like(total)
        for video in videos:
            raw = self.to_raw(video).double()
            count += raw.numel() // self.channels
            total += raw.sum(_ALL_BUT_CHANNELS)
            squares += raw.square().sum(_ALL_BUT_CHANNELS)
        if not count:
            raise InputError("no videos to take mean and spread of latents from")
        mean = total / count
        spread = (squares / count - mean.square()).clamp(min=0).sqrt()
        self.mean.copy_(mean)
        self.spread.copy_(torch.where(spread > _SMALL, spread, 1.0))


def _along(values: Tensor) -> Tensor:
    """(C,) → (C, 1, 1, 1)."""
    return values[:, None, None, None]
