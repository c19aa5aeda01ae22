"""The finder of things: places, goals, slots."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.vlm.detectors import LEAST, SLOTS, ObjectDetector, slots_of
from sightline.perception.vlm.object_detector_training import (
    detection_loss,
    detection_target,
    train_object_detector,
)

KINDS = ("ball", "chair")
BOXES = {"ball": [(0.1, 0.2, 0.3, 0.5)], "chair": [(0.5, 0.5, 0.9, 0.8)], "unknown": [(0, 0, 1, 1)]}


def told(goal):
    """Scores and sides of a finder that is always right."""
    scores = torch.logit(torch.from_numpy(goal.heat).clamp(1e-4, 1 - 1e-4))[None]
    return scores, torch.from_numpy(goal.sides)[None]


def test_what_a_goal_says_comes_back_as_slots():
    slots = slots_of(*told(detection_target(BOXES, KINDS, 20)))[0]
    assert slots.shape == (SLOTS, 2 + 4)
    assert slots[0, :2].argmax() == 0
    assert slots[1, :2].argmax() == 1
    torch.testing.assert_close(slots[0, 2:], torch.tensor([0.1, 0.2, 0.3, 0.5]), atol=1e-5, rtol=0)
    torch.testing.assert_close(slots[1, 2:], torch.tensor([0.5, 0.5, 0.9, 0.8]), atol=1e-5, rtol=0)
    assert not slots[2:].any(), "a kind that nobody named is not looked for"


def test_things_come_from_left_to_right_and_none_twice():
    scores = torch.full((1, 2, 10, 10), -9.0)
    sides = torch.full((1, 4, 10, 10), 1.0)
    scores[0, 0, 5, 8] = 3.0
    scores[0, 1, 2, 1] = 1.0
    scores[0, 0, 5, 4] = 2.0
    scores[0, 1, 7, 6] = float(torch.logit(torch.tensor(LEAST))) - 0.1  # too weak
    sides[0, :, 5, 6] = torch.tensor([3.0, 1.0, -1.0, 1.0])  # the same box as that at column 4
    scores[0, 1, 5, 6] = 1.0
    found = slots_of(scores, sides)[0]
    assert found[:, :2].amax(1).gt(0).sum() == 3
    middles = (found[:3, 2] + found[:3, 4]) / 2
    torch.testing.assert_close(middles, torch.tensor([0.15, 0.45, 0.85]), atol=1e-3, rtol=0)


def test_more_things_than_slots():
    scores = torch.full((1, 1, 20, 20), -9.0)
    scores[0, 0, ::2, ::2] = torch.linspace(1, 3, 100).view(10, 10)
    found = slots_of(scores, torch.full((1, 4, 20, 20), 0.5))[0]
    assert (found[:, 0] > 0.85).all(), "the strongest are kept"
    assert (found[:-1, 1] <= found[1:, 1]).all()


def test_the_loss_is_least_where_all_is_right():
    goal = detection_target(BOXES, KINDS, 20)
    scores, sides = told(goal)
    right = detection_loss(scores, sides, [goal])
    assert right < detection_loss(scores.flip(1), sides, [goal])
    assert right < detection_loss(scores, sides + 1, [goal])
    empty = detection_target({}, KINDS, 20)
    assert torch.isfinite(detection_loss(scores, sides, [empty]))


def test_a_finder_learns_where_things_are():
    rng = np.random.default_rng(0)
    features = np.zeros((24, 4, 10, 10), np.float16)
    boxes = []
    for number in range(24):
        row, column, kind = (int(rng.integers(1, 9)), int(rng.integers(1, 9)), number % 2)
        features[number, kind, row, column] = 4
        middle = ((column + 0.5) / 10, (row + 0.5) / 10)
        box = (middle[0] - 0.1, middle[1] - 0.1, middle[0] + 0.1, middle[1] + 0.1)
        boxes.append({KINDS[kind]: [box]})

    def pixels(numbers):
        return torch.zeros(len(numbers), 3, 140, 140)

    lines = []
    finder = train_object_detector(
        features, pixels, boxes, KINDS, steps=80, batch=8, rate=5e-3, report=lines.append
    )
    assert "step 80 of 80" in lines[-1]
    slots = slots_of(*finder(torch.from_numpy(features[:6]).float(), pixels(range(6))))
    for number in range(6):
        assert int(slots[number, 0, :2].argmax()) == number % 2
        (wanted,) = boxes[number][KINDS[number % 2]]
        np.testing.assert_allclose(slots[number, 0, 2:], wanted, atol=0.06)
    again = train_object_detector(
        features, pixels, boxes, KINDS, steps=2, batch=8, report=lambda _: None, seed=3
    )
    same = train_object_detector(
        features, pixels, boxes, KINDS, steps=2, batch=8, report=lambda _: None, seed=3
    )
    assert all(
        torch.equal(a, b) for a, b in zip(again.parameters(), same.parameters(), strict=True)
    )


def test_pictures_and_boxes_belong_together():
    with pytest.raises(InputError, match="3 images but 1 lists"):
        train_object_detector(
            np.zeros((3, 4, 10, 10), np.float16), lambda _: None, [{}], KINDS, steps=1
        )


def test_places_are_half_a_patch():
    finder = ObjectDetector(8, 3)
    scores, sides = finder(torch.zeros(2, 8, 4, 4), torch.zeros(2, 3, 56, 56))
    assert scores.shape == (2, 3, 8, 8)
    assert sides.shape == (2, 4, 8, 8)
    assert (sides > 0).all()
    assert scores.sigmoid().max() < 0.1
