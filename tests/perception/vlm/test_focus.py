"""What is left out of lessons until a compact VLM knows where to look."""

import numpy as np
import pytest
import torch

from sightline.perception.questions import counting, depth
from sightline.perception.questions.hardblink import Point
from sightline.perception.tokens import to_text
from sightline.perception.vlm.compact import CompactOptions, build_compact, train_tokenizer
from sightline.perception.vlm.focus import focused
from sightline.perception.vlm.processing import NOT_LEARNED, make_token_batch
from sightline.perception.vlm.training import VLMObjective

POINTS = {"A": Point(10, 20, 30), "B": Point(200, 120, 230)}
MAP = to_text(np.arange(100).reshape(10, 10))
THINGS = counting.Things(10, 10, {"cup": [(1, 1, 3, 3)]})


def records():
    box = (0.1, 0.1, 0.3, 0.3)
    return [
        depth.generation("a.jpg", MAP, "pixels"),
        depth.pointing("a.jpg", POINTS, "pixels"),
        depth.chain("a.jpg", POINTS, MAP, "pixels"),
        depth.map_first("a.jpg", POINTS, MAP, "pixels"),
        depth.direct("a.jpg", POINTS),
        counting.listing("a.jpg", [box], ["cup"]),
        counting.listing_chain("a.jpg", "cup", [box], ["cup"]),
        counting.direct("a.jpg", THINGS, "cup"),
    ]


@pytest.fixture(scope="module")
def vlm():
    words = [f"{one.question}\n{one.answer}" for one in records()]
    return build_compact(train_tokenizer(words), CompactOptions(width=32, layers=2, heads=2))


@pytest.fixture(scope="module")
def both(vlm):
    whole = make_token_batch(vlm.chat, [(r.question, r.answer) for r in records()])
    vocabulary = vlm.vocabulary
    codes = torch.tensor([vocabulary.start, vocabulary.end, *vocabulary.codes])
    return whole, focused(whole, records(), vlm.chat.image, codes)


def test_every_answer_sees_what_it_is_about(both):
    _, short = both
    seen = [sorted(row[row >= 0].tolist()) for row in short.patches]
    cells, points, things = range(100), range(100, 140), range(140, 164)
    wanted = (cells, points, points, range(164), points, things, things, things)
    assert seen == [list(one) for one in wanted]


def test_tokens_that_stay_keep_word_label_and_position(both, vlm):
    whole, short = both
    start, end = vlm.vocabulary.start, vlm.vocabulary.end
    for row in range(len(records())):
        kept = short.positions[row][short.attention_mask[row] == 1]
        assert torch.equal(whole.input_ids[row, kept], short.input_ids[row, : len(kept)])
        assert (short.attention_mask[row, len(kept) :] == 0).all()
        after_gap = torch.zeros(len(kept), dtype=torch.bool)
        after_gap[1:] = kept[1:] - kept[:-1] > 1
        labels = short.labels[row, : len(kept)]
        assert (labels[after_gap] == NOT_LEARNED).all(), "nothing before it says what comes there"
        assert torch.equal(labels[~after_gap], whole.labels[row, kept][~after_gap])
        assert (short.labels[row, len(kept) :] == NOT_LEARNED).all()
        has_map = bool((short.input_ids[row] == start).any())
        assert has_map == (row in (0, 3)), "chains do without their map, maps do not"
        assert has_map == bool((short.input_ids[row] == end).any())
    assert short.input_ids.shape[1] <= whole.input_ids.shape[1]


def test_leaving_out_is_the_same_as_hiding(both, vlm):
    """The model says the same of a short lesson as of a whole one with the rest hidden."""
    whole, short = both
    torch.manual_seed(0)
    tokens, numbers = vlm.model.model.vision_tower.looks
    looks = torch.rand(len(records()), tokens, numbers)
    learner = VLMObjective(vlm)
    mask = torch.zeros_like(whole.attention_mask)
    for row, positions in enumerate(short.positions):
        mask[row, positions[short.attention_mask[row] == 1]] = 1
    with torch.no_grad():
        shown = {"input_ids": whole.input_ids, "pixel_values": looks, "attention_mask": mask}
        hidden = vlm.model(**shown).logits
        left_out = vlm.model(
            **learner._shown(short, looks),
            attention_mask=short.attention_mask,
            position_ids=short.positions,
        ).logits
    for row in range(len(records())):
        kept = short.positions[row][short.attention_mask[row] == 1]
        torch.testing.assert_close(
            left_out[row, : len(kept)], hidden[row, kept], atol=1e-4, rtol=1e-4
        )
