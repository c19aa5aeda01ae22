"""Whatever the model would like to say: maps are whole, boxes have four sides."""

from itertools import groupby

import pytest
import torch
from transformers import LlamaConfig, LlamaForCausalLM, LogitsProcessor, LogitsProcessorList

from sightline.errors import InputError
from sightline.perception.decoding import BoxConstraint, DepthMapConstraint
from sightline.perception.tokens import LENGTH, Vocabulary

WORDS = 40
DEPTH = Vocabulary(WORDS, WORDS + 1, tuple(range(WORDS + 2, WORDS + 130)))
BOTH = Vocabulary(*(DEPTH.start, DEPTH.end, DEPTH.codes), tuple(range(WORDS + 130, WORDS + 466)))


def write(processor, rng, rows=3, prompt=4, length=230, tokens=WORDS + 466):
    """Sample from random scores, as `generate` does; return what was written after the prompt."""
    ids = torch.randint(WORDS, (rows, prompt), generator=rng)
    for _ in range(length):
        scores = processor(ids, torch.randn(rows, tokens, generator=rng) * 5)
        assert torch.isfinite(scores).any(1).all()
        drawn = torch.multinomial(scores.softmax(1), 1, generator=rng)
        ids = torch.cat([ids, drawn], 1)
    return ids[:, prompt:]


def maps_of(row, vocabulary=DEPTH):
    """Take a row apart: the maps, each checked, and how much of the last one is missing."""
    row, maps, at = row.tolist(), 0, 0
    while at < len(row):
        token = row[at]
        if token == vocabulary.start:
            inside = row[at + 1 : at + 1 + LENGTH]
            assert all(code in vocabulary.codes for code in inside)
            after = row[at + 1 + LENGTH : at + 2 + LENGTH]
            assert after in ([], [vocabulary.end])
            at += 2 + LENGTH
            maps += 1
        else:
            assert token not in vocabulary.all[: 2 + len(vocabulary.codes)]
            at += 1
    return maps


def whole_groups(row, sides=4):
    """Count the groups of pixel tokens: exactly so many each, but for one that the row's end cuts."""
    row = row.tolist()
    lengths = [
        len(list(run)) for inside, run in groupby(row, set(BOTH.pixels).__contains__) if inside
    ]
    if row[-1] in BOTH.pixels:
        assert lengths.pop() <= sides
    assert set(lengths) <= {sides}
    return len(lengths)


def test_groups_are_counted_exactly():
    box, word = list(BOTH.pixels[:4]), [3]
    assert whole_groups(torch.tensor([*word, *box, *word, *box, *word])) == 2
    assert whole_groups(torch.tensor([*word, *box, *word, *box[:2]])) == 1
    for wrong in ([*box, *box, *word], [*word, *box, *box], [*box[:3], *word]):
        with pytest.raises(AssertionError):
            whole_groups(torch.tensor(wrong))


@pytest.mark.parametrize("most", [0, 1, 2])
def test_a_thousand_random_answers_have_no_torn_map(most):
    rng = torch.Generator().manual_seed(most)
    written = write(DepthMapConstraint(DEPTH, 4, most=most), rng, rows=350, length=240)
    found = [maps_of(row) for row in written]
    assert max(found) == most


def test_a_thousand_random_batches_have_no_wrong_token():
    rng = torch.Generator().manual_seed(11)
    wholes = boxes = 0
    for number in range(1000):
        rows, prompt = 1 + number % 3, 1 + number % 5
        processors = [DepthMapConstraint(BOTH, prompt), BoxConstraint(BOTH, prompt)]
        ids = torch.randint(WORDS, (rows, prompt), generator=rng)
        for step in range(106 if number % 2 == 0 else 30):
            scores = torch.randn(rows, WORDS + 466, generator=rng) * 5
            if step == 0 and number % 2 == 0:
                scores[:, BOTH.start] = 99.0
            for processor in processors:
                scores = processor(ids, scores)
            ids = torch.cat([ids, scores.argmax(1, keepdim=True)], 1)
        for row in ids[:, prompt:]:
            wholes += maps_of(row, BOTH)
            boxes += whole_groups(row)
    assert wholes > 1000
    assert boxes > 1000


def test_maps_in_the_prompt_do_not_count():
    one = torch.tensor([[1, DEPTH.start, *DEPTH.codes[:LENGTH], DEPTH.end, 2]])
    scores = torch.zeros(1, WORDS + 130)
    may = DepthMapConstraint(DEPTH, one.shape[1])(one, scores)
    assert torch.isfinite(may[0, DEPTH.start])
    assert not torch.isfinite(DepthMapConstraint(DEPTH, 1)(one, scores)[0, DEPTH.start])


def test_a_map_in_progress_goes_on_though_everything_was_ruled_out():
    ids = torch.tensor([[1, DEPTH.start, DEPTH.codes[3]]])
    scores = torch.full((1, WORDS + 130), -float("inf"))
    scores[0, 7] = 3.0  # a top-k of one has left a word
    out = DepthMapConstraint(DEPTH, 1)(ids, scores)
    assert torch.isfinite(out[0]).nonzero()[:, 0].tolist() == list(DEPTH.codes)


@pytest.mark.parametrize("left", [DEPTH.codes[:1], (DEPTH.end,), BOTH.pixels[:2]])
def test_there_is_always_something_to_say(left):
    box = torch.tensor([[1, *BOTH.pixels[:4]]])
    for ids in (box, box[:, :1]):
        scores = torch.full((1, WORDS + 466), -float("inf"))
        scores[0, list(left)] = 3.0  # what is left may not be said here
        for order in (1, -1):
            out = scores
            for processor in [DepthMapConstraint(BOTH, 1, most=0), BoxConstraint(BOTH, 1)][::order]:
                out = processor(ids, out)
            may = set(torch.isfinite(out[0]).nonzero()[:, 0].tolist())
            pixels_may = left == BOTH.pixels[:2] and ids.shape[1] == 1
            assert may == (set(left) if pixels_may else set(range(WORDS)))


@pytest.mark.parametrize("sides", [4, 2])
def test_boxes_have_four_sides_and_places_two(sides):
    rng = torch.Generator().manual_seed(5)
    pixels = set(BOTH.pixels)
    found = 0
    for _ in range(20):
        for row in write(BoxConstraint(BOTH, 4, sides=sides), rng, rows=8, length=60).tolist():
            runs, run = [], 0
            for token in row:
                if token in pixels:
                    run += 1
                elif run:
                    runs.append(run)
                    run = 0
            assert set(runs) <= {sides}
            assert run <= sides
            found += len(runs)
    assert found > 300


def test_both_together():
    processors = [DepthMapConstraint(BOTH, 4), BoxConstraint(BOTH, 4)]

    def both(ids, scores):
        for one in processors:
            scores = one(ids, scores)
        return scores

    for row in write(both, torch.Generator().manual_seed(1), rows=40):
        assert maps_of(row, BOTH) <= 1


class Eager(LogitsProcessor):
    """Wants to write a box, a word, a map, and so on, and never to stop within any of them."""

    def __call__(self, input_ids, scores):
        scores = scores.clone()
        wanted = BOTH.pixels if input_ids.shape[1] % 3 else (BOTH.start,)
        scores[:, list(wanted)] += 2.0
        return scores


@pytest.mark.parametrize(
    "how",
    [{}, {"do_sample": True, "top_k": 5}, {"num_beams": 3}],
    ids=["greedy", "sampling", "beams"],
)
@pytest.mark.parametrize("most", [1, 3])
def test_generate_of_transformers(how, most):
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=WORDS + 466,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        bos_token_id=1,
        eos_token_id=None,
        pad_token_id=0,
    )
    model = LlamaForCausalLM(config).eval()
    prompt = torch.tensor([[0, 1, 5, 9], [1, 7, 8, 9]])
    out = model.generate(
        prompt,
        attention_mask=(prompt != 0).long(),
        max_new_tokens=120 * most,
        logits_processor=LogitsProcessorList(
            [Eager(), DepthMapConstraint(BOTH, 4, most=most), BoxConstraint(BOTH, 4)]
        ),
        **how,
    )
    assert all(maps_of(row, BOTH) == most for row in out[:, 4:])
    assert all(whole_groups(row) > 0 for row in out[:, 4:])


def test_what_cannot_be():
    with pytest.raises(InputError, match="no depth tokens"):
        DepthMapConstraint(Vocabulary(pixels=BOTH.pixels), 0)
    with pytest.raises(InputError, match="no pixel tokens"):
        BoxConstraint(DEPTH, 0)
    with pytest.raises(InputError, match="cannot have -1"):
        DepthMapConstraint(DEPTH, 0, most=-1)
    with pytest.raises(InputError, match="embedding was not resized"):
        DepthMapConstraint(DEPTH, 0)(torch.zeros(1, 1, dtype=torch.long), torch.zeros(1, 50))
