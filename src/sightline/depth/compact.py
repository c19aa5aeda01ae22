"""The compact student: an EfficientNet-Lite0 encoder, four attention blocks, and a light decoder.

* About 4 M parameters; depth of a 256 × 320 picture in some 20 ms on one core.
* The encoder has the layout of EfficientNet-Lite0 (no squeeze-and-excite, ReLU6), so it starts from
  installable ImageNet weights (`load_imagenet`). Its convolutions pad as TensorFlow does ("same",
  the odd pixel at the bottom right), because those weights were trained with it.
* Two attention blocks at the coarsest scale (1/32) give global context, with position coordinates as
  additional input: depth depends on the whole image, and strongly on the height in the image. Two more
  blocks at 1/16 refine the decoder's features globally.
* The decoder fuses 1/32 … 1/2 by addition and refines by residual 3 × 3 units, as DPT does, with few
  channels; the last convolution is at full resolution, for thin structures.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.types import Kind

#: (expansion, kernel, stride of the first, channels, repeats) per stage; Lite0 scales none of them.
STAGES = (
    (1, 3, 1, 16, 1),
    (6, 3, 2, 24, 2),
    (6, 5, 2, 40, 2),
    (6, 3, 2, 80, 3),
    (6, 5, 1, 112, 3),
    (6, 5, 2, 192, 4),
    (6, 3, 1, 320, 1),
)

#: The stages whose outputs feed the decoder, at 1/2, 1/4, 1/8, 1/16, 1/32 of the picture.
TAPS = (0, 1, 2, 4, 6)

#: Decoder channels at 1/2, 1/4, 1/8, 1/16, 1/32.
WIDTHS = (24, 40, 56, 88, 144)

#: Channels of the maps that attention has passed over, at 1/32 and 1/16.
CONTEXT_WIDTHS = (WIDTHS[4], WIDTHS[3])

#: EfficientNet-Lite sees pixels as (value - 127) / 128.
LITE_MEAN = (127 / 255,) * 3
LITE_STD = (128 / 255,) * 3


def compact_spec(kind: Kind = Kind.RELATIVE_DISPARITY, max_depth: float | None = None) -> ModelSpec:
    """Return the description of a compact network with its own input size and normalization."""
    return ModelSpec(
        "compact",
        kind=kind,
        size=256,
        multiple=32,
        max_depth=max_depth,
        resize="area",
        mean=LITE_MEAN,
        std=LITE_STD,
    )


class SameConv(nn.Conv2d):
    """Convolution padded as TensorFlow's "same": for stride 2 the odd pixel goes bottom right."""

    def __init__(
        self, inputs: int, outputs: int, kernel: int, stride: int, groups: int = 1
    ) -> None:
        padding = kernel // 2 if stride == 1 else 0
        super().__init__(
            inputs, outputs, kernel, stride, padding=padding, groups=groups, bias=False
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) → (N, C', H/stride, W/stride) for even H and W."""
        if self.stride[0] == 2:
            total = self.kernel_size[0] - 2
            x = F.pad(x, (total // 2, total - total // 2, total // 2, total - total // 2))
        return super().forward(x)


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class InvertedResidual(nn.Module):
    """Expand by 1 × 1, filter each channel, project back; add the input where shapes allow."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int, expansion: int) -> None:
        super().__init__()
        middle = inputs * expansion
        self.expand = SameConv(inputs, middle, 1, 1) if expansion > 1 else nn.Identity()
        self.expand_norm = _norm(middle) if expansion > 1 else nn.Identity()
        self.depthwise = SameConv(middle, middle, kernel, stride, groups=middle)
        self.depthwise_norm = _norm(middle)
        self.project = SameConv(middle, outputs, 1, 1)
        self.project_norm = _norm(outputs)
        self.expands = expansion > 1
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) → (N, C', H/stride, W/stride)."""
        y = x
        if self.expands:
            y = F.relu6(self.expand_norm(self.expand(y)))
        y = F.relu6(self.depthwise_norm(self.depthwise(y)))
        y = self.project_norm(self.project(y))
        return x + y if self.residual else y


class LiteEncoder(nn.Module):
    """EfficientNet-Lite0 without its classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = SameConv(3, 32, 3, 2)
        self.stem_norm = _norm(32)
        channels = 32
        stages: list[nn.Module] = []
        for expansion, kernel, stride, outputs, repeats in STAGES:
            blocks = []
            for index in range(repeats):
                step = stride if index == 0 else 1
                blocks.append(InvertedResidual(channels, outputs, kernel, step, expansion))
                channels = outputs
            stages.append(nn.Sequential(*blocks))
        self.stages = nn.ModuleList(stages)

    def forward(self, x: Tensor) -> list[Tensor]:
        """(N, 3, H, W) → five feature maps at 1/2 … 1/32."""
        x = F.relu6(self.stem_norm(self.stem(x)))
        taps = []
        for index, stage in enumerate(self.stages):
            x = stage(x)
            if index in TAPS:
                taps.append(x)
        return taps

    def load_imagenet(self, path: str | Path) -> None:
        """Load the weights of the `efficientnet-lite0` registry entry, without the classifier."""
        try:
            state: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # another file makes the reader stumble over anything
            raise InputError("not an EfficientNet-Lite0 weight file", path=path) from error
        ours: dict[str, Tensor] = {}
        flat = [block for stage in self.stages for block in stage]  # type: ignore[attr-defined]
        names = {id(block): name for name, block in self.named_modules()}
        for theirs, value in state.items():
            renamed = _imagenet_name(theirs, [names[id(block)] for block in flat], flat)
            if renamed is not None:
                ours[renamed] = value
        problems = self.load_state_dict(ours, strict=False)
        missing = [key for key in problems.missing_keys if not key.endswith("num_batches_tracked")]
        if missing or problems.unexpected_keys:
            raise InputError("not an EfficientNet-Lite0 weight file", path=path)


def _imagenet_name(theirs: str, blocks: list[str], modules: list[Any]) -> str | None:
    """Translate a key of the published file to ours; None for the classifier."""
    if theirs.startswith("_conv_stem."):
        return theirs.replace("_conv_stem", "stem")
    if theirs.startswith("_bn0."):
        return theirs.replace("_bn0", "stem_norm")
    if not theirs.startswith("_blocks."):
        return None
    _, number, part, rest = theirs.split(".", 3)
    name = {
        "_expand_conv": "expand",
        "_bn0": "expand_norm",
        "_depthwise_conv": "depthwise",
        "_bn1": "depthwise_norm",
        "_project_conv": "project",
        "_bn2": "project_norm",
    }[part]
    if not modules[int(number)].expands and name.startswith("expand"):
        return None
    return f"{blocks[int(number)]}.{name}.{rest}"


class AttentionBlock(nn.Module):
    """Pre-norm transformer block over the positions of a feature map.

    Args:
        channels: number of channels of the map.
        heads: number of attention heads.
        calm: initialize the block to the identity, so that it can be added to a trained network.
    """

    def __init__(self, channels: int, heads: int = 4, *, calm: bool = False) -> None:
        super().__init__()
        self.heads = heads
        self.position = nn.Conv2d(channels, channels, 3, padding=1, groups=channels)
        self.norm1 = nn.LayerNorm(channels)
        self.qkv = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)
        self.norm2 = nn.LayerNorm(channels)
        self.mlp = nn.Sequential(
            nn.Linear(channels, 2 * channels), nn.GELU(), nn.Linear(2 * channels, channels)
        )
        if calm:
            for layer in (self.position, self.out, self.mlp[2]):
                nn.init.zeros_(layer.weight)  # type: ignore[arg-type]
                nn.init.zeros_(layer.bias)  # type: ignore[arg-type]

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, h, w) → same shape."""
        x = x + self.position(x)
        batch, channels, height, width = x.shape
        tokens = x.flatten(2).transpose(1, 2)
        qkv = self.qkv(self.norm1(tokens))
        parts = qkv.reshape(batch, -1, 3, self.heads, channels // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v)
        tokens = tokens + self.out(mixed.transpose(1, 2).reshape(batch, -1, channels))
        tokens = tokens + self.mlp(self.norm2(tokens))
        return tokens.transpose(1, 2).reshape(batch, channels, height, width)


class Refine(nn.Module):
    """Residual unit of two 3 × 3 convolutions, the first one normalized."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """(N, C, H, W) → same shape."""
        return x + self.conv2(F.relu(self.norm(self.conv1(F.relu(x)))))


class CompactDepth(nn.Module):
    """Compact depth network; see the docstring of the module."""

    def __init__(self, spec: ModelSpec | None = None) -> None:
        super().__init__()
        self.spec = spec or compact_spec()
        self.encoder = LiteEncoder()
        taps = [STAGES[index][3] for index in TAPS]
        self.lateral = nn.ModuleList(
            nn.Conv2d(inputs + (2 if level == 4 else 0), outputs, 1)
            for level, (inputs, outputs) in enumerate(zip(taps, WIDTHS, strict=True))
        )
        self.context = nn.Sequential(AttentionBlock(WIDTHS[4]), AttentionBlock(WIDTHS[4]))
        self.compare = nn.Sequential(
            AttentionBlock(WIDTHS[3], calm=True), AttentionBlock(WIDTHS[3], calm=True)
        )
        self.narrow = nn.ModuleList(
            nn.Conv2d(WIDTHS[level + 1], WIDTHS[level], 1) for level in range(4)
        )
        self.refine = nn.ModuleList(Refine(width) for width in WIDTHS[:4])
        # Zeros around the picture would show as a rim in the depth itself.
        self.head = nn.Conv2d(WIDTHS[0], 16, 3, padding=1, padding_mode="replicate")
        self.last = nn.Conv2d(16, 1, 3, padding=1, padding_mode="replicate")

    def forward(self, image: Tensor) -> Tensor:
        """Map normalized pixels to depth.

        Args:
            image: (N, 3, H, W), H and W multiples of 32.

        Returns:
            (N, H, W): disparity without unit, about 0 (far) to 1 (near), or meters for a metric
            network. A relative network has no final activation: scale and shift are arbitrary, and a
            saturating activation made training collapse to a flat map (docs/lab-log.md).
        """
        return self.depth_and_context(image)[0]

    def depth_and_context(self, image: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Return the output of `forward` and the feature maps of the attention blocks.

        Args:
            image: (N, 3, H, W), H and W multiples of 32.

        Returns:
            (N, H, W), and the maps of `CONTEXT_WIDTHS` channels at 1/32 and 1/16 of the picture.
        """
        taps = self.encoder(image)
        deep = taps[4]
        x = self.lateral[4](torch.cat([deep, _coordinates(deep)], dim=1))
        x = whole = self.context(x)
        compared = whole
        for level in (3, 2, 1, 0):
            skip = self.lateral[level](taps[level])
            x = F.interpolate(
                self.narrow[level](x), scale_factor=2.0, mode="bilinear", align_corners=False
            )
            x = self.refine[level](x + skip)
            if level == 3:
                x = compared = self.compare(x)
        x = F.relu(self.head(x))
        x = F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=False)
        x = self.last(x)[:, 0]
        if self.spec.max_depth is not None:
            x = torch.sigmoid(x) * self.spec.max_depth
        return x, (whole, compared)


def _coordinates(like: Tensor) -> Tensor:
    """Return (N, 2, h, w) of x and y from -1 to 1 at cell centers."""
    batch, _, height, width = like.shape
    rows = torch.arange(height, dtype=like.dtype, device=like.device)
    columns = torch.arange(width, dtype=like.dtype, device=like.device)
    y = (rows + 0.5) * (2.0 / height) - 1.0
    x = (columns + 0.5) * (2.0 / width) - 1.0
    grid = torch.stack([x[None, :].expand(height, width), y[:, None].expand(height, width)])
    return grid[None].expand(batch, 2, height, width)
