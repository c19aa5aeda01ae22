from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.metric.people.crops import Crop, Pyramid, apply

CROPS = st.builds(
    Crop,
    x=st.floats(-500, 500),
    y=st.floats(-500, 500),
    side=st.floats(1, 2000),
    angle=st.floats(-4, 4),
    flipped=st.booleans(),
)


@given(CROPS, st.integers(2, 300), st.tuples(st.floats(-400, 400), st.floats(-400, 400)))
def test_there_and_back(crop: Crop, size: int, point):
    back = apply(crop.from_picture(size), apply(crop.to_picture(size), np.array(point)))
    np.testing.assert_allclose(back, point, atol=1e-6)


@given(CROPS, st.integers(1, 300))
def test_the_middle_stays_and_lengths_scale(crop: Crop, size: int):
    matrix = crop.to_picture(size)
    middle = (size - 1) / 2
    np.testing.assert_allclose(
        apply(matrix, np.array([middle, middle])), (crop.x, crop.y), atol=1e-6
    )
    columns = np.linalg.norm(matrix[:, :2], axis=0)
    np.testing.assert_allclose(columns, crop.side / size, rtol=1e-9)
    assert np.linalg.det(crop.directions()) == pytest.approx(-1 if crop.flipped else 1)


def test_a_quarter_turn_brings_the_right_side_up():
    picture = np.zeros((40, 40, 3), np.uint8)
    picture[:, 30:] = 255
    # The crop's x axis points along the picture's y axis: its right is the picture's bottom, and
    # its top the picture's right.
    cut = Pyramid(picture).cut(Crop(19.5, 19.5, 40, math.pi / 2), 40)
    assert cut[:8].min() > 0.9
    assert cut[12:].max() == 0


def test_a_mirrored_crop():
    picture = np.arange(16, dtype=np.uint8)[None, :, None].repeat(16, 0).repeat(3, 2) * 16
    plain = Pyramid(picture).cut(Crop(7.5, 7.5, 16), 16)
    np.testing.assert_allclose(plain, picture / 255, atol=1e-6)
    mirrored = Pyramid(picture).cut(Crop(7.5, 7.5, 16, flipped=True), 16)
    np.testing.assert_allclose(mirrored, plain[:, ::-1], atol=1e-6)


@pytest.mark.parametrize("shape", [(300, 400), (301, 403), (77, 640)])
def test_a_large_crop_is_shrunk_by_averaging_and_stays_in_place(shape):
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    height, width = shape
    cut = Pyramid(noise).cut(Crop((width - 1) / 2, (height - 1) / 2, max(shape)), 40)
    inside = cut[np.abs(np.arange(40) - 19.5) < 0.4 * 40 * height / max(shape)]
    assert inside.std() < 0.12  # single pixels have 0.29
    ramp = np.broadcast_to(np.linspace(0, 255, width)[None, :, None], (*shape, 3)).astype(np.uint8)
    cut = Pyramid(ramp).cut(Crop((width - 1) / 2, (height - 1) / 2, min(shape)), 16)
    assert cut[8, 7:9].mean() == pytest.approx(0.5, abs=0.01)


def test_outside_of_the_picture_is_black():
    white = np.full((20, 20, 3), 255, np.uint8)
    assert Pyramid(white).cut(Crop(100, 100, 10), 8).max() == 0
