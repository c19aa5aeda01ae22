"""A model of a hub is given perception tokens, and keeps them in a small adapter."""

import json
import re

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.options import LoraOptions
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm, save_vlm
from sightline.perception.vlm.processing import make_token_batch

CODEBOOK = "ab" * 32


def logits(vlm, question="what?", answer="(A)"):
    lesson = make_token_batch(vlm.chat, [(question, answer)])
    pixels = vlm.image_processor.look([np.full((40, 60, 3), 90, np.uint8)])
    with torch.no_grad():
        out = vlm.model(
            input_ids=lesson.input_ids, attention_mask=lesson.attention_mask, pixel_values=pixels
        )
    return out.logits


def learn(vlm, steps=3, answer="Depth map: <DEPTH_START><DEPTH_5><DEPTH_END>"):
    model = vlm.model.train()
    lesson = make_token_batch(vlm.chat, [("which?", answer)] * 2)
    pixels = vlm.image_processor.look([np.full((40, 60, 3), 90, np.uint8)] * 2)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    losses = []
    for _ in range(steps):
        loss = model(
            input_ids=lesson.input_ids,
            attention_mask=lesson.attention_mask,
            labels=lesson.labels,
            pixel_values=pixels,
        ).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    model.eval()
    return losses


@pytest.mark.parametrize("tokens", ["rows", "whole"])
def test_an_adapter_saves_and_reloads_with_its_tokens(hub_folder, tmp_path, tokens):
    vlm = add_lora(
        load_vlm(hub_folder), LoraOptions(rank=4, alpha=8, dropout=0, tokens=tokens), CODEBOOK
    )
    assert len(vlm.vocabulary.codes) == 128
    losses = learn(vlm, 6)
    assert losses[-1] < losses[0]
    before = logits(vlm)
    save_vlm(vlm, tmp_path / "adapter")
    back = load_vlm(tmp_path / "adapter")
    assert back.vocabulary == vlm.vocabulary
    assert back.codebook == CODEBOOK
    assert back.image_processor == vlm.image_processor
    torch.testing.assert_close(logits(back), before, atol=1e-5, rtol=1e-4)


def test_old_words_keep_their_rows_and_the_base_its_weights(hub_folder):
    vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=4, dropout=0), CODEBOOK)
    base = load_vlm(hub_folder)
    old = base.model.get_input_embeddings().weight
    learn(vlm)
    embedding = vlm.model.get_input_embeddings()
    rows = torch.arange(len(old))
    with torch.no_grad():
        torch.testing.assert_close(embedding(rows), old)
        new = embedding(torch.tensor(vlm.vocabulary.all))
    assert float((new - new.mean(0)).abs().sum()) > 0
    learning = [n for n, p in vlm.model.named_parameters() if p.requires_grad]
    assert not any("vision_tower" in name for name in learning)
    assert any("multi_modal_projector" in name for name in learning)


def test_the_adapter_of_rows_is_small(hub_folder, tmp_path):
    vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=4), CODEBOOK)
    save_vlm(vlm, tmp_path / "a")
    from safetensors import safe_open

    with safe_open(tmp_path / "a" / "adapter_model.safetensors", "pt") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    rows = [shape for name, shape in shapes.items() if re.search("token|embed|lm_head", name)]
    assert rows
    assert all(shape[0] == 130 for shape in rows), shapes


def test_depth_tokens_need_a_codebook(hub_folder):
    with pytest.raises(InputError, match="belong to a codebook"):
        add_lora(load_vlm(hub_folder), LoraOptions(), None)


def test_another_codebook_is_refused(hub_folder):
    vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=2), CODEBOOK)
    vlm.check_codebook(CODEBOOK)
    with pytest.raises(InputError, match="trained with codebook abababababab, not cd"):
        vlm.check_codebook("cd" * 32)


def test_what_is_no_model_is_refused(tmp_path, hub_folder):
    with pytest.raises(InputError, match="no such folder"):
        load_vlm(tmp_path / "nowhere")
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputError, match="not a LLaVA-type model"):
        load_vlm(empty)
    (empty / "adapter_config.json").write_text("{}")
    with pytest.raises(InputError, match="does not name its base model"):
        load_vlm(empty)
    (empty / "adapter_config.json").write_text(
        json.dumps({"base_model_name_or_path": str(hub_folder), "peft_type": "LORA"})
    )
    with pytest.raises(InputError):
        load_vlm(empty)


def test_a_damaged_note_is_named(hub_folder, tmp_path):
    vlm = add_lora(load_vlm(hub_folder), LoraOptions(rank=2, alpha=2), CODEBOOK)
    save_vlm(vlm, tmp_path / "a")
    (tmp_path / "a" / "perception.json").write_text("[1]")
    with pytest.raises(InputError, match=r"perception\.json"):
        load_vlm(tmp_path / "a")


def test_options_out_of_range():
    for wrong in ({"rank": 0}, {"alpha": 0}, {"dropout": 1.0}):
        with pytest.raises(InputError):
            LoraOptions(**wrong)
