"""Maps become pairs: scaled, shrunk, and never averaged across an edge."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.training.data.pairs import (
    invert,
    measured_pair,
    resize_measured,
    scale_to_one,
    shrunk_size,
)


def picture(height, width):
    return np.zeros((height, width, 3), np.uint8)


@st.composite
def maps(draw):
    """A map of disparity, where it is known, and a size to bring it to."""
    height, width = draw(st.tuples(st.integers(1, 24), st.integers(1, 24)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    known = rng.random((height, width)) < draw(st.sampled_from([0.05, 0.5, 0.95, 1.0]))
    size = draw(st.tuples(st.integers(1, 24), st.integers(1, 24)))
    return rng.uniform(0.1, 1, (height, width)).astype(np.float32), known, size


@given(maps())
def test_resizing_invents_no_value(case):
    values, known, size = case
    small, hit = resize_measured(values, known, size)
    assert small.shape == hit.shape == size
    assert set(small[hit].tolist()) <= set(values[known].tolist())
    assert not small[~hit].any()


@given(maps())
def test_no_cell_with_a_point_in_it_stays_empty(case):
    values, known, (height, width) = case
    height, width = min(height, known.shape[0]), min(width, known.shape[1])
    _, hit = resize_measured(values, known, (height, width))
    for row, column in zip(*np.nonzero(known), strict=True):
        assert hit[row * height // known.shape[0], column * width // known.shape[1]]


def test_the_nearest_of_several_lost_points_wins():
    values, known = np.zeros((8, 8), np.float32), np.zeros((8, 8), bool)
    for row, column, disparity in ((0, 0, 0.2), (0, 3, 0.9), (3, 0, 0.5)):
        values[row, column], known[row, column] = disparity, True
    small, hit = resize_measured(values, known, (2, 2))
    assert hit.tolist() == [[True, False], [False, False]]
    assert small[0, 0] == np.float32(0.9)


def test_a_laser_keeps_its_points():
    """Plain nearest sampling would keep one point in sixteen here."""
    rng = np.random.default_rng(0)
    known = rng.random((256, 256)) < 0.01
    _, hit = resize_measured(rng.random((256, 256)), known, (64, 64))
    assert hit.sum() > 0.8 * known.sum()


def test_pairs_of_another_shape_keep_their_aspect():
    assert shrunk_size(picture(480, 640), 240) == (240, 320)
    assert shrunk_size(picture(640, 480), 240) == (320, 240)
    assert shrunk_size(picture(100, 90), 240) == (100, 90)
    assert shrunk_size(picture(1, 5000), 1) == (1, 5000)


@given(st.floats(1e-3, 1e3), st.integers(0, 99))
def test_disparity_times_unit_is_inverse_depth(scale, seed):
    inverse = np.random.default_rng(seed).uniform(0.01, 1, (6, 9)) * scale
    known = np.ones(inverse.shape, bool)
    pair = measured_pair(picture(6, 9), inverse, known, 99, metric=True)
    assert float(pair.disparity.max()) == 1.0
    np.testing.assert_allclose(pair.disparity.astype(float) * pair.unit, inverse, rtol=1e-3)
    assert measured_pair(picture(6, 9), inverse, known, 99, metric=False).unit is None


def test_what_is_no_number_is_unknown():
    inverse = np.array([[np.nan, np.inf, -1.0, 0.0, 2.0]])
    pair = measured_pair(picture(1, 5), inverse, np.ones((1, 5), bool), 9, metric=True)
    assert pair.known.tolist() == [[False, False, False, True, True]]
    assert pair.disparity.tolist() == [[0, 0, 0, 0, 1]]
    assert pair.unit == 2.0


def test_nothing_but_sky_is_flat_zero():
    disparity, divisor = scale_to_one(np.zeros((2, 2)), np.ones((2, 2), bool))
    assert divisor == 1.0
    assert not disparity.any()


def test_depth_is_inverted_where_it_makes_sense():
    inverse, known = invert(np.array([[2.0, 0.0, -3.0, np.nan, np.inf]], np.float32))
    assert known.tolist() == [[True, False, False, False, True]]
    assert inverse.tolist() == [[0.5, 0, 0, 0, 0]]


def test_bad_maps_are_refused():
    known = np.ones((4, 6), bool)
    with pytest.raises(InputError, match="depth is 6×4, its picture is 6×5"):
        measured_pair(picture(5, 6), np.ones((4, 6)), known, 9, metric=True)
    with pytest.raises(InputError, match="no pixel of it is known"):
        measured_pair(picture(4, 6), np.full((4, 6), np.nan), known, 9, metric=True)
