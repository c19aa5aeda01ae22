"""Scores of words, of maps and of depth models."""

from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.perception.codebook.words import to_text
from sightline.perception.model.speech import Speech
from sightline.perception.quiz import scoring
from sightline.perception.quiz.items import QuizItem
from sightline.perception.quiz.scoring import (
    choice_of,
    judge_at_random,
    judge_depth_model,
    judge_speaker,
)
from sightline.types import DepthMap, Kind

MAP = to_text(np.zeros((10, 10), np.int64))
#: All that is asked of one that does not speak.
SPEAKER = SimpleNamespace(writing=SimpleNamespace(speech=Speech()))


def picture():
    return np.zeros((60, 120, 3), np.uint8)


def near(answer, points=None):
    points = {"A": (10.0, 30.0), "B": (100.0, 30.0)} if points is None else points
    return QuizItem(f"q{answer}", "depth", "Which?", (), answer, picture, points, "2 points")


class LeftIsNear:
    def from_text(self, _):
        return np.linspace(1, 0, 320, dtype=np.float32)[None].repeat(320, 0)


def test_words_and_maps_are_judged_apart(monkeypatch):
    said = iter([f"{MAP} (A)", f"{MAP} (B)", f"{MAP} hm", "(A)"])
    monkeypatch.setattr(scoring, "speak_all", lambda _, p, __, **___: [next(said) for _ in p])
    items = [near(0), near(0), near(0), near(0)]
    found = judge_speaker(items, SPEAKER, LeftIsNear())
    assert [one.right for one in found.judged] == [True, False, False, True]
    assert [one.perceived for one in found.judged] == [True, True, True, None]
    assert [one.verified for one in found.judged] == [True, True, True, True]
    assert found.silent == 1
    assert found.share("right").value == 0.5
    assert found.share("perceived").right == 3
    assert found.share("perceived").asked == 4


def test_answers_alone(monkeypatch):
    asked = []

    def speak_all(_speaker, _pictures, questions, **_):
        asked.extend(questions)
        return ["(B)"] * len(questions)

    monkeypatch.setattr(scoring, "speak_all", speak_all)
    found = judge_speaker([near(1)], SPEAKER, None, steps=False)
    assert found.judged[0].right
    assert found.share("perceived") is None
    assert "coordinates" not in asked[0]
    judge_speaker([near(1)] * 20, SPEAKER, None, steps=" Hm.", batch=3)
    assert asked[-1].endswith("camera? Hm.")
    assert len(asked) == 21


def test_counting(monkeypatch):
    box = "<PIXEL_1><PIXEL_2><PIXEL_30><PIXEL_40>"
    said = iter([f"{box}\n{box}\nSo the number of cups is 3", "2", "none at all"])
    monkeypatch.setattr(scoring, "speak_all", lambda _, p, __, **___: [next(said) for _ in p])
    item = QuizItem("c", "count", "How many cups?", ("0", "2", "3"), 1, picture)
    found = judge_speaker([item] * 3, SPEAKER, None)
    assert [one.right for one in found.judged] == [False, True, False]
    assert [one.verified for one in found.judged] == [True, True, False]
    assert [one.perceived for one in found.judged] == [True, None, False]


def test_a_depth_model_is_read_at_the_points():
    metres = np.linspace(1, 9, 120, dtype=np.float32)[None].repeat(60, 0)

    def look(_):
        return DepthMap(metres, Kind.METRIC_DEPTH)

    found = judge_depth_model([near(0), near(1)], look)
    assert [one.right for one in found.judged] == [True, False]
    with pytest.raises(InputError, match="where its points are"):
        judge_depth_model([near(0, {})], look)
    flat = judge_depth_model(
        [near(0)], lambda _: DepthMap(np.ones((60, 120), np.float32), Kind.METRIC_DEPTH)
    )
    assert flat.judged[0].right is False, "a tie is wrong"


def test_chance():
    count = QuizItem("c", "count", "?", ("0", "2", "3", "4"), 1, picture, group="x")
    bare = QuizItem("d", "depth", "?", (), 1, picture, group="5 points")
    assert judge_at_random([near(0), count, bare]) == {"2 points": 0.5, "x": 0.25, "5 points": 0.2}


@pytest.mark.parametrize(
    ("text", "choices", "number"),
    [("(B)", 0, 1), ("so (A) or (C)", 0, 2), ("B", 4, 1), ("B.", 4, 1), ("Bob", 4, None),
     ("(E)", 4, None), ("", 0, None)],
)  # fmt: skip
def test_answers_are_read_exactly(text, choices, number):
    assert choice_of(text, choices) == number


def test_silence_is_never_right(monkeypatch):
    said = iter(["hm", "There are many.", "few, or many", "A few"])
    monkeypatch.setattr(scoring, "speak_all", lambda _, p, __, **___: [next(said) for _ in p])
    item = QuizItem("c", "count", "How many cups?", ("few", "many"), 1, picture)
    found = judge_speaker([item] * 4, SPEAKER, None, seed=None)
    assert [one.right for one in found.judged] == [False, True, False, False]
    assert [one.verified for one in found.judged] == [False, True, False, False]
    assert [one.silent for one in found.judged] == [True, False, True, False]


def test_a_large_number_is_read_in_words(monkeypatch):
    said = iter(["hm", "21", "twenty-one"])
    monkeypatch.setattr(scoring, "speak_all", lambda _, p, __, **___: [next(said) for _ in p])
    item = QuizItem("c", "count", "How many cups?", ("twelve", "twenty one"), 1, picture)
    found = judge_speaker([item] * 3, SPEAKER, None, seed=None)
    assert [one.verified for one in found.judged] == [False, True, True]


def test_a_question_of_how_many_needs_choices():
    with pytest.raises(InputError, match=r"question c: .* no choices"):
        QuizItem("c", "count", "How many cups?", (), 1, picture)


def test_a_picture_that_cannot_be_read_is_left_out(monkeypatch):
    def torn():
        raise InputError("is torn")

    monkeypatch.setattr(scoring, "speak_all", lambda _, p, __, **___: ["(A)"] * len(p))
    bad = QuizItem("bad", "depth", "Which?", (), 0, torn, near(0).points, "2 points")
    left = []
    found = judge_speaker([bad, near(0), bad], SPEAKER, None, skip=lambda i, _: left.append(i.name))
    assert [one.name for one in found.judged] == ["q0"]
    assert left == ["bad", "bad"]
    assert not judge_speaker([bad], SPEAKER, None, skip=lambda *_: None).judged
    flat = DepthMap(np.ones((60, 120), np.float32), Kind.METRIC_DEPTH)
    found = judge_depth_model([bad, near(0)], lambda _: flat, skip=lambda *_: None)
    assert len(found.judged) == 1
    with pytest.raises(InputError, match="is torn"):
        judge_speaker([bad], SPEAKER, None)
