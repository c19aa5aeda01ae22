"""The sensor spoils pictures as cameras do, and never moves a pixel."""

from __future__ import annotations

import dataclasses

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.scenes.rendering.sensor import SensorConfig, simulate_sensor

PERFECT = SensorConfig.perfect()
EFFECTS = [f.name for f in dataclasses.fields(SensorConfig)]
STRONG = {"jpeg": 20, "motion": 8.0, "defocus": 2.0, "fringe": 2.0, "vignette": 0.8, "noise": 0.2}


def only(effect):
    """A sensor with one effect, strong."""
    values = {effect: STRONG.get(effect, 0.5)}
    if effect == "motion":
        values["motion_chance"] = 1.0
    return dataclasses.replace(PERFECT, **values)


@pytest.fixture(scope="module")
def picture():
    from skimage import data

    return cv2.resize(data.coffee(), (160, 120), interpolation=cv2.INTER_AREA)


def test_a_perfect_sensor_changes_nothing(picture):
    np.testing.assert_array_equal(
        simulate_sensor(picture, np.random.default_rng(0), PERFECT), picture
    )


def test_same_seed_same_bytes(picture):
    one, two, other = (simulate_sensor(picture, np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.tobytes() == two.tobytes()
    assert one.tobytes() != other.tobytes()
    assert one.dtype == np.uint8
    assert one.shape == picture.shape


@pytest.mark.parametrize("effect", [e for e in EFFECTS if e != "motion_chance"])
def test_every_effect_does_something(picture, effect):
    changed = [simulate_sensor(picture, np.random.default_rng(s), only(effect)) for s in range(8)]
    assert max(np.abs(c.astype(int) - picture).mean() for c in changed) > 1


@pytest.mark.parametrize("effect", ["defocus", "motion", "fringe", "vignette", "jpeg", "sharpen"])
def test_no_effect_moves_a_pixel(effect):
    """A dot stays where it is: its middle does not move, in any channel."""
    dot = np.zeros((65, 65, 3), np.uint8)
    dot[30:35, 30:35] = 200
    rows, columns = np.mgrid[:65, :65]
    for seed in range(6):
        found = simulate_sensor(dot, np.random.default_rng(seed), only(effect)).astype(float)
        for channel in range(3):
            weight = np.where(found[..., channel] > 12, found[..., channel], 0)
            assert (rows * weight).sum() / weight.sum() == pytest.approx(32, abs=0.1)
            assert (columns * weight).sum() / weight.sum() == pytest.approx(32, abs=0.1)


def test_corners_get_darker_and_the_middle_does_not():
    flat = np.full((64, 64, 3), 180, np.uint8)
    found = [simulate_sensor(flat, np.random.default_rng(s), only("vignette")) for s in range(8)]
    darkest = min(found, key=lambda f: f[0, 0, 0])
    assert darkest[0, 0].max() < 150
    assert darkest[32, 32].min() >= 178


def test_noise_has_no_bias_and_grows_with_light():
    spread = []
    for level in (40, 180):
        flat = np.full((96, 96, 3), level, np.uint8)
        found = [simulate_sensor(flat, np.random.default_rng(s), only("noise")) for s in range(12)]
        loudest = max(found, key=lambda f: f.std()).astype(float)
        linear = ((loudest / 255 + 0.055) / 1.055) ** 2.4
        spread.append(linear.std())
        assert np.median(loudest) == pytest.approx(level, abs=6)
    assert spread[1] > 1.3 * spread[0]


def test_linear_light_is_taken_too(picture):
    from sightline.io.pixels import srgb_to_linear

    light = srgb_to_linear(picture / 255).astype(np.float32)
    found = simulate_sensor(light, np.random.default_rng(0), PERFECT)
    assert np.abs(found.astype(int) - picture).max() <= 1
    assert simulate_sensor(light * 9, np.random.default_rng(0), PERFECT).max() == 255


def test_pictures_stay_pictures(picture):
    """Whatever the seed: no more than a small share burnt out or black, the scene still to be seen."""
    for seed in range(40):
        found = simulate_sensor(picture, np.random.default_rng(seed))
        match = np.corrcoef(found.ravel().astype(float), picture.ravel().astype(float))[0, 1]
        assert match > 0.8
        assert 15 < found.mean() < 235


def test_bad_input(picture):
    with pytest.raises(InputError, match="must not be negative"):
        SensorConfig(noise=-1)
    with pytest.raises(InputError, match="JPEG quality"):
        SensorConfig(jpeg=0)
    with pytest.raises(InputError, match=r"shape \(H, W, 3\)"):
        simulate_sensor(picture[..., 0], np.random.default_rng(0))
