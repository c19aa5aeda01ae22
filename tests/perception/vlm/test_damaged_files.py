"""Adapters that are not whole: one line that names the file."""

import json
import shutil

import pytest

from sightline.errors import InputError
from sightline.perception.options import LoraOptions
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm, save_vlm

CODEBOOK = "ab" * 32


@pytest.fixture(scope="module")
def saved(hub_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "adapter"
    vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=2), CODEBOOK)
    save_vlm(vlm, folder)
    return folder


@pytest.fixture
def adapter(saved, tmp_path):
    return shutil.copytree(saved, tmp_path / "adapter")


def change(path, **values):
    found = json.loads(path.read_text())
    path.write_text(json.dumps(found | values))


def weights_cut(folder):
    path = folder / "adapter_model.safetensors"
    path.write_bytes(path.read_bytes()[:-50])


def weights_junk(folder):
    (folder / "adapter_model.safetensors").write_bytes(b"junk" * 100)


def weights_gone(folder):
    (folder / "adapter_model.safetensors").unlink()


def weights_lacking(folder):
    from safetensors.torch import load_file, save_file

    path = folder / "adapter_model.safetensors"
    save_file(dict(sorted(load_file(path).items())[2:]), path)


@pytest.mark.parametrize("damage", [weights_cut, weights_junk, weights_gone, weights_lacking])
def test_damaged_weights(adapter, damage):
    damage(adapter)
    with pytest.raises(InputError, match=r"adapter_model\.safetensors"):
        load_vlm(adapter)


@pytest.mark.parametrize(
    "wrong",
    [{"r": "two"}, {"r": -1}, {"target_modules": 7}, {"peft_type": 3}, {"peft_type": "NONE"},
     {"modules_to_save": 5}, {"base_model_name_or_path": 3}],
)  # fmt: skip
def test_wrong_types_in_its_configuration(adapter, wrong):
    change(adapter / "adapter_config.json", **wrong)
    with pytest.raises(InputError, match=r"adapter_config\.json"):
        load_vlm(adapter)


@pytest.mark.parametrize(
    "wrong",
    [{"codebook": 3}, {"chat_template": []}, {"chat_template": {"human": 3}},
     {"chat_template": {"places": "words"}}, {"chat_template": {"hm": ""}}, {"image_processor": {}},
     {"image_processor": 3}, {"image_processor": {"side": 0, "mean": [], "std": []}},
     {"image_processor": {"side": 28, "mean": ["a", 0, 0], "std": [1, 1, 1]}},
     {"image_processor": {"side": 28, "mean": [0, 0, 0], "std": [1, 0, 1]}}],
)  # fmt: skip
def test_wrong_notes(adapter, wrong):
    change(adapter / "perception.json", **wrong)
    with pytest.raises(InputError, match=r"perception\.json: cannot be understood"):
        load_vlm(adapter)


def test_a_broken_tokenizer(adapter):
    (adapter / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="adapter: its tokenizer cannot be read"):
        load_vlm(adapter)


def test_without_a_codebook_nobody_can_check(adapter):
    change(adapter / "perception.json", codebook=None)
    assert "does not name the codebook" in load_vlm(adapter).check_codebook(CODEBOOK)


def test_a_relative_base_works_from_elsewhere(hub_folder, tmp_path, monkeypatch):
    monkeypatch.chdir(hub_folder.parent)
    base = load_vlm(hub_folder.name)
    save_vlm(add_lora(base, LoraOptions(rank=2, alpha=2), CODEBOOK), tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    assert load_vlm("a").codebook == CODEBOOK
    change(tmp_path / "a" / "adapter_config.json", base_model_name_or_path="/gone/base")
    with pytest.raises(InputError, match="a: adapts /gone/base, which cannot be found"):
        load_vlm("a")


@pytest.mark.parametrize("name", ["runs/adaptr", "./adaptr", "../adaptr", "/adaptr"])
def test_what_looks_local_is_not_looked_up_on_the_hub(name, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        load_vlm(name)


def test_the_same_seed_gives_the_same_weights(hub_folder):
    import torch

    first, again, other = (
        add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=2), CODEBOOK, seed=seed)
        for seed in (1, 1, 2)
    )
    states = [one.model.state_dict() for one in (first, again, other)]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    assert any(not torch.equal(states[0][name], states[2][name]) for name in states[0])


def test_pixel_tokens_alone(hub_folder, tmp_path):
    options = LoraOptions(rank=2, alpha=2, depth=False, pixels=True)
    base = load_vlm(hub_folder)
    first = len(base.chat.tokenizer)
    vlm = add_lora(base, options, None)
    assert vlm.vocabulary.pixels == tuple(range(first, first + 336))
    save_vlm(vlm, tmp_path / "a")
    assert load_vlm(tmp_path / "a").vocabulary == vlm.vocabulary
    with pytest.raises(InputError, match="neither depth nor pixel"):
        LoraOptions(depth=False)


def test_what_is_computed_again_gives_the_same_gradient(hub_folder):
    import numpy as np
    import torch

    from sightline.perception.options import VLMTraining
    from sightline.perception.vlm.processing import make_token_batch
    from sightline.perception.vlm.training import VLMTask
    from sightline.training.distributed import Distributed

    from .helpers import Few

    found = []
    for checkpointing in (False, True):
        vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=2, dropout=0), CODEBOOK)
        if checkpointing:
            VLMTask(
                VLMTraining(batch=1), vlm, Few(1), distributed=Distributed()
            ).recompute_activations()
        model = vlm.model.train()
        lesson = make_token_batch(vlm.chat, [("which?", "(A)")])
        model(
            input_ids=lesson.input_ids,
            attention_mask=lesson.attention_mask,
            labels=lesson.labels,
            pixel_values=vlm.image_processor.look([np.full((40, 60, 3), 90, np.uint8)]),
        ).loss.backward()
        assert model.is_gradient_checkpointing is checkpointing
        found.append({n: p.grad for n, p in model.named_parameters() if p.grad is not None})
    plain, again = found
    assert plain.keys() == again.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient)
