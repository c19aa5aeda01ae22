"""Depth Anything: a DINOv2 encoder and a DPT head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor, nn

from sightline.depth.network.head import DptHead, disparity, meters
from sightline.depth.network.vit import PositionResize, VisionTransformer, ViTSize


class DepthAnything(nn.Module):
    """The network of Depth Anything V1 and V2, relative or metric.

    The relative and the metric network have the same parameters and differ in the last activation
    only, so a state dict does not tell which it is for.

    Args:
        size: widths and depths, one of `sizes.SIZES`.
        taps: blocks that feed the head: `spread` (V2) or the last four (V1).
        max_depth: scale of the last sigmoid of a metric network, in [m]; None for a
            relative one.
        position_resize: how the position grid is stretched over the picture, see `positions`.
        replicate_edge: see `head.EdgeReplicatingConv`; on for our weights, off for the authors'.
    """

    def __init__(
        self,
        size: ViTSize,
        *,
        taps: Literal["v1", "v2"] = "v2",
        max_depth: float | None = None,
        position_resize: PositionResize = "authors",
        replicate_edge: bool = False,
    ) -> None:
        super().__init__()
        self.taps = size.tapped(taps)
        self.max_depth = max_depth
        self.pretrained = VisionTransformer(size, position_resize)
        self.depth_head = DptHead(size, replicate_edge=replicate_edge)

    @property
    def encoder(self) -> VisionTransformer:
        """The pretrained part, which training moves more slowly than the head."""
        return self.pretrained

    def forward(self, image: Tensor) -> Tensor:
        """Map normalized pixels to depth.

        Args:
            image: (N, 3, H, W) RGB normalized by ImageNet's mean and deviation; H and W multiples
                of 14.

        Returns:
            (N, H, W): disparity ≥ 0 without unit, larger is nearer; or meters for a metric network.
        """
        x = self.raw(image)
        return disparity(x) if self.max_depth is None else meters(x, self.max_depth)

    def raw(self, image: Tensor) -> Tensor:
        """Return (N, H, W) before the last activation."""
        return self.depth_head(self.pretrained(image, self.taps))[:, 0]

    def decode(self, taps: Sequence[Tensor], *, bfloat16: bool = False) -> Tensor:
        """Map four tapped (N, D, h, w) to (N, H, W) as training compares it: [m] for a metric network.

        A relative one stops before its last ReLU, which lets no gradient through where it is zero. In
        bfloat16 the last convolutions stay in float32: differences between pixels are the fine detail.
        """
        with torch.autocast(taps[0].device.type, torch.bfloat16, enabled=bfloat16):
            x = self.depth_head.fuse(taps)
        x = self.depth_head.scratch.output_conv2(x.float() if bfloat16 else x)[:, 0]
        return x if self.max_depth is None else meters(x, self.max_depth)
