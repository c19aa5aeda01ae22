"""Convolutions over time that see no later frame (spec §2.4: causal temporal padding).

All of them take the frames of one video in the place of a batch, (T, C, H, W): so they can stand in
the midst of a network for pictures, whose other layers go on frame by frame. Before the first frame, it
is repeated: a picture is a video that stands still.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

#: Frames that a kernel sees: this one and those before it.
SPAN = 3


class CausalConvolution(nn.Module):
    """A convolution of pictures, inflated to time; at first it does what that one did.

    Args:
        flat: whose kernel is the last slice of the new one, the one on the frame itself.
    """

    def __init__(self, flat: nn.Conv2d) -> None:
        super().__init__()
        assert isinstance(flat.padding, tuple)
        rows, columns = flat.kernel_size
        self.inner = nn.Conv3d(
            flat.in_channels,
            flat.out_channels,
            (SPAN, rows, columns),
            (1, flat.stride[0], flat.stride[1]),
            (0, flat.padding[0], flat.padding[1]),
            (1, flat.dilation[0], flat.dilation[1]),
            flat.groups,
            flat.bias is not None,
            device=flat.weight.device,
            dtype=flat.weight.dtype,
        )
        with torch.no_grad():
            self.inner.weight.zero_()
            self.inner.weight[:, :, -1] = flat.weight
            if self.inner.bias is not None and flat.bias is not None:
                self.inner.bias.copy_(flat.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(T, C, H, W) → (T, C', H', W')."""
        return _over_time(self.inner, x)


class TemporalResidual(nn.Module):
    """An extra convolution over time alone, added to what comes in; at first it adds nothing."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Conv3d(channels, channels, (SPAN, 1, 1))
        nn.init.zeros_(self.inner.weight)
        assert self.inner.bias is not None
        nn.init.zeros_(self.inner.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(T, C, H, W) → (T, C, H, W)."""
        return x + _over_time(self.inner, F.silu(x))


class HalveTime(nn.Module):
    """1 + 2 k frames to 1 + k; at first every second frame, beginning with the first."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.inner = nn.Conv3d(channels, channels, (SPAN, 1, 1), (2, 1, 1))
        assert self.inner.bias is not None
        nn.init.zeros_(self.inner.bias)
        with torch.no_grad():
            self.inner.weight.zero_()
            self.inner.weight[:, :, -1, 0, 0] = torch.eye(channels)

    def forward(self, x: Tensor) -> Tensor:
        """(1 + 2 k, C, H, W) → (1 + k, C, H, W)."""
        return _over_time(self.inner, x)


class DoubleTime(nn.Module):
    """1 + k frames to 1 + 2 k: the first once, all others twice. What follows makes them differ."""

    def forward(self, x: Tensor) -> Tensor:
        """(1 + k, C, H, W) → (1 + 2 k, C, H, W)."""
        return x.repeat_interleave(2, dim=0)[1:]


class AlsoInTime(nn.Module):
    """A block of a picture network, its kernels inflated, and a temporal residual after it.

    Args:
        block: any; its convolutions that are larger than a pixel are exchanged.
        channels: that it gives.
    """

    def __init__(self, block: nn.Module, channels: int) -> None:
        super().__init__()
        inflate_convolutions(block)
        self.block = block
        self.after = TemporalResidual(channels)

    def forward(self, x: Tensor, *rest: Tensor | None) -> Tensor:
        """(T, C, H, W) → (T, C', H', W')."""
        made: Tensor = self.after(self.block(x, *rest))
        return made


def inflate_convolutions(module: nn.Module) -> None:
    """Exchange all convolutions within a module, but those of a single pixel, for causal ones."""
    for name, child in module.named_children():
        if not isinstance(child, nn.Conv2d):
            inflate_convolutions(child)
        elif max(child.kernel_size) > 1:
            setattr(module, name, CausalConvolution(child))


def _over_time(convolution: nn.Conv3d, x: Tensor) -> Tensor:
    before = x[:1].expand(SPAN - 1, -1, -1, -1)
    video = torch.cat([before, x]).transpose(0, 1)
    made: Tensor = convolution(video[None])[0]
    return made.transpose(0, 1)
