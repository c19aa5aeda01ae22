"""Codec protocol, conversions between bytes and floats, and the base class of learned codecs.

Codecs with a stride over time follow the causal rule of video autoencoders: the first frame is a latent
of its own, every further latent stands for `frame_stride` frames. They take 1 + k · stride frames:
31 of the paper's 32 at stride 2, which is what the released evaluator compares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from sightline.errors import InputError

#: Color channels of a video.
COLORS = 3


@runtime_checkable
class Codec(Protocol):
    """Encode videos to latents and decode them."""

    @property
    def channels(self) -> int:
        """Channels of a latent."""
        ...

    @property
    def stride(self) -> int:
        """Pixels along each side of a latent."""
        ...

    @property
    def side(self) -> int | None:
        """Required width and height of frames in [px]; None for any multiple of `stride`."""
        ...

    @property
    def frame_stride(self) -> int:
        """Frames per latent; the first latent stands for one."""
        ...

    def encode(self, video: Tensor) -> Tensor:
        """Map (N, 3, T, H, W) in [−1, 1] to latents (N, C, t, h, w), about standardized."""
        ...

    def decode(self, latents: Tensor) -> Tensor:
        """Map latents (N, C, t, h, w) to (N, 3, T, H, W) in [−1, 1]."""
        ...


def usable_frames(codec: Codec, frames: int) -> int:
    """Return how many of the first frames of a video a codec can encode; all of them at stride 1."""
    return frames - (frames - 1) % codec.frame_stride


def latent_shape(
    codec: Codec, frames: int, height: int, width: int | None = None
) -> tuple[int, int, int, int]:
    """Return channels, frames, rows and columns of the latents of a video.

    Args:
        codec: codec.
        frames: frames of the video.
        height: height in [px].
        width: width in [px]; None for the height.

    Raises:
        InputError: the codec cannot encode such a video.
    """
    width = height if width is None else width
    if codec.side is not None and (height, width) != (codec.side, codec.side):
        raise InputError(
            f"frames of {height} × {width} px, this codec takes {codec.side} × {codec.side}",
            remedy="make videos of that size, or take another codec",
        )
    if height < 1 or width < 1 or height % codec.stride or width % codec.stride:
        raise InputError(f"frames of {height} × {width} px are no multiples of {codec.stride} px")
    if frames < 1 or usable_frames(codec, frames) != frames:
        step, fewer = codec.frame_stride, max(1, usable_frames(codec, max(1, frames)))
        raise InputError(
            f"{frames} frames cannot be coded {step} at a time after the first",
            remedy=f"give {fewer} or {fewer + step}",
        )
    return (
        codec.channels,
        1 + (frames - 1) // codec.frame_stride,
        height // codec.stride,
        width // codec.stride,
    )


def check_video(codec: Codec, video: Tensor) -> None:
    """Check that a video is float and of a shape that the codec can encode."""
    if not video.is_floating_point():
        raise InputError(f"a video of {video.dtype}", remedy="turn it into floats with to_floats")
    if video.ndim != 5 or video.shape[1] != COLORS:
        raise InputError(f"a video of shape {tuple(video.shape)}, expected (N, 3, T, H, W)")
    latent_shape(codec, *video.shape[2:])


def check_latents(codec: Codec, latents: Tensor) -> None:
    """Check the shape of latents."""
    if latents.ndim != 5 or latents.shape[1] != codec.channels or 0 in latents.shape[2:]:
        raise InputError(
            f"latents of shape {tuple(latents.shape)}, expected (N, {codec.channels}, t, h, w)"
        )


def to_floats(video: Tensor) -> Tensor:
    """Convert uint8 to float32 in [−1, 1]."""
    if video.dtype != torch.uint8:
        raise InputError(f"expected bytes (torch.uint8), got {video.dtype}")
    return video.float() / 127.5 - 1


def to_bytes(video: Tensor) -> Tensor:
    """Convert floats in [−1, 1] to uint8, with rounding and clipping."""
    return ((video.float().clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8)


def encode_bytes(codec: Codec, video: Tensor) -> Tensor:
    """Encode a uint8 video (N, 3, T, H, W) to (N, C, t, h, w)."""
    return codec.encode(to_floats(video))


def decode_bytes(codec: Codec, latents: Tensor) -> Tensor:
    """Decode latents (N, C, t, h, w) to a uint8 video (N, 3, T, H, W)."""
    return to_bytes(codec.decode(latents))


#: Axes of (N, C, T, H, W) that channel statistics are taken over.
_ALL_BUT_CHANNELS = (0, 2, 3, 4)
#: Keeps the gradient of the square root finite for constant channels.
_SMALL = 1e-6
#: Frames per forward pass at inference.
_CHUNK = 512


class NormalizedCodec(nn.Module, ABC):
    """Base class of learned codecs, whose latents are normalized per channel.

    Args:
        channels: channels of a latent.
        stride: pixels along each side of a latent.
        frame_stride: frames per latent.
        side: required width and height in [px]; None for multiples of `stride`.

    Attributes:
        mean: (C,) mean of raw latents.
        spread: (C,) standard deviation of raw latents.
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
        """Map (N, 3, T, H, W) in [−1, 1] to raw latents (N, C, t, h, w)."""

    @abstractmethod
    def from_raw(self, raw: Tensor) -> Tensor:
        """Map raw latents (N, C, t, h, w) to (N, 3, T, H, W), not clipped."""

    def forward(self, video: Tensor, noise: Tensor | None = None) -> Tensor:
        """Encode and decode a video for training.

        Args:
            video: (N, 3, T, H, W) in [−1, 1].
            noise: (N, C, t, h, w), added in units of the batch standard deviation of each channel,
                so that scaling the latents up does not reduce its effect.

        Returns:
            (N, 3, T, H, W), not clipped.
        """
        check_video(self, video)
        raw = self.to_raw(video)
        if noise is not None:
            variance = raw.var(_ALL_BUT_CHANNELS, correction=0, keepdim=True)
            raw = raw + noise * (variance + _SMALL).sqrt()
        return self.from_raw(raw)

    @torch.no_grad()
    def encode(self, video: Tensor) -> Tensor:
        """Map (N, 3, T, H, W) in [−1, 1] to normalized latents (N, C, t, h, w)."""
        check_video(self, video)
        parts = torch.split(video, max(1, _CHUNK // video.shape[2]))
        raw = torch.cat([self.to_raw(part) for part in parts])
        return (raw - _along(self.mean)) / _along(self.spread)

    @torch.no_grad()
    def decode(self, latents: Tensor) -> Tensor:
        """Map normalized latents (N, C, t, h, w) to (N, 3, T, H, W) in [−1, 1]."""
        check_latents(self, latents)
        raw = latents * _along(self.spread) + _along(self.mean)
        parts = torch.split(raw, max(1, _CHUNK // (latents.shape[2] * self.frame_stride)))
        return torch.cat([self.from_raw(part) for part in parts]).clamp(-1, 1)

    @torch.no_grad()
    def measure(self, videos: Iterable[Tensor]) -> None:
        """Set mean and standard deviation from the latents of videos.

        A constant channel keeps a standard deviation of 1.

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
    """Reshape (C,) to (C, 1, 1, 1)."""
    return values[:, None, None, None]


class PixelCodec:
    """Identity codec."""

    kind: ClassVar[str] = "pixels"
    channels, stride, frame_stride = COLORS, 1, 1
    side: ClassVar[int | None] = None

    def encode(self, video: Tensor) -> Tensor:
        """Return the video unchanged."""
        check_video(self, video)
        return video

    def decode(self, latents: Tensor) -> Tensor:
        """Return the video, clipped to [−1, 1]."""
        check_latents(self, latents)
        return latents.clamp(-1, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return the (empty) options."""
        return {}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PixelCodec:
        """Build the codec from the result of `to_dict`."""
        if values:
            raise InputError(f"pixels have no options, got {', '.join(values)}")
        return cls()
