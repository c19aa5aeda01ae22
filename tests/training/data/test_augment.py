"""Augmentation: picture, label and trust move together; light and sensor change, depth does not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage import data

from sightline.training.data.augment import (
    AugmentConfig,
    cutmix,
    degrade_sensor,
    inscribed_size,
    make_sample,
    roll_pair,
    vary_light,
)
from sightline.training.data.pairs import Pair

STILL = AugmentConfig(color=0.0, grayscale=0.0, blur=0.0, degrade=0.0)


def ramp_pair(*, known=None, weight=None, height=90, width=120):
    """A pair whose color and disparity both grow from left to right."""
    slope = np.linspace(0, 1, width, dtype=np.float32)[None].repeat(height, 0)
    pixels = (slope[..., None] * [200, 220, 240]).astype(np.uint8)
    known = np.ones((height, width), bool) if known is None else known
    return Pair(pixels, slope.astype(np.float16), known, weight=weight)


@pytest.mark.parametrize("seed", range(20))
def test_picture_label_and_trust_stay_together(seed):
    trust = np.linspace(0, 255, 120).astype(np.uint8)[None].repeat(90, 0)
    rng = np.random.default_rng(seed)
    sample = make_sample(ramp_pair(weight=trust), (48, 64), STILL, rng)
    assert sample.known.all()
    gray = sample.pixels.mean(-1)
    assert np.corrcoef(gray.ravel(), sample.disparity.ravel())[0, 1] > 0.999
    np.testing.assert_allclose(sample.weight, sample.disparity, atol=0.02)


def test_fields_have_their_types():
    sample = make_sample(ramp_pair(), (48, 64), AugmentConfig(), np.random.default_rng(0))
    assert (sample.pixels.shape, sample.pixels.dtype) == ((48, 64, 3), np.uint8)
    assert (sample.disparity.shape, sample.disparity.dtype) == ((48, 64), np.float32)
    assert (sample.known.shape, sample.known.dtype) == ((48, 64), np.bool_)
    assert (sample.weight.shape, sample.weight.dtype) == ((48, 64), np.float32)
    assert (sample.weight == 1).all()
    for array in (sample.pixels, sample.disparity, sample.known, sample.weight):
        assert array.flags.c_contiguous  # torch takes no negative strides


def test_same_seed_same_sample():
    for config in (AugmentConfig(), AugmentConfig.strong()):
        one, two = (
            make_sample(ramp_pair(), (48, 64), config, np.random.default_rng(5)) for _ in range(2)
        )
        np.testing.assert_array_equal(one.pixels, two.pixels)
        np.testing.assert_array_equal(one.disparity, two.disparity)


def test_unknown_pixels_stay_unknown():
    known = np.zeros((90, 120), bool)
    known[:, 60:] = True
    pair = ramp_pair(known=known)
    sample = make_sample(pair, (48, 64), AugmentConfig(), np.random.default_rng(1))
    assert 0 < sample.known.mean() < 1
    assert sample.disparity[sample.known].min() > 0.45
    assert not sample.disparity[~sample.known].any()


def test_laser_points_survive_a_small_crop():
    rng = np.random.default_rng(0)
    known = rng.random((240, 320)) < 0.01
    pair = ramp_pair(known=known, height=240, width=320)
    whole = AugmentConfig(smallest_crop=1.0, stretch=1.0)
    sample = make_sample(pair, (60, 80), whole, rng)
    assert sample.known.sum() > 0.8 * known.sum()


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 999))
def test_tiny_pairs_are_no_trouble(height, width, seed):
    pair = ramp_pair(height=height, width=width)
    sample = make_sample(pair, (8, 10), AugmentConfig(), np.random.default_rng(seed))
    assert sample.pixels.shape == (8, 10, 3)
    assert sample.known.all()


def test_strong_is_stronger():
    photo = data.coffee()[::4, ::4]

    def change(config):
        rngs = (np.random.default_rng(seed) for seed in range(60))
        varied = (degrade_sensor(vary_light(photo, config, rng), config, rng) for rng in rngs)
        return np.mean([np.abs(v.astype(float) - photo).mean() for v in varied])

    assert change(AugmentConfig.strong()) > 1.3 * change(AugmentConfig()) > change(STILL) == 0


def test_gray_pictures_come_as_often_as_asked():
    photo = data.coffee()[::8, ::8]
    config = AugmentConfig(grayscale=0.5)
    gray = 0
    for seed in range(200):
        varied = vary_light(photo, config, np.random.default_rng(seed)).astype(int)
        gray += int(np.ptp(varied, axis=-1).max() == 0)
    assert 70 <= gray <= 130


def test_a_rolled_pair_stays_together():
    trust = np.linspace(0, 255, 120).astype(np.uint8)[None].repeat(90, 0)
    slopes = set()
    for seed in range(40):
        rolled = roll_pair(ramp_pair(weight=trust), np.random.default_rng(seed))
        assert rolled.pixels.shape[:2] == rolled.disparity.shape == rolled.known.shape
        assert rolled.known.all()  # no corner from outside
        assert rolled.disparity.dtype == np.float16
        assert min(rolled.known.shape) > 40
        gray = rolled.pixels.mean(-1)
        assert np.corrcoef(gray.ravel(), rolled.disparity.ravel().astype(float))[0, 1] > 0.995
        assert rolled.weight is not None
        np.testing.assert_allclose(rolled.weight / 255, rolled.disparity, atol=0.03)
        down, across = (np.gradient(rolled.disparity.astype(float), axis=k).mean() for k in (0, 1))
        slopes.add(("down" if abs(down) > abs(across) else "across", down + across > 0))
    assert len(slopes) >= 3  # nearer is not always on the same side any more


def test_rolled_unknown_pixels_stay_unknown():
    known = np.zeros((90, 120), bool)
    known[:, :60] = True
    for seed in range(10):
        rolled = roll_pair(ramp_pair(known=known), np.random.default_rng(seed))
        assert rolled.disparity.astype(float)[rolled.known].max() < 0.52


@given(st.integers(2, 500), st.integers(2, 500), st.floats(0, np.pi / 4))
def test_an_inscribed_rectangle_lies_inside(height, width, angle):
    rows, columns = inscribed_size(height, width, angle)
    # Its corner, turned back, is within the picture; at least one pixel is always kept.
    x = columns / 2 * np.cos(angle) + rows / 2 * np.sin(angle)
    y = columns / 2 * np.sin(angle) + rows / 2 * np.cos(angle)
    assert x <= max(width / 2, 1) + 0.5
    assert y <= max(height / 2, 1) + 0.5


def test_samples_are_rolled_as_often_as_asked():
    config = AugmentConfig(color=0.0, grayscale=0.0, blur=0.0, degrade=0.0, roll=0.4)
    slopes = []
    for seed in range(200):
        sample = make_sample(ramp_pair(), (48, 48), config, np.random.default_rng(seed))
        slopes.append(np.gradient(sample.disparity, axis=0).mean())
    upright = np.mean(np.abs(slopes) < 1e-4)
    assert 0.6 <= upright + 1e-9 <= 0.8  # a roll by exactly 180° keeps the slope, too


@given(st.integers(1, 400), st.integers(1, 400), st.integers(0, 9999))
def test_cutmix_rectangles_fit(height, width, seed):
    row, column, tall, wide = cutmix((height, width), np.random.default_rng(seed))
    assert tall >= 1
    assert wide >= 1
    assert 0 <= row <= row + tall <= height
    assert 0 <= column <= column + wide <= width
    assert tall * wide <= max(0.45 * height * width, tall, wide)


def test_cutmix_covers_what_it_promises():
    boxes = [cutmix((200, 200), np.random.default_rng(seed)) for seed in range(500)]
    shares = [tall * wide / 40000 for _, _, tall, wide in boxes]
    assert 0.015 < min(shares) < 0.05
    assert 0.3 < max(shares) < 0.42
    assert len({row for row, *_ in boxes}) > 50
