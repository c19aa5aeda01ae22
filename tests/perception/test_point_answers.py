"""Answers about points on maps whose order is known."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.api import measure
from sightline.perception import question_answering
from sightline.perception.figures import draw_reply, format_reply
from sightline.perception.point_answers import (
    answer_by_map,
    answer_by_meters,
    answer_by_place,
    value_sigmas,
)
from sightline.perception.question_answering import ask
from sightline.perception.questions.points import ALPHABET, parse_point_question
from sightline.perception.tokens import to_text
from sightline.types import Camera, DepthMap, Kind

#: Near on the left, in steps of a tenth.
MAP = np.repeat(np.linspace(0.95, 0.05, 10, dtype=np.float32), 32)[None].repeat(320, 0)
CODES = np.arange(100).reshape(10, 10)
#: In the middle of columns 5, 1, 9 and 3 of ten, from far to near D < …: B is nearest, then D, A, C.
PLACES = {"A": (185.0, 50.0), "B": (50.0, 118.0), "C": (319.0, 185.0), "D": (118.0, 252.0)}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("which is nearest?", "B"),
        ("which is second nearest?", "D"),
        ("which is third nearest?", "A"),
        ("which is farthest?", "C"),
        ("which is second farthest?", "A"),
        ("which of A and C is nearer?", "A"),
        ("order the points from nearest to farthest", "B, D, A, C"),
        ("order the points from far to near", "C, A, D, B"),
        ("sort A, B and C by depth", "B, A, C"),
        ("is A in front of B?", "no"),
        ("is B in front of A?", "yes"),
        ("is A behind B?", "yes"),
        ("is A in front of or behind B?", "behind"),
        ("is B the nearest?", "yes"),
        ("is A the nearest?", "no"),
        ("is D the second nearest?", "yes"),
        ("is A the second nearest?", "no"),
        ("which points are in front of A?", "B, D"),
        ("what is behind C?", "none"),
        ("which point is between B and A?", "D"),
        ("is A between B and C?", "yes"),
        ("is B between A and C?", "no"),
        ("are A and B at the same distance?", "no"),
        ("which is leftmost?", "B"),
        ("which is rightmost?", "C"),
        ("is A left of B?", "no"),
        ("is A right of B?", "yes"),
        ("is A left or right of B?", "right of"),
        ("which is highest?", "A"),
        ("is A above B?", "yes"),
        ("is A below B?", "no"),
        ("order the points from left to right", "B, D, A, C"),
        ("order the points from top to bottom", "A, B, C, D"),
        ("which points are to the left of A?", "B, D"),
    ],
)
def test_answers(text, answer):
    question = parse_point_question(text, 4)
    if question.in_depth:
        found = answer_by_map(question, MAP, CODES, PLACES)
        assert found.used[0].startswith("the 100 depth tokens")
    else:
        found = answer_by_place(question, PLACES)
        assert found.used[0] == "the given coordinates; no tokens"
    assert found.answer == answer
    assert not found.statement.startswith("Cannot")


def test_an_answer_names_the_tokens_and_values_it_used():
    found = answer_by_map(parse_point_question("is A in front of B?", 4), MAP, CODES, PLACES)
    assert found.used[1:] == (
        "A: <DEPTH_15> (row 2, column 6), value 0.45 ± 0.02",
        "B: <DEPTH_31> (row 4, column 2), value 0.85 ± 0.02",
    )


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ("are A and B at the same distance?", "yes"),
        ("is A in front of B?", "no"),
        ("which is nearest?", "B"),
        ("which is second nearest?", "A"),
        ("order the points from near to far", "B, A, C"),
        ("which points are behind B?", "A, C"),
        ("is C between A and B?", None),
    ],
)
def test_what_the_map_cannot_tell(text, guess):
    decoded = MAP.copy()
    decoded[:, 160:] = 0.10
    decoded[:, :96], decoded[:, 96:160] = 0.50, 0.54
    places = {"A": (50.0, 50.0), "B": (118.0, 118.0), "C": (300.0, 185.0)}
    found = answer_by_map(parse_point_question(text, 3), decoded, CODES, places)
    if guess is None:  # C is far behind both
        assert found.answer == "no"
        return
    assert found.answer is None
    assert found.guess == guess
    assert found.statement.startswith("Cannot tell: A and B differ by 0.04, less than the uncert")
    far = answer_by_map(parse_point_question("which is farthest?", 3), decoded, CODES, places)
    assert far.answer == "C"


def test_an_even_number_has_no_middle_and_an_odd_one_has():
    assert (
        answer_by_map(parse_point_question("which is in the middle?", 4), MAP, CODES, PLACES).answer
        is None
    )
    three = {letter: PLACES[letter] for letter in "ABC"}
    found = answer_by_map(parse_point_question("which is in the middle?", 3), MAP, CODES, three)
    assert found.answer == "A"


def test_a_point_at_an_outline_is_less_certain():
    sigmas = value_sigmas(MAP, {"A": (168.0, 50.0), "B": (185.0, 50.0)})
    assert sigmas["A"][1] > 1.5 * sigmas["B"][1]


def test_equal_coordinates():
    found = answer_by_place(parse_point_question("is A left of B?", 2), {"A": (5, 1), "B": (5, 9)})
    assert found.statement == "Cannot tell: A and B are at the same coordinate."


def wall(depth=4.0):
    camera = Camera.from_focal(100.0, 201, 101)
    values = np.full((101, 201), depth, np.float32)
    return DepthMap(values, Kind.METRIC_DEPTH, camera=camera, sigma=0.05 * values)


@pytest.mark.parametrize(
    ("text", "start", "statement"),
    [
        ("how far is A?", "4.", "from the camera"),
        ("how far apart are A and B?", "4.0", "apart"),
        ("how much closer is A than B?", "-1.1", "A is not nearer than B but 1.1"),
        ("how much farther away is A than B?", "1.1", "A is 1.1"),
    ],
)
def test_how_far(text, start, statement):
    points = {"A": (150.0, 50.0), "B": (50.0, 50.0)}
    if text.startswith("how much"):
        points["A"] = (199.0, 50.0)  # farther than B: at the edge of the wall
    found = answer_by_meters(parse_point_question(text, 2), points, partial(measure, wall()))
    assert found.answer.startswith(start)
    assert " ± " in found.answer
    assert found.answer.endswith(" m")
    assert statement in found.statement
    assert found.used[0] == "metric depth of the picture; no tokens"


def test_how_far_without_meters_is_said_plainly():
    question = parse_point_question("how far is A?", 1)
    found = answer_by_meters(question, {"A": (1.0, 1.0)}, None)
    assert found.answer is None
    assert found.statement.startswith("Cannot tell: depth tokens have no unit")


def test_a_single_point_at_the_edge_is_measured():
    question = parse_point_question("how far is A?", 1)
    assert answer_by_meters(question, {"A": (0.0, 0.0)}, partial(measure, wall())).answer

    def no_depth(start, end):
        raise InputError("there is no depth at 0,0")

    found = answer_by_meters(question, {"A": (0.0, 0.0)}, no_depth)
    assert found.statement == "Cannot tell: there is no depth at 0,0."


class Codebook:
    sha256 = "ab" * 32

    def from_text(self, text):
        return MAP


@pytest.fixture
def model(monkeypatch):
    """A model that writes the map, whatever it is asked."""
    asked = []

    def generate(vlm, pixels, question, **settings):
        asked.append(question)
        return to_text(CODES)

    monkeypatch.setattr(question_answering, "generate_answer", generate)
    return SimpleNamespace(
        vocabulary=SimpleNamespace(codes=(1,)), check_codebook=lambda checksum: "", asked=asked
    )


def test_second_nearest_is_never_answered_as_nearest(model):
    pixels = np.zeros((336, 672, 3), np.uint8)
    points = {letter: (2 * x, y) for letter, (x, y) in PLACES.items()}
    reply = ask(pixels, "Which point is second nearest?", points, model=model, codebook=Codebook())
    assert reply.final == "D"
    lines = format_reply(reply)
    assert lines[-1] == "Answer: D"
    assert "D is the second nearest of A, B, C, D." in lines
    assert any(line.startswith("Used: D: <DEPTH_73>") for line in lines)
    assert not any("Words" in line for line in lines)
    found = reply.to_dict()
    assert (found["asked"], found["answer"], found["guess"]) == ("points", "D", None)
    assert found["used"][0] == "the 100 depth tokens of the map it wrote"
    assert draw_reply(reply, pixels).shape[1] == 2 * 672 + 8


def test_twenty_six_points(model):
    pixels = np.zeros((336, 336, 3), np.uint8)
    points = {letter: (12.0 * k + 10, 5.0 + k) for k, letter in enumerate(ALPHABET)}
    reply = ask(pixels, "is Z behind A?", points, model=model, codebook=Codebook())
    assert reply.final == "yes"
    nearest = ask(pixels, "which is nearest?", points, model=model, codebook=Codebook())
    assert nearest.final is None  # neighbors are in one cell
    assert format_reply(nearest)[-1] == "No answer. Likeliest: A."


def test_coordinates_and_meters_need_no_model():
    pixels = np.zeros((101, 201, 3), np.uint8)
    points = {"A": (20.0, 20.0), "B": (150.0, 90.0)}
    reply = ask(pixels, "is A left of B?", points, model=None, codebook=None)
    assert reply.final == "yes"
    assert not any("depth map" in line for line in format_reply(reply))
    reply = ask(pixels, "how far is B?", points, model=None, measure=partial(measure, wall()))
    assert reply.final.endswith(" m")
    assert draw_reply(reply, pixels).shape[2] == 3
