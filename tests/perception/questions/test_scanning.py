"""Going through all things, to count those of a kind."""

import re

import pytest

from sightline.errors import InputError
from sightline.perception.questions.counting import read_number
from sightline.perception.questions.scanning import NAMES, chain, listing, of_kind
from sightline.perception.vocabulary import boxes_from_text

CUP, LAMP, BALL = (0.1, 0.1, 0.3, 0.4), (0.35, 0.2, 0.5, 0.9), (0.6, 0.6, 0.7, 0.7)
SEEN = (CUP, LAMP, BALL)


def test_every_thing_has_a_line_and_the_last_says_how_many():
    record = chain("a.jpg", "cup", SEEN, [True, False, True])
    first, second, third, end, number = record.answer.splitlines()
    assert first == "a cups=<PIXEL_33><PIXEL_33><PIXEL_100><PIXEL_134> 1"
    assert second == "b cups=- 1"
    assert third.startswith("c cups=<PIXEL_201>")
    assert third.endswith(" 2")
    assert end == "d cups=. 2"
    assert number == "So the number of cups is 2"
    assert record.question.startswith("How many cups")
    assert read_number(record.answer) == len(boxes_from_text(record.answer)) == 2
    assert (
        listing("a.jpg", "cup", SEEN, [True, False, True]).answer
        == record.answer.rsplit("\n", 1)[0]
    )


def test_there_are_none_and_there_is_nothing():
    assert read_number(chain("a.jpg", "cup", SEEN, [False] * 3).answer) == 0
    nothing = chain("a.jpg", "cup", (), ())
    assert nothing.answer == "a cups=. 0\nSo the number of cups is 0"


def test_an_answer_that_was_cut_off_says_no_number():
    text = chain("a.jpg", "cup", SEEN, [True] * 3).answer.rsplit("\n", 1)[0]
    assert read_number(text) is None
    assert len(boxes_from_text(text)) == 3


def test_there_are_names_for_24_things():
    full = chain("a.jpg", "cup", [CUP] * 24, [True] * 24).answer.splitlines()
    assert full[-2].startswith(f"{NAMES[-1]} cups=<PIXEL")
    assert len({re.match("[a-z] ", row)[0] for row in full[:-1]}) == 24
    with pytest.raises(InputError, match="25 things"):
        chain("a.jpg", "cup", [CUP] * 25, [True] * 25)


def test_things_are_those_that_overlap_most():
    near = (0.12, 0.1, 0.3, 0.42)
    assert of_kind(SEEN, [near]) == [True, False, False]
    assert of_kind([CUP, near], [near]) == [False, True]
    assert of_kind([CUP, near], [near, CUP]) == [True, True]
    assert of_kind(SEEN, [(0.2, 0.3, 0.4, 0.6)]) == [False] * 3
    assert of_kind([], [CUP]) == []
    assert of_kind(SEEN, []) == [False] * 3


def test_boxes_without_a_size_get_a_pixel():
    flat = chain("a.jpg", "cup", [(0.5, 0.999, 0.5, 0.999)], [True]).answer
    assert boxes_from_text(flat) == [(168, 335, 169, 335)]
