import numpy as np
import pytest
import torch

from sightline.depth.compact import CompactDepth, LiteEncoder, SameConv, compact_spec
from sightline.errors import InputError
from sightline.types import Kind


@pytest.fixture(scope="module")
def network():
    torch.manual_seed(0)
    return CompactDepth().eval()


def test_it_is_compact(network):
    count = sum(parameter.numel() for parameter in network.parameters())
    assert 3.0e6 < count < 4.0e6


@pytest.mark.parametrize("size", [(64, 96), (32, 32), (96, 64)])
def test_output_has_the_size_of_the_input(network, size):
    with torch.inference_mode():
        depth = network(torch.randn(2, 3, *size))
    assert depth.shape == (2, *size)
    assert bool(torch.isfinite(depth).all())


def test_a_metric_network_stays_below_its_largest_depth():
    network = CompactDepth(compact_spec(Kind.METRIC_DEPTH, 10.0)).eval()
    with torch.inference_mode():
        depth = network(torch.randn(1, 3, 64, 64) * 50)
    assert float(depth.min()) > 0
    assert float(depth.max()) <= 10


def test_every_parameter_learns():
    network = CompactDepth()
    for block in network.compare:  # these begin as if they were not there
        for layer in (block.out, block.mlp[2]):
            torch.nn.init.normal_(layer.weight)
    network(torch.randn(2, 3, 64, 64)).std().backward()
    still = [name for name, p in network.named_parameters() if p.grad is None or not p.grad.any()]
    # A bias in front of a batch norm would be useless; there is none.
    assert still == []


def test_padding_is_that_of_tensorflow():
    conv = SameConv(1, 1, 3, 2)
    conv.weight.data.zero_()
    conv.weight.data[0, 0, 0, 0] = 1  # picks the top left tap
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    # With "same" padding of an even size nothing is added at the top left.
    np.testing.assert_array_equal(conv(x)[0, 0].detach(), [[0, 2], [8, 10]])


def test_imagenet_weights_are_found_by_name(tmp_path):
    torch.manual_seed(1)
    encoder = LiteEncoder()
    theirs = {}
    names = {"expand": "_expand_conv", "expand_norm": "_bn0", "depthwise": "_depthwise_conv",
             "depthwise_norm": "_bn1", "project": "_project_conv", "project_norm": "_bn2"}  # fmt: skip
    blocks = [
        f"stages.{i}.{j}" for i, stage in enumerate(encoder.stages) for j in range(len(stage))
    ]
    for key, value in encoder.state_dict().items():
        if key.startswith("stem"):
            theirs[key.replace("stem_norm", "_bn0").replace("stem.", "_conv_stem.")] = value
            continue
        block, rest = ".".join(key.split(".")[:3]), key.split(".")[3:]
        theirs[f"_blocks.{blocks.index(block)}.{names[rest[0]]}.{rest[1]}"] = value
    theirs["_fc.weight"] = torch.zeros(1000, 1280)
    torch.save(theirs, tmp_path / "lite0.pth")
    other = LiteEncoder()
    other.load_imagenet(tmp_path / "lite0.pth")
    for key, value in encoder.state_dict().items():
        assert torch.equal(value, other.state_dict()[key]), key


def test_another_weight_file_is_refused(tmp_path):
    torch.save({"_conv_stem.weight": torch.zeros(32, 3, 3, 3)}, tmp_path / "half.pth")
    with pytest.raises(InputError, match="not an EfficientNet-Lite0"):
        LiteEncoder().load_imagenet(tmp_path / "half.pth")
