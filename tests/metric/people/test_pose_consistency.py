from __future__ import annotations

import numpy as np
import pytest

from sightline.metric.people.pose_landmarks import disagreement


@pytest.mark.parametrize(("scale", "x", "y"), [(1.0, 0.0, 0.0), (312.0, -40.0, 900.0)])
def test_a_body_seen_from_afar_agrees_wherever_it_is(make_pose, scale, x, y):
    world = make_pose().world
    landmarks = world[:, :2] * scale + (x, y)
    assert disagreement(landmarks, world, np.ones(33)) < 1e-9


def test_a_mirrored_or_upside_down_body_does_not(make_pose):
    world = make_pose().world
    assert disagreement(-world[:, :2], world, np.ones(33)) > 0.9
    rng = np.random.default_rng(0)
    assert disagreement(rng.normal(size=(33, 2)), world, np.ones(33)) > 0.5


def test_what_is_hidden_hardly_counts(make_pose):
    world = make_pose().world
    landmarks, visibility = world[:, :2].copy(), np.ones(33)
    landmarks[15] += 0.5
    loud = disagreement(landmarks, world, visibility)
    visibility[15] = 0.0
    assert disagreement(landmarks, world, visibility) < loud / 3


def test_a_body_that_is_a_point_is_no_body():
    assert disagreement(np.zeros((33, 2)), np.zeros((33, 3)), np.ones(33)) == 1
