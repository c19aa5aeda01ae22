"""When two findings are one person: squares overlap, and a crop may wander off to a neighbour."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline.metric.people.detections import Array
from sightline.metric.people.poses import COUNT, Pose, diameter
from sightline.metric.people.types import LANDMARKS

#: Median distance of the landmarks of two findings, over the diameter of the body's circle, below
#: which they are one person. People side by side are at 0.3 and more, the same one at 0.05 and less.
SAME_PERSON = 0.13

#: The landmarks that tell where a body is; faces and fingers only repeat heads and hands.
BODY = [
    index
    for index, name in enumerate(LANDMARKS)
    if name.split(".")[0] in ("nose", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")
]
#: Every landmark's counterpart on the other side.
MIRRORED = [
    LANDMARKS.index(name[:-1] + ("R" if name.endswith("L") else "L")) if "." in name else index
    for index, name in enumerate(LANDMARKS)
]
assert len(MIRRORED) == COUNT


def distance(first: Pose, second: Pose) -> float:
    """Median distance of the landmarks of two findings over the mean diameter of their circles.

    Left and right may be taken for each other: seen from behind, networks do.
    """
    size = (diameter(first.circle) + diameter(second.circle)) / 2
    other = second.landmarks
    return min(
        _median_gap(first.landmarks, other), _median_gap(first.landmarks, other[MIRRORED])
    ) / max(size, 1e-9)


def distinct(poses: Sequence[Pose], limit: float = SAME_PERSON) -> list[int]:
    """Return indices of those that are not the same person as an earlier one, in order."""
    kept: list[int] = []
    for index, pose in enumerate(poses):
        if all(distance(pose, poses[earlier]) >= limit for earlier in kept):
            kept.append(index)
    return kept


def _median_gap(first: Array, second: Array) -> float:
    gaps = np.linalg.norm(first[BODY] - second[BODY], axis=1)
    return float(np.median(gaps))
