"""Faces, their 468 points and their eyes, by the face networks of the same family.

Inputs and outputs are as published with the models (BlazeFace, arXiv 1907.05047; face mesh, arXiv
1907.06724; MediaPipe Iris). Left and right are those of the picture here, not of the person.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.metric.people.anchors import ssd_anchors
from sightline.metric.people.crops import Crop, Pyramid, apply
from sightline.metric.people.detections import (
    Array,
    Detections,
    decode,
    joined,
    sigmoid,
    weighted_suppression,
)
from sightline.metric.people.tflite import TfliteNetwork

#: Lowest score of a face, and of its presence in the crop for the points.
SCORE, PRESENCE = 0.6, 0.5
#: Boxes of faces that overlap by more than this are one.
SAME = 0.3
#: Side of the crop for the points over the side of the face's box; the same for an eye's width.
FACE_MARGIN, EYE_MARGIN = 1.5, 2.3
#: Corners of the eye on the left and on the right of the picture, from left to right.
CORNERS = ((33, 133), (362, 263))
#: The first of the eye's points are its lids, all around.
LIDS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """A face.

    Attributes:
        score: of the detector, 0 to 1.
        points: (468, 2) float64 in [px] of the picture.
        depths: (468,) float64 away from the camera, on the scale of the points.
    """

    score: float
    points: Array
    depths: Array

    @property
    def yaw(self) -> float:
        """How far the face is turned to a side, in [rad]: from the outer corners of the eyes."""
        left, right = CORNERS[0][0], CORNERS[1][1]
        apart = math.dist(self.points[left], self.points[right])
        return math.atan2(float(self.depths[right] - self.depths[left]), apart)


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """An eye: (16, 2) lids, and (5, 2) the iris's middle, side, top, side, bottom; float64 [px]."""

    lids: Array
    iris: Array


class FaceDetector:
    """Finds faces from an arm's length to about five metres."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network
        self._anchors = ssd_anchors(network.size, (4,), per_layer=1)

    def look(self, pyramid: Pyramid, places: list[Crop]) -> Detections:
        """Detect faces in upright squares; points 0 and 1 are the eyes, from left to right."""
        size = self._network.size
        parts = []
        for place in places:
            outputs = self._network.run(pyramid.cut(place, size) * 2 - 1)
            found = decode(outputs[0], outputs[1], self._anchors, size, SCORE)
            half = place.side / 2
            parts.append(found.moved(place.side, (place.x - half, place.y - half)))
        return weighted_suppression(joined(parts, 6), SAME)


class FaceMesh:
    """Points of the face in a crop."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network

    def look(self, pyramid: Pyramid, found: Detections, index: int) -> Face | None:
        """Return the points of one of the faces found; None if it is no face after all."""
        crop = face_crop(found.boxes[index], found.points[index])
        size = self._network.size
        points, presence = self._network.run(pyramid.cut(crop, size))
        if float(sigmoid(presence).item()) < PRESENCE:
            return None
        table = np.asarray(points, np.float64).reshape(-1, 3)
        return Face(
            score=float(found.scores[index]),
            points=apply(crop.to_picture(size), table[:, :2] - 0.5),
            depths=table[:, 2] * crop.side / size,
        )


class EyeNetwork:
    """Lids and iris of an eye."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network

    def look(self, pyramid: Pyramid, face: Face, side: int, margin: float = EYE_MARGIN) -> Eye:
        """Look at the eye on the left (`side` 0) or right (1) of the picture."""
        crop, size = eye_crop(face, side, margin), self._network.size
        lids, iris = self._network.run(pyramid.cut(crop, size))
        back = crop.to_picture(size)
        outline = np.asarray(lids, np.float64).reshape(-1, 3)[:LIDS, :2]
        return Eye(
            lids=apply(back, outline - 0.5),
            iris=apply(back, np.asarray(iris, np.float64).reshape(-1, 3)[:, :2] - 0.5),
        )


def face_crop(box: Array, points: Array) -> Crop:
    """Return the crop of a face with level eyes, from its (4,) box and (6, 2) key points."""
    (left, top, right, bottom), across = box, points[1] - points[0]
    side = FACE_MARGIN * max(right - left, bottom - top)
    angle = math.atan2(float(across[1]), float(across[0]))
    return Crop(float(left + right) / 2, float(top + bottom) / 2, float(side), angle)


def eye_crop(face: Face, side: int, margin: float) -> Crop:
    """Return the crop of an eye with level corners.

    The network knows the left one only; the right one is shown mirrored.
    """
    start, end = face.points[list(CORNERS[side])]
    across = end - start
    return Crop(
        float(start[0] + end[0]) / 2,
        float(start[1] + end[1]) / 2,
        margin * math.dist(start, end),
        math.atan2(float(across[1]), float(across[0])),
        flipped=side == 1,
    )
