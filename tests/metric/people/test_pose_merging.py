from __future__ import annotations

from dataclasses import replace

import pytest

from sightline.metric.people.pose_landmarks import BODY, MIRRORED, distance, distinct
from sightline.metric.people.types import LANDMARKS


def test_the_mirror_of_the_mirror():
    assert [MIRRORED[MIRRORED[index]] for index in range(33)] == list(range(33))
    assert LANDMARKS[MIRRORED[LANDMARKS.index("knee.L")]] == "knee.R"
    assert MIRRORED[LANDMARKS.index("nose")] == LANDMARKS.index("nose")
    assert len(BODY) == 13


def test_one_person_seen_twice_is_one_and_neighbors_are_two(make_pose):
    first, again, neighbor = make_pose(), make_pose(shift=3.0), make_pose(shift=45.0)
    assert distinct([first, again, neighbor]) == [0, 2]
    assert distance(first, again) == pytest.approx(3 / 112.5)


def test_left_taken_for_right_is_the_same_person(make_pose):
    pose = make_pose()
    swapped = replace(pose, landmarks=pose.landmarks[MIRRORED])
    assert distance(pose, swapped) == 0


def test_a_wrong_arm_does_not_make_another_person(make_pose):
    pose = make_pose()
    landmarks = pose.landmarks.copy()
    for name in ("elbow.L", "wrist.L"):
        landmarks[LANDMARKS.index(name)] += 60
    assert distinct([pose, replace(pose, landmarks=landmarks)]) == [0]
