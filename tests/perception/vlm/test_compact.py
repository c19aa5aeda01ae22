"""The VLM for a laptop: what it is made of, and its file."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from sightline.depth.checkpoints import load_network
from sightline.errors import InputError
from sightline.models.download import resolve
from sightline.perception.codebook import read_codebook
from sightline.perception.options import VLMTraining
from sightline.perception.questions import depth
from sightline.perception.vlm.compact import (
    LOUDER,
    CompactOptions,
    Detectors,
    build_compact,
    normalize_projector_output,
    read_compact,
    standardize_projector,
    train_tokenizer,
    write_compact,
)
from sightline.perception.vlm.detectors import SLOTS, MarkDetector, ObjectDetector
from sightline.perception.vlm.generation import generate_answer, generate_answers, read_depth_answer
from sightline.perception.vlm.model import load_vlm
from sightline.perception.vlm.training import train_vlm
from sightline.perception.vlm.vision_tower import NUMBER, number_code

from .helpers import Few

KINDS = ("ball", "chair", "cup")
TINY = CompactOptions(width=32, layers=1, heads=2, side=56, kinds=KINDS)


def tokenizer():
    return train_tokenizer([depth.NEAREST + depth.STEPS["pixels"], depth.GENERATE, "A=12,30\n(A)"])


@pytest.fixture
def vlm():
    return build_compact(tokenizer(), TINY)


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)


def logits(vlm, picture):
    ids = torch.tensor([vlm.chat.prompt("which?")])
    with torch.no_grad():
        return vlm.model(input_ids=ids, pixel_values=vlm.image_processor.look([picture])).logits


def test_it_sees_what_the_depth_model_sees(vlm, picture):
    found = resolve("small")
    network = load_network(found.path)
    shown = vlm.image_processor.look([picture])
    tower = vlm.model.model.vision_tower
    with torch.no_grad():
        tokens = tower(shown).last_hidden_state
        disparity = network(shown)[0]
    # Two rows of two cells, five letters eight times, things; 512 of the codebook, 4 × 4 places, row
    # and column.
    assert tokens.shape == (1, 4 + 40 + SLOTS, 512 + 16 + 4 + 5 + 6 * NUMBER + len(KINDS))
    assert vlm.chat.patches == tokens.shape[1]
    power = tower.config.curve
    assert power > 1, "the model's own straightening"
    above = disparity - tower.config.zero
    near = above.sign() * above.abs() ** power
    near = (near - near.min()) / (near.max() - near.min())
    means = near.view(8, 7, 8, 7).mean((1, 3))
    second = tokens[0, 1]
    torch.testing.assert_close(second[512:528].view(4, 4), means[:4, 4:], atol=1e-4, rtol=1e-3)
    assert second[528:532].tolist() == [1, 0, 0, 1]
    assert not second[532:].any()
    codes = read_codebook(resolve("codebook", purpose="tokens").path)
    scaled = torch.nn.functional.interpolate(near[None, None], (64, 64), mode="nearest")
    with torch.no_grad():
        vectors = codes.encoder(2 * scaled - 1)
    torch.testing.assert_close(second[:512], vectors[0, :, 0, 1], atol=1e-3, rtol=1e-3)
    assert not any(p.requires_grad for p in tower.parameters())


def test_points_and_things_have_tokens_of_their_own(vlm):
    tower = vlm.model.model.vision_tower
    tokens, numbers = tower.looks
    seen = torch.zeros(1, tokens, numbers)
    seen[0, 1, :528] = torch.arange(528) / 100
    seen[0, 4, 528:531] = torch.tensor([1.0, 0.8, 0.3])  # A, in the upper right cell
    seen[0, 9, 531:] = torch.tensor([0.1, 0.7, 0.0, 0.1, 0.2, 0.3, 0.4])
    with torch.no_grad():
        told = tower(seen).last_hidden_state[0]
    a, nobody, thing, nothing = told[4], told[12], told[44], told[45]
    torch.testing.assert_close(told[4:12], a.expand(8, -1))
    assert a[528:537].tolist() == [1, 0, 0, 1, 1, 0, 0, 0, 0]
    code = number_code(torch.tensor([0.8, 0.3])).flatten()
    things = 537 + 2 * NUMBER
    torch.testing.assert_close(a[537:things], code)
    torch.testing.assert_close(a[:532], told[1, :532])
    assert not a[things:].any()
    assert not nobody.any()
    torch.testing.assert_close(thing[things : things + 3], torch.tensor([0.1, 0.7, 0.0]))
    sides = number_code(torch.tensor([0.1, 0.2, 0.3, 0.4])).flatten()
    torch.testing.assert_close(thing[things + 3 :], sides)
    assert not thing[:things].any()
    assert not nothing.any()


def test_it_finds_with_the_finders_it_is_given():
    torch.manual_seed(5)
    detectors = Detectors(MarkDetector(), ObjectDetector(768, len(KINDS)))
    vlm = build_compact(tokenizer(), TINY, detectors=detectors)
    tower = vlm.model.model.vision_tower
    for given, taken in (
        (detectors.marks, tower.mark_detector),
        (detectors.objects, tower.object_detector),
    ):
        state = taken.state_dict()
        assert all(torch.equal(state[name], value) for name, value in given.state_dict().items())


def test_pixel_tokens_begin_in_their_order(vlm):
    rows = vlm.model.get_input_embeddings().weight[list(vlm.vocabulary.pixels)]
    apart = torch.cdist(rows, rows)
    assert apart.diagonal(1).mean() < 0.7 * apart.diagonal(40).mean()


def test_a_picture_stands_at_the_same_distance_from_all_answers(vlm):
    for question in ("which?", depth.NEAREST + depth.STEPS["pixels"]):
        ids = vlm.chat.prompt(question)
        last = len(ids) - 1 - ids[::-1].index(vlm.chat.image)
        assert ids.count(vlm.chat.image) == vlm.chat.patches
        assert len(ids) - last == 2  # the line's end, and then the model speaks


def test_what_is_counted_is_said_again_behind_the_picture(vlm):
    chat = vlm.chat
    asked = "How many wine glasses are there?"
    ids = chat.prompt(asked)
    last = len(ids) - 1 - ids[::-1].index(chat.image)
    assert chat.read(ids[:last]) == asked
    assert chat.tokenizer.decode(ids[last + 1 :]) == "\n wine glasses:\n"


def test_any_text_is_spelled_and_digits_are_single(vlm):
    chat = vlm.chat
    for text in (
        "A=120,7\n(A)",
        "Wie viele Bäume? 数",
        "<DEPTH_START><DEPTH_7><DEPTH_END>",
    ):
        assert chat.read(chat.tokenizer(text).input_ids) == text
    assert len(chat.tokenizer("1234567").input_ids) == 7
    assert len(chat.tokenizer("<DEPTH_START><DEPTH_7><PIXEL_9>").input_ids) == 3
    again = tokenizer()
    assert again.get_vocab() == tokenizer().get_vocab()


def test_a_calm_projector_hides_no_channel(vlm):
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(4, 3, 56, 56, generator=generator) for _ in range(2)]
    layer = vlm.model.model.multi_modal_projector.linear_1
    before = layer.weight.clone()
    standardize_projector(vlm, batches)
    with torch.no_grad():
        tokens = torch.cat([vlm.model.model.vision_tower(b).last_hidden_state for b in batches])
        flat = tokens.flatten(0, 1)
        spread = flat.std(0)
        even = (flat - flat.mean(0)) / spread.clamp(min=0.1 * float(spread.median()))
        even[:, 512:] *= LOUDER
        wanted = even @ before.T
        got = layer(flat) - layer(flat).mean(0)
        given = vlm.model.model.multi_modal_projector(tokens)
    assert given.std() == pytest.approx(1, abs=1e-3)
    torch.testing.assert_close(got, wanted - wanted.mean(0), atol=1e-2, rtol=1e-2)


def test_a_projector_is_brought_to_a_spread_of_one(vlm):
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(4, 3, 56, 56, generator=generator)]
    projector, tower = vlm.model.model.multi_modal_projector, vlm.model.model.vision_tower
    with torch.no_grad():
        projector.linear_2.weight.mul_(30)
        normalize_projector_output(vlm, batches)
        assert projector(tower(batches[0]).last_hidden_state).std() == pytest.approx(1, abs=1e-3)


def test_the_file_brings_everything_back_but_the_encoder(vlm, picture, tmp_path):
    path = tmp_path / "vlm.safetensors"
    write_compact(vlm, path, TINY)
    back = load_vlm(path)
    torch.testing.assert_close(logits(back, picture), logits(vlm, picture), atol=2e-2, rtol=0)
    assert back.vocabulary == vlm.vocabulary
    assert back.codebook == resolve("codebook", purpose="tokens").sha256
    assert tuple(back.model.config.vision_config.kinds) == KINDS
    assert back.image_processor == vlm.image_processor
    assert back.chat.prompt("which?") == vlm.chat.prompt("which?")
    with safe_open(path, "pt") as file:
        names = list(file.keys())
    assert not any("network" in name or "tower.codes" in name for name in names)
    assert path.stat().st_size < 2_000_000
    write_compact(back, tmp_path / "again.safetensors", TINY)
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_what_it_depends_on_cannot_be_exchanged_unnoticed(vlm, tmp_path):
    path = tmp_path / "vlm.safetensors"
    write_compact(vlm, path, TINY)
    with safe_open(path, "pt") as file:
        notes = json.loads(file.metadata()["sightline.vlm"])
    state = load_file(path)

    def rewritten(tensors=None, **changes):
        other = tmp_path / "other.safetensors"
        save_file(tensors or state, other, {"sightline.vlm": json.dumps(notes | changes)})
        return other

    with pytest.raises(InputError, match="sees with small@eeeeeeeeeeee"):
        read_compact(rewritten(vision_sha256="ee" * 32))
    with pytest.raises(InputError, match="writes in codebook@dddddddddddd"):
        read_compact(rewritten(codebook_sha256="dd" * 32))
    for wrong in ({"tokenizer": {}}, {"options": {}}, {"options": {"taps": 3}}):
        with pytest.raises(InputError, match="damaged VLM"):
            read_compact(rewritten(**wrong))
    name = next(iter(state))
    with pytest.raises(InputError, match="damaged VLM"):
        read_compact(rewritten({k: v for k, v in state.items() if k != name}))
    with pytest.raises(InputError, match="damaged VLM"):
        read_compact(rewritten(state | {name: state[name][..., :1].clone()}))
    torn, raw = tmp_path / "torn.safetensors", path.read_bytes()
    for damaged in (raw[:-100], raw[:500], raw.replace(b'"F16"', b'"F99"')):
        torn.write_bytes(damaged)
        with pytest.raises(InputError, match=r"torn\.safetensors"):
            read_compact(torn)
    save_file(state, tmp_path / "plain.safetensors")
    with pytest.raises(InputError, match="not a compact VLM"):
        read_compact(tmp_path / "plain.safetensors")


def test_it_learns_and_speaks(vlm, picture, tmp_path):
    options = VLMTraining(batch=3, rate=1e-2, projector_rate=1e-2, save_every=10, validate_every=10)
    vlm.model.requires_grad_(True)
    vlm.model.model.vision_tower.requires_grad_(False)
    train_vlm(vlm, Few(90, long=True), tmp_path, options, report=lambda _: None)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] < 0.7 * rows[0]["loss"]
    text = generate_answer(vlm, picture, depth.GENERATE, most_tokens=120)
    assert "<DEPTH_START>" not in text or text.count("<DEPTH_") == 102

    class Flat:
        def from_text(self, _):
            return np.zeros((320, 320), np.float32)

    read_depth_answer(text, Flat())
    with pytest.raises(InputError, match="question is empty"):
        generate_answer(vlm, picture, "  ")
    asked = [depth.GENERATE, "which?", "a longer question, which?"]
    together = generate_answers(vlm, [picture] * 3, asked, most_tokens=30)
    alone = [generate_answer(vlm, picture, question, most_tokens=30) for question in asked]
    assert together == alone, "padding on the left changes nothing"


def test_bad_sizes_and_eyes():
    with pytest.raises(InputError, match="multiple of 28"):
        CompactOptions(side=330)
    with pytest.raises(InputError, match="evenly"):
        CompactOptions(width=30)
    with pytest.raises(InputError, match="no ViT"):
        build_compact(tokenizer(), TINY, vision="tiny")
