"""What is said beside a result."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.evidence import DepthEvidence, LengthEvidence
from sightline.metric.metric_fit import EvidenceReport, to_meters
from sightline.metric.solver import ScalePrior, fit, span_of
from sightline.metric.warnings import fit_warnings
from sightline.types import Camera, CameraSource, DepthMap, Kind

CAMERA = Camera.from_focal(120.0, 160, 120, CameraSource.ASSUMED)
PRIOR = ScalePrior(1.3, 0.9, 0.3)
VALUES = np.linspace(0.2, 1.0, 120, dtype=np.float32)[:, None].repeat(160, 1)
RELATIVE = DepthMap(VALUES, Kind.RELATIVE_DISPARITY)


def point(depth=2.0, sigma=0.01, d=0.6):
    return DepthEvidence("point", "point", np.array([d]), np.array([depth]), sigma)


def box(depth=2.0, sigma=0.01, d=0.6):
    return DepthEvidence("box", "object", np.array([d]), np.array([depth]), sigma, focal_power=1.0)


def across(length=0.8):
    rays = np.array([[-0.2, 0.0], [0.2, 0.0]])
    return LengthEvidence("across", rays, np.array([0.6, 0.6]), length, 0.01)


def away(length=3.0):
    rays = np.array([[0.0, 0.01], [0.0, 0.0]])
    return LengthEvidence("away", rays, np.array([0.3, 0.9]), length, 0.01)


def said(*evidence, relative=RELATIVE, prior=PRIOR):
    found = fit(evidence, span_of(relative.values), prior)
    depth = to_meters(relative, found, CAMERA)
    return fit_warnings(found, depth, CAMERA), depth.camera, found


@pytest.mark.parametrize("item", [box(), across()])
def test_a_size_across_leaves_distances_as_unsure_as_the_lens(item):
    (line,), camera, found = said(item)
    assert "the lens is a guess (67° wide, ± 30%): distances from the camera are" in line
    assert "sizes across the picture are not" in line
    assert camera.source is CameraSource.ASSUMED
    assert found.evidence[0].focal_power == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("item", [point(), away()])
def test_a_depth_leaves_sizes_across_as_unsure_as_the_lens(item):
    (line,), _, found = said(item)
    assert ": sizes across the picture are as uncertain as it is, depths are not" in line
    assert found.evidence[0].focal_power == pytest.approx(0.0, abs=0.05)


def test_a_lens_that_the_fit_moved_is_no_guess_any_longer():
    lines, camera, found = said(point(2.0, 0.05), box(1.4, 0.05))
    assert camera.source is CameraSource.ESTIMATED
    assert camera.focal == pytest.approx(120.0 * found.focal_factor)
    assert camera.focal > 1.2 * CAMERA.focal
    assert not any("guess" in line for line in lines)
    assert found.focal_sigma < 0.1
    (unsure,), camera, _ = said(point(2.0, 0.12), box(1.4, 0.12))
    assert f"follows from the evidence ({camera.fov:.0f}° wide" in unsure
    assert "and not 67°" in unsure


def test_disagreement_makes_no_lens_less_sure_than_it_was():
    found = said(point(2.0, 0.1), point(2.9, 0.1))[2]
    assert found.widened > 1.5
    assert found.focal_sigma <= 0.3


def test_one_clue_contradicts_nobody():
    report = EvidenceReport("point", "point", 1.0, 0.1, 1.0, 0.4)
    assert report.contradicts
    assert not replace(report, alone=True).contradicts
    assert said(point())[2].evidence[0].alone
    assert not any(item.alone for item in said(point(), box())[2].evidence)


def test_the_sky_is_no_yardstick():
    sky = DepthEvidence("sky", "point", np.array([-9.0]), np.array([50.0]), 0.01)
    with pytest.raises(InputError, match="too far away to determine the scale"):
        said(sky)
    lines = said(point(), point(2.5, d=0.5), point(1.6, d=0.8), sky)[0]
    assert any(line.startswith("sky ") for line in lines)


def test_how_much_of_the_picture_is_too_far_is_said():
    values = VALUES.copy()
    values[:, :40] = -2.0
    relative = DepthMap(values, Kind.RELATIVE_DISPARITY)
    found = fit([point()], np.array([0.2, 1.0]), ScalePrior(1.3, 0.9))
    depth = to_meters(relative, found, CAMERA)
    (line,) = fit_warnings(found, depth, CAMERA)
    assert line.startswith("25% of the picture is too far to measure (beyond ")
    assert line.endswith("describes the other 75%")
