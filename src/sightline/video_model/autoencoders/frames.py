"""Compact convolutional codec of single frames for CPUs: 8 × 8 pixels to one latent.

At 64 px the encoder takes 5.5 million multiplications per frame and the decoder 15.0; at 32 px a
quarter.

* Frames are encoded independently: the transformer alone learns motion.
* There is no normalization layer: its mean over the frame would let a ball change the code of a distant
  one. A latent depends on 48 × 48 pixels, so combinations of balls are encoded as the balls are.
* Borders are padded by replication: a white frame has the same latent everywhere, and padding does not
  reveal the border.
* Upsampling uses 2 × 2 kernels without overlap; residual blocks smooth the seams.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.video_model.autoencoders.codec import COLORS, NormalizedCodec
from sightline.video_model.autoencoders.options import FrameOptions

#: Pixels along each side of a latent.
STRIDE = 8


class FrameResidual(nn.Module):
    """Residual block of two 3 × 3 convolutions, initialized to the identity."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = _convolution(width, width)
        self.second = _convolution(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (B, C, H, W) to (B, C, H, W)."""
        return x + self.second(F.silu(self.first(F.silu(x))))


class FrameCodec(NormalizedCodec):
    """Codec of single frames.

    Args:
        options: architecture.
    """

    kind: ClassVar[str] = "frames"

    def __init__(self, options: FrameOptions | None = None) -> None:
        self.options = options or FrameOptions()
        super().__init__(self.options.channels, STRIDE)
        self.encoder = make_encoder(self.options)
        self.decoder = make_decoder(self.options)
        self._initialize()

    def _initialize(self) -> None:
        """Initialize with variance-preserving weights and a white output."""
        for module in self.modules():
            if isinstance(module, nn.Conv2d | nn.ConvTranspose2d) and module.bias is not None:
                # A transposed 2 × 2 convolution has one kernel entry per output pixel and input
                # channel.
                fan = (
                    module.in_channels
                    if isinstance(module, nn.ConvTranspose2d)
                    else module.weight[0].numel()
                )
                nn.init.normal_(module.weight, std=(2 / fan) ** 0.5)
                nn.init.zeros_(module.bias)
        for module in self.modules():
            if isinstance(module, FrameResidual):
                nn.init.zeros_(module.second.weight)
        last = self.decoder[-2]
        assert isinstance(last, nn.Conv2d)
        assert last.bias is not None
        nn.init.zeros_(last.weight)
        nn.init.ones_(last.bias)

    def to_raw(self, video: Tensor) -> Tensor:
        """Map (N, 3, T, H, W) in [−1, 1] to (N, C, T, H / 8, W / 8)."""
        return _by_frame(self.encoder, video)

    def from_raw(self, raw: Tensor) -> Tensor:
        """Map (N, C, T, h, w) to (N, 3, T, 8 h, 8 w)."""
        return _by_frame(self.decoder, raw)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, without weights; read by `from_dict`."""
        return self.options.to_dict()

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> FrameCodec:
        """Build an untrained codec from the result of `to_dict`."""
        return cls(FrameOptions(**values))


def make_encoder(options: FrameOptions) -> nn.Sequential:
    """Build the encoder: (B, 3, S, S) → (B, C, S / 8, S / 8)."""
    half, quarter, eighth = options.widths
    return nn.Sequential(
        _convolution(COLORS, half, side=4, stride=2),
        nn.SiLU(),
        _convolution(half, quarter, stride=2),
        nn.SiLU(),
        _convolution(quarter, eighth, stride=2),
        FrameResidual(eighth),
        nn.SiLU(),
        nn.Conv2d(eighth, options.channels, 1),
    )


def make_decoder(options: FrameOptions) -> nn.Sequential:
    """Build the decoder: (B, C, s, s) → (B, 3, 8 s, 8 s)."""
    half, quarter, eighth = options.widths
    return nn.Sequential(
        _convolution(options.channels, eighth),
        FrameResidual(eighth),
        nn.SiLU(),
        nn.ConvTranspose2d(eighth, quarter, 2, stride=2),
        FrameResidual(quarter),
        nn.SiLU(),
        nn.ConvTranspose2d(quarter, half, 2, stride=2),
        FrameResidual(half),
        nn.SiLU(),
        _convolution(half, 4 * COLORS),
        nn.PixelShuffle(2),
    )


def _convolution(before: int, after: int, *, side: int = 3, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(before, after, side, stride, padding=1, padding_mode="replicate")


def _by_frame(network: nn.Module, x: Tensor) -> Tensor:
    """Apply an image network to each frame: (N, C, T, H, W) → (N, C', T, H', W')."""
    frames = x.transpose(1, 2).flatten(0, 1).contiguous(memory_format=torch.channels_last)
    made: Tensor = network(frames)
    return made.view(x.shape[0], x.shape[2], *made.shape[1:]).transpose(1, 2).contiguous()
