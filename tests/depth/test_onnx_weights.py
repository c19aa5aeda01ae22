"""What was exported is read back into torch: the same network, or one line that says why not."""

from __future__ import annotations

import copy
import json
import random
import shutil
from dataclasses import replace

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto

from sightline.depth import engines as choose
from sightline.depth.checkpoint_names import Origin
from sightline.depth.checkpoints import (
    load_network,
    read_checkpoint,
    read_encoder,
    write_checkpoint,
)
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.export import export_onnx
from sightline.depth.network import SIZES
from sightline.depth.network.vit import VisionTransformer
from sightline.depth.onnx_weights import WEIGHTS_KEY, carries_weights, read_weights, weight_map
from sightline.depth.training.config import DepthTrainConfig, MetricTrainConfig, StudentTrainConfig
from sightline.depth.training.weights import make_network, spec_for
from sightline.errors import InputError, SightlineError
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.openvino import OpenVinoEngine
from sightline.runtime.weight_files import SHRINK_FROM
from sightline.types import Kind

UNUSED = ("mask_token", "refinenet4.resConfUnit1.")
VITS = ModelSpec("vits", size=112)
VITS_METRIC = ModelSpec("vits", Kind.METRIC_DEPTH, size=112, max_depth=20.0)
COMPACT = compact_spec()
COMPACT_METRIC = compact_spec(Kind.METRIC_DEPTH, 10.0)

#: Float16's last step near zero, times 8: queries are stored an eighth as large. All else is exact.
TINIEST = 8 * 2.0**-25


def random_compact(spec):
    """A compact network with statistics, gains and biases that no folding leaves unseen."""
    torch.manual_seed(4)
    network = CompactDepth(spec).eval()
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.3)
                module.running_var.uniform_(0.5, 2)
                module.weight.uniform_(0.5, 1.5)
                module.bias.normal_(0, 0.3)
        network.last.weight *= 5
    return network


@pytest.fixture(scope="module")
def exported(random_vit, tmp_path_factory):
    """Maker of (network, file) for a spec; each is made once."""
    folder, made = tmp_path_factory.mktemp("exported"), {}

    def make(spec, *, store="half"):
        key = (spec, store)
        if key not in made:
            if spec.architecture == "compact":
                network = random_compact(spec)
            else:
                network = random_vit("vits", max_depth=spec.max_depth)
            made[key] = network, folder / f"{len(made)}.onnx"
            export_onnx(network, spec, made[key][1], store=store)
        return made[key]

    return make


@pytest.fixture
def edited(exported, tmp_path):
    """Writer of a compact file changed by a function of its `onnx.ModelProto`."""

    def write(change):
        model = onnx.load(exported(COMPACT)[1])
        change(model)
        path = tmp_path / "edited.onnx"
        path.write_bytes(model.SerializeToString())
        return path

    return write


def note(model, key):
    return next(entry for entry in model.metadata_props if entry.key == key)


def merged_by_hand(network):
    """The state of a network whose LayerScale is drawn into the matrix before it."""
    state = {name: value.clone() for name, value in network.state_dict().items()}
    for name, gamma in list(state.items()):
        if name.endswith(".gamma"):
            before = "attn.proj" if ".ls1." in name else "mlp.fc2"
            stem = name.split(".ls")[0]
            state[f"{stem}.{before}.weight"] *= gamma[:, None]
            state[f"{stem}.{before}.bias"] *= gamma
            state[name] = torch.ones_like(gamma)
    return state


def rounded(state):
    """What storing large tensors of two axes and more as float16 leaves."""
    done = {}
    for name, value in state.items():
        large = value.ndim > 1 and value.numel() >= SHRINK_FROM
        done[name] = value.half().float() if large else value
        if name.endswith("pos_embed"):  # cut in two by the exporter; the class's vector is small
            done[name][:, :1] = value[:, :1]
    return done


@pytest.mark.parametrize(
    ("spec", "store"),
    [
        pytest.param(VITS, "half", id="vits"),
        pytest.param(VITS_METRIC, "full", id="vits metric full", marks=pytest.mark.slow),
        pytest.param(COMPACT, "full", id="compact full"),
        pytest.param(COMPACT_METRIC, "half", id="compact metric"),
    ],
)
def test_the_same_network_comes_back(exported, spec, store):
    network, path = exported(spec, store=store)
    checkpoint = read_checkpoint(path)
    assert (checkpoint.spec, checkpoint.origin) == (spec, Origin.SIGHTLINE)
    expected = merged_by_hand(network)
    expected = rounded(expected) if store == "half" else expected
    assert set(checkpoint.state) == set(expected)
    for name, value in expected.items():
        if not any(part in name for part in UNUSED) and value.is_floating_point():
            assert torch.allclose(checkpoint.state[name], value, rtol=0, atol=TINIEST), name
    back = load_network(path)
    assert not back.training
    right = copy.deepcopy(network)
    right.load_state_dict(expected)
    assert difference(back, right) <= 1e-5
    assert difference(back, network) <= (
        1e-2 if store == "half" else 1e-5
    )  # drawn in or not: no matter


@pytest.mark.parametrize("spec", [COMPACT, VITS], ids=["compact", "vits"])
def test_bytes_come_back_with_their_scales(exported, spec):
    network, path = exported(spec, store="bytes")
    assert path.stat().st_size < 0.55 * exported(spec)[1].stat().st_size
    expected = merged_by_hand(network)
    state = read_checkpoint(path).state
    for name, value in expected.items():
        if any(part in name for part in UNUSED) or not value.is_floating_point():
            continue
        most = float(value.abs().max())
        assert float((state[name] - value).abs().max()) <= most * 0.5001 / 127 + 1e-6, name
    run = OpenVinoEngine(path)
    back = load_network(path)
    side = 64 if spec is COMPACT else 56
    image = torch.randn(1, 3, side, side, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        ours = back(image).numpy()
    np.testing.assert_allclose(run.run(image.numpy()), ours, atol=2e-4 * np.abs(ours).max())


def test_bytes_without_their_scales_are_damage(exported, tmp_path):
    model = onnx.load(exported(COMPACT, store="bytes")[1])
    (first, *_) = [t for t in model.graph.initializer if t.name.endswith(".scale")]
    first.dims[:] = [1]
    first.raw_data = first.raw_data[:-4]
    onnx.save(model, tmp_path / "torn.onnx")
    with pytest.raises(InputError, match="do not fit"):
        read_checkpoint(tmp_path / "torn.onnx")


def difference(network, right):
    """Largest difference of two networks' outputs over the largest output."""
    cell = 32 if isinstance(right, CompactDepth) else 14
    image = torch.randn(2, 3, 3 * cell, 4 * cell, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        found, expected = network(image), right(image)
    assert float(expected.std()) > 0.01 * float(expected.mean().abs())
    return float((found - expected).abs().max() / expected.abs().max())


@pytest.mark.parametrize("spec", [VITS, COMPACT_METRIC], ids=["vits", "compact metric"])
def test_openvino_computes_what_torch_reads(exported, spec):
    path = exported(spec)[1]
    cell = spec.multiple
    image = torch.randn(1, 3, 5 * cell, 3 * cell, generator=torch.Generator().manual_seed(1))
    with torch.inference_mode():
        expected = load_network(path)(image)
    found = torch.from_numpy(OpenVinoEngine(path, threads=1).run(image.numpy()))
    assert float((found - expected).abs().max() / expected.abs().max()) < 1e-4


@pytest.mark.parametrize(
    "spec",
    [pytest.param(VITS, id="vits", marks=pytest.mark.slow), pytest.param(COMPACT, id="compact")],
)
def test_written_again_it_is_the_same_file_and_the_map_weighs_little(exported, spec, tmp_path):
    path = exported(spec)[1]
    export_onnx(load_network(path), spec, tmp_path / "again.onnx")
    assert (tmp_path / "again.onnx").read_bytes() == path.read_bytes()
    size = path.stat().st_size
    assert size < (49.8e6 if spec is VITS else 8e6)
    assert len(note(onnx.load(path), WEIGHTS_KEY).value) < 0.004 * size


def test_batch_norms_survive_and_openvino_merges_them(exported):
    path = exported(COMPACT)[1]
    kinds = [node.op_type for node in onnx.load(path).graph.node]
    engine = OpenVinoEngine(path, threads=1)
    operations = engine._compiled.get_runtime_model().get_ops()
    run = [str(node.get_rt_info()["layerType"].value) for node in operations]
    assert kinds.count("BatchNormalization") == 52
    # What is left between the convolutions are the sums of residuals, skips and positions.
    assert run.count("Convolution") == kinds.count("Conv")
    assert run.count("Eltwise") + run.count("Subgraph") < 52
    assert not any("Norm" in name for name in run)


def test_torch_runs_it_where_asked(exported, own_cache):
    network, path = exported(COMPACT)
    engine, spec = choose.open_engine(path, "", engine="torch", device="cpu")
    assert (engine.name, spec) == ("torch", COMPACT)
    assert choose.choose_engine(path, "auto", "cuda") == "torch"
    assert choose.choose_engine(path, "auto", None) == "openvino"
    image = torch.randn(1, 3, 64, 96)
    with torch.inference_mode():
        expected = network(image).numpy()
    assert abs(engine.run(image.numpy()) - expected).max() < 1e-2 * abs(expected).max()


def test_a_twin_beside_it_is_taken_first(exported, edited):
    """As the first embedded model was: a graph without a map, safetensors beside it."""
    network, whole = exported(COMPACT)
    bare = edited(lambda model: model.metadata_props.remove(note(model, WEIGHTS_KEY)))
    assert not carries_weights(bare)
    assert choose.torch_source(bare) is None
    with pytest.raises(InputError, match="torch cannot run"):
        choose.open_engine(bare, "", engine="torch")
    twin = bare.with_suffix(".safetensors")
    write_checkpoint(twin, network.state_dict(), COMPACT)
    assert choose.torch_source(bare) == twin
    assert choose.open_engine(bare, "", engine="torch", device="cpu")[1] == COMPACT
    start = make_network(StudentTrainConfig(start=str(bare)), COMPACT)
    assert torch.equal(start.last.weight, network.last.weight)
    assert choose.torch_source(whole) == whole
    assert choose.torch_source(twin) == twin


def test_without_onnx_one_line_says_what_to_install(exported, monkeypatch):
    monkeypatch.setattr(choose.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"read by onnx, .*pip install 'sightline\[train\]'"):
        choose.choose_engine(exported(COMPACT)[1], "torch", None)


def test_training_starts_from_it(exported):
    _, path = exported(replace(VITS, replicate_edge=True))  # as every network trained here
    options = DepthTrainConfig(start=str(path), network="vits")
    whole = make_network(options, spec_for(options)).train()
    # LayerScale is split out of the exported weights again, which rounds once.
    assert difference(copy.deepcopy(whole).eval(), load_network(path)) < 1e-5
    meters = MetricTrainConfig(start=str(path), network="vits")
    metric = make_network(meters, spec_for(meters)).state_dict()
    for name, value in whole.state_dict().items():
        if name.startswith("pretrained."):  # a metric head starts anew
            assert torch.equal(metric[name], value), name
    assert not torch.equal(
        metric["depth_head.projects.0.weight"], whole.depth_head.projects[0].weight
    )
    whole(torch.randn(1, 3, 28, 28)).sum().backward()
    assert float(whole.pretrained.blocks[0].ls1.gamma.grad.abs().max()) > 0


def test_a_student_goes_on_from_the_same_batch_norms(exported):
    """Not only the same function: in training mode, too, the statistics mean what they meant."""
    network, path = exported(COMPACT, store="full")
    started = make_network(StudentTrainConfig(start=str(path)), COMPACT)
    assert difference(started.train(), copy.deepcopy(network).train()) <= 1e-5
    metric = make_network(MetricTrainConfig(start=str(path)), COMPACT_METRIC)
    assert torch.equal(metric.encoder.stem.weight, network.encoder.stem.weight)
    assert not torch.equal(metric.last.weight, network.last.weight)
    with pytest.raises(InputError, match="a compact network, not vits"):
        make_network(DepthTrainConfig(start=str(path)), VITS)


def test_its_encoder_alone(exported):
    network, path = exported(VITS)
    found = read_encoder(path)
    VisionTransformer(SIZES["vits"]).load_state_dict(found)
    expected = rounded(merged_by_hand(network))
    for name, value in found.items():
        if name != "mask_token":
            assert torch.allclose(value, expected[f"pretrained.{name}"], rtol=0, atol=TINIEST), name
    with pytest.raises(InputError, match="no DINOv2 encoder"):
        read_encoder(exported(COMPACT)[1])


def test_a_lost_parameter_stops_the_export(exported):
    network, path = exported(COMPACT, store="full")
    model = onnx.load(path)
    assert weight_map(model, network.state_dict()) == note(model, WEIGHTS_KEY).value
    with pytest.raises(SightlineError, match=r"extra got lost in the export"):
        weight_map(model, {**network.state_dict(), "extra": torch.full((3, 4), 0.123)})


def test_networks_of_others_stay_graphs(conv_onnx, edited):
    for path in (conv_onnx, edited(lambda m: m.metadata_props.remove(note(m, SPEC_KEY)))):
        assert read_weights(path) is None
        with pytest.raises(InputError, match="an ONNX model, which torch cannot read"):
            load_network(path)
        with pytest.raises(InputError, match="no DINOv2 encoder in this ONNX file"):
            make_network(DepthTrainConfig(start=str(path)), VITS)


def test_the_content_counts_not_the_suffix(exported, tmp_path):
    path = shutil.copy(exported(COMPACT)[1], tmp_path / "weights.pth")
    assert load_network(path).spec == COMPACT
    make_network(StudentTrainConfig(start=str(path)), COMPACT)


def set_map(change):
    """Change the map as a dictionary."""

    def apply(model):
        entry = note(model, WEIGHTS_KEY)
        content = json.loads(entry.value)
        change(content)
        entry.value = json.dumps(content)

    return apply


def set_note(key, text):
    return lambda model: setattr(note(model, key), "value", text)


def set_tensor(**fields):
    """Change the stored tensor of the last layer."""

    def apply(model):
        tensor = next(t for t in model.graph.initializer if t.name == "last.weight")
        for name, value in fields.items():
            setattr(tensor, name, value)

    return apply


def outside(model):
    tensor = next(t for t in model.graph.initializer if t.name == "last.weight")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../secret")
    tensor.ClearField("raw_data")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_map(lambda m: m.pop("last.weight")), r"1 tensors missing \(last.weight\)"),
        (set_map(lambda m: m.update(more=[["last.weight"], False])), "more is no part of a comp"),
        (set_map(lambda m: m.update({"last.weight": [["gone"], False]})), "no tensor gone"),
        (set_map(lambda m: m.update({"last.weight": [[], False]})), "0 numbers for last.weight"),
        (set_map(lambda m: m.update({"last.weight": 3})), "map of the weights cannot be read"),
        (set_map(lambda m: m.update({"last.weight": [4, 5]})), "map of the weights cannot be read"),
        (set_note(WEIGHTS_KEY, "[" * 100_000), "map of the weights cannot be read"),
        (set_note(WEIGHTS_KEY, "[1, 2]"), "map of the weights cannot be read"),
        (set_note(WEIGHTS_KEY, "{}"), "does not fit a compact network"),
        (set_note(SPEC_KEY, "{}"), "not a model description"),
        (set_note(SPEC_KEY, '{"architecture": ["vits"]}'), "no network is called"),
        (set_note(SPEC_KEY, ModelSpec("vits").to_json()), "is no part of a vits network"),
        (set_tensor(raw_data=b"123"), "last.weight is cut short"),
        (set_tensor(raw_data=b"1234"), "1 numbers for last.weight, not 144"),
        (set_tensor(data_type=TensorProto.INT64), "not stored in it as float32, float16 or int8"),
        (outside, "not stored in it as float32, float16 or int8"),
    ],
)
def test_what_does_not_fit_together_is_named(edited, change, words):
    path = edited(change)
    with pytest.raises(InputError, match=rf"edited\.onnx: .*{words}") as caught:
        load_network(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("share", [0.001, 0.5, 0.999])
def test_half_a_file(exported, tmp_path, share):
    whole = exported(COMPACT)[1].read_bytes()
    path = tmp_path / "half.onnx"
    path.write_bytes(whole[: int(share * len(whole))])
    for read in (load_network, read_encoder, choose.torch_source):
        with pytest.raises(InputError, match=r"half\.onnx: a damaged ONNX file") as caught:
            read(path)
        assert "\n" not in str(caught.value)


def test_flipped_bytes_are_named_or_do_not_matter(exported, tmp_path):
    whole, chance = exported(COMPACT)[1].read_bytes(), random.Random(0)
    path, refused = tmp_path / "flipped.onnx", 0
    for _ in range(12):
        damaged = bytearray(whole)
        for _ in range(3):  # in description, map and the graph's last lines
            damaged[-chance.randrange(1, 32_000)] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            load_network(path)
        except InputError:
            refused += 1
    assert refused > 4
