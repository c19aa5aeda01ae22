"""Questions about how many."""

from collections import Counter

import pytest

from sightline.errors import InputError
from sightline.perception.questions.counting import (
    ASK_BOXES,
    Things,
    boxes_question,
    chain,
    direct,
    kind_of,
    kind_to_ask,
    plural,
    read_number,
)
from sightline.perception.tokens import boxes_from_text

CUPS = ((40, 10, 60, 30), (5, 5, 20, 25), (70, 60, 99, 99))
THINGS = Things(100, 100, {"cup": CUPS, "spoon": ((0, 0, 5, 50),)})


def test_the_kind_with_most_things_is_asked_about(rng):
    assert kind_to_ask(THINGS, ["lamp"], rng) == ("cup", 3)
    partial = Things(100, 100, THINGS.boxes, partial={"cup"})
    assert kind_to_ask(partial, ["lamp"], rng) == ("spoon", 1)
    crowd = Things(100, 100, {"ball": [(0, 0, 1, 1)] * 16})
    assert kind_to_ask(crowd, ["ball", "lamp"], rng) == ("lamp", 0)
    assert kind_to_ask(Things(9, 9, {"cup": ()}, partial={"cup"}), ["cup"], rng) is None
    two = Things(100, 100, {"a": [(0, 0, 1, 1)], "b": [(0, 0, 1, 1)]})
    assert set(Counter(kind_to_ask(two, [], rng)[0] for _ in range(40))) == {"a", "b"}


def test_answers_list_boxes_and_then_the_number(rng):
    record = chain("a.jpg", THINGS, "cup")
    assert len(boxes_from_text(record.answer)) == 3
    assert read_number(record.answer) == 3
    assert record.question.startswith("How many cups")
    assert direct("a.jpg", THINGS, "cup").answer == "3"
    boxes = boxes_question("a.jpg", THINGS, "cup", rng)
    assert boxes.answer in record.answer
    left = [box[0] for box in boxes_from_text(boxes.answer)]
    assert left == sorted(left)


def test_there_are_none(rng):
    record = chain("a.jpg", THINGS, "lamp")
    assert "There are no lamps" in record.answer
    assert read_number(record.answer) == len(boxes_from_text(record.answer)) == 0
    assert direct("a.jpg", THINGS, "lamp").answer == "0"
    asked = {boxes_question("a.jpg", THINGS, "lamp", rng).question for _ in range(60)}
    assert asked == {ask.format("lamps") for ask in ASK_BOXES}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("There are 12.", 12),
        ("Box 1: (<PIXEL_1><PIXEL_2><PIXEL_3><PIXEL_4>)\nSo the number of cups is 1", 1),
        ("Box 7: (<PIXEL_1><PIXEL_2><PIXEL_3><PIXEL_4>)", None),
        ("I see two cups", 2),
        ("none", 0),
        ("There are no cups.", 0),
        ("fifteen", 15),
        ("sixteen", 16),
        ("ninety-nine of them", 99),
        ("Thirty four", 34),
        ("forty", 40),
        ("someone", None),
        ("3.5", None),
        ("many", None),
        ("", None),
        ("2, no wait, 4", 4),
    ],
)
def test_numbers_are_read_exactly(text, number):
    assert read_number(text) == number


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many cups are in this picture?", "cups"),
        ("how many wine  glasses can you see", "wine glasses"),
        ("Count the red balls.", "red balls"),
        ("What is the number of chairs in the room?", "chairs"),
        ("Which one is nearest to the camera?", None),
        ("Write the depth map of this picture in depth tokens.", None),
    ],
)
def test_what_is_counted_is_read_from_the_question(question, kind):
    assert kind_of(question) == kind


def test_broken_boxes_are_not_counted():
    with pytest.raises(InputError):
        boxes_from_text("<PIXEL_1><PIXEL_2>")


@pytest.mark.parametrize(
    ("one", "many"),
    [
        ("cup", "cups"),
        ("Cherry", "Cherries"),
        ("toy", "toys"),
        ("wine glass", "wine glasses"),
        ("torch", "torches"),
        ("policeman", "policemen"),
        ("human", "humans"),
        ("bookshelf", "bookshelves"),
        ("shelf", "shelves"),
        ("sheep", "sheep"),
        ("potato", "potatoes"),
        ("piece of cake", "pieces of cake"),
        ("bow (weapon)", "bows (weapon)"),
        ("person", "people"),
    ],
)
def test_plurals(one, many):
    assert plural(one) == many
