"""Meters, by the person in a photograph: who was found, how far, and a distance with its error bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sightline.demo.part import Order, Shown

if TYPE_CHECKING:
    from sightline.metric.estimation import MetricResult
    from sightline.metric.people.detected import DetectedPerson
    from sightline.reports.marks import Mark

#: Both sides of the ring that her helmet is fastened to, pixels (x, y), and what it is called.
RING = (122.0, 205.0), (300.0, 247.0)
RING_NAME = "the neck ring of her suit"


def make(order: Order) -> Shown:
    """Measure the portrait by the person in it, whose networks are fetched if they are not here."""
    import numpy as np

    from sightline.examples import example_person
    from sightline.io.images import read_picture
    from sightline.jobs.metric import write_meters
    from sightline.metric.known_sizes import KnownSizes
    from sightline.metric.measurement import measure_between
    from sightline.metric.options import MetricConfig
    from sightline.metric.work import load_tools, meters_of
    from sightline.reports import Exhibit
    from sightline.reports.page import fields_of

    order.tell("meters by a person")
    options = MetricConfig(model=order.model)
    tools = load_tools(options, order.tell)
    assert tools.finder is not None
    picture = read_picture(example_person())
    meters = meters_of(picture, KnownSizes(), tools, options)
    people = meters.people
    ring = measure_between(meters.depth, *RING, fit=meters.fit)
    paths = {kind: order.out / f"astronaut.{kind}" for kind in ("npz", "glb", "json")}
    write_meters(paths.items(), picture, meters, "spectral")
    exhibit = Exhibit(
        "a portrait in meters",
        meters.depth,
        picture.pixels,
        paths,
        _marks(people, f"{ring.distance}"),
    )
    near, far = np.quantile(meters.depth.values[meters.depth.valid], [0.01, 0.99])
    lines = (
        *(f"{one.name}: {one.text}" for one in people),
        f"{RING_NAME}: {ring.distance} wide",
    )
    fields: dict[str, Any] = {
        "exhibit": fields_of(exhibit, order.out),
        "people": people,
        "ring": f"{ring.distance}",
        "ring_name": RING_NAME,
        "span": f"{near:.1f} to {far:.1f} m",
        "sigma": f"{meters.usual_sigma:.0%}",
        "warnings": _others(meters, people),
        "finder": tools.finder.source,
    }
    return Shown(fields, lines)


def _marks(people: list[DetectedPerson], width: str) -> list[Mark]:
    from sightline.reports.marks import Line, OutlineMark

    marks: list[Mark] = []
    for one in people:
        left, _, right, bottom = one.box
        middle = (left + right) / 2, bottom - 40
        marks.append(OutlineMark(one.outline, one.text.split(", "), middle))
    return [*marks, Line(*RING, width)]


def _others(meters: MetricResult, people: list[DetectedPerson]) -> list[str]:
    """Return what there is to know beside what stands beside a person."""
    told = {f"{one.name}: {line}" for one in people for line in one.warnings}
    return [line for line in meters.warnings if line not in told]
