"""A small network with fixed random weights, as an ONNX file that describes itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.depth.spec import SPEC_KEY, ModelSpec
from sightline.types import Kind


def write_conv_onnx(path: Path, spec: ModelSpec | None, *, hw=(None, None), channel=False) -> Path:
    """Two 3 × 3 convolutions: (N, 3, H, W) to (N, H, W), or (N, 1, H, W) with `channel`."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(5)
    first = rng.normal(0, 0.3, (4, 3, 3, 3)).astype(np.float32)
    second = np.abs(rng.normal(0, 0.3, (1, 4, 3, 3))).astype(np.float32)
    scale = np.float32(1.0 if spec is None or spec.max_depth is None else spec.max_depth)
    last = "Relu" if spec is None or spec.max_depth is None else "Sigmoid"
    nodes = [
        helper.make_node("Conv", ["image", "first"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "second"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node(last, ["c"], ["d"]),
        helper.make_node("Mul", ["d", "scale"], ["map"]),
        helper.make_node("Squeeze", ["map", "axes"], ["depth"]),
    ]
    name, shape = "depth", ["n", hw[0] or "h", hw[1] or "w"]
    if channel:
        nodes, name, shape = nodes[:-1], "map", ["n", 1, *shape[1:]]
    graph = helper.make_graph(
        nodes,
        "conv",
        [
            helper.make_tensor_value_info(
                "image", TensorProto.FLOAT, ["n", 3, hw[0] or "h", hw[1] or "w"]
            )
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(first, "first"),
            numpy_helper.from_array(second, "second"),
            numpy_helper.from_array(np.array(scale), "scale"),
            numpy_helper.from_array(np.array([1]), "axes"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    if spec is not None:
        entry = model.metadata_props.add()
        entry.key, entry.value = SPEC_KEY, spec.to_json()
    save(model, str(path))
    return path


@pytest.fixture(scope="session")
def conv_spec() -> ModelSpec:
    return ModelSpec("compact", size=64, multiple=8)


@pytest.fixture(scope="session")
def metric_spec() -> ModelSpec:
    return ModelSpec("compact", Kind.METRIC_DEPTH, size=64, multiple=8, max_depth=20.0)


@pytest.fixture(scope="session")
def make_onnx():
    """Writer of small ONNX networks: (path, spec, hw=, channel=) → path."""
    return write_conv_onnx


@pytest.fixture(scope="session")
def conv_onnx(tmp_path_factory, conv_spec) -> Path:
    """A small relative network with its description inside."""
    return write_conv_onnx(tmp_path_factory.mktemp("onnx") / "conv.onnx", conv_spec)


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


def randomise(network, seed: int = 0):
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

    from sightline.depth.network import SIZES, DepthAnything, Size

    tiny = Size(32, 4, 2, (0, 1, 2, 3), 16, (8, 8, 16, 16))

    def make(architecture: str = "tiny", seed: int = 0, **options):
        size = tiny if architecture == "tiny" else SIZES[architecture]
        with torch.device("meta"):
            network = DepthAnything(size, **options)
        return randomise(network.to_empty(device="cpu"), seed)

    return make
