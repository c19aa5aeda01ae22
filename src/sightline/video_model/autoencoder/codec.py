"""What every codec of videos can do, and what follows from its strides.

A codec that strides over time stands on the causal rule of video autoencoders: the first frame is a
latent of its own, every further latent stands for `frame_stride` frames. So it takes 1 + k · stride
frames: 31 of the paper's 32 at stride 2, which is what the released evaluator compares (spec §2.5).
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from sightline.errors import InputError

#: Colours of a video.
COLOURS = 3


@runtime_checkable
class Codec(Protocol):
    """Videos to latents and back."""

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
        """The only width and height of frames that it takes in [px]; None: multiples of `stride`."""
        ...

    @property
    def frame_stride(self) -> int:
        """Frames that a latent stands for; the first stands for one."""
        ...

    def encode(self, video: Tensor) -> Tensor:
        """(N, 3, T, H, W) in [−1, 1] → (N, C, t, h, w), about 0 on average and of spread 1."""
        ...

    def decode(self, latents: Tensor) -> Tensor:
        """(N, C, t, h, w) → (N, 3, T, H, W) in [−1, 1]."""
        ...


def usable_frames(codec: Codec, frames: int) -> int:
    """Return how many of the first frames of a video a codec can take: all of them at stride 1."""
    return frames - (frames - 1) % codec.frame_stride


def latent_shape(
    codec: Codec, frames: int, height: int, width: int | None = None
) -> tuple[int, int, int, int]:
    """Return channels, frames, rows and columns of a video's latents.

    Args:
        codec: any.
        frames: of the video.
        height: in [px].
        width: in [px]; None: as the height.

    Raises:
        InputError: the codec cannot take such a video.
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
    """Refuse what is no video in floats, or none that the codec can take."""
    if not video.is_floating_point():
        raise InputError(f"a video of {video.dtype}", remedy="turn it into floats with to_floats")
    if video.ndim != 5 or video.shape[1] != COLOURS:
        raise InputError(f"a video of shape {tuple(video.shape)}, expected (N, 3, T, H, W)")
    latent_shape(codec, *video.shape[2:])


def check_latents(codec: Codec, latents: Tensor) -> None:
    """Refuse what is no latent of the codec."""
    if latents.ndim != 5 or latents.shape[1] != codec.channels or 0 in latents.shape[2:]:
        raise InputError(
            f"latents of shape {tuple(latents.shape)}, expected (N, {codec.channels}, t, h, w)"
        )


def to_floats(video: Tensor) -> Tensor:
    """Turn bytes into float32 from −1 (0) to 1 (255)."""
    if video.dtype != torch.uint8:
        raise InputError(f"expected bytes (torch.uint8), got {video.dtype}")
    return video.float() / 127.5 - 1


def to_bytes(video: Tensor) -> Tensor:
    """Turn floats from −1 to 1 into the nearest bytes; what lies outside is cut off."""
    return ((video.float().clamp(-1, 1) + 1) * 127.5).round().to(torch.uint8)


def encode_bytes(codec: Codec, video: Tensor) -> Tensor:
    """(N, 3, T, H, W) uint8 → (N, C, t, h, w)."""
    return codec.encode(to_floats(video))


def decode_bytes(codec: Codec, latents: Tensor) -> Tensor:
    """(N, C, t, h, w) → (N, 3, T, H, W) uint8."""
    return to_bytes(codec.decode(latents))
