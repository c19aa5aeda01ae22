"""Sentences follow from a world's parameters, say all of them, and are read word by word."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.video_model.conditioning import MOST_WORDS, VOCABULARY, Fact, sentence, word_numbers
from sightline.video_model.data import Mixture, Pick, open_videos


def test_each_world_has_its_sentence():
    ball = "a red ball of radius 1.20"
    assert sentence(Fact("uniform", np.array([1.2, 2.5]))).startswith(f"{ball} moves to the right")
    thrown = sentence(Fact("parabola", np.array([1.2, 2.5])))
    assert thrown == f"{ball} is thrown to the right at 2.50 units per second and falls"
    meeting = sentence(Fact("collision", np.array([0.7, 1.4, 3.0, 1.25])))
    assert meeting == (
        "a ball of radius 0.70 moves to the right at 3.00 units per second ; "
        "a ball of radius 1.40 moves to the left at 1.25 units per second ; they meet"
    )
    square = sentence(Fact("uniform", np.array([1.0, 1.0, 1.0, 1.0])))
    assert square.startswith("a blue square of radius 1.00")


def test_mirrored_videos_go_the_other_way():
    videos = Mixture([open_videos("collision", 32, count=2)])
    plain, mirrored = (sentence(videos.fact(Pick(0, 1, mirror))) for mirror in (False, True))
    assert plain.count("right") == plain.count("left") == 1
    assert plain.index("right") < plain.index("left")
    assert mirrored.index("left") < mirrored.index("right")
    swapped = mirrored.replace("left", "x").replace("right", "left").replace("x", "right")
    assert swapped == plain


@given(*[st.floats(-9.99, 9.99) for _ in range(4)])
def test_every_word_is_known_and_there_is_room(a, b, c, d):
    for fact in (
        Fact("uniform", np.array([abs(a), b])),
        Fact("collision", np.array([abs(a), abs(b), c, d])),
    ):
        numbers = word_numbers(sentence(fact))
        assert len(numbers) <= MOST_WORDS
        assert "".join(VOCABULARY[n] for n in numbers) == sentence(fact).replace(" ", "")
        assert 0 not in numbers


def test_what_cannot_be_said_is_refused():
    with pytest.raises(InputError, match="no sentence for videos of gate with 3 parameters"):
        sentence(Fact("gate", np.zeros(3)))
    with pytest.raises(InputError, match="unknown are"):
        word_numbers("a purple ball")
