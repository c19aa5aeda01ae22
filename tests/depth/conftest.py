"""Fixtures of the depth tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_cache(tmp_path, monkeypatch) -> Path:
    """An empty cache folder of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("SIGHTLINE_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def embedded_estimator():
    """The embedded default model."""
    from sightline.depth.estimator import load

    return load("default", threads=1)


def randomize(network, seed: int = 0):
    """Give every parameter a random value of natural size, biases, norms and scales included.

    Fresh networks have zero biases and unit gains, so mixed-up names would not show; and the last
    bias is raised, or the closing ReLU could leave zeros that equal any other zeros.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            noise = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim >= 2 and "token" not in name and "pos" not in name:
                parameter.copy_(noise * parameter[0].numel() ** -0.5)
            elif ("norm" in name and name.endswith("weight")) or "gamma" in name:
                parameter.copy_(1 + 0.2 * noise)
            else:
                parameter.copy_(0.2 * noise)
        network.depth_head.scratch.output_conv2[2].bias.fill_(1.0)
    return network.eval()


@pytest.fixture(scope="session")
def random_vit():
    """Maker of random Depth Anything networks in eval mode: (architecture, **options) → network.

    `tiny` is one in miniature: the same parts, a thousandth of the weights.
    """
    import torch

    from sightline.depth.network import SIZES, DepthAnything, ViTSize

    tiny = ViTSize(32, 4, 2, (0, 1, 2, 3), 16, (8, 8, 16, 16))

    def make(architecture: str = "tiny", seed: int = 0, **options):
        size = tiny if architecture == "tiny" else SIZES[architecture]
        with torch.device("meta"):
            network = DepthAnything(size, **options)
        return randomize(network.to_empty(device="cpu"), seed)

    return make
