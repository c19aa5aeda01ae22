"""Naming all things, to count those of a kind."""

import pytest

from sightline.errors import InputError
from sightline.perception.questions.counting import kind_of, read_number
from sightline.perception.questions.scanning import (
    ASK_LIST,
    NAMES,
    chain,
    kinds_of,
    listing,
    read_listing,
)

CUP, LAMP, BALL = (0.1, 0.1, 0.3, 0.4), (0.35, 0.2, 0.5, 0.9), (0.6, 0.6, 0.7, 0.7)
SEEN = (CUP, LAMP, BALL)
KINDS = ("cup", "lamp", "cup")


def test_every_thing_has_a_line_and_the_last_says_how_many():
    record = chain("a.jpg", "cup", SEEN, KINDS)
    first, second, third, end, number = record.answer.splitlines()
    assert first == "a cups=<PIXEL_33><PIXEL_33><PIXEL_100><PIXEL_134> 1"
    assert second.startswith("b lamps=<PIXEL_117>")
    assert second.endswith(" 1")
    assert third.startswith("c cups=<PIXEL_201>")
    assert third.endswith(" 2")
    assert end == "d=. 2"
    assert number == "So the number of cups is 2"
    assert kind_of(record.question) == "cups"
    assert read_number(record.answer) == 2
    assert [kind for kind, _ in read_listing(record.answer)] == ["cups", "lamps", "cups"]
    assert read_listing(record.answer)[0][1] == (33, 33, 100, 134)


def test_a_list_alone_is_about_no_kind():
    record = listing("a.jpg", SEEN, KINDS)
    rows = chain("a.jpg", "cup", SEEN, KINDS).answer.splitlines()[:-1]
    assert record.answer.splitlines() == [row.rsplit(" ", 1)[0] for row in rows]
    assert kind_of(ASK_LIST) is None


def test_there_are_none_and_there_is_nothing():
    assert read_number(chain("a.jpg", "ball", SEEN, KINDS).answer) == 0
    nothing = chain("a.jpg", "cup", (), ()).answer
    assert nothing == "a=. 0\nSo the number of cups is 0"
    assert read_listing(nothing) == []
    assert read_listing("So the number of cups is 0") is None


def test_an_answer_that_was_cut_off_says_no_number():
    text = chain("a.jpg", "cup", SEEN, KINDS).answer.rsplit("\n", 1)[0]
    assert read_number(text) is None
    assert len(read_listing(text)) == 3


def test_there_are_letters_for_24_things():
    full = chain("a.jpg", "cup", [CUP] * 24, ["cup"] * 24).answer
    assert len(read_listing(full)) == 24
    assert full.splitlines()[-2].startswith(f"{NAMES[-1]} cups=")
    with pytest.raises(InputError, match="25 things"):
        chain("a.jpg", "cup", [CUP] * 25, ["cup"] * 25)


def test_things_are_those_that_overlap_most():
    near = (0.12, 0.1, 0.3, 0.42)
    assert kinds_of(SEEN, {"cup": [near], "ball": [BALL]}) == ["cup", "thing", "ball"]
    assert kinds_of([CUP, near], {"cup": [near]}) == ["thing", "cup"]
    assert kinds_of([CUP, near], {"cup": [near], "lamp": [CUP]}) == ["lamp", "cup"]
    assert kinds_of(SEEN, {"cup": [(0.2, 0.3, 0.4, 0.6)]}) == ["thing"] * 3
    assert kinds_of([], {"cup": [CUP]}) == []


def test_boxes_without_a_size_get_a_pixel():
    flat = chain("a.jpg", "cup", [(0.5, 0.999, 0.5, 0.999)], ["cup"]).answer
    assert read_listing(flat) == [("cups", (168, 335, 169, 335))]
    with pytest.raises(InputError):
        read_listing("a cups=<PIXEL_1><PIXEL_2> 1")
