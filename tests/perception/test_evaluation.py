"""Scores of words, of maps and of depth models."""

from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.perception import evaluation
from sightline.perception.evaluation import (
    BenchmarkQuestion,
    chance_accuracy,
    choice_of,
    evaluate_depth_model,
    evaluate_vlm,
)
from sightline.perception.tokens import from_text, to_text
from sightline.perception.vlm.processing import ChatTemplate
from sightline.types import DepthMap, Kind

MAP = to_text(np.zeros((10, 10), np.int64))
#: All that is asked of one that does not speak.
VLM = SimpleNamespace(chat=SimpleNamespace(template=ChatTemplate()))


def picture():
    return np.zeros((60, 120, 3), np.uint8)


def near(answer, points=None):
    points = {"A": (10.0, 30.0), "B": (100.0, 30.0)} if points is None else points
    return BenchmarkQuestion(
        f"q{answer}", "depth", "Which?", (), answer, picture, points, "2 points"
    )


class LeftIsNear:
    def from_text(self, _):
        return np.linspace(1, 0, 320, dtype=np.float32)[None].repeat(320, 0)


def test_words_and_maps_are_judged_apart(monkeypatch):
    said = iter([f"{MAP} (A)", f"{MAP} (B)", f"{MAP} hm", "(A)"])
    monkeypatch.setattr(
        evaluation, "generate_answers", lambda _, p, __, **___: [next(said) for _ in p]
    )
    items = [near(0), near(0), near(0), near(0)]
    found = evaluate_vlm(items, VLM, LeftIsNear())
    assert [one.right for one in found.judged] == [True, False, False, True]
    assert [one.perceived for one in found.judged] == [True, True, True, None]
    assert [one.verified for one in found.judged] == [True, True, True, True]
    assert found.silent == 1
    assert found.share("right").value == 0.5
    assert found.share("perceived").right == 3
    assert found.share("perceived").asked == 4


def test_answers_alone(monkeypatch):
    asked = []

    def generate_answers(_vlm, _pictures, questions, **_):
        asked.extend(questions)
        return ["(B)"] * len(questions)

    monkeypatch.setattr(evaluation, "generate_answers", generate_answers)
    found = evaluate_vlm([near(1)], VLM, None, steps=False)
    assert found.judged[0].right
    assert found.share("perceived") is None
    assert "coordinates" not in asked[0]
    evaluate_vlm([near(1)] * 20, VLM, None, steps=" Hm.", batch=3)
    assert asked[-1].endswith("camera? Hm.")
    assert len(asked) == 21


def test_counting(monkeypatch):
    box = "<PIXEL_1><PIXEL_2><PIXEL_30><PIXEL_40>"
    said = iter([f"{box}\n{box}\nSo the number of cups is 3", "2", "none at all"])
    monkeypatch.setattr(
        evaluation, "generate_answers", lambda _, p, __, **___: [next(said) for _ in p]
    )
    item = BenchmarkQuestion("c", "count", "How many cups?", ("0", "2", "3"), 1, picture)
    found = evaluate_vlm([item] * 3, VLM, None)
    assert [one.right for one in found.judged] == [False, True, False]
    assert [one.verified for one in found.judged] == [True, True, False]
    assert [one.perceived for one in found.judged] == [True, None, False]


def test_a_depth_model_is_read_at_the_points():
    meters = np.linspace(1, 9, 120, dtype=np.float32)[None].repeat(60, 0)

    def look(_):
        return DepthMap(meters, Kind.METRIC_DEPTH)

    found = evaluate_depth_model([near(0), near(1)], look)
    assert [one.right for one in found.judged] == [True, False]
    with pytest.raises(InputError, match="positions of its points"):
        evaluate_depth_model([near(0, {})], look)
    flat = evaluate_depth_model(
        [near(0)], lambda _: DepthMap(np.ones((60, 120), np.float32), Kind.METRIC_DEPTH)
    )
    assert flat.judged[0].right is False, "a tie is wrong"


def test_chance():
    count = BenchmarkQuestion("c", "count", "?", ("0", "2", "3", "4"), 1, picture, group="x")
    bare = BenchmarkQuestion("d", "depth", "?", (), 1, picture, group="5 points")
    assert chance_accuracy([near(0), count, bare]) == {"2 points": 0.5, "x": 0.25, "5 points": 0.2}


@pytest.mark.parametrize(
    ("text", "choices", "number"),
    [("(B)", 0, 1), ("so (A) or (C)", 0, 2), ("B", 4, 1), ("B.", 4, 1), ("Bob", 4, None),
     ("(E)", 4, None), ("", 0, None)],
)  # fmt: skip
def test_answers_are_read_exactly(text, choices, number):
    assert choice_of(text, choices) == number


def test_silence_is_never_right(monkeypatch):
    said = iter(["hm", "There are many.", "few, or many", "A few"])
    monkeypatch.setattr(
        evaluation, "generate_answers", lambda _, p, __, **___: [next(said) for _ in p]
    )
    item = BenchmarkQuestion("c", "count", "How many cups?", ("few", "many"), 1, picture)
    found = evaluate_vlm([item] * 4, VLM, None, seed=None)
    assert [one.right for one in found.judged] == [False, True, False, False]
    assert [one.verified for one in found.judged] == [False, True, False, False]
    assert [one.silent for one in found.judged] == [True, False, True, False]


def test_a_large_number_is_read_in_words(monkeypatch):
    said = iter(["hm", "21", "twenty-one"])
    monkeypatch.setattr(
        evaluation, "generate_answers", lambda _, p, __, **___: [next(said) for _ in p]
    )
    item = BenchmarkQuestion("c", "count", "How many cups?", ("twelve", "twenty one"), 1, picture)
    found = evaluate_vlm([item] * 3, VLM, None, seed=None)
    assert [one.verified for one in found.judged] == [False, True, True]


def test_a_question_of_how_many_needs_choices():
    with pytest.raises(InputError, match=r"question c: .* no choices"):
        BenchmarkQuestion("c", "count", "How many cups?", (), 1, picture)


def test_a_picture_that_cannot_be_read_is_left_out(monkeypatch):
    def torn():
        raise InputError("is torn")

    monkeypatch.setattr(evaluation, "generate_answers", lambda _, p, __, **___: ["(A)"] * len(p))
    bad = BenchmarkQuestion("bad", "depth", "Which?", (), 0, torn, near(0).points, "2 points")
    left = []
    found = evaluate_vlm([bad, near(0), bad], VLM, None, skip=lambda i, _: left.append(i.name))
    assert [one.name for one in found.judged] == ["q0"]
    assert left == ["bad", "bad"]
    assert not evaluate_vlm([bad], VLM, None, skip=lambda *_: None).judged
    flat = DepthMap(np.ones((60, 120), np.float32), Kind.METRIC_DEPTH)
    found = evaluate_depth_model([bad, near(0)], lambda _: flat, skip=lambda *_: None)
    assert len(found.judged) == 1
    with pytest.raises(InputError, match="is torn"):
        evaluate_vlm([bad], VLM, None)


class _Codes:
    """Codebook whose map is the code of each cell, in 128ths."""

    def decode(self, codes):
        return (codes / 127).astype(np.float32).repeat(32, 0).repeat(32, 1)

    def encode(self, values):
        return np.rint(values[::32, ::32] / 255 * 127).astype(np.int64)

    def from_text(self, text):
        return self.decode(from_text(text))


@pytest.mark.parametrize("causal", [True, False])
def test_replaced_maps_tell_whether_words_follow_them(monkeypatch, causal):
    """A model that reads its map passes; one that repeats its first words does not."""
    places = {"A": (20, 20), "B": (300, 300)}
    maps = [np.zeros((10, 10), np.int64) for _ in range(2)]
    maps[0][0, 0], maps[1][8, 8] = 127, 127
    names = iter([0, 1])

    def generate_answers(_, pictures, __, begun=None):
        if begun is None:
            return [f"{to_text(maps[next(names)])}\n({'AB'[k]})" for k, _ in enumerate(pictures)]
        texts = []
        for k, text in enumerate(begun):
            values = _Codes().from_text(text)
            read = "A" if values[19, 19] >= values[285, 285] else "B"
            texts.append(f"{text}\n({read if causal else 'AB'[k]})")
        return texts

    monkeypatch.setattr(evaluation, "generate_answers", generate_answers)
    items = [
        BenchmarkQuestion(
            f"q{k}", "depth", "which?", (), k, lambda: np.zeros((336, 336, 3), np.uint8), places
        )
        for k in range(2)
    ]
    vlm = SimpleNamespace(chat=VLM.chat, vocabulary=SimpleNamespace(codes=(1,)))
    truth = iter([maps[0], maps[1]])
    result = evaluation.replace_maps(
        items, vlm, _Codes(), truth=lambda _: (_Codes().decode(next(truth)) * 255).astype(np.uint8)
    )
    assert result.chance == 0.5
    assert result.right("own").value == result.right("truth").value == 1
    assert result.follows("inverted").value == (1 if causal else 0)
    assert result.unchanged("other").value == (0 if causal else 1)
    assert result.difference("inverted")[0] == (-1 if causal else 0)
    assert result.passed()["inverted map: words follow it in at least 90 %"] is causal
    lines = evaluation.format_replacements(result, ["own", "inverted"])
    assert lines[2].startswith("| own | 100.0 | +0.0 ± 0.0 | 100.0 | 100.0 |")
    with pytest.raises(InputError, match="reference depth"):
        evaluation.replace_maps(items, vlm, _Codes(), ["truth"])
    with pytest.raises(InputError, match="no depth tokens"):
        evaluation.replace_maps(
            items, SimpleNamespace(vocabulary=SimpleNamespace(codes=())), _Codes()
        )
