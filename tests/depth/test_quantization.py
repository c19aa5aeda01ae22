"""int8 stays close to float32 where it should, and the gate says when it does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from skimage import data
from sklearn.datasets import load_sample_images

from sightline.depth.export import export_onnx
from sightline.depth.quantization import compare, gate, quantize
from sightline.errors import InputError, SightlineError
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.openvino import OpenVinoEngine, openvino_core, save_model

SPEC = ModelSpec("vits", size=112, replicate_edge=True)


@pytest.fixture(scope="module")
def pictures():
    """Real photographs to calibrate on."""
    _, flower = load_sample_images().images
    return [np.asarray(p) for p in (data.astronaut(), data.coffee(), data.chelsea(), flower)]


@pytest.fixture(scope="module")
def held_out():
    china, _ = load_sample_images().images
    return [china]


@pytest.fixture(scope="module")
def folder(random_vit, pictures, tmp_path_factory):
    """A network that quantizes well, as trained ones do: short branches, a head that adds up.

    Plain random weights cancel each other, so that rounding shows many times enlarged.
    """
    network = random_vit(seed=1, replicate_edge=True)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("gamma"):
                parameter.mul_(0.3)
            elif name.startswith("depth_head") and parameter.ndim == 4:
                parameter.abs_()
    folder = tmp_path_factory.mktemp("int8")
    export_onnx(network, SPEC, folder / "float.onnx")
    quantize(folder / "float.onnx", pictures, folder / "int8.xml")
    return folder


class Spoilt:
    """An engine that adds noise to another's answer."""

    name, device, fixed_hw = "spoilt", "CPU", None

    def __init__(self, engine, share):
        self.engine, self.share = engine, share

    def run(self, batch):
        values = self.engine.run(batch)
        noise = np.random.default_rng(0).normal(0, 1, values.shape)
        return (values + self.share * values.mean() * noise).astype(np.float32)


def test_int8_is_int8_and_passes_the_gate(folder, held_out):
    model = openvino_core().read_model(folder / "int8.xml")
    operations = [op.get_type_name() for op in model.get_ops()]
    assert operations.count("FakeQuantize") > 20
    padding = [op.get_attributes() for op in model.get_ops() if op.get_type_name() == "Pad"]
    assert {"pad_mode": "edge"} in padding  # of an odd grid, see `head.EdgeReplicatingConv`
    engine = OpenVinoEngine(folder / "int8.xml", threads=1)
    assert engine.spec == SPEC
    verdict = gate(folder / "float.onnx", engine, held_out)
    assert verdict.passed
    assert verdict.spearman >= 0.995
    assert 0 < verdict.relative_deviation <= 0.03
    assert verdict.pictures == 1


def test_int8_runs_at_other_sizes(folder, held_out):
    verdict = gate(folder / "float.onnx", folder / "int8.xml", held_out, size=70)
    assert verdict.spearman >= 0.999
    # Processors without VNNI round a little more: 0.0302 where others stay below 0.03.
    assert verdict.relative_deviation < 0.035


def test_the_gate_stops_a_broken_candidate(folder, held_out):
    engine = OpenVinoEngine(folder / "float.onnx", threads=1)
    same = gate(engine, engine, held_out)
    assert (same.spearman, same.relative_deviation, same.passed) == (pytest.approx(1), 0.0, True)
    broken = gate(engine, Spoilt(engine, 0.2), held_out)
    assert not broken.passed
    assert broken.relative_deviation > 0.03


def test_the_gate_stops_a_model_calibrated_on_the_dark(folder, held_out, tmp_path):
    """Black pictures teach no range: real ones, the starker the more, are then clipped."""
    black = np.zeros((64, 64, 3), np.uint8)
    quantize(folder / "float.onnx", [black], tmp_path / "dark.xml")
    stark = [np.where(p > p.mean(), 255, 0).astype(np.uint8) for p in held_out]
    assert not gate(folder / "float.onnx", tmp_path / "dark.xml", stark).passed
    assert gate(folder / "float.onnx", folder / "int8.xml", stark).passed


def test_the_seam_and_the_last_convolution_stay_float(folder):
    """Nothing between encoder and head is rounded: no quantizer feeds a layer of `FLOAT_PARTS`."""
    from sightline.depth.quantization import FLOAT_PARTS, _weight_name

    model = openvino_core().read_model(folder / "int8.xml")
    kinds = ("Convolution", "ConvolutionBackpropData")
    layers = [op for op in model.get_ordered_ops() if op.get_type_name() in kinds]
    feeds = {_weight_name(op): op.input_value(0).get_node().get_type_name() for op in layers}
    seam = {name: kind for name, kind in feeds.items() if FLOAT_PARTS.match(name)}
    assert len(seam) == 4 + 3 + 4
    assert "FakeQuantize" not in seam.values()
    assert list(feeds.values())[-1] != "FakeQuantize"
    assert "FakeQuantize" in feeds.values()


@pytest.mark.slow
def test_same_weights_and_pictures_same_bytes(folder, pictures, tmp_path):
    quantize(folder / "float.onnx", pictures, tmp_path / "int8.xml")
    for suffix in (".xml", ".bin"):
        first = (folder / "int8").with_suffix(suffix).read_bytes()
        assert (tmp_path / "int8").with_suffix(suffix).read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["int8.bin", "int8.xml"]


@given(st.floats(0.5, 1.5), st.integers(0, 5))
def test_deviation_is_what_scaling_by_a_factor_gives(factor, seed):
    values = np.random.default_rng(seed).uniform(1, 5, (6, 7)).astype(np.float32)
    spearman, deviation = compare(values, values * np.float32(factor))
    assert spearman == pytest.approx(1)
    assert deviation == pytest.approx(abs(factor - 1), abs=1e-5)


def test_flat_and_infinite_maps_rank_nothing():
    ramp = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert compare(ramp, np.ones_like(ramp))[0] == 0
    assert compare(np.zeros_like(ramp), ramp) == (0.0, np.inf)
    assert compare(ramp, np.full_like(ramp, np.inf)) == (0.0, np.inf)
    assert compare(ramp, -ramp)[0] == pytest.approx(-1)


def test_what_cannot_work_is_said(folder, conv_onnx, make_onnx, pictures, tmp_path):
    with pytest.raises(InputError, match=r"name it .xml"):
        quantize(conv_onnx, pictures, tmp_path / "x.onnx")
    with pytest.raises(InputError, match="pictures to calibrate on"):
        quantize(conv_onnx, [], tmp_path / "x.xml")
    with pytest.raises(InputError, match="pictures to judge by"):
        gate(conv_onnx, conv_onnx, [])
    bare = make_onnx(tmp_path / "bare.onnx", None)
    with pytest.raises(InputError, match="carries no description"):
        quantize(bare, pictures, tmp_path / "x.xml")
    with pytest.raises(InputError, match="description"):
        gate(bare, bare, pictures[:1])


def test_a_network_nncf_cannot_take_is_one_line(conv_onnx, pictures, tmp_path, monkeypatch):
    import nncf

    def fail(*_, **__):
        raise nncf.InternalError("first line\nno pattern fits")

    monkeypatch.setattr(nncf, "quantize", fail)
    with pytest.raises(SightlineError, match=r"conv\.onnx: NNCF .*\(no pattern fits\)") as caught:
        quantize(conv_onnx, pictures[:1], tmp_path / "x.xml")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_openvinos_own_format_is_quantized_like_onnx(conv_onnx, conv_spec, pictures, tmp_path):
    model = openvino_core().read_model(conv_onnx)
    model.set_rt_info(conv_spec.to_json(), SPEC_KEY)
    save_model(model, tmp_path / "float.xml")
    quantize(tmp_path / "float.xml", pictures[:1], tmp_path / "int8.xml")
    assert OpenVinoEngine(tmp_path / "int8.xml", threads=1).spec == conv_spec
