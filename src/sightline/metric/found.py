"""People as they are shown: outlined, with estimated height and distance, and what to beware of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.bodies.fit import fit_body
from sightline.metric.estimate import Metres
from sightline.metric.measure import Value
from sightline.metric.people.types import PeopleFinder, Person
from sightline.types import BoolArray, Camera

#: An outline is within so many pixels of the mask, at least; of large pictures a share of them.
_OUTLINE = 1.0
#: Pieces of a person's outline, at most.
_PIECES = 8

Polygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Found:
    """Somebody in a picture.

    Attributes:
        name: such as `person 1`.
        box: left, top, right, bottom in [px].
        outline: closed polygons of pixels (x, y), the largest first.
        confidence: of the finder, 0 to 1.
        height: of the body in [m]; None where no body could be fitted.
        distance: from the camera in [m]; likewise.
        text: both in words, or why there is neither.
        warnings: what to beware of, a line each.
    """

    name: str
    box: tuple[float, ...]
    outline: tuple[Polygon, ...]
    confidence: float
    height: Value | None
    distance: Value | None
    text: str
    warnings: tuple[str, ...] = ()


class Remembering:
    """A finder of people that keeps whom it found, for showing them.

    Args:
        finder: that looks.
    """

    def __init__(self, finder: PeopleFinder) -> None:
        self.source, self._finder = finder.source, finder
        self.found: list[Person] = []

    def find(self, pixels: NDArray[np.uint8], camera: Camera) -> list[Person]:
        """Return the people of an (H, W, 3) sRGB picture, the surest first."""
        self.found = self._finder.find(pixels, camera)
        return self.found


def describe(people: Sequence[Person], metres: Metres) -> list[Found]:
    """Say how tall and how far everybody is whom a finder found in the picture of `metres`."""
    return [_describe(f"person {number}", one, metres) for number, one in enumerate(people, 1)]


def _describe(name: str, person: Person, metres: Metres) -> Found:
    camera = metres.depth.camera
    assert camera is not None
    seen = name, tuple(float(side) for side in person.box), outline(person.mask), person.confidence
    try:
        body = fit_body(person, camera)
    except InputError as error:
        return Found(*seen, None, None, str(error))
    # The distance is proportional to the focal length, which is known only so well.
    share = math.hypot(body.distance_sigma, metres.fit.focal_sigma)
    height = Value(body.height, body.height_sigma)
    distance = Value(body.distance, body.distance * share)
    text = f"{height} m tall, {distance} m away"
    return Found(*seen, height, distance, text, tuple(body.warnings))


def outline(mask: BoolArray) -> tuple[Polygon, ...]:
    """Return the closed polygons (x, y) around an (H, W) mask, the largest first."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = sorted(found, key=cv2.contourArea, reverse=True)[:_PIECES]
    near = max(_OUTLINE, max(mask.shape) / 800)
    pieces = [cv2.approxPolyDP(one, near, True).reshape(-1, 2) for one in found]
    return tuple(tuple((int(x), int(y)) for x, y in piece) for piece in pieces if len(piece) > 2)
