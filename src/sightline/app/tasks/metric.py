"""`POST /v1/metric`: metres of a picture, and the people that they come from."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any

from sightline.app.formats import MAP
from sightline.app.problems import Problem, without_flags
from sightline.app.tasks.fits import write_fit
from sightline.app.tasks.maps import described, headers_of, make_again, read_upload, store
from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.files.pictures import Picture
from sightline.metric.estimate import Known, Metres
from sightline.metric.found import Found, Remembering, describe
from sightline.metric.head.fit import ClueReport
from sightline.metric.options import Yardsticks
from sightline.metric.work import Tools as MetricTools
from sightline.metric.work import metres_of
from sightline.metric.yardsticks.words import parse_known, parse_length
from sightline.types import Kind


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
    make_again(order)


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
    people = [_shown(one) for one in describe(found, metres)]
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


def _shown(found: Found) -> dict[str, Any]:
    """Return somebody as JSON has it."""
    height, distance = found.height, found.distance
    return {
        "name": found.name,
        "box": [round(side, 1) for side in found.box],
        "outline": [[list(corner) for corner in piece] for piece in found.outline],
        "confidence": round(found.confidence, 3),
        "height_m": None if height is None else height.value,
        "height_sigma_m": None if height is None else height.sigma,
        "distance_m": None if distance is None else distance.value,
        "distance_sigma_m": None if distance is None else distance.sigma,
        "text": found.text,
        "warnings": list(found.warnings),
    }
