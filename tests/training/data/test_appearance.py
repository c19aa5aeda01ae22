"""Changes of appearance: colors change, depth does not; the seed decides."""

import numpy as np
import pytest
from skimage import data

from sightline.training.data import appearance
from sightline.training.data.augment import AugmentConfig, make_sample
from sightline.training.data.pairs import Pair


@pytest.fixture(scope="module")
def picture():
    return np.ascontiguousarray(data.astronaut()[::3, ::3])


@pytest.fixture(scope="module")
def disparity(picture):
    return np.tile(np.linspace(0, 1, picture.shape[1], dtype=np.float32), (len(picture), 1))


@pytest.mark.parametrize(
    "change", [appearance.night, appearance.rain, appearance.drawing, appearance.painting]
)
def test_each_appearance_is_another_picture(change, picture):
    for seed in range(5):
        made = change(picture, np.random.default_rng(seed))
        assert (made.shape, made.dtype) == (picture.shape, np.uint8)
        assert np.array_equal(made, change(picture, np.random.default_rng(seed)))
        assert np.abs(made.astype(int) - picture).mean() > 3
        assert made.std() > 5  # there is still something to see


@pytest.mark.parametrize("change", [appearance.fog, appearance.water])
def test_a_medium_takes_what_is_far(change, picture, disparity):
    for seed in range(5):
        made = change(picture, disparity, np.random.default_rng(seed)).astype(float)
        far, near = made[:, :20], made[:, -20:]
        assert far.std((0, 1)).mean() < near.std((0, 1)).mean()


def test_holes_get_no_fog(picture, disparity):
    known = np.ones(disparity.shape, bool)
    known[0, 0] = False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(appearance, "fog", None)
        patch.setattr(appearance, "water", None)
        for seed in range(30):
            appearance.vary_appearance(picture, disparity, known, np.random.default_rng(seed))


def test_depth_does_not_change(picture, disparity):
    pair = Pair(picture, disparity.astype(np.float16), np.ones(disparity.shape, bool))
    for seed in range(10):
        plain, other = (
            make_sample(
                pair, (64, 80), AugmentConfig(appearance=chance), np.random.default_rng(seed)
            )
            for chance in (0.0, 1.0)
        )
        assert plain.pixels.shape == other.pixels.shape
        assert other.disparity.max() <= 1
        assert np.corrcoef(other.disparity[0], np.arange(80))[0, 1] ** 2 > 0.99
