"""The speaker for a laptop: what it is made of, and its file."""

import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from sightline.depth.checkpoints import load_network
from sightline.errors import InputError
from sightline.perception.model.answering import read_depth_answer, speak, speak_all
from sightline.perception.model.compact import (
    LOUDER,
    CompactOptions,
    build_compact,
    calm_projector,
    train_tokenizer,
)
from sightline.perception.model.compact_files import read_compact, write_compact
from sightline.perception.model.glass import CHANNELS, MarkGlass
from sightline.perception.model.loading import load_speaker
from sightline.perception.model.options import SpeakerOptions
from sightline.perception.model.training import train_speaker
from sightline.perception.questions import depth
from sightline.perception.questions.markers import LETTERS
from sightline.weights.store import resolve

from .helpers import Few

TINY = CompactOptions(width=32, layers=1, heads=2, side=56)
CODEBOOK = "cd" * 32


def tokenizer():
    return train_tokenizer([depth.NEAREST + depth.STEPS, depth.GENERATE, "A=12,30\n(A)"])


@pytest.fixture
def speaker():
    return build_compact(tokenizer(), TINY, codebook=CODEBOOK)


@pytest.fixture
def picture():
    return np.random.default_rng(0).integers(0, 255, (40, 50, 3), dtype=np.uint8)


def logits(speaker, picture):
    ids = torch.tensor([speaker.writing.prompt("which?")])
    with torch.no_grad():
        return speaker.model(input_ids=ids, pixel_values=speaker.eye.look([picture])).logits


def test_it_sees_what_the_depth_model_sees(speaker, picture):
    network = load_network(resolve("small").path)
    shown = speaker.eye.look([picture])
    tower = speaker.model.model.vision_tower
    with torch.no_grad():
        tokens = tower(shown).last_hidden_state
        five, eleven = network.encoder(shown, (5, 11))
        disparity = network(shown)
    letters = len(LETTERS)
    assert tokens.shape == (1, 4 + letters, 2 * 4 * 384 + 16 + 2 * 2 + CHANNELS + letters)
    assert speaker.writing.patches == tokens.shape[1]
    assert tower.features == 2 * 4 * 384
    assert not tokens[0, :4, -letters:].any()
    tokens = tokens[..., :-letters]
    # The second token is columns 2 and 3 of the first two rows; its second patch is column 3.
    second = tokens[0, 1, : tower.features].view(4, 768)[1]
    torch.testing.assert_close(second[:384], five[0, :, 0, 3])
    torch.testing.assert_close(second[384:], eleven[0, :, 0, 3])
    torch.testing.assert_close(tokens[0, 1, -CHANNELS:], tower.glass(shown)[0, :, 0, 1])
    # Disparity of 4 × 4 places of 7 px; then row 0 and column 1.
    means = disparity.view(8, 7, 8, 7).mean((1, 3))
    near = (means - means.min()) / (means.max() - means.min())
    rest = tokens[0, 1, tower.features : -CHANNELS]
    torch.testing.assert_close(rest[:16].view(4, 4), near[:4, 4:], atol=1e-5, rtol=1e-4)
    assert rest[16:].tolist() == [1, 0, 0, 1]
    assert not any(p.requires_grad for p in tower.parameters())


def test_a_letter_is_the_cell_of_its_point_once_more(speaker):
    tower = speaker.model.model.vision_tower
    cells, channels = tower.looks
    seen = torch.randn(1, cells, channels, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        scores = torch.full((1, len(LETTERS), cells + 1), -30.0)
        scores[0, 0, 2] = scores[0, 1, 0] = 30.0  # A in the third cell, B in the first
        scores[0, 2:, cells] = 30.0  # nobody else
        find, tower.glass.find = tower.glass.find, lambda _: scores
        tokens = tower(seen).last_hidden_state
        tower.glass.find = find
        again = tower(seen).last_hidden_state
    torch.testing.assert_close(tokens[0, cells, :-5], seen[0, 2])
    torch.testing.assert_close(tokens[0, cells + 1, :-5], seen[0, 0])
    assert (
        tokens[0, cells:, -5:].round().tolist()
        == torch.diag(torch.tensor([1.0, 1, 0, 0, 0])).tolist()
    )
    assert not tokens[0, cells + 2 :].round(decimals=5).any()
    torch.testing.assert_close(again[:, :cells], tokens[:, :cells])


def test_it_sees_marks_with_the_glass_it_is_given():
    torch.manual_seed(5)
    glass = MarkGlass()
    speaker = build_compact(tokenizer(), TINY, codebook=CODEBOOK, glass=glass)
    given = speaker.model.model.vision_tower.glass.state_dict()
    assert all(torch.equal(given[name], value) for name, value in glass.state_dict().items())


def test_a_picture_stands_at_the_same_distance_from_all_answers(speaker):
    for question in ("which?", depth.NEAREST + depth.STEPS):
        ids = speaker.writing.prompt(question)
        last = len(ids) - 1 - ids[::-1].index(speaker.writing.image)
        assert ids.count(speaker.writing.image) == speaker.writing.patches
        assert len(ids) - last == 2  # the line's end, and then the model speaks


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
        even = (flat - flat.mean(0)) / (flat.std(0) + 1e-6)
        even[:, speaker.model.model.vision_tower.features :] *= LOUDER
        wanted = even @ before.T
        got = layer(flat) - layer(flat).mean(0)
    torch.testing.assert_close(got, wanted - wanted.mean(0), atol=1e-2, rtol=1e-2)


def test_the_file_brings_everything_back_but_the_encoder(speaker, picture, tmp_path):
    path = tmp_path / "speaker.safetensors"
    write_compact(speaker, path, TINY)
    back = load_speaker(path)
    torch.testing.assert_close(logits(back, picture), logits(speaker, picture), atol=2e-2, rtol=0)
    assert back.vocabulary == speaker.vocabulary
    assert back.codebook == CODEBOOK
    assert back.eye == speaker.eye
    assert back.writing.prompt("which?") == speaker.writing.prompt("which?")
    with safe_open(path, "pt") as file:
        assert not any("network" in name for name in file.keys())  # noqa: SIM118
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

    with pytest.raises(InputError, match="small@eeeeeeeeeeee"):
        read_compact(rewritten(vision_sha256="ee" * 32))
    for wrong in ({"tokenizer": {}}, {"options": {}}, {"options": {"taps": 3}}):
        with pytest.raises(InputError, match="damaged speaker"):
            read_compact(rewritten(**wrong))
    name = next(iter(state))
    with pytest.raises(InputError, match="damaged speaker"):
        read_compact(rewritten({k: v for k, v in state.items() if k != name}))
    with pytest.raises(InputError, match="damaged speaker"):
        read_compact(rewritten(state | {name: state[name][..., :1].clone()}))
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
        build_compact(tokenizer(), TINY, codebook=CODEBOOK, vision="tiny")
