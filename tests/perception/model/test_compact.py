"""The speaker for a laptop: what it is made of, and its file."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from sightline.depth.checkpoints import load_network
from sightline.errors import InputError
from sightline.perception.codebook.files import read_codebook
from sightline.perception.model.answering import read_depth_answer, speak, speak_all
from sightline.perception.model.compact import (
    LOUDER,
    CompactOptions,
    Sight,
    build_compact,
    calm_projector,
    even_projector,
    train_tokenizer,
)
from sightline.perception.model.compact_files import read_compact, write_compact
from sightline.perception.model.glass import MarkGlass
from sightline.perception.model.loading import load_speaker
from sightline.perception.model.numbers import NUMBER, number_code
from sightline.perception.model.options import SpeakerOptions
from sightline.perception.model.things import SLOTS, ThingFinder
from sightline.perception.model.training import train_speaker
from sightline.perception.questions import depth
from sightline.weights.store import resolve

from .helpers import Few

KINDS = ("ball", "chair", "cup")
TINY = CompactOptions(width=32, layers=1, heads=2, side=56, kinds=KINDS)


def tokenizer():
    return train_tokenizer([depth.NEAREST + depth.STEPS["pixels"], depth.GENERATE, "A=12,30\n(A)"])


@pytest.fixture
def speaker():
    return build_compact(tokenizer(), TINY)


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)


def logits(speaker, picture):
    ids = torch.tensor([speaker.writing.prompt("which?")])
    with torch.no_grad():
        return speaker.model(input_ids=ids, pixel_values=speaker.eye.look([picture])).logits


def test_it_sees_what_the_depth_model_sees(speaker, picture):
    found = resolve("small")
    network = load_network(found.path)
    shown = speaker.eye.look([picture])
    tower = speaker.model.model.vision_tower
    with torch.no_grad():
        tokens = tower(shown).last_hidden_state
        disparity = network(shown)[0]
    # Two rows of two cells, five letters eight times, things; 512 of the codebook, 4 × 4 places, row
    # and column.
    assert tokens.shape == (1, 4 + 40 + SLOTS, 512 + 16 + 4 + 5 + 6 * NUMBER + len(KINDS))
    assert speaker.writing.patches == tokens.shape[1]
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


def test_points_and_things_have_tokens_of_their_own(speaker):
    tower = speaker.model.model.vision_tower
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
    sight = Sight(MarkGlass(), ThingFinder(768, len(KINDS)))
    speaker = build_compact(tokenizer(), TINY, sight=sight)
    tower = speaker.model.model.vision_tower
    for given, taken in ((sight.glass, tower.glass), (sight.finder, tower.finder)):
        state = taken.state_dict()
        assert all(torch.equal(state[name], value) for name, value in given.state_dict().items())


def test_pixel_tokens_begin_in_their_order(speaker):
    rows = speaker.model.get_input_embeddings().weight[list(speaker.vocabulary.pixels)]
    apart = torch.cdist(rows, rows)
    assert apart.diagonal(1).mean() < 0.7 * apart.diagonal(40).mean()


def test_a_picture_stands_at_the_same_distance_from_all_answers(speaker):
    for question in ("which?", depth.NEAREST + depth.STEPS["pixels"]):
        ids = speaker.writing.prompt(question)
        last = len(ids) - 1 - ids[::-1].index(speaker.writing.image)
        assert ids.count(speaker.writing.image) == speaker.writing.patches
        assert len(ids) - last == 2  # the line's end, and then the model speaks


def test_what_is_counted_is_said_again_behind_the_picture(speaker):
    writing = speaker.writing
    asked = "How many wine glasses are there?"
    ids = writing.prompt(asked)
    last = len(ids) - 1 - ids[::-1].index(writing.image)
    assert writing.read(ids[:last]) == asked
    assert writing.tokenizer.decode(ids[last + 1 :]) == "\n wine glasses:\n"


def test_any_text_is_spelt_and_digits_are_single(speaker):
    writing = speaker.writing
    for text in (
        "A=120,7\n(A)",
        "Wie viele Bäume? 数",
        "<DEPTH_START><DEPTH_7><DEPTH_END>",
    ):
        assert writing.read(writing.tokenizer(text).input_ids) == text
    assert len(writing.tokenizer("1234567").input_ids) == 7
    assert len(writing.tokenizer("<DEPTH_START><DEPTH_7><PIXEL_9>").input_ids) == 3
    again = tokenizer()
    assert again.get_vocab() == tokenizer().get_vocab()


def test_a_calm_projector_hides_no_channel(speaker):
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(4, 3, 56, 56, generator=generator) for _ in range(2)]
    layer = speaker.model.model.multi_modal_projector.linear_1
    before = layer.weight.clone()
    calm_projector(speaker, batches)
    with torch.no_grad():
        tokens = torch.cat([speaker.model.model.vision_tower(b).last_hidden_state for b in batches])
        flat = tokens.flatten(0, 1)
        spread = flat.std(0)
        even = (flat - flat.mean(0)) / spread.clamp(min=0.1 * float(spread.median()))
        even[:, 512:] *= LOUDER
        wanted = even @ before.T
        got = layer(flat) - layer(flat).mean(0)
        given = speaker.model.model.multi_modal_projector(tokens)
    assert given.std() == pytest.approx(1, abs=1e-3)
    torch.testing.assert_close(got, wanted - wanted.mean(0), atol=1e-2, rtol=1e-2)


def test_a_projector_is_brought_to_a_spread_of_one(speaker):
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randn(4, 3, 56, 56, generator=generator)]
    projector, tower = speaker.model.model.multi_modal_projector, speaker.model.model.vision_tower
    with torch.no_grad():
        projector.linear_2.weight.mul_(30)
        even_projector(speaker, batches)
        assert projector(tower(batches[0]).last_hidden_state).std() == pytest.approx(1, abs=1e-3)


def test_the_file_brings_everything_back_but_the_encoder(speaker, picture, tmp_path):
    path = tmp_path / "speaker.safetensors"
    write_compact(speaker, path, TINY)
    back = load_speaker(path)
    torch.testing.assert_close(logits(back, picture), logits(speaker, picture), atol=2e-2, rtol=0)
    assert back.vocabulary == speaker.vocabulary
    assert back.codebook == resolve("codebook", purpose="tokens").sha256
    assert tuple(back.model.config.vision_config.kinds) == KINDS
    assert back.eye == speaker.eye
    assert back.writing.prompt("which?") == speaker.writing.prompt("which?")
    with safe_open(path, "pt") as file:
        names = list(file.keys())
    assert not any("network" in name or "tower.codes" in name for name in names)
    assert path.stat().st_size < 2_000_000
    write_compact(back, tmp_path / "again.safetensors", TINY)
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


def test_what_it_depends_on_cannot_be_exchanged_unnoticed(speaker, tmp_path):
    path = tmp_path / "speaker.safetensors"
    write_compact(speaker, path, TINY)
    with safe_open(path, "pt") as file:
        notes = json.loads(file.metadata()["sightline.speaker"])
    state = load_file(path)

    def rewritten(tensors=None, **changes):
        other = tmp_path / "other.safetensors"
        save_file(tensors or state, other, {"sightline.speaker": json.dumps(notes | changes)})
        return other

    with pytest.raises(InputError, match="sees with small@eeeeeeeeeeee"):
        read_compact(rewritten(vision_sha256="ee" * 32))
    with pytest.raises(InputError, match="writes in codebook@dddddddddddd"):
        read_compact(rewritten(codebook_sha256="dd" * 32))
    for wrong in ({"tokenizer": {}}, {"options": {}}, {"options": {"taps": 3}}):
        with pytest.raises(InputError, match="damaged speaker"):
            read_compact(rewritten(**wrong))
    name = next(iter(state))
    with pytest.raises(InputError, match="damaged speaker"):
        read_compact(rewritten({k: v for k, v in state.items() if k != name}))
    with pytest.raises(InputError, match="damaged speaker"):
        read_compact(rewritten(state | {name: state[name][..., :1].clone()}))
    torn, raw = tmp_path / "torn.safetensors", path.read_bytes()
    for damaged in (raw[:-100], raw[:500], raw.replace(b'"F16"', b'"F99"')):
        torn.write_bytes(damaged)
        with pytest.raises(InputError, match=r"torn\.safetensors"):
            read_compact(torn)
    save_file(state, tmp_path / "plain.safetensors")
    with pytest.raises(InputError, match="no speaker"):
        read_compact(tmp_path / "plain.safetensors")


def test_it_learns_and_speaks(speaker, picture, tmp_path):
    options = SpeakerOptions(batch=3, rate=1e-2, projector_rate=1e-2, save_every=10)
    speaker.model.requires_grad_(True)
    speaker.model.model.vision_tower.requires_grad_(False)
    train_speaker(speaker, Few(90, long=True), tmp_path, options, report=lambda _: None)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] < 0.7 * rows[0]["loss"]
    text = speak(speaker, picture, depth.GENERATE, most_tokens=120)
    assert "<DEPTH_START>" not in text or text.count("<DEPTH_") == 102

    class Flat:
        def from_text(self, _):
            return np.zeros((320, 320), np.float32)

    read_depth_answer(text, Flat())
    with pytest.raises(InputError, match="no question"):
        speak(speaker, picture, "  ")
    asked = [depth.GENERATE, "which?", "a longer question, which?"]
    together = speak_all(speaker, [picture] * 3, asked, most_tokens=30)
    alone = [speak(speaker, picture, question, most_tokens=30) for question in asked]
    assert together == alone, "padding on the left changes nothing"


def test_bad_sizes_and_eyes():
    with pytest.raises(InputError, match="multiple of 28"):
        CompactOptions(side=330)
    with pytest.raises(InputError, match="evenly"):
        CompactOptions(width=30)
    with pytest.raises(InputError, match="no ViT"):
        build_compact(tokenizer(), TINY, vision="tiny")
