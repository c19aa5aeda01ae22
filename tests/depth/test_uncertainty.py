"""Disagreement of views, and the error bars made of it."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.depth.uncertainty import Calibration, disagreement, to_sigma, unit_scale
from sightline.types import Kind

RELATIVE, METRIC = Kind.RELATIVE_DISPARITY, Kind.METRIC_DEPTH
SIZE = 60


def scene(flip: bool, size: int) -> np.ndarray:
    """A map of any size: a slanted plane with a wave, which the flipped view shows mirrored."""
    y, x = np.mgrid[0 : size - 1 : size * 1j, 0 : size - 1 : size * 1.5j] / (size - 1)
    x = 1 - x if flip else x
    return (2 + y + 0.5 * x + 0.2 * np.sin(6 * x)).astype(np.float32)


class Views:
    """A network that knows the scene and, by request, errs in some of the views."""

    def __init__(self, change=lambda values, flip, size: values):
        self.change, self.sizes, self.flips = change, [], []

    def __call__(self, pixels, size):
        flip = bool(pixels[0, 0, 0] > pixels[0, -1, 0])
        self.sizes.append(size)
        self.flips.append(flip)
        return self.change(scene(flip, size), flip, size)


@pytest.fixture
def pixels():
    return np.broadcast_to(np.arange(90, dtype=np.uint8)[None, :, None], (60, 90, 3)).copy()


def measured(pixels, views, kind=RELATIVE):
    return disagreement(pixels, scene(False, SIZE), views, SIZE, kind)


def test_views_are_flip_and_two_scales(pixels):
    views = Views()
    doubt = measured(pixels, views)
    assert (views.sizes, views.flips) == ([60, 45, 75], [True, False, False])
    assert doubt.shape == (60, 90)
    assert doubt.dtype == np.float32
    # Only interpolation between the three sizes is left.
    assert doubt.max() < 2e-3


def test_scale_and_shift_of_relative_views_mean_nothing(pixels):
    moved = Views(lambda values, flip, size: values * (0.01 * size) + (5 if flip else -3))
    assert measured(pixels, moved).max() < 2e-3


def test_scale_of_metric_views_is_doubt(pixels):
    larger = Views(lambda values, flip, size: values * 1.3)
    np.testing.assert_allclose(measured(pixels, larger, METRIC), 0.3, atol=0.01)


def test_doubt_lies_where_the_views_differ(pixels):
    def bump(values, flip, size):
        values = values.copy()
        if flip:
            values[10:20, -30:-20] += 1  # the mirror image of columns 20–30
        return values

    doubt = measured(pixels, Views(bump))
    assert doubt[12:18, 22:28].min() > 0.25
    assert doubt[30:, :].max() < 0.05
    assert doubt[:, 50:].max() < 0.05


def test_not_a_number_in_a_view_or_in_the_reference(pixels):
    broken = Views(lambda values, flip, size: values * np.nan)
    assert np.isfinite(measured(pixels, broken)).all()
    reference = scene(False, SIZE)
    reference[:10] = np.nan
    assert np.isfinite(disagreement(pixels, reference, Views(), SIZE, RELATIVE)[20:]).all()


def test_sigma_is_floor_and_gain_in_the_maps_own_unit():
    values = np.linspace(0, 10, 101, dtype=np.float32)[None].repeat(3, 0)
    doubt = np.zeros_like(values)
    doubt[1] = 0.2
    calibration = Calibration(gain=2.0, floor=0.3)
    sigma = to_sigma(doubt, values, RELATIVE, calibration)
    np.testing.assert_allclose(sigma[0], 0.3 * 9, rtol=1e-5)  # 5th to 95th percentile: 9
    np.testing.assert_allclose(sigma[1], 0.5 * 9, rtol=1e-5)
    metric = to_sigma(doubt, values + 1, METRIC, calibration)
    np.testing.assert_allclose(metric[1], 0.5 * (values[1] + 1), rtol=1e-5)


def test_sigma_scales_with_the_map_and_ignores_its_shift(rng):
    values = rng.uniform(1, 2, (20, 30)).astype(np.float32)
    doubt = rng.uniform(0, 0.1, (20, 30)).astype(np.float32)
    calibration = Calibration(1.5, 0.1)
    one = to_sigma(doubt, values, RELATIVE, calibration)
    np.testing.assert_allclose(
        to_sigma(doubt, 7 * values + 2, RELATIVE, calibration), 7 * one, rtol=1e-4
    )


def test_a_flat_or_empty_map_has_a_unit_all_the_same():
    assert unit_scale(np.full((2, 2), 4, np.float32), RELATIVE) > 0
    assert unit_scale(np.zeros((2, 2), np.float32), RELATIVE) > 0
    assert unit_scale(np.full((2, 2), np.nan, np.float32), METRIC) > 0
    assert (unit_scale(np.zeros((2, 2), np.float32), METRIC) > 0).all()
