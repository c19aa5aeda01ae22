from __future__ import annotations

import math

import numpy as np
import pytest

from sightline.metric.people.iris import (
    CORNERS,
    DIAMETER,
    Eye,
    Face,
    eye_crop,
    face_crop,
    measure_irises,
)


def make_eye(x: float, width: float = 12.0, gap: float = 9.0) -> Eye:
    """An eye at (x, 50): an iris of `width`, lids `gap` apart on average over 25 px."""
    lower = [(x - 12.5 + 25 * k / 8, 50 + gap / 2) for k in range(9)]
    upper = [(x - 12.5 + 25 * (k + 1) / 8, 50 - gap / 2) for k in range(7)]
    r = width / 2
    iris = [(x, 50), (x + r, 50), (x, 50 - r), (x - r, 50), (x, 50 + r)]
    return Eye(np.array(lower + upper), np.array(iris))


def looks(left: float = 12.0, right: float = 12.0, gap: float = 9.0, apart: float = 64.6):
    return [
        [make_eye(100, left * k, gap) for k in (0.98, 1.0, 1.02)],
        [make_eye(100 + apart, right * k, gap) for k in (0.98, 1.0, 1.02)],
    ]


def test_two_good_eyes():
    left, right = measure_irises(looks(), yaw=0.0)
    np.testing.assert_allclose(left.center, (100, 50))
    assert left.diameter == pytest.approx(12)
    assert right.diameter == pytest.approx(12)
    wobble = 12 * 0.02 * math.sqrt(2 / 3)
    assert left.sigma == pytest.approx(math.hypot(0.25 * math.sqrt(2), wobble), rel=1e-6)


def test_eyes_that_disagree_are_less_sure():
    sure, unsure = measure_irises(looks(), 0.0), measure_irises(looks(12.0, 13.5), 0.0)
    assert unsure[0].sigma > 1.5 * sure[0].sigma


def test_a_turned_head_is_corrected_by_half_and_less_sure():
    straight = measure_irises(looks(), 0.0)
    turned = measure_irises(looks(apart=64.6 * math.cos(0.5)), 0.5)
    assert turned[0].diameter == pytest.approx(12 * (1 + (1 / math.cos(0.5) - 1) / 2))
    assert turned[0].sigma > 2 * straight[0].sigma


@pytest.mark.parametrize(
    ("seen", "yaw"),
    [
        (looks(gap=3.0), 0.0),  # a squint
        (looks(), 0.8),  # turned away
        (looks(4.0, 4.0, apart=21.5), 0.0),  # too small to measure
        (looks(9.0, 14.0), 0.0),  # the eyes of two different people
        (looks(apart=100.0), 0.0),  # irises too small for the distance of the pupils
    ],
)
def test_what_cannot_be_trusted_is_not_measured(seen, yaw):
    assert measure_irises(seen, yaw) is None


def test_crops_have_level_eyes():
    points = np.zeros((468, 2))
    points[list(CORNERS[0])] = [(10, 10), (20, 15)]
    points[list(CORNERS[1])] = [(30, 20), (40, 25)]
    face = Face(1.0, points, np.zeros(468))
    left, right = (eye_crop(face, side, 2.0) for side in (0, 1))
    assert (left.flipped, right.flipped) == (False, True)
    assert left.angle == pytest.approx(math.atan2(5, 10))
    assert left.side == pytest.approx(2 * math.hypot(10, 5))
    assert (right.x, right.y) == (35, 22.5)
    crop = face_crop(np.array([0.0, 0.0, 20.0, 30.0]), np.array([(5.0, 10.0), (15.0, 10.0)]))
    assert (crop.x, crop.y, crop.side, crop.angle) == (10, 15, 45, 0)


def test_yaw_from_depths():
    points, depths = np.zeros((468, 2)), np.zeros(468)
    points[CORNERS[1][1]] = (100, 0)
    depths[CORNERS[1][1]] = 100
    assert Face(1.0, points, depths).yaw == pytest.approx(math.pi / 4)


def test_irises_of_a_real_portrait(iris_finder):
    from skimage import data

    ((left, right),) = iris_finder.find(data.astronaut())
    assert left.center == pytest.approx((203, 101), abs=1.5)
    assert right.center == pytest.approx((246, 103), abs=1.5)
    pupils = math.dist(left.center, right.center)
    mean = (left.diameter + right.diameter) / 2
    assert mean / pupils == pytest.approx(DIAMETER / 0.063, rel=0.08)
    assert 0.02 * mean < left.sigma < 0.15 * mean


def test_no_face_no_iris(iris_finder, photo):
    assert iris_finder.find(photo) == []
