"""An exported network runs at every size and gives torch's numbers."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import torch

from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.export import export_onnx
from sightline.depth.network import build
from sightline.errors import InputError
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.openvino import OpenVinoEngine, openvino_core

SPEC = ModelSpec("vits", size=112)


@pytest.fixture(scope="module")
def network(random_vit):
    return random_vit()


@pytest.fixture(scope="module")
def folder(network, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    export_onnx(network, SPEC, folder / "full.onnx", store="full")
    export_onnx(network, SPEC, folder / "half.onnx", store="half")
    return folder


def largest_error(network, path, shapes):
    """Largest difference to torch over the largest value, over several input shapes."""
    engine = OpenVinoEngine(path, threads=1)
    worst = 0.0
    for batch, height, width in shapes:
        image = torch.randn(batch, 3, height, width, generator=torch.Generator().manual_seed(2))
        with torch.inference_mode():
            expected = network(image).numpy()
        assert expected.std() > 0.01 * expected.mean()
        found = engine.run(image.numpy())
        assert found.shape == expected.shape == (batch, height, width)
        worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
    return worst


#: Neither the traced size; the untouched 37 × 37 grid; wide; tall and odd; a batch.
SHAPES = [(1, 518, 518), (1, 252, 336), (1, 518, 42), (1, 28, 266), (2, 70, 56), (1, 14, 14)]


def test_height_width_and_batch_are_truly_dynamic(network, folder):
    assert largest_error(network, folder / "full.onnx", SHAPES) < 1e-5


def test_batches_run_in_one_call_too(network, folder):
    compiled = openvino_core().compile_model(
        folder / "full.onnx", "CPU", {"INFERENCE_PRECISION_HINT": "f32"}
    )
    image = torch.randn(3, 3, 42, 28)
    with torch.inference_mode():
        assert np.allclose(compiled(image.numpy())[0], network(image).numpy(), atol=1e-4)


def test_half_stores_half_the_bytes_and_computes_in_float32(network, folder):
    full, half = (folder / f"{name}.onnx" for name in ("full", "half"))
    model = onnx.load(half)
    stored = {t.name: t.data_type for t in model.graph.initializer}
    large = [t for t in onnx.load(full).graph.initializer if np.prod(t.dims) >= 1024]
    assert large
    for tensor in large:
        if len(tensor.dims) > 1:
            assert stored[f"{tensor.name}.half"] == onnx.TensorProto.FLOAT16
    weights = sum(4 * int(np.prod(t.dims)) for t in large if len(t.dims) > 1)
    assert half.stat().st_size < full.stat().st_size - 0.48 * weights
    kinds = {v.type.tensor_type.elem_type for v in (*model.graph.input, *model.graph.output)}
    assert kinds == {onnx.TensorProto.FLOAT}
    # float16 keeps eleven bits: the outputs move by some thousandths, not more and not less.
    assert 1e-6 < largest_error(network, half, [(1, 56, 84)]) < 1e-2


@pytest.mark.slow
def test_a_vits_file_is_half_as_large_in_half(tmp_path):
    """The real thing: 49.5 MB instead of 98.8 MB."""
    torch.manual_seed(0)
    network = build(ModelSpec("vits")).eval()
    for name in ("full", "half"):
        export_onnx(network, ModelSpec("vits"), tmp_path / name, store=name)
    assert (tmp_path / "half").stat().st_size < 0.505 * (tmp_path / "full").stat().st_size
    assert largest_error(network, tmp_path / "full", [(1, 252, 336)]) < 1e-4


def test_the_file_describes_itself_and_is_valid(folder):
    for name in ("full.onnx", "half.onnx"):
        onnx.checker.check_model(folder / name, full_check=True)
        properties = {p.key: p.value for p in onnx.load(folder / name).metadata_props}
        assert ModelSpec.from_json(properties[SPEC_KEY]) == SPEC
        assert OpenVinoEngine(folder / name, threads=1).spec == SPEC


def test_same_weights_same_bytes_and_no_trace_of_the_machine(network, folder, tmp_path):
    export_onnx(network, SPEC, tmp_path / "again.onnx", store="half")
    written = (tmp_path / "again.onnx").read_bytes()
    assert written == (folder / "half.onnx").read_bytes()
    for trace in (b"site-packages", b"depth/network", b"vit.py", b"/home", str(tmp_path).encode()):
        assert trace not in written


def test_metric_head_and_training_mode(random_vit, tmp_path):
    network = random_vit(max_depth=20.0).train()
    export_onnx(network, SPEC, tmp_path / "metric.onnx", store="full")
    assert network.training
    network.eval()
    assert largest_error(network, tmp_path / "metric.onnx", [(1, 42, 70)]) < 1e-5


def test_a_replicated_edge_is_in_the_file_and_comes_back(random_vit, tmp_path):
    spec = ModelSpec("vits", replicate_edge=True)
    network = random_vit(replicate_edge=True)
    path = tmp_path / "edge.onnx"
    export_onnx(network, spec, path, store="full")
    assert largest_error(network, path, [(1, 98, 154), (1, 84, 70), (2, 70, 126)]) < 1e-5
    assert largest_error(random_vit(), path, [(1, 56, 84)]) < 1e-5  # even grids are as ever
    assert largest_error(random_vit(), path, [(1, 70, 126)]) > 1e-3
    assert OpenVinoEngine(path, threads=1).spec.replicate_edge


def test_the_compact_network_exports_too(tmp_path):
    torch.manual_seed(0)
    network = CompactDepth().train()
    with torch.no_grad():  # statistics worth folding, and a map that is not flat
        for _ in range(3):
            network(torch.randn(2, 3, 64, 64) * 2 + 1)
        network.last.weight *= 20
    export_onnx(network, compact_spec(), tmp_path / "compact.onnx", store="full")
    network.eval()
    shapes = [(1, 256, 320), (1, 32, 32), (2, 96, 64), (1, 64, 224)]
    assert largest_error(network, tmp_path / "compact.onnx", shapes) < 1e-4


def test_weights_beyond_float16_stay_float32(random_vit, tmp_path):
    network = random_vit()
    with torch.no_grad():
        network.depth_head.scratch.output_conv1.weight[0, 0, 0, 0] = 1e6
    export_onnx(network, SPEC, tmp_path / "large.onnx", store="half")
    stored = {t.name for t in onnx.load(tmp_path / "large.onnx").graph.initializer}
    assert "depth_head.scratch.output_conv1.weight" in stored


def test_the_giant_does_not_fit_one_file(tmp_path):
    with torch.device("meta"):
        giant = build(ModelSpec("vitg"))
    with pytest.raises(InputError, match=r"1.3 G parameters do not fit .* use the torch engine"):
        export_onnx(giant, ModelSpec("vitg"), tmp_path / "g.onnx")
    assert not (tmp_path / "g.onnx").exists()
