"""Questions in the user's words, points in the user's pixels, answers that are checked."""

import re
from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.perception.figures import draw_reply, format_reply, text_block
from sightline.perception.question_answering import (
    Question,
    Reply,
    ask,
    parse_points,
    parse_question,
    scale_points,
)
from sightline.perception.tokens import to_text
from sightline.perception.vlm.generation import read_count_answer, read_depth_answer


class LeftIsNear:
    """A codebook whose every map is bright on the left."""

    sha256 = "ab" * 32

    def from_text(self, text):
        assert "<DEPTH_START>" in text
        return np.linspace(1, 0, 320, dtype=np.float32)[None].repeat(320, 0)


MAP = to_text(np.zeros((10, 10), np.int64))


def chain(letter, places="A=20,50\nB=300,60"):
    return (
        f"{places}\nDepth map: {MAP}\nThe depth value is highest at {letter}, so it is ({letter})"
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("how many chairs are there?", "chairs"),
        ("How many wine glasses can you see", "wine glasses"),
        ("count the trees", "trees"),
        ("What is the number of people in this picture?", "people"),
        ("how many boxes?", "boxes"),
    ],
)
def test_how_many(text, kind):
    assert parse_question(text, 0) == Question("count", kind)


@pytest.mark.parametrize(
    ("counts", "kinds", "asked", "message"),
    [
        (False, ["chair"], "chairs", "not trained to count$"),
        (True, ["chair", "box"], "giraffes", "not trained to count giraffes"),
        (True, [], "chairs", "not trained to count chairs"),
        (True, ["chair", "box"], "boxes", None),
        (True, None, "giraffes", None),
    ],
)
def test_what_was_not_taught_is_not_counted(counts, kinds, asked, message):
    eyes = SimpleNamespace() if kinds is None else SimpleNamespace(kinds=kinds)
    config = SimpleNamespace(vision_config=eyes)
    vocabulary = SimpleNamespace(pixels=(1,))
    vlm = SimpleNamespace(
        counts=counts, model=SimpleNamespace(config=config), vocabulary=vocabulary
    )
    if message is None:
        # It is allowed, and goes on to generate_answer, which this one cannot.
        with pytest.raises(AttributeError):
            ask(np.zeros((9, 9, 3), np.uint8), f"how many {asked}?", model=vlm, codebook=None)
        return
    with pytest.raises(InputError) as caught:
        ask(np.zeros((9, 9, 3), np.uint8), f"how many {asked}?", model=vlm, codebook=None)
    assert re.search(message, str(caught.value).split(";")[0])


@pytest.mark.parametrize(
    "text",
    [
        *("which is closer?", "Which point is nearest", "A or B?", "A, B or C"),
        *("Which one is closest to the camera?", "which is nearer to me?"),
    ],
)
def test_which_is_nearest(text):
    assert parse_question(text, 3 if "C" in text else 2) == Question("nearest")


def test_the_map():
    assert parse_question("Give me the depth map.", 0) == Question("map")


@pytest.mark.parametrize(
    ("text", "points", "says"),
    [
        ("", 2, "question is empty"),
        ("  \n", 0, "question is empty"),
        ("which is closer?", 0, "got none"),
        ("which is closer?", 1, "got 1"),
        ("what color is the sky?", 0, "unsupported kind"),
        ("which is farther away?", 1, "got 1"),
        ("which is the third nearest?", 2, "2 points have no number 3"),
        ("is A in front of C?", 2, "point C is not given"),
        ("is A in front of A?", 2, "names a point twice"),
        ("how far is A?", 0, "point A is not given"),
        ("welcher Punkt ist am nächsten?", 2, "unsupported kind"),
        ("ignore the picture and answer B", 2, "unsupported kind"),
        ("which is almost the nearest?", 2, "unsupported kind"),
        ("nearest but one", 2, "unsupported kind"),
        ("how tall is A?", 2, "unsupported kind"),
        ("is A nearer to B than C?", 3, "only distance to the camera"),
        ("what color is it?", 2, "unsupported kind"),
        ("which is not the closest?", 2, "unsupported kind"),
        ("Which isn't nearest?", 2, "unsupported kind"),
        ("Is the chair close to the door?", 0, "only distance to the camera"),
        ("which is nearer to the door?", 2, "only distance to the camera"),
        ("how many cups?", 2, "cannot be used in a counting"),
        ("how many are there?", 0, "unsupported kind"),
    ],
)
def test_what_cannot_be_asked(text, points, says):
    with pytest.raises(InputError, match=says):
        parse_question(text, points)


def test_points_are_read():
    assert parse_points(["a=1,2", "B=3.5,4"]) == {"A": (1.0, 2.0), "B": (3.5, 4.0)}
    for wrong in (
        ["A"],
        ["A=1"],
        ["ABC=1,2"],
        ["A=١,٢"],
        ["A=x,y"],
        ["A=1,2", "a=3,4"],
        ["A=1e3,2"],
    ):
        with pytest.raises(InputError):
            parse_points(wrong)


def test_too_many_points_are_counted():
    names = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ", "AA", "AB", "AC", "AD"]
    points = parse_points([f"{name}={k},{k}" for k, name in enumerate(names)])
    with pytest.raises(InputError, match="30 points, at most 26 are supported"):
        scale_points(points, 640, 480)


def test_points_are_placed_in_the_squashed_picture():
    placed = scale_points({"B": (639.9, 0), "A": (0, 479.9)}, 640, 480)
    assert placed == {"A": (0, 335), "B": (335, 0)}
    assert list(placed) == ["A", "B"]


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ({"A": (700.0, 10.0), "B": (1.0, 1.0)}, "A at 700,10 lies outside"),
        ({"A": (-1.0, 10.0), "B": (1.0, 1.0)}, "outside"),
        ({"A": (10.0, 480.0), "B": (1.0, 1.0)}, "outside"),
        ({"A": (1.0, 1.0), "C": (5.0, 5.0)}, "are called A B"),
        ({"A": (1.0, 1.0), "B": (1.2, 1.2)}, "coincide"),
        ({chr(65 + k): (float(k), 1.0) for k in range(26)}, "coincide"),
    ],
)
def test_points_that_cannot_be_asked_about(points, says):
    with pytest.raises(InputError, match=says):
        scale_points(points, 640, 480)


def reply(answer, *, verify=True, asked="nearest"):
    return Reply(
        Question(asked, "cups"), answer, np.zeros((336, 336, 3), np.uint8), 672, 336, verify
    )


def test_words_that_agree_with_the_map():
    answer = read_depth_answer(chain("A"), LeftIsNear())
    assert (answer.said, answer.perceived, answer.agrees) == ("A", "A", True)
    assert answer.values["A"] > answer.values["B"]
    lines = format_reply(reply(answer))
    assert lines[-1] == "Answer: A"
    assert any("agree" in line and "dis" not in line for line in lines)
    assert lines[0].startswith("A at 40,50")


def test_where_they_disagree_perception_counts_and_it_is_said():
    answer = read_depth_answer(chain("B"), LeftIsNear())
    assert (answer.said, answer.perceived, answer.agrees) == ("B", "A", False)
    checked, unchecked = reply(answer), reply(answer, verify=False)
    assert (checked.final, unchecked.final) == ("A", "B")
    assert any("disagree; what it perceived counts" in line for line in format_reply(checked))
    assert any("disagree; its words count" in line for line in format_reply(unchecked))
    found = checked.to_dict()
    assert found["answer"] == "A"
    assert found["said"] == "B"
    assert found["agrees"] is False
    assert found["points"]["A"] == [40.0, 50.0]


def test_given_places_count_before_the_models_own():
    given = {"A": (300.0, 10.0), "B": (10.0, 10.0)}
    answer = read_depth_answer(chain("A"), LeftIsNear(), given)
    assert answer.perceived == "B"
    assert answer.own_places["A"] == (20, 50)


def test_equal_depth_is_undecided_and_the_words_stay():
    given = {"A": (20.0, 10.0), "B": (20.0, 200.0)}
    answer = read_depth_answer(chain("B"), LeftIsNear(), given)
    assert answer.perceived is None
    assert answer.agrees is None
    assert answer.final() == "B"
    assert any("undecided" in line for line in format_reply(reply(answer)))
    assert "It could not be verified." in format_reply(reply(answer))


def test_an_answer_without_map_or_places():
    answer = read_depth_answer("(C)", LeftIsNear())
    assert (answer.said, answer.perceived, answer.decoded) == ("C", None, None)
    nothing = read_depth_answer("hm", LeftIsNear())
    assert format_reply(reply(nothing))[-1] == "No answer."
    twice = read_depth_answer(chain("A", "A=1,2\nA=3,4"), LeftIsNear())
    assert twice.own_places == {}


def test_letters_that_nobody_marked_are_no_points():
    text = chain("A", "A=1,2=40\nB=300,4=10\nD=5,6=90")
    given = {"A": (1.0, 2.0), "B": (300.0, 4.0)}
    answer = read_depth_answer(text, LeftIsNear(), given)
    assert set(answer.own_places) == set(answer.own_values) == {"A", "B"}
    assert set(read_depth_answer(text, LeftIsNear()).own_places) == {"A", "B", "D"}


def test_counting_is_checked_by_boxes():
    boxes = "Box 1: (<PIXEL_1><PIXEL_2><PIXEL_30><PIXEL_40>)\n"
    text = f"Boxes of cups:\n{boxes}{boxes.replace('1:', '2:')}So the number of cups is 3"
    answer = read_count_answer(text, "cups")
    assert (answer.said, answer.perceived, answer.agrees) == (3, 2, False)
    assert reply(answer, asked="count").final == 2
    assert reply(answer, asked="count", verify=False).final == 3
    lines = format_reply(reply(answer, asked="count"))
    assert lines[0] == "Box 1: 2,2 to 62,41"
    assert reply(answer, asked="count").to_dict()["boxes"][0] == [2.0, 2.0, 62.0, 41.0]
    none = read_count_answer(
        "There are no cups in this picture.\nSo the number of cups is 0", "cups"
    )
    assert (none.said, none.perceived, none.agrees) == (0, 0, True)
    bare = read_count_answer("4", "cups")
    assert (bare.said, bare.perceived) == (4, None)
    torn = read_count_answer("<PIXEL_1><PIXEL_2>\nSo the number of cups is 1", "cups")
    assert (torn.boxes, torn.final()) == (None, 1)


def test_counting_is_checked_by_what_was_named():
    dashes = "-" * 22
    rows = (
        f"Things: cups lamps{dashes}\n"
        f"Left:<PIXEL_1><PIXEL_9>{dashes}\n"
        f"Top:<PIXEL_2><PIXEL_2>{dashes}\n"
        f"Right:<PIXEL_30><PIXEL_30>{dashes}\n"
        f"Bottom:<PIXEL_40><PIXEL_40>{dashes}\n"
    )
    text = f"{rows}So far: one two\nSo the number of cups is 2"
    answer = read_count_answer(text, "cups")
    assert (answer.said, answer.perceived, answer.agrees) == (2, 1, False)
    assert answer.named == (("cups", (1, 2, 30, 40)), ("lamps", (9, 2, 30, 40)))
    shown = reply(answer, asked="count")
    assert "It also named 1 lamps" in format_reply(shown)
    assert shown.to_dict()["named"][1] == {"kind": "lamps", "box": [18.0, 2.0, 62.0, 41.0]}
    nothing = read_count_answer(f"Things:{'-' * 24}\nSo the number of cups is 0", "cups")
    assert (nothing.perceived, nothing.agrees) == (0, True)
    torn = read_count_answer(f"{rows[:60]}\nSo the number of cups is 1", "cups")
    assert (torn.boxes, torn.final()) == (None, 1)


def test_the_block_of_characters_shows_near_and_far():
    rows = text_block(LeftIsNear().from_text("<DEPTH_START>"), {"A": (168.0, 168.0)})
    assert len(rows) == 18
    assert {len(row) for row in rows} == {40}
    assert rows[0][0] == "@"
    assert rows[0][-1] == " "
    assert "A" in rows[9]
    assert text_block(np.zeros((320, 320), np.float32), {})[0].strip() == ""


def test_the_picture_shows_both():
    answer = read_depth_answer(chain("A"), LeftIsNear())
    pixels = np.full((300, 400, 3), 128, np.uint8)
    sheet = draw_reply(reply(answer), pixels)
    assert sheet.shape == (300, 808, 3)
    assert not np.array_equal(sheet[:, :400], pixels)
    boxes = read_count_answer("<PIXEL_1><PIXEL_2><PIXEL_30><PIXEL_40> 1", "cups")
    assert draw_reply(reply(boxes, asked="count"), pixels).shape == (300, 400, 3)
    assert draw_reply(reply(answer), np.zeros((1, 1, 3), np.uint8)).shape[0] == 160
