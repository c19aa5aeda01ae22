"""Naming all things, to count those of a kind."""

import pytest

from sightline.errors import InputError
from sightline.perception.questions.counting import (
    ASK_LIST,
    ENTRIES,
    kind_of,
    kinds_of,
    listing,
    listing_chain,
    read_listing,
    read_number,
)
from sightline.perception.tokens import extend
from sightline.perception.vlm.compact import train_tokenizer

CUP, LAMP, BALL = (0.1, 0.1, 0.3, 0.4), (0.35, 0.2, 0.5, 0.9), (0.6, 0.6, 0.7, 0.7)
SEEN = (CUP, LAMP, BALL)
KINDS = ("cup", "lamp", "cup")


def test_every_thing_has_an_entry_in_every_row():
    record = listing_chain("a.jpg", "cup", SEEN, KINDS)
    things, left, top, right, bottom, so_far, number = record.answer.splitlines()
    assert things == "Things: cups lamps cups" + "-" * 21
    assert left == "Left:<PIXEL_33><PIXEL_117><PIXEL_201>" + "-" * 21
    assert top.startswith("Top:<PIXEL_33><PIXEL_67>")
    assert right.startswith("Right:<PIXEL_100>")
    assert bottom.startswith("Bottom:<PIXEL_134>")
    assert so_far == "So far: one one" + " two" * 22
    assert number == "So the number of cups is 2"
    assert kind_of(record.question) == "cups"
    assert read_number(record.answer) == 2
    assert [kind for kind, _ in read_listing(record.answer)] == ["cups", "lamps", "cups"]
    assert read_listing(record.answer)[0][1] == (33, 33, 100, 134)


def test_all_rows_have_as_many_tokens():
    record = listing_chain("a.jpg", "cup", SEEN, KINDS)
    tokenizer = train_tokenizer([record.question, record.answer])
    extend(tokenizer, depth=True, pixels=True)
    counts = {len(tokenizer(row).input_ids) for row in record.answer.splitlines()[:5]}
    assert counts == {2 + ENTRIES}


def test_a_list_alone_is_about_no_kind():
    record = listing("a.jpg", SEEN, KINDS)
    rows = listing_chain("a.jpg", "cup", SEEN, KINDS).answer.splitlines()
    assert record.answer.splitlines() == rows[:5]
    assert kind_of(ASK_LIST) is None


def test_there_are_none_and_there_is_nothing():
    assert read_number(listing_chain("a.jpg", "ball", SEEN, KINDS).answer) == 0
    nothing = listing_chain("a.jpg", "cup", (), ()).answer
    assert nothing.splitlines()[0] == "Things:" + "-" * 24
    assert nothing.endswith("So the number of cups is 0")
    assert read_listing(nothing) == []
    assert read_listing("So the number of cups is 0") is None


def test_an_answer_that_was_cut_off_says_no_number():
    text = listing_chain("a.jpg", "cup", SEEN, KINDS).answer.rsplit("\n", 1)[0]
    assert read_number(text) is None
    assert len(read_listing(text)) == 3


def test_rows_that_do_not_quite_belong_together():
    text = listing_chain("a.jpg", "cup", SEEN, KINDS).answer
    cups = read_listing(text)
    shorter = read_listing(text.replace("<PIXEL_201>", "-", 1))
    assert shorter == cups[:2], "a row without its last entry costs the last thing"
    turned = read_listing(text.replace("Left:<PIXEL_33>", "Left:<PIXEL_300>"))
    assert turned[0] == ("cups", (100, 33, 300, 134))
    with pytest.raises(InputError, match="ends before their top sides"):
        read_listing("\n".join(text.splitlines()[:2]))
    with pytest.raises(InputError, match="from 0 to 335"):
        read_listing(text.replace("<PIXEL_201>", "<PIXEL_999>"))


def test_there_are_places_for_24_things():
    full = listing_chain("a.jpg", "cup", [CUP] * 24, ["cup"] * 24).answer
    assert len(read_listing(full)) == 24
    assert full.splitlines()[5].endswith(" nineteen twenty many many many many")
    with pytest.raises(InputError, match="25 things"):
        listing_chain("a.jpg", "cup", [CUP] * 25, ["cup"] * 25)


def test_things_are_those_that_overlap_most():
    near = (0.12, 0.1, 0.3, 0.42)
    assert kinds_of(SEEN, {"cup": [near], "ball": [BALL]}) == ["cup", "thing", "ball"]
    assert kinds_of([CUP, near], {"cup": [near]}) == ["thing", "cup"]
    assert kinds_of([CUP, near], {"cup": [near], "lamp": [CUP]}) == ["lamp", "cup"]
    assert kinds_of(SEEN, {"cup": [(0.2, 0.3, 0.4, 0.6)]}) == ["thing"] * 3
    assert kinds_of([], {"cup": [CUP]}) == []


def test_boxes_without_a_size_get_a_pixel():
    flat = listing_chain("a.jpg", "cup", [(0.5, 0.999, 0.5, 0.999)], ["cup"]).answer
    assert read_listing(flat) == [("cups", (168, 335, 169, 335))]
