from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from sightline.metric.people.crops import FACTOR, SIDE_PER_PERSON, smallest_person, squares

SIDES = st.integers(16, 1500)


@given(SIDES, SIDES, st.floats(0.05, 0.95), st.floats(0.05, 0.95))
def test_every_place_is_in_a_square_of_every_size(height: int, width: int, across, down):
    places = squares(height, width, smallest=80, most=10_000)
    x, y = across * (width - 1), down * (height - 1)
    for side in {place.side for place in places}:
        same = [place for place in places if place.side == side]
        assert any(max(abs(p.x - x), abs(p.y - y)) <= side / 2 + 0.5 for p in same)


@given(SIDES, SIDES, st.integers(2, 200))
def test_never_more_than_allowed_and_always_the_whole_picture(height: int, width: int, most: int):
    places = squares(height, width, smallest=80, most=most)
    assert len(places) <= most
    sides = sorted({place.side for place in places})
    assert max(height, width) in [round(side, 6) for side in sides]
    ratios = [b / a for a, b in pairwise(sides)]
    assert all(ratio <= FACTOR + 1e-9 for ratio in ratios)


def test_people_of_80_px_in_a_megapixel_within_the_usual_limit():
    places = squares(864, 1152, smallest=80, most=130)
    assert 60 < len(places) <= 130
    assert abs(smallest_person(places) - 80) < 1


def test_a_larger_picture_is_searched_for_larger_people():
    places = squares(3000, 4000, smallest=80, most=130)
    assert len(places) <= 130
    assert 150 < smallest_person(places) < 300


def test_a_small_picture_is_looked_at_whole():
    sides = {place.side for place in squares(60, 80, smallest=80, most=130)}
    assert min(sides) == 80
    assert SIDE_PER_PERSON * 80 > 80
