"""Points obey their rule, letters are fair, rings are where the points are."""

from collections import Counter

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.perception.questions.hardblink import (
    HARD,
    HARD_BANDS,
    HARDER,
    SIDE,
    TRAINED,
    MarkerRule,
    Point,
    draw_points,
    letter_points,
    nearest_letter,
    place_points,
    squash,
)


def slope():
    """Near on the right, with a little of everything from top to bottom."""
    row, column = np.mgrid[:SIDE, :SIDE]
    return ((column * 200 + row * 55) / (SIDE - 1)).astype(np.uint8)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
@pytest.mark.parametrize("rule", [TRAINED, HARD, HARDER], ids=["trained", "hard", "harder"])
def test_points_obey_the_rule(rng, rule, count):
    values = slope()
    for _ in range(20):
        points = place_points(values, count, rng, rule)
        assert len(points) == count
        where = np.array([(p.x, p.y) for p in points])
        depth = np.array([p.value for p in points])
        np.testing.assert_array_equal(values[where[:, 1], where[:, 0]], depth)
        pairs = np.triu_indices(count, 1)
        away = np.linalg.norm(where[pairs[0]] - where[pairs[1]], axis=1)
        assert away.min() >= rule.apart
        assert np.abs(depth[pairs[0]] - depth[pairs[1]]).min() >= rule.gap
        nearest, second = np.sort(depth)[::-1][:2]
        assert nearest - second <= rule.most_gap
        low, high = rule.bands.get(count, rule.rows)
        assert low <= where[:, 1].min() <= where[:, 1].max() <= high


def test_a_band_widens_only_when_it_must(rng):
    values = slope()
    values[60:260] = 0  # no valid pixel in the band of three points
    points = place_points(values, 3, rng, HARD)
    assert points is not None
    low, high = HARD_BANDS[3]
    assert all(not low <= point.y <= high for point in points)


def test_no_place_at_all(rng):
    assert place_points(np.full((SIDE, SIDE), 7, np.uint8), 2, rng) is None
    assert place_points(np.zeros((SIDE, SIDE), np.uint8), 2, rng, HARD) is None


def test_the_same_seed_gives_the_same_points():
    one, two = (place_points(slope(), 4, np.random.default_rng(3), HARD) for _ in range(2))
    assert one == two


def test_letters_are_fair(rng):
    points = place_points(slope(), 4, rng, TRAINED)
    seen = Counter()
    for answer in range(4):
        for _ in range(10):
            lettered = letter_points(points, answer, rng)
            assert list(lettered) == list("ABCD")
            assert sorted(lettered.values(), key=str) == sorted(points, key=str)
            assert nearest_letter(lettered) == "ABCD"[answer]
            seen[nearest_letter(lettered)] += 1
    assert set(seen.values()) == {10}


def test_rings_and_letters_are_drawn_where_the_points_are():
    blank = np.full((SIDE, SIDE, 3), 128, np.uint8)
    drawn = draw_points(blank, {"A": (100, 200), "B": (5, 5), "C": (330, 330)})
    red = (drawn == (255, 0, 0)).all(-1)
    assert red[200, 96]
    assert red[196, 100]
    assert not red[200, 100]
    black = (drawn[170:190, 85:115] == 0).all(-1)
    assert black.sum() > 50
    assert (drawn[:40, :30] == 255).all(-1).sum() > 5  # at the border the letter goes below
    assert (blank == 128).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda: MarkerRule(columns=(0, 336)),
        lambda: MarkerRule(rows=(9, 9)),
        lambda: MarkerRule(gap=0),
        lambda: MarkerRule(gap=30, most_gap=20),
        lambda: place_points(np.zeros((9, 9), np.uint8), 2, np.random.default_rng()),
        lambda: place_points(slope(), 1, np.random.default_rng()),
        lambda: place_points(slope(), 30, np.random.default_rng()),
    ],
)
def test_what_cannot_be(make):
    with pytest.raises(InputError):
        make()


def test_squashing_invents_no_value():
    values = np.array([[0, 255], [9, 100]], np.uint8)
    assert set(np.unique(squash(values))) == {0, 9, 100, 255}
    assert Point(1, 2, 3) == Point(1, 2, 3)
