from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.metric.people.crops import Crop, apply
from sightline.metric.people.pose_landmarks import (
    COUNT,
    MARGIN,
    crop_of,
    diameter,
    into_camera,
    read_pose,
)
from sightline.types import Camera


def outputs(points=None, world=None):
    table = np.zeros((39, 5), np.float32)
    table[:, :2] = 128.0
    if points is not None:
        table[: len(points), :2] = points
    body = np.zeros((39, 3), np.float32)
    if world is not None:
        body[: len(world)] = world
    return table, body


def test_landmarks_come_back_to_where_they_were_seen():
    crop = Crop(70.0, 50.0, 100.0, 0.7)
    places = np.array([(70.0, 50.0), (90.0, 40.0), (61.5, 77.25)])
    seen = apply(crop.from_picture(256), places) + 0.5
    table, world = outputs(seen)
    pose = read_pose(crop, 256, table.ravel(), 0.8, np.zeros((256, 256), np.float32), world.ravel())
    assert pose.landmarks.shape == (COUNT, 2)
    np.testing.assert_allclose(pose.landmarks[:3], places, atol=1e-3)
    assert pose.presence == 0.8


def test_visibility_is_between_zero_and_one():
    table, world = outputs()
    table[0, 3], table[1, 3] = 3.0, -300.0
    pose = read_pose(
        Crop(0, 0, 10), 256, table.ravel(), 1.0, np.zeros((8, 8), np.float32), world.ravel()
    )
    assert pose.visibility[0] == pytest.approx(1 / (1 + math.exp(-3)))
    assert 0 <= pose.visibility[1] < 1e-6


def test_the_metric_body_is_turned_as_the_crop_was():
    table, world = outputs(world=[(0.0, -1.0, 0.3)])
    crop = Crop(0, 0, 10, math.pi / 2)  # lying: the head to the right
    pose = read_pose(crop, 256, table.ravel(), 1.0, np.zeros((8, 8), np.float32), world.ravel())
    np.testing.assert_allclose(pose.world[0], (1.0, 0.0, 0.3), atol=1e-6)


@given(st.floats(-300, 300), st.floats(-300, 300), st.floats(1, 500), st.floats(-math.pi, math.pi))
def test_the_crop_of_a_circle_shows_the_body_upright(x, y, radius, angle):
    circle = np.array([(x, y), (x + radius * math.sin(angle), y - radius * math.cos(angle))])
    crop = crop_of(circle)
    assert crop.side == pytest.approx(MARGIN * diameter(circle))
    assert diameter(circle) == pytest.approx(2 * radius)
    above = apply(crop.from_picture(256), circle)
    np.testing.assert_allclose(above[0], 127.5, atol=1e-6)
    np.testing.assert_allclose(above[1], (127.5, 127.5 - 128 / MARGIN), atol=1e-6)


def test_a_body_off_the_axis_is_turned_with_the_ray_to_it():
    camera = Camera.from_fov(90, 641, 481)
    body = np.array([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)])
    np.testing.assert_allclose(into_camera(body, np.array([320.0, 240.0]), camera), body)
    turned = into_camera(body, np.array([640.5, 240.0]), camera)  # 45 degrees to the right
    half = math.sqrt(0.5)
    np.testing.assert_allclose(turned, [(half, 0, half), (half, 0, -half), (0, 1, 0)], atol=1e-9)


@given(st.floats(0, 640), st.floats(0, 480))
def test_turning_keeps_lengths(x, y):
    camera = Camera.from_fov(80, 641, 481)
    body = np.random.default_rng(0).normal(size=(33, 3))
    turned = into_camera(body, np.array([x, y]), camera)
    np.testing.assert_allclose(turned @ turned.T, body @ body.T, atol=1e-9)
