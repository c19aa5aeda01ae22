"""BlazePose's two networks: the detector of people, and the landmarks, mask and 3D of one of them.

Inputs and outputs are as published with the models (Bazarevsky et al., arXiv 2006.10204, and the
model card "BlazePose GHUM 3D"). The detector's key points 0 and 1 are the middle of the hips and a
point above the head on a circle about the hips that holds the whole body; crop and angle come from
them. The landmark network gives the same two points anew (landmarks 33 and 34), so that a crop can be
made better by looking twice.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.people.anchors import ssd_anchors
from sightline.metric.people.crops import Crop, Pyramid, apply
from sightline.metric.people.detections import (
    Array,
    Detections,
    decode,
    sigmoid,
    weighted_suppression,
)
from sightline.metric.people.tflite import TfliteNetwork
from sightline.types import Camera, FloatArray

#: Landmarks of a body; the network gives a few more, for its own use.
COUNT = 33
#: The middle of the hips, and the point on the circle about it that holds the body.
HIPS, CIRCLE = 33, 34
#: Side of the landmark network's crop over the diameter of that circle.
MARGIN = 1.25
#: Boxes (of heads) that overlap by more than this are one person, as published with the detector.
SAME = 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Pose:
    """What the landmark network says of a crop.

    Attributes:
        crop: where it looked.
        presence: that there is a person in the crop, 0 to 1.
        landmarks: (33, 2) float64 in [px] of the picture.
        visibility: (33,) float64, 0 to 1: seen, not hidden.
        world: (33, 3) float64 in [m] about the hips; x and y turned as the picture, z away from
            the camera.
        logits: (S, S) float32 of the mask in the crop; above 0 is the person.
        circle: (2, 2) float64 in [px]: middle of the hips, and the point on the body's circle.
    """

    crop: Crop
    presence: float
    landmarks: Array
    visibility: Array
    world: Array
    logits: FloatArray
    circle: Array


class PoseDetector:
    """Finds people who fill much of a view."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network
        self._anchors = ssd_anchors(network.size, (8, 16, 32, 32, 32))

    def look(self, pyramid: Pyramid, square: Crop, threshold: float) -> Detections:
        """Detect people in an upright square; boxes (of heads) and points in picture pixels."""
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
        """Look at the person in the middle of a crop."""
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
    """Bring a network's outputs into the picture.

    Args:
        crop: where it looked.
        size: side of its input in [px].
        points: (N · 5,) x, y, z in input pixels, then visibility and presence before the sigmoid.
        presence: 0 to 1.
        logits: (size, size) of the mask.
        world: (N · 3,) in [m], in the crop's axes.
    """
    table = np.asarray(points, np.float64).reshape(-1, 5)
    # The network counts from the edge of the first pixel, we from its middle.
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
    """Turn a body from the axes of a camera that looks straight at it into those of the picture's.

    The network sees a crop and knows nothing of where it was. On rendered people 18 to 31 degrees off
    the axis this takes the joints from 136 to 118 mm of the truth.

    Args:
        world: (N, 3) in [m] about the hips; x and y turned as the picture.
        at: (2,) where in the picture it looked, in [px].
        camera: of the picture.
    """
    ray = np.linalg.solve(camera.K, np.array([at[0], at[1], 1.0]))
    x, y, z = ray / np.linalg.norm(ray)
    # The shortest turn from (0, 0, 1) to the ray (Rodrigues).
    cross = np.array([[0.0, 0.0, x], [0.0, 0.0, y], [-x, -y, 0.0]])
    turn = np.eye(3) + cross + cross @ cross / (1 + z)
    return np.asarray(world @ turn.T, np.float64)


def diameter(circle: Array) -> float:
    """Diameter in [px] of the circle about a body; (2, 2) middle and a point on it."""
    return 2 * math.dist(circle[0], circle[1])


def crop_of(circle: Array) -> Crop:
    """Return the crop that shows a body upright, from (2, 2) hips and circle point in [px]."""
    dx, dy = circle[1] - circle[0]
    # Upright, the point lies straight above the hips: (0, −1).
    angle = math.atan2(float(dx), float(-dy))
    return Crop(float(circle[0, 0]), float(circle[0, 1]), MARGIN * diameter(circle), angle)
