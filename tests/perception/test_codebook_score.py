"""Figures of a codebook."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.intervals import wilson
from sightline.perception.codebook import values_at
from sightline.perception.codebook_training import reads_right, score_codebook
from sightline.perception.evaluation import Proportion
from sightline.perception.questions.hardblink import SIDE, Point
from sightline.perception.questions.sets import DepthImage


def slope(name="slope"):
    values = np.linspace(1, 255, SIDE).astype(np.uint8)[None].repeat(SIDE, 0)
    return DepthImage(
        name, np.zeros((SIDE, SIDE, 3), np.uint8), values, np.ones((SIDE, SIDE), bool)
    )


class Perfect:
    """Keeps the maps themselves, by number."""

    def __init__(self):
        self.maps = []

    def encode(self, shown):
        self.maps.append(shown)
        return np.full((10, 10), len(self.maps) - 1)

    def decode(self, codes):
        return self.maps[int(codes[0, 0])].astype(np.float32) / 255


def test_a_perfect_codebook_makes_no_error():
    perfect = Perfect()
    found = score_codebook(perfect.encode, perfect.decode, [slope(str(k)) for k in range(8)])
    assert found.error == pytest.approx(0, abs=1e-6)
    assert found.alive == pytest.approx(8 / 128)
    assert found.pictures == 8
    assert {count: share.value for count, share in found.order.items()} == dict.fromkeys(
        (2, 3, 4, 5), 1.0
    )


def test_one_that_turns_depth_round_is_always_wrong():
    perfect = Perfect()
    found = score_codebook(perfect.encode, lambda codes: 1 - perfect.decode(codes), [slope()])
    assert found.order[2].right == 0
    assert found.error > 0.2


def test_equal_values_are_wrong():
    points = {"A": Point(10, 10, 200), "B": Point(300, 10, 100)}
    assert not reads_right(np.zeros((320, 320), np.float32), points)
    assert reads_right(np.linspace(1, 0, 320, dtype=np.float32)[None].repeat(320, 0), points)


def test_places_are_those_of_the_squashed_picture():
    decoded = np.arange(320 * 320, dtype=np.float32).reshape(320, 320)
    found = values_at(decoded, {"A": (0, 0), "B": (335, 335), "C": (168, 0)})
    assert found == {"A": 0, "B": 320 * 320 - 1, "C": 160}


def test_no_pictures():
    with pytest.raises(InputError, match="no picture"):
        score_codebook(lambda _: np.zeros((10, 10), np.int64), lambda _: np.zeros((320, 320)), [])


def test_wilson():
    # Wikipedia's worked example is Newcombe's: 81 of 263.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-4)
    assert wilson(0, 10)[0] == 0
    assert wilson(10, 10)[1] == 1
    assert 0 < wilson(10, 10)[0] < 1
    assert Proportion(3, 4).interval == wilson(3, 4)
    for wrong in ((1, 0), (5, 4), (-1, 3)):
        with pytest.raises(InputError, match="no share"):
            wilson(*wrong)
