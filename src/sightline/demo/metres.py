"""Metres, by the person in a photograph: who was found, how far, and a distance with its error bar."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sightline.demo.part import Order, Shown

if TYPE_CHECKING:
    from sightline.metric.estimate import Metres
    from sightline.metric.found import Found
    from sightline.report.marks import Mark

#: Both sides of the ring that her helmet is fastened to, pixels (x, y), and what it is called.
RING = (122.0, 205.0), (300.0, 247.0)
RING_NAME = "the neck ring of her suit"


def make(order: Order) -> Shown:
    """Measure the portrait by the person in it, whose networks are fetched if they are not here."""
    import numpy as np

    from sightline.examples import example_person
    from sightline.files.pictures import read_picture
    from sightline.metric.estimate import Known
    from sightline.metric.found import Remembering, describe
    from sightline.metric.measure import measure_between
    from sightline.metric.options import Yardsticks
    from sightline.metric.work import load_tools, metres_of, write
    from sightline.report import Exhibit
    from sightline.report.page import fields_of

    order.tell("metres by a person")
    options = Yardsticks(model=order.model)
    tools = load_tools(options, order.tell)
    assert tools.finder is not None
    finder = Remembering(tools.finder)
    picture = read_picture(example_person())
    metres = metres_of(picture, Known(), replace(tools, finder=finder), options)
    people = describe(finder.found, metres)
    ring = measure_between(metres.depth, *RING, fit=metres.fit)
    paths = {kind: order.out / f"astronaut.{kind}" for kind in ("npz", "glb", "json")}
    write(picture, metres, dict(paths), "spectral")
    exhibit = Exhibit(
        "a portrait in metres",
        metres.depth,
        picture.pixels,
        paths,
        _marks(people, f"{ring.distance} m"),
    )
    near, far = np.quantile(metres.depth.values[metres.depth.valid], [0.01, 0.99])
    lines = (
        *(f"{one.name}: {one.text}" for one in people),
        f"{RING_NAME}: {ring.distance} m wide",
    )
    fields: dict[str, Any] = {
        "exhibit": fields_of(exhibit, order.out),
        "people": people,
        "ring": f"{ring.distance} m",
        "ring_name": RING_NAME,
        "span": f"{near:.1f} to {far:.1f} m",
        "sigma": f"{metres.usual_sigma:.0%}",
        "warnings": _others(metres, people),
        "finder": finder.source,
    }
    return Shown(fields, lines)


def _marks(people: list[Found], width: str) -> list[Mark]:
    from sightline.report.marks import Line, Outline

    marks: list[Mark] = []
    for one in people:
        left, _, right, bottom = one.box
        middle = (left + right) / 2, bottom - 40
        marks.append(Outline(one.outline, one.text.split(", "), middle))
    return [*marks, Line(*RING, width)]


def _others(metres: Metres, people: list[Found]) -> list[str]:
    """Return what there is to know beside what stands beside a person."""
    told = {f"{one.name}: {line}" for one in people for line in one.warnings}
    return [line for line in metres.warnings if line not in told]
