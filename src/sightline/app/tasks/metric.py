"""`POST /v1/metric`: metres of a picture, and the people that they come from."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.app.formats import MAP
from sightline.app.problems import Problem, without_flags
from sightline.app.tasks.fits import write_fit
from sightline.app.tasks.maps import described, headers_of, make_again, read_upload, store
from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.files.pictures import Picture
from sightline.metric.bodies.fit import fit_body
from sightline.metric.estimate import Known, Metres
from sightline.metric.head.fit import ClueReport
from sightline.metric.measure import Value
from sightline.metric.options import Yardsticks
from sightline.metric.people.types import PeopleFinder, Person
from sightline.metric.work import Tools as MetricTools
from sightline.metric.work import metres_of
from sightline.metric.yardsticks.words import parse_known, parse_length
from sightline.types import BoolArray, Camera, Kind

#: An outline is within so many pixels of the mask, at least; of large pictures a share of them.
_OUTLINE = 1.0
#: Pieces of a person's outline, at most.
_PIECES = 8


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


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Estimate metres."""
    start = time.perf_counter()
    report(None, "reading the picture")
    picture = read_upload(order, tools.limits.pixels)
    metres, people = measured(order.fields, picture, tools, report)
    report(None, "writing the result")
    record = metres.to_dict()
    record["warnings"] = [without_flags(line) for line in metres.warnings]
    for clue, line in zip(record["yardsticks"], metres.fit.clues, strict=True):
        clue["text"] = told(line)
    order.write(
        {
            **record,
            **described(metres.depth),
            "people": people,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    if order.keep:
        write_fit(order.folder, metres)
    store(order, metres.depth, picture)
    return MAP, headers_of(metres.depth)


def make(order: Order) -> None:
    """Make another file of it."""
    make_again(order, max_pixels=1 << 40)  # it was decoded once already


def measured(
    fields: dict[str, Any], picture: Picture, tools: Tools, report: Reporter
) -> tuple[Metres, list[dict[str, Any]]]:
    """Return metres of a picture, and what is known of the people in it."""
    known = known_of(fields)
    estimator = tools.estimator(fields["model"])
    if estimator.spec.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError("this model gives metres itself", remedy="use /v1/depth, or another model")
    notes: list[str] = []
    finder = _finder(fields, known, tools, notes)
    irises = tools.irises if fields["iris"] else None
    report(None, "looking for people" if finder else "estimating depth")
    shared = MetricTools(estimator, finder, None, irises)
    options = Yardsticks(people=finder is not None, fov=fields["fov"], iris=fields["iris"])
    metres = metres_of(picture, known, shared, options)
    if notes:
        metres = _with_notes(metres, notes)
    assert metres.depth.camera is not None
    found = [] if finder is None else finder.found
    report(None, "measuring people")
    people = [_shown(number, one, metres) for number, one in enumerate(found, 1)]
    return metres, people


def known_of(fields: dict[str, Any]) -> Known:
    """Read what the client knows; unlike on the command line, nothing here names a file."""
    height = fields["camera_height"]
    return Known(
        tuple(parse_known(text, 4) for text in fields["length"]),
        tuple(parse_known(text, 2) for text in fields["depth_at"]),
        tuple(parse_known(text, 4) for text in fields["box"]),
        None if height is None else parse_length(height),
    )


def told(clue: ClueReport) -> str:
    """Say in a line how sure a yardstick is and how far the result is from it."""
    share = math.expm1(clue.off)
    line = f"{clue.name} (± {clue.sigma:.0%})"
    if abs(share) >= 0.005:
        line += f": the result is {share:+.0%} from it"
    return line + (", contradicts the others" if clue.contradicts else "")


def _finder(
    fields: dict[str, Any], known: Known, tools: Tools, notes: list[str]
) -> Remembering | None:
    if not fields["people"]:
        return None
    try:
        return Remembering(tools.people)
    except Problem as problem:
        alone = known == Known() and not fields["iris"]
        if alone:
            raise
        notes.append(problem.sentence)
        return None


def _with_notes(metres: Metres, notes: list[str]) -> Metres:
    from dataclasses import replace

    return replace(metres, warnings=(*metres.warnings, *notes))


def _shown(number: int, person: Person, metres: Metres) -> dict[str, Any]:
    """Say who somebody is: outline, height, distance."""
    camera = metres.depth.camera
    assert camera is not None
    facts: dict[str, Any] = {
        "name": f"person {number}",
        "box": [round(float(side), 1) for side in person.box],
        "outline": outline(person.mask),
        "confidence": round(person.confidence, 3),
        "height_m": None,
        "height_sigma_m": None,
        "distance_m": None,
        "distance_sigma_m": None,
        "text": "no body could be fitted",
        "warnings": [],
    }
    try:
        body = fit_body(person, camera)
    except InputError as error:
        return {**facts, "text": str(error)}
    # The distance is proportional to the focal length, which is known only so well.
    share = math.hypot(body.distance_sigma, metres.fit.focal_sigma)
    height = Value(body.height, body.height_sigma)
    distance = Value(body.distance, body.distance * share)
    return {
        **facts,
        "height_m": height.value,
        "height_sigma_m": height.sigma,
        "distance_m": distance.value,
        "distance_sigma_m": distance.sigma,
        "text": f"{height} m tall, {distance} m away",
        "warnings": list(body.warnings),
    }


def outline(mask: BoolArray) -> list[list[list[int]]]:
    """Return the closed polygons (x, y) around an (H, W) mask, the largest first."""
    found, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    found = sorted(found, key=cv2.contourArea, reverse=True)[:_PIECES]
    near = max(_OUTLINE, max(mask.shape) / 800)
    pieces = [cv2.approxPolyDP(one, near, True).reshape(-1, 2) for one in found]
    return [[[int(x), int(y)] for x, y in piece] for piece in pieces if len(piece) > 2]
