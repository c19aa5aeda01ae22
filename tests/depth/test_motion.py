"""Following a camera, and telling a cut from everything that is none."""

from __future__ import annotations

import itertools

import cv2
import numpy as np
import pytest
from skimage import data
from sklearn.datasets import load_sample_images

from sightline.depth.stabilization import MotionStatus, enlarge, follow, places, shrink


@pytest.fixture(scope="module")
def photos() -> list[np.ndarray]:
    """Five real photographs."""
    return [data.astronaut(), data.coffee(), data.chelsea(), *load_sample_images().images]


def window(photo: np.ndarray, across: float = 0.0) -> np.ndarray:
    """Seven tenths of a photograph's width, from a share of it on."""
    width = photo.shape[1]
    start = int(across * width)
    return np.ascontiguousarray(photo[:, start : start + int(0.7 * width)])


def step(before: np.ndarray, now: np.ndarray) -> MotionStatus:
    return follow(shrink(before), shrink(now)).step


def test_another_picture_is_a_cut(photos):
    same_size = [cv2.resize(p, (480, 320), interpolation=cv2.INTER_AREA) for p in photos]
    for a, b in itertools.permutations(same_size, 2):
        assert step(a, b) is MotionStatus.CUT


def test_what_is_no_cut(photos):
    rng = np.random.default_rng(0)
    for photo in photos:
        before = window(photo)
        changes = {
            "pan": window(photo, 0.05),
            "flash": np.clip(before * 1.6 + 20, 0, 255).astype(np.uint8),
            "fade": (before * 0.5).astype(np.uint8),
            "noise": np.clip(before + rng.normal(0, 20, before.shape), 0, 255).astype(np.uint8),
            "blur": cv2.GaussianBlur(before, (0, 0), 4),
        }
        for name, now in changes.items():
            assert step(before, now) is MotionStatus.FOLLOWED, name


def test_a_whip_pan_is_lost_but_no_cut(photos):
    flower = photos[-1]
    assert step(window(flower), window(flower, 0.28)) is MotionStatus.LOST


def test_flat_frames():
    black = np.zeros((48, 64, 3), np.uint8)
    assert step(black, black) is MotionStatus.LOST
    assert step(black, black + 255) is MotionStatus.CUT
    tiny = np.zeros((1, 1, 3), np.uint8)
    assert step(tiny, tiny) is MotionStatus.LOST


def test_flow_points_back_to_where_a_pixel_was(photo):
    before = photo[40:340, 40:440]
    now = photo[46:346, 52:452]  # the camera moved by 12 right and 6 down
    motion = follow(shrink(before), shrink(now))
    flow = enlarge(motion.flow, (300, 400))
    sure = cv2.resize(motion.trust, (400, 300)) > 0.7
    np.testing.assert_allclose(np.median(flow[sure], axis=0), (12, 6), atol=0.6)
    assert sure.mean() > 0.5
    place, inside = places(flow)
    assert place.shape == (300, 400, 2)
    assert not inside[:, -6:].any(), "what has just come into view was nowhere before"


def test_the_same_frames_give_the_same_flow(photo):
    a, b = shrink(photo[:300, :400]), shrink(photo[5:305, 8:408])
    first = follow(a, b)
    for _ in range(4):
        assert first.flow.tobytes() == follow(a, b).flow.tobytes()
