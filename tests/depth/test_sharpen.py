"""Outlines become steps, planes stay planes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from sightline.depth.preprocessing import to_picture_size
from sightline.depth.sharpen import REACH, enlarge, windowed


def outline(width: float, size: int = 96) -> np.ndarray:
    """Two level sides, 1 and 3, with a slope of this width between them."""
    x = np.arange(size) - size / 2 + 0.5
    return np.tile(1 + 2 * np.clip(x / width + 0.5, 0, 1), (size, 1)).astype(np.float32)


def test_a_slope_between_level_sides_becomes_a_step_where_it_was_half_way():
    values = outline(5)
    row = enlarge(values, (300, 400), sharpen=True)[150]
    between = np.flatnonzero((row > 1.1) & (row < 2.9))
    plain = to_picture_size(values, (300, 400))[150]
    assert len(between) <= 2
    assert np.count_nonzero((plain > 1.1) & (plain < 2.9)) > 15
    assert np.argmax(row > 2) == np.argmax(plain > 2)


@pytest.mark.parametrize("slope", [0.001, 0.05, 3.0])
def test_planes_are_left_alone(slope: float):
    y, x = np.mgrid[:90, :120]
    plane = (100 + slope * (0.3 * x + y)).astype(np.float32)
    inner = slice(60, -60)  # at the border the windows are cut off
    plain = to_picture_size(plane, (360, 480))
    sharp = enlarge(plane, (360, 480), sharpen=True)
    np.testing.assert_array_equal(sharp[inner, inner], plain[inner, inner])


def test_a_slanted_floor_keeps_its_slope_beside_an_outline():
    y, x = np.mgrid[:90, :120]
    floor = (y * 0.05).astype(np.float32)
    floor[:, 60:] += 4 * np.clip((x[:, 60:] - 60) / 4, 0, 1)
    sharp = enlarge(floor, (360, 480), sharpen=True)
    plain = to_picture_size(floor, (360, 480))
    np.testing.assert_allclose(sharp[60:-60, 40:180], plain[60:-60, 40:180], atol=1e-6)
    jump = np.abs(np.diff(sharp[180]))
    assert jump.max() > 3
    assert np.abs(np.diff(plain[180])).max() < 1


def test_without_sharpening_it_is_bilinear():
    values = outline(5)
    np.testing.assert_array_equal(
        enlarge(values, (50, 130), sharpen=False), to_picture_size(values, (50, 130))
    )


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 40), st.integers(1, 40)),
        elements=st.floats(-1e6, 1e6, width=32),
    ),
    st.tuples(st.integers(1, 300), st.integers(1, 300)),
)
def test_any_map_stays_finite_and_in_the_range_around_it(values: np.ndarray, hw: tuple[int, int]):
    result = enlarge(values, hw, sharpen=True)
    assert result.shape == hw
    slack = 1e-4 * max(1.0, float(np.abs(values).max()))
    assert result.min() >= values.min() - slack
    assert result.max() <= values.max() + slack


def test_a_factor_and_a_shift_of_the_map_are_those_of_the_result():
    rng = np.random.default_rng(0)
    values = outline(5) + rng.normal(0, 0.02, (96, 96)).astype(np.float32)
    moved = enlarge(7 * values + 20, (200, 200), sharpen=True)
    np.testing.assert_allclose(moved, 7 * enlarge(values, (200, 200), sharpen=True) + 20, atol=2e-3)


def test_maps_with_holes_are_not_sharpened():
    values = outline(5)
    values[3, 3] = np.nan
    np.testing.assert_array_equal(
        enlarge(values, (100, 100), sharpen=True), to_picture_size(values, (100, 100))
    )


def test_windows_agree_with_scipy():
    from scipy.ndimage import maximum_filter

    values = np.random.default_rng(1).normal(size=(31, 17)).astype(np.float32)
    wanted = maximum_filter(values, size=2 * REACH + 1, mode="nearest")
    np.testing.assert_array_equal(windowed(values, np.maximum, REACH), wanted)
