"""`POST /v1/measure`: a distance between two pixels, with its error bar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sightline.app.formats import PLAIN
from sightline.app.problems import without_flags
from sightline.app.tasks.fits import read_fit
from sightline.app.tasks.maps import read_upload
from sightline.app.tasks.metric import measured, told
from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.files.depth_files import read_npz
from sightline.metric.measure import Measurement, Value, measure_between
from sightline.metric.yardsticks.words import parse_pixels


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Measure in a map that is there, or in a picture."""
    fields = order.fields
    start, end = (parse_pixels(fields[name], 2) for name in ("from", "to"))
    if order.other is not None:
        first = Order("metric", {}, order.other)
        record = first.description()
        depth, fit = read_npz(first.path("npz")), read_fit(order.other)
        by = [one["text"] for one in record["yardsticks"]]
        warnings = record["warnings"]
    else:
        picture = read_upload(order, tools.limits.pixels)
        _check_inside(start, end, picture.width, picture.height)
        metres, _ = measured(fields, picture, tools, report)
        depth, fit = metres.depth, metres.fit
        by = [told(clue) for clue in fit.clues]
        warnings = [without_flags(line) for line in metres.warnings]
    _check_inside(start, end, depth.width, depth.height)
    found = measure_between(depth, start, end, fit=fit)
    order.write(
        {
            "from": list(start),
            "to": list(end),
            **facts(found),
            "yardsticks": by,
            "warnings": list(dict.fromkeys([*warnings, *found.notes])),
        }
    )
    return PLAIN, {}


def make(order: Order) -> None:
    """There is no other form of a measurement."""
    raise InputError(f"a measurement cannot be had as {order.wanted}")


def facts(found: Measurement) -> dict[str, Any]:
    """Return a measurement as JSON has it."""
    right, down, farther = found.across
    heights = None if found.heights is None else [_value(one, "m") for one in found.heights]
    return {
        "distance": _value(found.distance, "m"),
        "depths": [_value(one, "m") for one in found.depths],
        "ranges": [_value(one, "m") for one in found.ranges],
        "right": _value(right, "m"),
        "down": _value(down, "m"),
        "farther": _value(farther, "m"),
        "elevation": _value(found.elevation, "°"),
        "angle": _value(found.angle, "°"),
        "heights": heights,
    }


def _value(value: Value, unit: str) -> dict[str, Any]:
    text = f"{value} {unit}"
    return {"value": value.value, "sigma": value.sigma, "unit": unit, "text": text}


def _check_inside(
    start: tuple[float, ...], end: tuple[float, ...], width: int, height: int
) -> None:
    for name, (x, y) in (("from", start), ("to", end)):
        if not (0 <= x <= width - 1 and 0 <= y <= height - 1):
            raise InputError(
                f"{name}={x:g},{y:g} lies outside the picture of {width} × {height} px"
            )
