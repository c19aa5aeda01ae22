"""Depth Anything V2 in torch, with the parameter names of the official checkpoints.

* `sizes`: the numbers of the four sizes S, B, L and G.
* `positions`: how the learned 37 × 37 position grid is stretched over a picture of any size.
* `vit`: the DINOv2 encoder (`pretrained.*` in a checkpoint).
* `head`: the DPT head (`depth_head.*`).
* `depth_anything`: the two together.
"""

from __future__ import annotations

from torch import nn

from sightline.depth.network.depth_anything import DepthAnything
from sightline.depth.network.vit import SIZES, PositionResize, ViTSize
from sightline.errors import InputError
from sightline.models.entry import ModelSpec

__all__ = ["SIZES", "DepthAnything", "PositionResize", "ViTSize", "build"]


def build(spec: ModelSpec, *, position_resize: PositionResize = "authors") -> nn.Module:
    """Make the network that `spec` describes, with random weights, in training mode.

    Args:
        spec: architecture, kind of output, and for a ViT which blocks are tapped.
        position_resize: resampling of position embeddings of a ViT, see `positions`.

    Returns:
        A module that maps (N, 3, H, W) normalized pixels to (N, H, W) depth or disparity.
    """
    if spec.architecture == "compact":
        from sightline.depth.compact import CompactDepth

        return CompactDepth(spec)
    if spec.architecture not in SIZES:
        raise InputError(
            "this network exists only as a graph, not in torch",
            remedy="run it with the OpenVINO engine",
        )
    return DepthAnything(
        SIZES[spec.architecture],
        taps=spec.taps,
        max_depth=spec.max_depth,
        position_resize=position_resize,
        replicate_edge=spec.replicate_edge,
    )
