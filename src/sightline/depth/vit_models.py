"""Load a Depth Anything network by name, to use its features."""

from __future__ import annotations

from sightline.depth.checkpoints import make_network, read_checkpoint
from sightline.depth.engines import torch_source
from sightline.depth.network import DepthAnything
from sightline.errors import InputError
from sightline.models.download import resolve
from sightline.models.entry import ModelSpec


def read_vit(name: str) -> tuple[DepthAnything, ModelSpec]:
    """Return the network in float32 and eval mode, and its image normalization.

    Args:
        name: registry name or weight file.

    Raises:
        InputError: the model is not a ViT.
    """
    found = resolve(name, purpose="depth")
    checkpoint = read_checkpoint(torch_source(found.path) or found.path)
    network = make_network(checkpoint)
    if not isinstance(network, DepthAnything):
        raise InputError(
            f"a {checkpoint.spec.architecture} network has no ViT whose features could be used",
            path=found.path,
        )
    return network, checkpoint.spec
