"""Checkpoints of every origin load; everything else is named in one line."""

from __future__ import annotations

import json
import os
import pickle

import pytest
import torch

from sightline.depth.checkpoint_names import Origin, from_name, recognize
from sightline.depth.checkpoints import (
    encoder_from_onnx,
    load_network,
    read_checkpoint,
    read_encoder,
    write_checkpoint,
)
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.network import SIZES
from sightline.depth.network.vit import VisionTransformer
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.runtime.weight_files import FileKind, file_kind
from sightline.types import Kind

SIZE = SIZES["vits"]
METRIC = ModelSpec("vits", Kind.METRIC_DEPTH, max_depth=20.0)


@pytest.fixture(scope="module")
def vits(random_vit):
    """Random ViT-S weights that pass for relative ones: positive somewhere."""
    return random_vit("vits")


@pytest.fixture(scope="module")
def image():
    return torch.randn(1, 3, 28, 42, generator=torch.Generator().manual_seed(1))


@pytest.fixture(scope="module")
def official(vits, tmp_path_factory):
    path = tmp_path_factory.mktemp("official") / "depth_anything_v2_vits.pth"
    torch.save(vits.state_dict(), path)
    return path


def to_hugging_face(state):
    """Our names turned into those of the published -hf files, written out independently."""
    theirs = {}
    for name, value in state.items():
        words = name.split(".")
        if words[0] == "pretrained" and words[1] == "blocks":
            stem, kind = f"backbone.encoder.layer.{words[2]}", words[-1]
            if "qkv" in words:
                for part, piece in zip(("query", "key", "value"), value.chunk(3), strict=True):
                    theirs[f"{stem}.attention.attention.{part}.{kind}"] = piece.contiguous()
                continue
            inner = {
                "norm1": f"norm1.{kind}",
                "norm2": f"norm2.{kind}",
                "attn": f"attention.output.dense.{kind}",
                "ls1": "layer_scale1.lambda1",
                "ls2": "layer_scale2.lambda1",
                "mlp": ".".join(words[3:]),
            }[words[3]]
            theirs[f"{stem}.{inner}"] = value
        elif words[0] == "pretrained":
            renamed = {
                "cls_token": "embeddings.cls_token",
                "mask_token": "embeddings.mask_token",
                "pos_embed": "embeddings.position_embeddings",
                "patch_embed": f"embeddings.patch_embeddings.projection.{words[-1]}",
                "norm": f"layernorm.{words[-1]}",
            }[words[1]]
            theirs[f"backbone.{renamed}"] = value
        else:
            theirs[hugging_face_head(words[1:])] = value
    return theirs


def hugging_face_head(words):
    kind = words[-1]
    if words[0] in ("projects", "resize_layers"):
        part = "projection" if words[0] == "projects" else "resize"
        return f"neck.reassemble_stage.layers.{words[1]}.{part}.{kind}"
    if words[1].endswith("_rn"):
        return f"neck.convs.{int(words[1][5]) - 1}.{kind}"
    if words[1].startswith("refinenet"):
        layer = f"neck.fusion_stage.layers.{4 - int(words[1][-1])}"
        if words[2] == "out_conv":
            return f"{layer}.projection.{kind}"
        return f"{layer}.residual_layer{words[2][-1]}.convolution{words[3][-1]}.{kind}"
    if words[1] == "output_conv1":
        return f"head.conv1.{kind}"
    return f"head.conv{2 if words[2] == '0' else 3}.{kind}"


def write_hugging_face(folder, state, config=None):
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    save_file(to_hugging_face(state), folder / "model.safetensors", metadata={"format": "pt"})
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    return folder / "model.safetensors"


def same(a, b, image):
    with torch.inference_mode():
        assert torch.equal(a(image), b(image))


def test_official_file(official, vits, image):
    checkpoint = read_checkpoint(official)
    assert checkpoint.spec == ModelSpec("vits")
    assert checkpoint.origin is Origin.OFFICIAL
    network = load_network(official)
    assert not network.training
    same(network, vits, image)


def test_hugging_face_file_with_and_without_config(vits, image, tmp_path):
    plain = write_hugging_face(
        tmp_path / "models--x--Depth-Anything-V2-Small-hf", vits.state_dict()
    )
    assert read_checkpoint(plain).origin is Origin.HUGGING_FACE
    same(load_network(plain), vits, image)
    config = {"depth_estimation_type": "metric", "max_depth": 80}
    config["backbone_config"] = {"out_indices": [3, 6, 9, 12]}
    metric = write_hugging_face(tmp_path / "m", vits.state_dict(), config)
    spec = read_checkpoint(metric).spec
    assert (spec.kind, spec.max_depth, spec.taps) == (Kind.METRIC_DEPTH, 80.0, "v2")
    config = {"backbone_config": {"out_indices": [9, 10, 11, 12]}}
    first = write_hugging_face(tmp_path / "v1", vits.state_dict(), config)
    assert read_checkpoint(first).spec == ModelSpec("vits", taps="v1")


def test_names_that_transformers_writes_today(vits, image, tmp_path):
    """Whatever names transformers saves under, they are read."""
    from transformers import DepthAnythingConfig, DepthAnythingForDepthEstimation

    torch.manual_seed(0)
    theirs = DepthAnythingForDepthEstimation(DepthAnythingConfig()).eval()
    with torch.no_grad():
        theirs.head.conv3.bias.fill_(1.0)
    theirs.save_pretrained(tmp_path)
    network = load_network(tmp_path / "model.safetensors", position_resize="size")
    with torch.inference_mode():
        expected = theirs(image).predicted_depth
        assert torch.allclose(network(image), expected, rtol=1e-4, atol=1e-5)
    assert network.taps == (8, 9, 10, 11)


def test_our_own_file_keeps_spec_and_bytes(vits, image, tmp_path):
    spec = ModelSpec("vits", Kind.METRIC_DEPTH, max_depth=12.5, taps="v1", size=252)
    path = tmp_path / "own.safetensors"
    write_checkpoint(path, vits.state_dict(), spec)
    first = path.read_bytes()
    write_checkpoint(path, vits.state_dict(), spec)
    assert path.read_bytes() == first
    checkpoint = read_checkpoint(path)
    assert (checkpoint.spec, checkpoint.origin) == (spec, Origin.SIGHTLINE)
    assert load_network(path).max_depth == 12.5


def test_compact_round_trip(tmp_path):
    torch.manual_seed(3)
    student = CompactDepth(compact_spec()).eval()
    write_checkpoint(tmp_path / "a.safetensors", student.state_dict(), student.spec)
    network = load_network(tmp_path / "a.safetensors")
    same(network, student, torch.randn(1, 3, 64, 32))


@pytest.mark.parametrize("prefix", ["module.", "_orig_mod.", "model.module."])
def test_training_checkpoints_with_nests_and_prefixes(vits, image, tmp_path, prefix):
    state = {prefix + name: value for name, value in vits.state_dict().items()}
    torch.save({"model": state, "epoch": 3, "optimizer": {}}, tmp_path / "latest.pth")
    same(load_network(tmp_path / "latest.pth"), vits, image)


def test_the_authors_metric_trainer_is_recognized(vits, tmp_path):
    path = tmp_path / "latest.pth"
    torch.save({"model": vits.state_dict(), "previous_best": {"d1": 0.9}}, path)
    with pytest.raises(InputError, match="metric weights, but nothing says up to which distance"):
        read_checkpoint(path)
    assert read_checkpoint(path, max_depth=20.0).spec == METRIC


def test_half_precision_and_dropped_unused_tensors_load(vits, tmp_path):
    state = {k: v.half() for k, v in vits.state_dict().items() if "mask_token" not in k}
    state = {k: v for k, v in state.items() if "refinenet4.resConfUnit1" not in k}
    torch.save(state, tmp_path / "half.pth")
    network = load_network(tmp_path / "half.pth")
    assert all(parameter.dtype == torch.float32 for parameter in network.parameters())


@pytest.mark.parametrize(
    ("name", "kind", "far", "taps"),
    [
        ("depth_anything_v2_vitl.pth", "relative_disparity", None, "v2"),
        ("depth_anything_v2_metric_hypersim_vits.pth", "metric_depth", 20.0, "v2"),
        ("depth_anything_v2_metric_vkitti_vitb.pth", "metric_depth", 80.0, "v2"),
        ("depth_anything_vitb14.pth", "relative_disparity", None, "v1"),
        ("models--LiheYoung--depth-anything-small-hf/snapshots/1/model", None, None, "v1"),
        ("Depth-Anything-V2-Metric-Outdoor-Base-hf/model.safetensors", "metric_depth", 80.0, "v2"),
        ("my_metric.pth", "metric_depth", None, "v2"),
    ],
)
def test_hints_from_names(name, kind, far, taps):
    hints = from_name(name)
    assert hints.kind == (kind or "relative_disparity")
    assert (hints.max_depth, hints.taps) == (far, taps)


def test_metric_weights_in_a_relative_network_are_caught(vits, tmp_path):
    """What users elsewhere see as a black picture."""
    state = {name: value.clone() for name, value in vits.state_dict().items()}
    state["depth_head.scratch.output_conv2.2.bias"].fill_(-50.0)
    torch.save(state, tmp_path / "weights.pth")
    with pytest.raises(InputError, match="metric weights: as a relative network they give zero"):
        load_network(tmp_path / "weights.pth")
    assert load_network(tmp_path / "weights.pth", max_depth=20.0).max_depth == 20.0


def test_relative_weights_in_a_metric_network_are_caught(vits, tmp_path):
    state = {name: value.clone() for name, value in vits.state_dict().items()}
    state["depth_head.scratch.output_conv2.2.bias"].fill_(50.0)
    torch.save(state, tmp_path / "depth_anything_v2_metric_hypersim_vits.pth")
    with pytest.raises(InputError, match="relative weights"):
        load_network(tmp_path / "depth_anything_v2_metric_hypersim_vits.pth")
    spec = ModelSpec("vits")
    load_network(tmp_path / "depth_anything_v2_metric_hypersim_vits.pth", spec)


def test_a_spec_of_another_size_lists_what_does_not_fit(official):
    with pytest.raises(InputError, match=r"does not fit a vitb network: .*of the wrong shape") as e:
        load_network(official, ModelSpec("vitb"))
    assert len(str(e.value)) < 500


def test_missing_and_unknown_tensors_are_listed_briefly(vits, tmp_path):
    state = dict(vits.state_dict())
    del state["pretrained.norm.weight"]
    state["depth_head.extra"] = torch.zeros(1)
    torch.save(state, tmp_path / "x.pth")
    with pytest.raises(
        InputError, match=r"1 tensors missing \(pretrained.norm.weight\), 1 .*extra"
    ):
        read_checkpoint(tmp_path / "x.pth")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["cls_token", "blocks.0.norm1.weight"], "DINOv2 encoder alone"),
        (["embeddings.cls_token", "encoder.layer.0.norm1.weight"], "DINOv2 encoder alone"),
        (["core.core.pretrained.cls_token", "seed_bin_regressor.x"], "ZoeDepth"),
        (["base.q.lora_A.weight", "base.q.lora_B.weight"], "LoRA"),
        (["pretrained.model.blocks.0.norm1.weight"], "MiDaS"),
        (["pretrained.cls_token", "head.motion_modules.0.x"], "Video Depth Anything"),
        (["conv1.weight", "fc.bias"], "no depth network that we know .*conv1.weight"),
    ],
)
def test_other_networks_are_named(names, message, tmp_path):
    with pytest.raises(InputError, match=message):
        recognize(names, tmp_path / "x.pth")
    from safetensors.torch import save_file

    save_file({name: torch.zeros(2) for name in names}, tmp_path / "x.safetensors")
    with pytest.raises(InputError, match=message):
        load_network(tmp_path / "x.safetensors")


class Hostile:
    def __reduce__(self):
        return os.system, ("touch pwned",)


@pytest.mark.parametrize("protocol", [None, 2, 4], ids=["torch zip", "old pickle", "new pickle"])
def test_a_hostile_pickle_is_refused_and_not_run(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "evil.pth"
    if protocol is None:
        torch.save({"pretrained.cls_token": Hostile()}, path)
    else:
        path.write_bytes(pickle.dumps({"x": Hostile()}, protocol))
    what = (
        r"is not a plain pickle of tensors"
        if protocol == 4
        else r"holds code \((posix|nt).system\)"
    )
    with pytest.raises(InputError, match=f"{what} and was not opened") as e:
        load_network(path)
    assert e.value.exit_code == 2
    assert "\n" not in str(e.value)
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"<!DOCTYPE html><html><body>Sign in", "a web page"),
        (b"\n <HTML lang=en>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0", "git-lfs pointer"),
        (b"GGUF\x03\x00", "GGUF"),
        (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
        (b"\x1c\x00\x00\x00TFL3", "TensorFlow Lite"),
        (b"what is this", "neither a torch checkpoint"),
        (b"\x80\x02", "damaged checkpoint|plain pickle"),
        (b"\x80\x02}q\x00.", "damaged checkpoint|plain pickle|no named tensors"),
        (b"\x08\x0a\x12\x07pytorch", "an ONNX model, .*OpenVINO engine"),
        (b'<?xml version="1.0"?><net name="a">', "an OpenVINO model, .*OpenVINO engine"),
        (b"\x05\x00\x00\x00\x00\x00\x00\x00{nope", "damaged safetensors"),
        (b"\xff\x00\x00\x00\x00\x00\x00\x00{", "truncated"),
    ],
)
def test_what_is_not_a_checkpoint_is_named(tmp_path, content, message):
    path = tmp_path / "depth_anything_v2_vits.pth"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as error:
        load_network(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("share", [0.3, 0.9, 0.999])
def test_truncated_files(official, vits, tmp_path, share):
    whole = official.read_bytes()
    (tmp_path / "half.pth").write_bytes(whole[: int(share * len(whole))])
    write_checkpoint(tmp_path / "whole.safetensors", vits.state_dict(), ModelSpec("vits"))
    whole = (tmp_path / "whole.safetensors").read_bytes()
    (tmp_path / "half.safetensors").write_bytes(whole[: int(share * len(whole))])
    for name in ("half.pth", "half.safetensors"):
        with pytest.raises(InputError, match="truncated: the end is missing"):
            load_network(tmp_path / name)


def test_missing_files_folders_and_foreign_archives(tmp_path):
    import zipfile

    with pytest.raises(InputError, match="no such file"):
        file_kind(tmp_path / "nothing.pth")
    with pytest.raises(InputError, match="a folder"):
        file_kind(tmp_path)
    with zipfile.ZipFile(tmp_path / "a.pth", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(InputError, match="a zip archive without weights"):
        file_kind(tmp_path / "a.pth")
    torch.save([1, 2], tmp_path / "list.pth")
    assert file_kind(tmp_path / "list.pth") is FileKind.TORCH
    with pytest.raises(InputError, match="holds a list"):
        load_network(tmp_path / "list.pth")


def test_encoder_from_every_kind_of_file(vits, official, tmp_path):
    expected = {k: v for k, v in vits.pretrained.state_dict().items() if k != "mask_token"}
    torch.save(vits.pretrained.state_dict(), tmp_path / "dinov2_vits14_pretrain.pth")
    hf = write_hugging_face(tmp_path / "hf", vits.state_dict())
    for path in (official, tmp_path / "dinov2_vits14_pretrain.pth", hf):
        found = read_encoder(path)
        assert all(torch.equal(found[name], value) for name, value in expected.items())
        VisionTransformer(SIZE).load_state_dict(found)
    torch.save({"fc.weight": torch.zeros(2)}, tmp_path / "no.pth")
    with pytest.raises(InputError, match="no DINOv2 encoder"):
        read_encoder(tmp_path / "no.pth")


def test_encoder_from_onnx_finds_numbered_weights(vits, tmp_path):
    """As torch exports it: linear weights transposed and numbered, the position vectors cut in two."""
    from onnx import TensorProto, helper, numpy_helper, save

    encoder = vits.pretrained.state_dict()
    named = {f"pretrained.{name}": value for name, value in encoder.items() if "mask" not in name}
    tensors, nodes = [], []
    for name, value in to_hugging_face(named).items():
        array = value.numpy()
        if name.endswith("position_embeddings"):
            tensors.append(numpy_helper.from_array(array[:, :1].copy(), "onnx::Concat_1"))
            tensors.append(numpy_helper.from_array(array[:, 1:].copy(), "onnx::Reshape_2"))
        elif array.ndim == 2:
            number = f"onnx::MatMul_{len(tensors)}"
            tensors.append(numpy_helper.from_array(array.T.copy(), number))
            product, bias = f"p{len(tensors)}", name.removesuffix("weight") + "bias"
            nodes.append(helper.make_node("MatMul", ["x", number], [product]))
            sides = [bias, product] if len(tensors) % 2 else [product, bias]
            nodes.append(helper.make_node("Add", sides, [f"s{len(tensors)}"]))
        else:
            tensors.append(numpy_helper.from_array(array.copy(), name))
    nodes.append(helper.make_node("Reshape", ["onnx::Reshape_2", "shape"], ["grid"]))
    nodes.append(helper.make_node("Concat", ["onnx::Concat_1", "grid"], ["positions"], axis=1))
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", "t", 384])
    save(helper.make_model(helper.make_graph(nodes, "g", [x], [], tensors)), tmp_path / "e.onnx")
    found = encoder_from_onnx(tmp_path / "e.onnx")
    assert set(found) == set(encoder)
    for name, value in encoder.items():
        if name != "mask_token":
            assert torch.equal(found[name], value), name
