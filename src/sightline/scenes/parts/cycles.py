"""Bicycles and motor scooters: the thinnest things that stand about in a street."""

from __future__ import annotations

from functools import cache

import numpy as np

from sightline.scenes.parts.many import Floats, boxes, rods
from sightline.scenes.parts.models import Model, model
from sightline.scenes.shapes import Shape, merge, sphere
from sightline.scenes.world import Builder, Material

#: Different ones of each sort there are.
VARIANTS = 5


def add_cycle(
    builder: Builder,
    rng: np.random.Generator,
    place: tuple[float, float, float],
    yaw: float,
    *,
    far: bool = False,
) -> None:
    """Put a bicycle, sometimes a motorcycle, at `place`, its front towards `yaw` [degrees]."""
    motor = rng.random() < 0.2
    r, g, b = (float(c) for c in rng.uniform(0.02, 0.7, 3))
    paints = {
        "frame": Material(tint=(r, g, b), gloss=0.6),
        "tyre": Material(tint=(0.02, 0.02, 0.02)),
        "metal": Material(tint=(0.5, 0.5, 0.52), gloss=0.7),
    }
    variant = int(rng.integers(VARIANTS))
    shape = motorcycle(variant) if motor else bicycle(variant, far)
    with builder.thing("motorcycle" if motor else "bicycle"):
        shape.place(builder, paints, place, yaw=yaw, lean=float(rng.uniform(-9, 9)))


@cache
def bicycle(variant: int, far: bool = False) -> Model:
    """Give a bicycle of 1.7 m standing at the origin, driving towards +z."""
    rng = np.random.default_rng([31, variant % VARIANTS])
    radius = float(rng.uniform(0.29, 0.36))
    half = float(rng.uniform(0.48, 0.56))
    hub_r, hub_f = np.array([0, -radius, -half]), np.array([0, -radius, half])
    low = np.array([0, -radius * 0.85, -0.05])
    seat = np.array([0, -rng.uniform(0.78, 0.98), -0.22])
    head = np.array([0, -rng.uniform(0.82, 0.98), half * 0.72])
    bar = rng.uniform(0.2, 0.34)
    under = seat * 0.9 + low * 0.1 if rng.random() < 0.6 else seat * 0.3 + low * 0.7
    lines = [
        (low, seat), (low, head * [1, 0.86, 1]), (under, head * [1, 0.95, 1]),
        (low, hub_r), (seat * [1, 0.93, 1], hub_r), (head, hub_f),
    ]  # fmt: skip
    frame = _lines(lines, 0.014 if not far else 0.02)
    grip = head + np.array([0, -0.08, -0.02])
    metal = _lines(
        [(head, grip), (grip - [bar, 0, 0.06], grip), (grip, grip + np.array([bar, 0, -0.06]))],
        0.011,
    )
    saddle = boxes([seat - [0, 0.03, 0]], [0.15, 0.05, 0.26])
    rings = [_ring(hub, radius, 0.017, 10 if far else 18) for hub in (hub_r, hub_f)]
    parts = [("frame", frame), ("metal", metal), ("tyre", merge([saddle, *rings]))]
    if not far:
        parts.append(("metal", merge([_spokes(hub, radius) for hub in (hub_r, hub_f)])))
        crank = _lines([(low - [0.1, 0.12, 0], low), (low, low + np.array([0.1, 0.12, 0]))], 0.01)
        parts.append(("metal", crank))
        parts.append(("metal", _arc(hub_r, radius + 0.03, 0.2, 2.6)))
        parts.append(("metal", _arc(hub_f, radius + 0.03, 0.6, 2.6)))
    if rng.random() < 0.4:
        at = grip + np.array([0, 0.05, 0.22])
        parts.append(("metal", _basket(at, 0.34, 0.22, 0.26)))
    return model(parts)


@cache
def motorcycle(variant: int) -> Model:
    """Give a scooter or motorcycle of about 2 m."""
    rng = np.random.default_rng([37, variant % VARIANTS])
    radius = float(rng.uniform(0.24, 0.32))
    half = float(rng.uniform(0.6, 0.7))
    hubs = [np.array([0, -radius, z]) for z in (-half, half)]
    head = np.array([0, -rng.uniform(0.9, 1.05), half * 0.65])
    body = [
        sphere([0, -0.62, -0.3], [0.17, 0.17, 0.45], sectors=10),
        sphere([0, -0.55, 0.12], [0.14, 0.25, 0.25], sectors=10),
        sphere([0, -0.72, half * 0.72], [0.16, 0.24, 0.12], sectors=10),
    ]
    bar = [(head - [0.34, 0, 0.08], head), (head, head + np.array([0.34, 0, -0.08]))]
    forks = [(head + np.array([s, 0, 0]), hubs[1] + [s, 0, 0]) for s in (-0.07, 0.07)]
    mirrors = [
        (head + np.array([s * 0.25, 0, 0]), head + np.array([s * 0.32, -0.18, -0.02]))
        for s in (-1, 1)
    ]
    seat = sphere([0, -0.8, -0.32], [0.15, 0.07, 0.4], sectors=10)
    glass = boxes(np.array([m[1] for m in mirrors]), [0.14, 0.08, 0.02])
    rings = [_ring(hub, radius, 0.055, 14) for hub in hubs]
    return model(
        [
            ("frame", merge(body)),
            ("metal", _lines([*bar, *forks, *mirrors], 0.018)),
            ("tyre", merge([seat, glass, *rings])),
            ("metal", merge([_spokes(hub, radius) for hub in hubs])),
        ]
    )


def _lines(pairs: list[tuple[Floats, Floats]], radius: float) -> Shape:
    """Rods from point to point."""
    return rods([a for a, _ in pairs], [b for _, b in pairs], radius, sectors=5)


def _ring(hub: Floats, radius: float, thick: float, pieces: int) -> Shape:
    """Make a tyre: a ring in the plane x = 0."""
    return _arc(hub, radius - thick, 0.0, 2 * np.pi, thick, pieces)


def _arc(
    hub: Floats, radius: float, start: float, end: float, thick: float = 0.006, pieces: int = 8
) -> Shape:
    """Rods along an arc around the hub; angles in radians, from +z upwards."""
    angle = np.linspace(start, end, pieces + 1)
    at = hub + np.stack([0 * angle, -np.sin(angle), np.cos(angle)], -1) * radius
    return rods(at[:-1], at[1:], thick, sectors=5)


def _spokes(hub: Floats, radius: float, count: int = 16) -> Shape:
    """Thin wires from the hub to the rim."""
    angle = np.arange(count) / count * 2 * np.pi
    rim = hub + np.stack([0 * angle, -np.sin(angle), np.cos(angle)], -1) * (radius - 0.02)
    side = np.stack([np.where(np.arange(count) % 2, 0.03, -0.03), 0 * angle, 0 * angle], -1)
    return rods(hub + side, rim, 0.0018, sectors=3)


def _basket(centre: Floats, width: float, height: float, depth: float) -> Shape:
    """Make a wire basket: a few hoops and uprights."""
    x, y, z = width / 2, height / 2, depth / 2
    corners = np.array([[-x, 0, -z], [x, 0, -z], [x, 0, z], [-x, 0, z]]) + centre
    shift = np.array([0, y, 0])
    hoops = [
        (corners + shift * k, np.roll(corners, -1, 0) + shift * k) for k in (-1, -0.33, 0.33, 1)
    ]
    uprights = (corners - shift, corners + shift)
    starts, ends = zip(*hoops, uprights, strict=True)
    return rods(np.concatenate(starts), np.concatenate(ends), 0.004, sectors=3)
