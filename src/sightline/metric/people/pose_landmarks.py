"""Person landmarks with BlazePose: the person detector and the landmark network.

Inputs and outputs are as published with the models (Bazarevsky et al., arXiv 2006.10204, and the model
card "BlazePose GHUM 3D"). Key points 0 and 1 of the detector are the center of the hips and a point
on a circle around it that contains the whole body; they determine position, size and angle of the
crop. The landmark network returns the same two points (landmarks 33 and 34), so a crop can be
refined by a second run.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.people.crops import Crop, Pyramid, apply
from sightline.metric.people.ssd import (
    Array,
    Detections,
    decode,
    sigmoid,
    ssd_anchors,
    weighted_suppression,
)
from sightline.metric.people.tflite import TfliteNetwork
from sightline.metric.people.types import LANDMARKS
from sightline.types import Camera, FloatArray

#: Number of body landmarks; the network returns a few more for its own use.
COUNT = 33
#: Index of the center of the hips, and of the point on the circle around the body.
HIPS, CIRCLE = 33, 34
#: Side of the landmark network's crop divided by the diameter of that circle.
MARGIN = 1.25
#: Head boxes that overlap by more than this show one person, as published with the detector.
SAME = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """Output of the landmark network for a crop.

    Attributes:
        crop: where the network was run.
        presence: score that the crop shows a person, 0 to 1.
        landmarks: (33, 2) float64 in [px] of the image.
        visibility: (33,) float64, 0 (hidden) to 1.
        world: (33, 3) float64 in [m] relative to the hips; x and y along the image axes, z away
            from the camera.
        logits: (S, S) float32 of the mask in the crop; positive on the person.
        circle: (2, 2) float64 in [px]: center of the hips, and the point on the circle.
    """

    crop: Crop
    presence: float
    landmarks: Array
    visibility: Array
    world: Array
    logits: FloatArray
    circle: Array


class PoseDetector:
    """Detector of people who fill much of its input."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network
        self._anchors = ssd_anchors(network.size, (8, 16, 32, 32, 32))

    def look(self, pyramid: Pyramid, square: Crop, threshold: float) -> Detections:
        """Detect people in an upright square; returns head boxes and key points in image pixels."""
        size = self._network.size
        regressors, logits = self._network.run(pyramid.cut(square, size) * 2 - 1)
        found = decode(regressors, logits, self._anchors, size, threshold)
        half = square.side / 2
        found = found.moved(square.side, (square.x - half, square.y - half))
        return weighted_suppression(found, SAME)


class PoseNetwork:
    """Landmarks, mask and 3D of the person in a crop."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network

    def look(self, pyramid: Pyramid, crop: Crop) -> Pose:
        """Run the network on a crop with a person at its center."""
        size = self._network.size
        points, presence, mask, _, world = self._network.run(pyramid.cut(crop, size))
        return read_pose(crop, size, points, float(presence[0]), mask[..., 0], world)


def read_pose(
    crop: Crop,
    size: int,
    points: NDArray[np.float32],
    presence: float,
    logits: FloatArray,
    world: NDArray[np.float32],
) -> Pose:
    """Convert the outputs of the landmark network to image coordinates.

    Args:
        crop: where the network was run.
        size: side of its input in [px].
        points: (N · 5,) x, y, z in input pixels, then visibility and presence before the sigmoid.
        presence: 0 to 1.
        logits: (size, size) of the mask.
        world: (N · 3,) in [m], in the crop's axes.
    """
    table = np.asarray(points, np.float64).reshape(-1, 5)
    # The network's origin is the edge of the first pixel, ours its center.
    placed = apply(crop.to_picture(size), table[:, :2] - 0.5)
    body = np.asarray(world, np.float64).reshape(-1, 3)[:COUNT].copy()
    body[:, :2] = body[:, :2] @ crop.directions().T
    return Pose(
        crop=crop,
        presence=presence,
        landmarks=placed[:COUNT],
        visibility=sigmoid(table[:COUNT, 3]),
        world=body,
        logits=logits,
        circle=placed[[HIPS, CIRCLE]],
    )


def into_camera(world: Array, at: Array, camera: Camera) -> Array:
    """Rotate a body from the axes of a camera that looks straight at it to those of the image's camera.

    The network sees only the crop. For rendered people 18 to 31 degrees off the axis, this reduces the
    joint error from 136 to 118 mm.

    Args:
        world: (N, 3) in [m] relative to the hips; x and y along the image axes.
        at: (2,) center of the crop in [px].
        camera: of the image.
    """
    ray = np.linalg.solve(camera.K, np.array([at[0], at[1], 1.0]))
    x, y, z = ray / np.linalg.norm(ray)
    # Smallest rotation from (0, 0, 1) to the ray (Rodrigues).
    cross = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    turn = np.eye(3) + cross + cross @ cross / (1 + z)
    return np.asarray(world @ turn.T, np.float64)


def diameter(circle: Array) -> float:
    """Return the diameter in [px] of the circle around a body; (2, 2) center and a point on it."""
    return 2 * math.dist(circle[0], circle[1])


def crop_of(circle: Array) -> Crop:
    """Return the crop that shows a body upright, from its (2, 2) circle in [px]."""
    dx, dy = circle[1] - circle[0]
    # Upright, the point lies straight above the hips: (0, −1).
    angle = math.atan2(float(dx), float(-dy))
    return Crop(float(circle[0, 0]), float(circle[0, 1]), MARGIN * diameter(circle), angle)


#: Median distance of the landmarks of two poses, divided by the diameter of the body's circle,
#: below which they show one person. People side by side have 0.3 and more, the same person 0.05 and
#: less.
SAME_PERSON = 0.13

#: Landmarks that locate a body; those of face and fingers only repeat head and hands.
BODY = [
    index
    for index, name in enumerate(LANDMARKS)
    if name.split(".")[0] in ("nose", "shoulder", "elbow", "wrist", "hip", "knee", "ankle")
]
#: Counterpart of every landmark on the other side.
MIRRORED = [
    LANDMARKS.index(name[:-1] + ("R" if name.endswith("L") else "L")) if "." in name else index
    for index, name in enumerate(LANDMARKS)
]
assert len(MIRRORED) == COUNT


def distance(first: Pose, second: Pose) -> float:
    """Return the median landmark distance of two poses, divided by the mean diameter of their circles.

    Left and right may be swapped, because networks confuse them for people seen from behind.
    """
    size = (diameter(first.circle) + diameter(second.circle)) / 2
    other = second.landmarks
    return min(
        _median_gap(first.landmarks, other), _median_gap(first.landmarks, other[MIRRORED])
    ) / max(size, 1e-9)


def distinct(poses: Sequence[Pose], limit: float = SAME_PERSON) -> list[int]:
    """Return the indices of poses that differ from all earlier ones, in order."""
    kept: list[int] = []
    for index, pose in enumerate(poses):
        if all(distance(pose, poses[earlier]) >= limit for earlier in kept):
            kept.append(index)
    return kept


def _median_gap(first: Array, second: Array) -> float:
    gaps = np.linalg.norm(first[BODY] - second[BODY], axis=1)
    return float(np.median(gaps))


def disagreement(landmarks: Array, world: Array, visibility: Array) -> float:
    """Return how badly the metric body, in orthographic projection, fits the image landmarks.

    The body is projected along the optical axis, then scaled and shifted by least squares.

    Args:
        landmarks: (33, 2) in [px].
        world: (33, 3) in [m], along the image axes.
        visibility: (33,) weights, 0 to 1.

    Returns:
        Residual as a share of the landmarks' spread: 0 is a perfect fit, 1 none. Real people have
        0.03 to 0.15; perspective alone causes a few hundredths.
    """
    weights = np.clip(visibility[BODY], 0.05, 1.0)
    weights = (weights / weights.sum())[:, None]
    flat = world[BODY, :2] - (weights * world[BODY, :2]).sum(0)
    seen = landmarks[BODY] - (weights * landmarks[BODY]).sum(0)
    spread = float((weights * seen**2).sum())
    own = float((weights * flat**2).sum())
    if spread <= 0 or own <= 0:
        return 1.0
    scale = max(float((weights * flat * seen).sum()) / own, 0.0)
    rest = float((weights * (seen - scale * flat) ** 2).sum())
    return float(np.sqrt(rest / spread))
