import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes.camera import best_view, ray_box_hits
from sightline.scenes.world import CameraView


def march(eye, ray, boxes, room):
    """Walk along a ray in steps of a millimeter: slow, and sure."""
    t = np.arange(0.0, 12.0, 0.001)
    points = eye + t[:, None] * ray
    inside = (points[:, None] >= boxes[:, 0]).all(-1) & (points[:, None] <= boxes[:, 1]).all(-1)
    left = (points < room[0]).any(1) | (points > room[1]).any(1)
    stop = np.flatnonzero(inside.any(1) | left)
    return t[stop[0]]


@given(st.integers(0, 10_000))
def test_hits_agree_with_marching(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(-2, 1, (5, 3))
    boxes = np.stack([low, low + rng.uniform(0.1, 1.5, (5, 3))], 1)
    room = np.array([[-3.0, -3, -3], [3, 3, 3]])
    eye, ray = rng.uniform(-2.5, 2.5, 3), rng.normal(size=3)
    ray /= np.linalg.norm(ray)
    away, thing = ray_box_hits(eye[None], ray[None, None], boxes, room)
    expected = march(eye, ray, boxes, room)
    # A ray may graze a corner for less than a step.
    if abs(away[0, 0] - expected) > 0.003:
        entered = eye + (away[0, 0] + 1e-6) * ray
        chosen = boxes[thing[0, 0]]
        assert (entered >= chosen[0] - 1e-4).all()
        assert (entered <= chosen[1] + 1e-4).all()


def test_nothing_around_is_far():
    away, thing = ray_box_hits(
        np.zeros((1, 3)), np.array([[[0.0, 0, 1]]]), np.zeros((0, 2, 3)), None
    )
    assert away[0, 0] == 100
    assert thing[0, 0] == -1


def test_never_inside_a_thing():
    box = np.array([[[-1.0, -1, -1], [1, 1, 1]]])
    inside, outside = CameraView((0, 0, 0), (0, 0, 1)), CameraView((0, 0, -4), (0, 0, 1))
    for seed in range(20):
        assert best_view(np.random.default_rng(seed), [inside, outside], box) is outside


def test_not_with_the_nose_at_a_wall():
    room = np.array([[-3.0, -3, -3], [3, 0, 3]])
    box = np.array([[[-0.2, -1, 1], [0.2, 0, 1.4]]])
    wall, free = CameraView((0, -1.5, -2.9), (0, -1.5, -3)), CameraView((0, -1.5, -2.5), (0, -1, 1))
    for seed in range(20):
        chosen = best_view(np.random.default_rng(seed), [wall, free], box, room=room)
        assert chosen is free


@pytest.mark.parametrize("down", [1.0, -1.0])
def test_straight_up_and_down_are_views(down):
    view = CameraView((0, -1, 0), (0, -1 + down, 0))
    assert best_view(np.random.default_rng(0), [view], np.zeros((0, 2, 3))) is view
