from dataclasses import replace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.evidence import LengthEvidence
from sightline.metric.measurement import measure_between
from sightline.metric.solver import ScalePrior, fit
from sightline.types import Camera, DepthMap, Kind, Measurement

CAMERA = Camera.from_focal(100.0, 201, 101)


def wall(sigma=0.0, distance=4.0):
    values = np.full((101, 201), distance, np.float32)
    return DepthMap(values, Kind.METRIC_DEPTH, camera=CAMERA, sigma=values * sigma)


def test_on_a_wall():
    found = measure_between(wall(), (50, 50), (150, 50))
    assert found.distance.value == pytest.approx(4.0)
    assert found.across[0].value == pytest.approx(4.0)
    assert found.across[2].value == pytest.approx(0.0)
    assert found.elevation.value == pytest.approx(0.0)
    assert found.angle.value == pytest.approx(2 * np.degrees(np.arctan(0.5)))
    assert found.ranges[0].value == pytest.approx(4 * np.hypot(1, 0.5))
    up = measure_between(wall(), (100, 90), (100, 10))
    assert up.across[1].value == pytest.approx(-3.2)
    assert up.elevation.value == pytest.approx(90.0)


def test_a_common_error_of_scale_is_a_share_of_the_distance():
    found = measure_between(wall(0.1), (20, 50), (180, 50))
    assert found.distance.sigma / found.distance.value == pytest.approx(0.1, rel=0.15)


def test_pointing_limits_short_distances():
    found = measure_between(wall(), (100, 50), (110, 50))
    assert found.distance.sigma / found.distance.value == pytest.approx(1.41 * 1.5 / 10, rel=0.2)


def test_an_unsure_lens():
    found = measure_between(wall(), (20, 50), (180, 50), focal_sigma=0.2)
    assert found.distance.sigma / found.distance.value == pytest.approx(0.2, rel=0.2)
    assert found.depths[0].sigma == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("start", "end", "message"),
    [((5, 5), (5, 5), "same pixel"), ((-4, 5), (5, 5), "outside"), ((5, 5), (5, 900), "outside")],
)
def test_bad_places(start, end, message):
    with pytest.raises(InputError, match=message):
        measure_between(wall(), start, end)


def hall(tilt=0.2, height=1.6):
    """A floor 1.6 m below a camera that looks down by 0.2 rad, and a wall 8 m away."""
    v, u = np.mgrid[:101, :201]
    rays = np.stack([(u - 100) / 100, (v - 50) / 100, np.ones_like(u, float)], axis=-1)
    up = np.array([0, -np.cos(tilt), -np.sin(tilt)])
    floor = -(rays @ up) / height
    wall = rays @ np.array([0, -np.sin(tilt), np.cos(tilt)]) / 8
    values = (1 / np.maximum(floor, wall)).astype(np.float32)
    return DepthMap(values, Kind.METRIC_DEPTH, camera=CAMERA), rays * values[
        ..., None
    ] @ up + height


def test_heights_over_the_floor():
    depth, heights = hall()
    found = measure_between(depth, (60, 90), (140, 20))
    first, second = found.heights
    assert first.value == pytest.approx(0.0, abs=0.02)
    assert second.value == pytest.approx(heights[20, 140], rel=0.02)
    assert heights[20, 140] > 1.5
    assert 0 < second.sigma < 0.2
    sure = replace(depth, sigma=0.1 * depth.values)
    unsure = measure_between(sure, (60, 90), (140, 20)).heights[1]
    assert unsure.sigma == pytest.approx(0.1 * second.value, rel=0.5)


def test_no_heights_without_a_floor():
    assert measure_between(wall(), (50, 50), (150, 50)).heights is None


def test_only_meters_are_measured_in():
    relative = DepthMap(np.ones((4, 4), np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="needs metric depth"):
        measure_between(relative, (0, 0), (3, 3))


@pytest.mark.parametrize(
    ("value", "sigma", "text"),
    [(3.14159, 0.02, "3.142 ± 0.020"), (12.3456, 1.5, "12.3 ± 1.5"), (2.0, 0.0, "2.00 ± 0.00")],
)
def test_digits_follow_the_uncertainty(value, sigma, text):
    assert str(Measurement(value, sigma, "")) == text


def test_a_length_that_was_given_is_known_as_well_whatever_the_lens():
    span = np.array([0.1, 1.5])
    rays = np.array([[-0.5, 0.0], [0.5, 0.0]])
    item = LengthEvidence("wall", rays, np.array([0.5, 0.5]), 4.0, 0.01)
    found = fit([item], span, ScalePrior(1.3, 0.9, focal_sigma=0.3))
    distance = 1 / (found.scale * 0.5 + found.shift)
    values = np.full((101, 201), distance, np.float32)
    sigma = values * found.relative_sigma(np.array([0.5]))[0]
    depth = DepthMap(values, Kind.METRIC_DEPTH, camera=CAMERA, sigma=sigma.astype(np.float32))
    known = measure_between(depth, (50, 50), (150, 50), fit=found)
    assert known.distance.value == pytest.approx(4.0, rel=0.02)
    assert known.distance.sigma < 0.03 * 4.0
    assert known.depths[0].sigma > 0.15 * distance
    alone = measure_between(depth, (50, 50), (150, 50), focal_sigma=0.3)
    assert alone.distance.sigma > 5 * known.distance.sigma
