"""The width of irises in pixels: a yardstick of 11.7 mm that everybody carries.

The horizontal diameter of the human iris is 11.7 ± 0.5 mm (standard deviation) from childhood on. How
exactly it is known in pixels is said by `sigma`; the spread between people comes on top of that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.people.crops import Pyramid
from sightline.metric.people.detections import Array
from sightline.metric.people.faces import (
    EYE_MARGIN,
    Eye,
    EyeNetwork,
    Face,
    FaceDetector,
    FaceMesh,
)
from sightline.metric.people.tflite import TfliteNetwork
from sightline.metric.people.tiles import squares
from sightline.weights.store import Notify, resolve

#: Diameter of the iris and its spread between people, in [m].
DIAMETER, SPREAD = 0.0117, 0.0005

#: Each eye is looked at in crops of these sizes; how far the answers are apart is part of `sigma`.
MARGINS = (EYE_MARGIN - 0.25, EYE_MARGIN, EYE_MARGIN + 0.25)
#: Smallest iris that can be measured, in [px]. Below, the network answers with an average eye.
SMALLEST = 5.0
#: A face that is turned farther shows an iris too narrow to correct, in [rad].
FARTHEST = math.radians(35.0)
#: Gap between the lids over the iris's diameter: less is a squint, and the network guesses.
OPEN = 0.45
#: How well an edge can be placed at best, in [px].
EDGE = 0.25
#: An iris over the distance of the pupils is 11.7 / 63, give or take: children's eyes are closer.
PROPORTION = (0.78 * 11.7 / 63, 1.3 * 11.7 / 63)
#: Irises of one face that differ by more than this share are not measured, but guessed.
APART = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Iris:
    """One iris.

    Attributes:
        centre: (2,) float64 in [px].
        diameter: as it would be seen straight on, in [px].
        sigma: one standard deviation of the diameter, in [px].
    """

    centre: Array
    diameter: float
    sigma: float


class IrisFinder:
    """Measures the irises of everybody who looks about this way.

    Args:
        threads: at most so many; None for one per core.
        notify: told in one line before something is downloaded.
    """

    def __init__(self, *, threads: int | None = None, notify: Notify | None = None) -> None:
        names = ("face-detection", "face-landmarks", "iris-landmarks")
        found = [resolve(name, notify=notify, purpose="faces") for name in names]
        networks = [TfliteNetwork(weights.path, threads) for weights in found]
        self.source = f"MediaPipe Iris ({found[-1].sha256[:12]})"
        self._detector, self._mesh = FaceDetector(networks[0]), FaceMesh(networks[1])
        self._eyes = EyeNetwork(networks[2])

    def find(self, pixels: NDArray[np.uint8]) -> list[tuple[Iris, Iris]]:
        """Return the two irises, left then right in the picture, of every face they can be seen in.

        Faces with closed or hidden eyes, far away or turned away, are left out.

        Args:
            pixels: (H, W, 3) sRGB.
        """
        pyramid = Pyramid(pixels)
        # Squares that are large against a face whose irises can be measured.
        places = squares(pixels.shape[0], pixels.shape[1], smallest=320.0, most=40)
        found = self._detector.look(pyramid, places)
        faces = [self._mesh.look(pyramid, found, index) for index in range(len(found))]
        pairs = [self._measure(pyramid, face) for face in faces if face is not None]
        return [pair for pair in pairs if pair is not None]

    def _measure(self, pyramid: Pyramid, face: Face) -> tuple[Iris, Iris] | None:
        looks = [
            [self._eyes.look(pyramid, face, side, margin) for margin in MARGINS] for side in (0, 1)
        ]
        return measure(looks, face.yaw)


def measure(looks: list[list[Eye]], yaw: float) -> tuple[Iris, Iris] | None:
    """Make two irises of several looks at each of two eyes; None if they cannot be trusted.

    Args:
        looks: for the eye on the left and on the right of the picture, what was seen.
        yaw: of the head, in [rad]. An eye turned by it is seen narrower by its cosine; as eyes also
            turn in the head, half of that correction is applied, and half is uncertainty.
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
    centres = [np.median([eye.iris[0] for eye in eyes], axis=0) for eyes in looks]
    straight = math.dist(centres[0], centres[1]) / math.cos(yaw)
    if not PROPORTION[0] < math.sqrt(middles[0] * middles[1]) / straight < PROPORTION[1]:
        return None
    narrower = (1 / math.cos(yaw) - 1) / 2
    irises = []
    for centre, width, middle in zip(centres, widths, middles, strict=True):
        wobble = float(np.std(width))
        diameter = middle * (1 + narrower)
        parts = (EDGE * math.sqrt(2), wobble, diameter * apart / 2, diameter * narrower)
        irises.append(Iris(centre, diameter, math.hypot(*parts)))
    return irises[0], irises[1]


def _width(eye: Eye) -> float:
    """Horizontal diameter of the iris, in [px]: lids do not hide its sides."""
    return math.dist(eye.iris[1], eye.iris[3])


def _gap(eye: Eye) -> float:
    """Mean gap between the lids, in [px]: the area within them over their width."""
    x, y = eye.lids.T
    # The lower lid runs from corner to corner, then the upper one does so again.
    half = len(x) // 2 + 1
    order = [*range(half), *range(len(x) - 1, half - 1, -1)]
    x, y = x[order], y[order]
    area = abs(float(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))) / 2
    corners = math.dist(eye.lids[0], eye.lids[half - 1])
    return area / max(corners, 1e-6)
