"""The DPT head, named as in the official checkpoints (`depth_head.*`).

Four tapped maps, all at 1/14, are brought to 4, 2, 1 and 1/2 times that resolution, reduced to a
common width, and fused from deep to shallow by RefineNet-like blocks (DPT, arXiv 2103.13413 §3; no
batch norm, no readout token). All upsampling is bilinear with aligned corners.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.depth.network.vit import PATCH, ViTSize

#: Channels of the last hidden map, at full resolution.
LAST_WIDTH = 32


def _conv3(inputs: int, outputs: int, *, bias: bool = True) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1, bias=bias)


def _upsample(x: Tensor, rows: int, columns: int) -> Tensor:
    return F.interpolate(x, size=(rows, columns), mode="bilinear", align_corners=True)


class EdgeReplicatingConv(nn.Conv2d):
    """A 3 × 3 convolution of stride 2 that replicates the right and bottom edge by one pixel.

    With zero padding all around, only odd sizes reach the zeros on the right and at the bottom, so a
    network that saw even sizes in training draws a stripe along these edges of odd ones. Replicated
    pixels leave even sizes as they are, bit for bit, and give odd ones an edge like any other. Zeros
    on the left and on top are always reached, and stay.
    """

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, h, w) → (N, C', ⌈h / 2⌉, ⌈w / 2⌉)."""
        x = F.pad(F.pad(x, (0, 1, 0, 1), mode="replicate"), (1, 0, 1, 0))
        return F.conv2d(x, self.weight, self.bias, stride=2)


class ResidualUnit(nn.Module):
    """Two 3 × 3 convolutions, each after a ReLU, on a residual branch."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.conv1 = _conv3(width, width)
        self.conv2 = _conv3(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, h, w) → same shape."""
        return x + self.conv2(F.relu(self.conv1(F.relu(x))))


class FusionBlock(nn.Module):
    """Add a shallower map to the deeper one, refine, enlarge."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out_conv = nn.Conv2d(width, width, 1)
        self.resConfUnit1 = ResidualUnit(width)
        self.resConfUnit2 = ResidualUnit(width)

    def forward(self, deep: Tensor, shallow: Tensor | None, rows: int, columns: int) -> Tensor:
        """Fuse two (N, C, h, w) maps into one (N, C, rows, columns); the deepest block has one."""
        x = deep if shallow is None else deep + self.resConfUnit1(shallow)
        x = self.resConfUnit2(x)
        # The authors enlarge first. A 1 × 1 convolution commutes with interpolation (whose weights
        # add up to one), and before it there are four times fewer pixels.
        return _upsample(self.out_conv(x), rows, columns)


class Scratch(nn.Module):
    """The part of the head that was always trained from scratch, hence the checkpoints' name."""

    def __init__(self, size: ViTSize) -> None:
        super().__init__()
        width = size.head_width
        for level, channels in enumerate(size.tap_widths, start=1):
            self.add_module(f"layer{level}_rn", _conv3(channels, width, bias=False))
            self.add_module(f"refinenet{level}", FusionBlock(width))
        self.output_conv1 = _conv3(width, width // 2)
        # 1 and 3 are the activations; indices 0 and 2 carry weights in the checkpoints.
        self.output_conv2 = nn.Sequential(
            _conv3(width // 2, LAST_WIDTH), nn.ReLU(), nn.Conv2d(LAST_WIDTH, 1, 1)
        )

    def reduce(self, level: int, x: Tensor) -> Tensor:
        """Bring the map of a level (1 … 4) to the common width."""
        return self.get_submodule(f"layer{level}_rn")(x)

    def fuse(
        self, level: int, deep: Tensor, shallow: Tensor | None, rows: int, columns: int
    ) -> Tensor:
        """Run the fusion block of a level (1 … 4)."""
        block = self.get_submodule(f"refinenet{level}")
        return block(deep, shallow, rows, columns)


class DptHead(nn.Module):
    """From four tapped maps to one map at the picture's resolution.

    Args:
        size: widths of encoder and head.
        replicate_edge: give the deepest map an edge that does not depend on whether its size is odd;
            see `EdgeReplicatingConv`. The authors' networks were trained without.
    """

    def __init__(self, size: ViTSize, *, replicate_edge: bool = False) -> None:
        super().__init__()
        widths = size.tap_widths
        halving = EdgeReplicatingConv if replicate_edge else nn.Conv2d
        self.projects = nn.ModuleList(nn.Conv2d(size.width, width, 1) for width in widths)
        self.resize_layers = nn.ModuleList(
            [
                nn.ConvTranspose2d(widths[0], widths[0], 4, stride=4),
                nn.ConvTranspose2d(widths[1], widths[1], 2, stride=2),
                nn.Identity(),
                halving(widths[3], widths[3], 3, stride=2, padding=1),
            ]
        )
        self.scratch = Scratch(size)
        # The deepest block has nothing to add: this unit lies in the checkpoints, but is never run.
        self.scratch.get_submodule("refinenet4.resConfUnit1").requires_grad_(False)

    def forward(self, taps: Sequence[Tensor]) -> Tensor:
        """Fuse the taps.

        Args:
            taps: four (N, D, h, w), shallow to deep.

        Returns:
            (N, 1, 14·h, 14·w), before the last activation.
        """
        return self.scratch.output_conv2(self.fuse(taps))

    def fuse(self, taps: Sequence[Tensor]) -> Tensor:
        """Fuse the taps into the input of the last convolutions, (N, C, 14·h, 14·w)."""
        rows, columns = taps[0].shape[-2:]
        maps = [
            self.scratch.reduce(level, resize(project(tap)))
            for level, (tap, project, resize) in enumerate(
                zip(taps, self.projects, self.resize_layers, strict=True), start=1
            )
        ]
        x = self.scratch.fuse(4, maps[3], None, *maps[2].shape[-2:])
        x = self.scratch.fuse(3, x, maps[2], *maps[1].shape[-2:])
        x = self.scratch.fuse(2, x, maps[1], *maps[0].shape[-2:])
        x = self.scratch.fuse(1, x, maps[0], 8 * rows, 8 * columns)
        return _upsample(self.scratch.output_conv1(x), PATCH * rows, PATCH * columns)


def disparity(x: Tensor) -> Tensor:
    """Last activation of a relative network: disparity ≥ 0 without unit, larger is nearer."""
    return F.relu(x)


def meters(x: Tensor, max_depth: float) -> Tensor:
    """Last activation of a metric network: depth in 0 … `max_depth` [m]."""
    return torch.sigmoid(x) * max_depth
