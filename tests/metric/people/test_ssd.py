from __future__ import annotations

import numpy as np
import pytest

from sightline.metric.people.ssd import Detections, decode, joined, overlaps, weighted_suppression


def test_decoding_by_hand():
    anchors = np.array([(0.5, 0.25), (0.1, 0.9)])
    # Box 40 wide, 20 high, 10 to the right and 20 below the first anchor; one key point on it.
    regressors = np.array([(10, 20, 40, 20, 0, 0), (0, 0, 1, 1, 5, 5)], np.float32)
    found = decode(regressors, np.array([[0.0], [-9.0]]), anchors, size=100, threshold=0.4)
    assert found.scores == pytest.approx([0.5])
    np.testing.assert_allclose(found.boxes, [(0.4, 0.35, 0.8, 0.55)])
    np.testing.assert_allclose(found.points, [[(0.5, 0.25)]])


def test_nothing_above_the_threshold_is_nothing():
    found = decode(np.zeros((3, 12)), np.full(3, -200.0), np.zeros((3, 2)), 224, 0.1)
    assert len(found) == 0
    assert found.points.shape == (0, 4, 2)
    assert len(weighted_suppression(found, 0.3)) == 0
    assert joined([], 4).points.shape == (0, 4, 2)


def test_moving_into_the_picture():
    found = Detections(np.ones(1), np.array([[0.0, 0.0, 1.0, 1.0]]), np.array([[(0.5, 0.25)]]))
    moved = found.moved(200.0, (10.0, -20.0))
    np.testing.assert_allclose(moved.boxes, [(10, -20, 210, 180)])
    np.testing.assert_allclose(moved.points, [[(110, 30)]])


def test_overlap_of_boxes():
    boxes = np.array([(0, 0, 2, 2), (1, 0, 3, 2), (5, 5, 6, 6), (0, 0, 0, 0)], float)
    np.testing.assert_allclose(overlaps(boxes[0], boxes), [1, 1 / 3, 0, 0], atol=1e-9)


def test_merging_weighs_by_score_and_keeps_the_best():
    boxes = np.array([(0, 0, 10, 10), (1, 0, 11, 10), (50, 50, 60, 60)], float)
    points = boxes.reshape(3, 2, 2)
    merged = weighted_suppression(Detections(np.array([0.2, 0.8, 0.5]), boxes, points), 0.3)
    assert merged.scores == pytest.approx([0.8, 0.5])
    np.testing.assert_allclose(merged.boxes[0], (0.8, 0, 10.8, 10))
    np.testing.assert_allclose(merged.points[0], [(0.8, 0), (10.8, 10)])
    np.testing.assert_allclose(merged.boxes[1], boxes[2])
