"""A Depth Anything of a few thousand random weights, saved as a hub lays it out."""

import torch
from transformers import (
    DepthAnythingConfig,
    DepthAnythingForDepthEstimation,
    Dinov2Config,
    DPTImageProcessorPil,
)


def write_depth_folder(folder):
    """Write the model and its processor to a folder."""
    torch.manual_seed(0)
    backbone = Dinov2Config(
        hidden_size=24,
        num_hidden_layers=4,
        num_attention_heads=2,
        image_size=56,
        out_features=["stage1", "stage2", "stage3", "stage4"],
        reshape_hidden_states=False,
    )
    config = DepthAnythingConfig(
        backbone_config=backbone,
        reassemble_hidden_size=24,
        neck_hidden_sizes=[8, 8, 8, 8],
        fusion_hidden_size=8,
        head_hidden_size=8,
    )
    model = DepthAnythingForDepthEstimation(config)
    with torch.no_grad():
        model.head.conv3.bias.fill_(1.0)
    model.save_pretrained(folder)
    DPTImageProcessorPil(
        size={"height": 56, "width": 56}, keep_aspect_ratio=True, ensure_multiple_of=14
    ).save_pretrained(folder)
