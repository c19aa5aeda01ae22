"""Irises as evidence of scale: their diameter is 11.7 ± 0.5 mm in everybody.

Faces, their 468 points and their eyes are detected with the networks of MediaPipe (BlazeFace, arXiv
1907.05047; face mesh, arXiv 1907.06724; MediaPipe Iris), with inputs and outputs as published. Left and
right are those of the image, not of the person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.evidence import READING, DepthEvidence
from sightline.metric.people.crops import Crop, Pyramid, apply, squares
from sightline.metric.people.ssd import (
    Array,
    Detections,
    decode,
    joined,
    sigmoid,
    ssd_anchors,
    weighted_suppression,
)
from sightline.metric.people.tflite import TfliteNetwork
from sightline.metric.sampling import around
from sightline.models.download import Notify, resolve
from sightline.types import Camera, DepthMap

#: Lowest score of a face, and of its presence in the crop for the points.
SCORE, PRESENCE = 0.6, 0.5
#: Boxes of faces that overlap by more than this are one.
SAME = 0.3
#: Side of the crop divided by the side of the face's box, and by the width of the eye.
FACE_MARGIN, EYE_MARGIN = 1.5, 2.3
#: Corners of the left and right eye in the image, from left to right.
CORNERS = ((33, 133), (362, 263))
#: Number of eyelid points, the first of the eye's points.
LIDS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Face:
    """Detected face.

    Attributes:
        score: of the detector, 0 to 1.
        points: (468, 2) float64 in [px] of the image.
        depths: (468,) float64 away from the camera, in the scale of the points.
    """

    score: float
    points: Array
    depths: Array

    @property
    def yaw(self) -> float:
        """Horizontal rotation of the face in [rad], from the outer corners of the eyes."""
        left, right = CORNERS[0][0], CORNERS[1][1]
        apart = math.dist(self.points[left], self.points[right])
        return math.atan2(float(self.depths[right] - self.depths[left]), apart)


@dataclass(frozen=True, slots=True, eq=False)
class Eye:
    """(16, 2) eyelid points, and (5, 2) center, side, top, side, bottom of the iris, in [px]."""

    lids: Array
    iris: Array


class FaceDetector:
    """Detector of faces, from arm's length to about five meters."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network
        self._anchors = ssd_anchors(network.size, (4,), per_layer=1)

    def look(self, pyramid: Pyramid, places: list[Crop]) -> Detections:
        """Detect faces in upright squares; key points 0 and 1 are the eyes, from left to right."""
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
        """Return the points of one of the detected faces; None if the network finds no face there."""
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
    """Eyelids and iris of an eye."""

    def __init__(self, network: TfliteNetwork) -> None:
        self._network = network

    def look(self, pyramid: Pyramid, face: Face, side: int, margin: float = EYE_MARGIN) -> Eye:
        """Run the network on the left (`side` 0) or right (1) eye in the image."""
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

    The network is made for left eyes; right eyes are mirrored.
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


#: Diameter of the iris and its standard deviation between people, in [m].
DIAMETER, SPREAD = 0.0117, 0.0005

#: Each eye is measured in crops of these sizes; the spread of the results is part of `sigma`.
MARGINS = (EYE_MARGIN - 0.25, EYE_MARGIN, EYE_MARGIN + 0.25)
#: Smallest iris that can be measured, in [px]. Below, the network returns an average eye.
SMALLEST = 5.0
#: Largest yaw in [rad]; beyond, the iris is too foreshortened to correct.
FARTHEST = math.radians(35.0)
#: Smallest gap between the eyelids divided by the iris diameter; below, the network guesses.
OPEN = 0.45
#: Standard deviation of the position of an edge at best, in [px].
EDGE = 0.25
#: Range of the iris diameter divided by the distance of the pupils, about 11.7 / 63.
PROPORTION = (0.78 * 11.7 / 63, 1.3 * 11.7 / 63)
#: Largest relative difference of the irises of one face.
APART = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Iris:
    """Measured iris.

    Attributes:
        center: (2,) float64 in [px].
        diameter: as seen straight on, in [px].
        sigma: standard deviation of the diameter in [px].
    """

    center: Array
    diameter: float
    sigma: float


class IrisFinder:
    """Measure the irises of all people who look roughly at the camera.

    Args:
        threads: maximum number of CPU threads; None for one per core.
        notify: called with one line of text before a download.
    """

    def __init__(self, *, threads: int | None = None, notify: Notify | None = None) -> None:
        names = ("face-detection", "face-landmarks", "iris-landmarks")
        found = [resolve(name, notify=notify, purpose="faces") for name in names]
        networks = [TfliteNetwork(weights.path, threads) for weights in found]
        self.source = f"MediaPipe Iris ({found[-1].sha256[:12]})"
        self._detector, self._mesh = FaceDetector(networks[0]), FaceMesh(networks[1])
        self._eyes = EyeNetwork(networks[2])

    def find(self, pixels: NDArray[np.uint8]) -> list[tuple[Iris, Iris]]:
        """Return the left and right iris of every face that shows both.

        Faces that are far away, turned away or have closed or hidden eyes are skipped.

        Args:
            pixels: (H, W, 3) uint8 sRGB.
        """
        pyramid = Pyramid(pixels)
        # Squares much larger than the smallest face whose irises can be measured.
        places = squares(pixels.shape[0], pixels.shape[1], smallest=320.0, most=40)
        found = self._detector.look(pyramid, places)
        faces = [self._mesh.look(pyramid, found, index) for index in range(len(found))]
        pairs = [self._measure(pyramid, face) for face in faces if face is not None]
        return [pair for pair in pairs if pair is not None]

    def _measure(self, pyramid: Pyramid, face: Face) -> tuple[Iris, Iris] | None:
        looks = [
            [self._eyes.look(pyramid, face, side, margin) for margin in MARGINS] for side in (0, 1)
        ]
        return measure_irises(looks, face.yaw)


def measure_irises(looks: list[list[Eye]], yaw: float) -> tuple[Iris, Iris] | None:
    """Combine several measurements of both eyes; None if they are not reliable.

    Args:
        looks: results for the left and for the right eye of the image.
        yaw: of the head in [rad]. An eye turned by it appears narrower by its cosine; as eyes also turn
            in the head, half of that correction is applied, and half is added to the uncertainty.
    """
    if abs(yaw) > FARTHEST:
        return None
    widths = [np.array([_width(eye) for eye in eyes]) for eyes in looks]
    middles = [float(np.median(width)) for width in widths]
    gaps = [np.median([_gap(eye) for eye in eyes]) for eyes in looks]
    apart = abs(math.log(max(middles[0], 1e-6) / max(middles[1], 1e-6)))
    closed = any(gap < OPEN * middle for gap, middle in zip(gaps, middles, strict=True))
    if min(middles) < SMALLEST or apart > APART or closed:
        return None
    centers = [np.median([eye.iris[0] for eye in eyes], axis=0) for eyes in looks]
    straight = math.dist(centers[0], centers[1]) / math.cos(yaw)
    if not PROPORTION[0] < math.sqrt(middles[0] * middles[1]) / straight < PROPORTION[1]:
        return None
    narrower = (1 / math.cos(yaw) - 1) / 2
    irises = []
    for center, width, middle in zip(centers, widths, middles, strict=True):
        wobble = float(np.std(width))
        diameter = middle * (1 + narrower)
        parts = (EDGE * math.sqrt(2), wobble, diameter * apart / 2, diameter * narrower)
        irises.append(Iris(center, diameter, math.hypot(*parts)))
    return irises[0], irises[1]


def _width(eye: Eye) -> float:
    """Return the horizontal diameter of the iris in [px]; eyelids do not hide its sides."""
    return math.dist(eye.iris[1], eye.iris[3])


def _gap(eye: Eye) -> float:
    """Return the mean gap between the eyelids in [px]: the area between them divided by their width."""
    x, y = eye.lids.T
    # Both lids run from corner to corner; reverse the upper one to close the polygon.
    half = len(x) // 2 + 1
    order = [*range(half), *range(len(x) - 1, half - 1, -1)]
    x, y = x[order], y[order]
    area = abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2
    corners = math.dist(eye.lids[0], eye.lids[half - 1])
    return area / max(corners, 1e-6)


def iris_evidence(
    pairs: Sequence[tuple[Iris, Iris]], relative: DepthMap, camera: Camera
) -> list[DepthEvidence]:
    """Return one piece of evidence per face: both irises have the same size and distance.

    Args:
        pairs: the two irises of every face.
        relative: relative disparity of the image.
        camera: of the image; distances are proportional to its focal length.
    """
    evidence = []
    for number, (left, right) in enumerate(pairs, 1):
        name = f"irises of face {number}"
        width = math.sqrt(left.diameter * right.diameter)
        reading = math.hypot(left.sigma / left.diameter, right.sigma / right.diameter) / 2
        values = np.concatenate([_seen(relative, eye, name) for eye in (left, right)])
        depth = camera.focal * DIAMETER / width
        evidence.append(
            DepthEvidence(
                name,
                "iris",
                np.array([np.median(values)]),
                np.array([depth]),
                math.hypot(SPREAD / DIAMETER, reading, READING),
                focal_power=1.0,
            )
        )
    return evidence


def _seen(relative: DepthMap, eye: Iris, name: str) -> NDArray[np.float32]:
    """Return relative disparity on and around an eye."""
    x, y = eye.center
    return around(relative, float(x), float(y), name, round(eye.diameter))
