"""Where a lens is known from, and how well."""

import numpy as np
import pytest

from sightline.metric import vanishing_points
from sightline.metric.focal_length import BENT, focal_sigma, lens_of
from sightline.metric.vanishing_points import FocalEstimate
from sightline.types import Camera, CameraSource

PIXELS = np.full((120, 160, 3), 128, np.uint8)
ASSUMED = Camera.assumed(160, 120)


@pytest.fixture
def told(monkeypatch):
    """Let the lines of the picture say something."""

    def say(focal, sigma=0.02):
        guess = FocalEstimate(focal, sigma, "two vanishing points")
        monkeypatch.setattr(vanishing_points, "focal_from_lines", lambda _: guess)

    return say


def test_a_given_field_of_view_counts_before_everything(told):
    told(999.0)
    exif = Camera.from_focal(300.0, 160, 120, CameraSource.EXIF)
    lens = lens_of(PIXELS, exif, 60.0)
    assert lens.camera.fov == pytest.approx(60.0)
    assert lens.sigma == focal_sigma(lens.camera)
    assert lens.camera.source is CameraSource.GIVEN


def test_exif_counts_before_lines(told):
    told(330.0)
    exif = Camera.from_focal(300.0, 160, 120, CameraSource.EXIF)
    lens = lens_of(PIXELS, exif)
    assert lens.camera is exif
    assert (lens.sigma, lens.warning) == (focal_sigma(exif), "")


def test_a_crop_contradicts_its_exif(told):
    told(600.0)
    exif = Camera.from_focal(300.0, 160, 120, CameraSource.EXIF)
    lens = lens_of(PIXELS, exif)
    assert lens.camera is exif
    assert lens.sigma > 0.3
    assert "was it cropped?" in lens.warning


def test_lines_count_before_a_guess_and_are_weighed_with_it(told):
    told(1.2 * ASSUMED.focal, 0.06)
    lens = lens_of(PIXELS, ASSUMED)
    assert lens.camera.source is CameraSource.ESTIMATED
    assert lens.reason == "two vanishing points"
    assert ASSUMED.focal < lens.camera.focal < 1.2 * ASSUMED.focal
    assert lens.camera.focal > 1.15 * ASSUMED.focal
    assert lens.sigma < np.hypot(0.06, BENT)


def test_lines_that_say_what_no_lens_is_like_are_not_believed(told):
    told(3 * ASSUMED.focal)
    assert lens_of(PIXELS, ASSUMED).camera is ASSUMED


def test_a_picture_without_lines_says_nothing():
    lens = lens_of(PIXELS, ASSUMED)
    assert lens.camera is ASSUMED
    assert lens.sigma == focal_sigma(ASSUMED)
    assert lens.reason == ""
