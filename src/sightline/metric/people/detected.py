"""Detected people as they are reported: outline, height and distance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from sightline.errors import InputError
from sightline.metric.body.fit import fit_body
from sightline.metric.people.types import Person
from sightline.types import BoolArray, Camera, Measurement

#: Largest distance of an outline from the mask in [px]; larger for images above 800 px.
_OUTLINE = 1.0
#: Largest number of polygons in an outline.
_PIECES = 8

Polygon = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class DetectedPerson:
    """Person in an image.

    Attributes:
        name: such as `person 1`.
        box: left, top, right, bottom in [px].
        outline: closed polygons of pixels (x, y), the largest first.
        confidence: of the detection, 0 to 1.
        height: stature in [m]; None if no body could be fitted.
        distance: distance from the camera in [m]; None if no body could be fitted.
        text: height and distance as text, or the reason why there are none.
        warnings: reasons for caution, one line each.
    """

    name: str
    box: tuple[float, ...]
    outline: tuple[Polygon, ...]
    confidence: float
    height: Measurement | None
    distance: Measurement | None
    text: str
    warnings: tuple[str, ...] = ()


def describe_people(
    people: Sequence[Person], camera: Camera, focal_sigma: float
) -> list[DetectedPerson]:
    """Estimate height and distance of detected people.

    Args:
        people: detections of one image.
        camera: its camera, with the fitted focal length.
        focal_sigma: relative standard deviation of that focal length.
    """
    return [
        _describe(f"person {number}", one, camera, focal_sigma)
        for number, one in enumerate(people, 1)
    ]


def _describe(name: str, person: Person, camera: Camera, focal_sigma: float) -> DetectedPerson:
    box = tuple(float(side) for side in person.box)
    shape = outline(person.mask)
    try:
        body = fit_body(person, camera)
    except InputError as error:
        return DetectedPerson(name, box, shape, person.confidence, None, None, str(error))
    # Distance is proportional to the focal length, so their relative errors add in quadrature.
    share = math.hypot(body.distance_sigma, focal_sigma)
    height = Measurement(body.height, body.height_sigma)
    distance = Measurement(body.distance, body.distance * share)
    text = f"{height} tall, {distance} away"
    warnings = tuple(body.warnings)
    return DetectedPerson(name, box, shape, person.confidence, height, distance, text, warnings)


def outline(mask: BoolArray) -> tuple[Polygon, ...]:
    """Return the closed polygons (x, y) around an (H, W) mask, the largest first."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = sorted(found, key=cv2.contourArea, reverse=True)[:_PIECES]
    near = max(_OUTLINE, max(mask.shape) / 800)
    pieces = [cv2.approxPolyDP(one, near, True).reshape(-1, 2) for one in found]
    return tuple(tuple((int(x), int(y)) for x, y in piece) for piece in pieces if len(piece) > 2)
