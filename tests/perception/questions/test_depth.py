"""Questions and answers as text, records as JSON, and the order in which they are learned."""

import json
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.perception.questions.depth import (
    chain,
    direct,
    generation,
    pointing,
    read_answer,
    read_places,
    read_readings,
)
from sightline.perception.questions.hardblink import Point
from sightline.perception.questions.records import (
    Curriculum,
    Record,
    in_order,
    read_llava,
    write_llava,
)
from sightline.perception.tokens import from_text, to_text

POINTS = {"A": Point(10, 20, 30), "B": Point(200, 120, 230), "C": Point(300, 5, 90)}
CODES = np.arange(100).reshape(10, 10)


def test_a_chain_says_where_what_and_which():
    record = chain("a.jpg", POINTS, to_text(CODES))
    assert read_places(record.answer) == {"A": (10, 20), "B": (200, 120), "C": (300, 5)}
    np.testing.assert_array_equal(from_text(record.answer), CODES)
    assert read_readings(record.answer) == {"A": 11 / 99, "B": 89 / 99, "C": 34 / 99}
    assert read_answer(record.answer) == "B"
    behind = record.answer.rsplit("<DEPTH_END>\n", 1)[1].splitlines()
    assert behind[:-1] == ["A=11 A11", "B=89 B89", "C=34 B89", "D=-- B89", "E=-- B89"]
    assert record.task == "chain"
    assert "letter=x,y" in record.question
    # Neither how many points there are nor their letters is given away.
    assert not any(word in record.question for word in ("three", "3 points", "A,"))


def test_places_may_be_spelled_by_pixel_tokens():
    record = chain("a.jpg", POINTS, to_text(CODES), "pixels")
    assert "A=<PIXEL_10><PIXEL_20>=11" in record.answer
    assert "pixel tokens" in record.question
    plain = chain("a.jpg", POINTS, to_text(CODES))
    assert read_places(record.answer) == read_places(plain.answer)
    assert read_readings(record.answer) == read_readings(plain.answer)
    assert not read_places(generation("a.jpg", to_text(CODES), "pixels").answer)
    point = pointing("a.jpg", POINTS, "pixels")
    assert record.answer.startswith(point.answer)
    with pytest.raises(InputError, match="outside"):
        read_places("A=<PIXEL_400><PIXEL_2>=11")


def test_direct_and_generation():
    assert read_answer(direct("a.jpg", POINTS).answer) == "B"
    assert direct("a.jpg", POINTS).question in chain("a.jpg", POINTS, to_text(CODES)).question
    np.testing.assert_array_equal(from_text(generation("a.jpg", to_text(CODES)).answer), CODES)


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("(C)", "C"),
        ("The nearest point is (A).", "A"),
        ("not (A) but (D)", "D"),
        ("B", "B"),
        ("E.", "E"),
        ("It is A", None),
        ("", None),
        ("(F)", "F"),
        ("(I)", None),
        ("A or B", None),
    ],
)
def test_answers_are_read_exactly(text, letter):
    assert read_answer(text) == letter


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A=1,2\nA=3,4", "two places for A"),
        ("A=336,2", "outside"),
    ],
)
def test_places_that_are_none(text, message):
    with pytest.raises(InputError, match=message):
        read_places(text)


def test_every_step_begins_at_the_same_place():
    other = {"A": Point(100, 2, 255), "B": Point(2, 335, 0), "C": Point(30, 50, 9)}
    first, second = (chain("a.jpg", points, "<MAP>").answer for points in (POINTS, other))
    assert len(first) == len(second)
    fewer = chain("a.jpg", {letter: other[letter] for letter in "AB"}, "<MAP>").answer
    for words in ("<MAP>", "A=", "B="):
        assert first.index(words) == second.index(words) == fewer.index(words)
    for words in ("A=11 ", "E=-- ", "The depth"):
        assert first.index(words) == chain("a.jpg", {"A": POINTS["A"]}, "<MAP>").answer.index(words)
    alone = generation("a.jpg", "<MAP>").answer
    assert alone.index("<MAP>") == first.index("<MAP>")
    assert not read_places(alone)


def test_readings_stand_behind_places():
    text = f"{to_text(CODES)} A=1,2, B=3,4=50, B=5,6=60, C=7,8=9, D=1,2=1234, 11=E"
    assert read_readings(text) == {"B": 50 / 99}


def test_places_stand_before_the_map_or_behind_it():
    text = f"A=001,002\n{to_text(CODES)}\nB=003,004"
    assert read_places(text) == {"A": (1, 2), "B": (3, 4)}
    with pytest.raises(InputError, match="two places for A"):
        read_places(f"{text}\nA=005,006")


def test_records_there_and_back(tmp_path):
    records = [direct("a.jpg", POINTS), generation("b/ü.jpg", to_text(CODES))]
    write_llava(tmp_path / "a.json", records)
    assert read_llava(tmp_path / "a.json") == records
    first = json.loads((tmp_path / "a.json").read_text())[0]
    assert set(first) == {"id", "image", "conversations", "task"}
    assert first["conversations"][0]["value"].startswith("<image>\n")
    before = (tmp_path / "a.json").read_bytes()
    write_llava(tmp_path / "a.json", records)
    assert (tmp_path / "a.json").read_bytes() == before


def test_samples_of_other_tools(tmp_path):
    row = {
        "id": 1,
        "image": "x.jpg",
        "conversations": [{"value": "<image>\nHow many?"}, {"value": "3"}],
    }
    (tmp_path / "a.json").write_text(json.dumps([row]))
    assert read_llava(tmp_path / "a.json") == [Record("x.jpg", "How many?", "3", "direct")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("{}", "not a list"),
        ('[{"image": "a"}]', "sample 0 is not"),
        ('[{"image": "a", "conversations": [{"value": "q"}]}]', "sample 0 is not"),
        (
            '[{"image": "a", "task": "x", "conversations": [{"value": "q"}, {"value": "a"}]}]',
            "unknown",
        ),
        ("[" * 100_000, "is not JSON"),
    ],
)
def test_files_that_are_no_samples(tmp_path, text, message):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match=message):
        read_llava(tmp_path / "a.json")


def test_the_curriculum_is_the_papers():
    plan = Curriculum(20_000, 1_000, 20_000)
    atomic = [sum(kind for kind, _ in plan.epoch(k)) for k in range(10)]
    assert atomic == [20_000 - 2_000 * k for k in range(10)]
    everything = list(in_order(plan))
    assert len(everything) == len(plan) == 200_000
    assert sum(not kind for kind, _ in everything) == 90_000
    for number in range(10):
        kinds = [kind for kind, _ in plan.epoch(number)]
        assert kinds == sorted(kinds, reverse=True)
    often = Counter(k for kind, k in everything if not kind)
    assert set(often.values()) == {90}
    # Direct and chain of one picture are neighbors in the list and stay so.
    tail = [k for kind, k in plan.epoch(4) if not kind]
    assert all((b - a) % 1_000 == 1 for a, b in pairwise(tail))


def test_a_small_curriculum_repeats_and_is_the_same_again():
    plan = Curriculum(3, 2, 10, epochs=3, last=0.5)
    first = list(in_order(plan, seed=1))
    assert first == list(in_order(plan, seed=1))
    assert first != list(in_order(plan, seed=2))
    assert {k for kind, k in first if kind} == {0, 1, 2}
    assert Curriculum(3, 2, 10, epochs=1).share(0) == 1
    for bad in ({"atomic": 0}, {"epochs": 0}, {"last": 2.0}):
        with pytest.raises(InputError):
            Curriculum(**{"atomic": 1, "reasoning": 1, "size": 1, **bad})
