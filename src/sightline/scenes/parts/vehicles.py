"""Cars, vans, pick-ups, lorries and buses, modelled once per variant and put down often.

A vehicle stands on y = 0 with its middle at the origin and drives towards +z. The body is a skin over
cross-sections whose upper and lower lines make the silhouette; the cabin is glass between pillars.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sightline.scenes.parts.bodywork import body, cabin_of, trimmings, wheels
from sightline.scenes.parts.many import Floats, boxes, cards
from sightline.scenes.parts.models import Model, model
from sightline.scenes.shapes import merge
from sightline.scenes.world import Builder, Colour, Material

#: Different ones of each sort there are.
VARIANTS = 6

#: Upper line of the body as (share of the length from the front, share of the height), and where the
#: windscreen starts, the roof starts, the roof ends, the rear window ends.
_LINES: dict[str, tuple[tuple[tuple[float, float], ...], tuple[float, float, float, float]]] = {
    "hatchback": (
        ((0, 0.38), (0.03, 0.46), (0.27, 0.6), (0.97, 0.62), (1, 0.45)),
        (0.25, 0.42, 0.9, 0.99),
    ),
    "saloon": (
        ((0, 0.38), (0.03, 0.47), (0.3, 0.6), (0.8, 0.65), (0.98, 0.62), (1, 0.45)),
        (0.28, 0.43, 0.72, 0.86),
    ),
    "estate": (
        ((0, 0.38), (0.03, 0.46), (0.28, 0.6), (0.98, 0.63), (1, 0.45)),
        (0.26, 0.42, 0.94, 0.99),
    ),
    "suv": (
        ((0, 0.42), (0.03, 0.52), (0.26, 0.6), (0.98, 0.62), (1, 0.45)),
        (0.25, 0.38, 0.9, 0.99),
    ),
    "van": (
        ((0, 0.3), (0.03, 0.42), (0.14, 0.52), (0.98, 0.56), (1, 0.4)),
        (0.12, 0.25, 0.97, 0.995),
    ),
    "pickup": (
        ((0, 0.42), (0.03, 0.52), (0.28, 0.58), (0.55, 0.6), (0.6, 0.5), (0.99, 0.5), (1, 0.4)),
        (0.26, 0.37, 0.55, 0.6),
    ),
}
_SIZES: dict[str, tuple[tuple[float, float], tuple[float, float], tuple[float, float]]] = {
    "hatchback": ((3.5, 4.3), (1.65, 1.8), (1.42, 1.56)),
    "saloon": ((4.4, 5.1), (1.75, 1.9), (1.4, 1.5)),
    "estate": ((4.4, 4.95), (1.75, 1.88), (1.43, 1.55)),
    "suv": ((4.2, 5.0), (1.8, 2.0), (1.6, 1.85)),
    "van": ((4.6, 5.9), (1.85, 2.05), (1.85, 2.5)),
    "pickup": ((4.9, 5.6), (1.85, 2.0), (1.7, 1.9)),
    "truck": ((6.0, 11.0), (2.3, 2.55), (2.7, 3.9)),
    "bus": ((9.0, 12.5), (2.45, 2.55), (2.9, 3.3)),
}

_PAINTS: tuple[Colour, ...] = (
    (0.8, 0.8, 0.8), (0.75, 0.75, 0.73), (0.45, 0.46, 0.48), (0.2, 0.21, 0.22), (0.03, 0.03, 0.035),
    (0.02, 0.02, 0.02), (0.4, 0.03, 0.03), (0.05, 0.1, 0.35), (0.1, 0.25, 0.5), (0.05, 0.2, 0.1),
    (0.6, 0.45, 0.08), (0.5, 0.2, 0.05), (0.35, 0.28, 0.2), (0.25, 0.45, 0.5), (0.7, 0.62, 0.5),
)  # fmt: skip

_SORTS = ("hatchback", "saloon", "estate", "suv", "van", "pickup", "truck", "bus")
_SHARES = (0.28, 0.2, 0.12, 0.18, 0.1, 0.04, 0.05, 0.03)


def add_car(
    builder: Builder,
    rng: np.random.Generator,
    place: tuple[float, float, float],
    yaw: float,
    *,
    detail: int = 0,
    sort: str | None = None,
    lit: bool = False,
) -> None:
    """Put a vehicle of a random or given sort at `place` with its front towards `yaw` [degrees].

    Instances are called car, van, truck or bus. `detail` 0 is close by, 3 far away; `lit` by night.
    """
    chosen = sort or str(rng.choice(_SORTS, p=_SHARES))
    kind = chosen if chosen in ("van", "truck", "bus") else "car"
    with builder.thing(kind):
        vehicle(chosen, int(rng.integers(VARIANTS)), min(detail, 3)).place(
            builder, paints(rng, lit=lit), place, yaw=yaw
        )


def paints(rng: np.random.Generator, *, lit: bool = False) -> dict[str, Material]:
    """Choose a material for each role of a vehicle."""
    colour = _PAINTS[rng.integers(len(_PAINTS))]
    if rng.random() < 0.3:
        r, g, b = (float(c) for c in rng.uniform(0.02, 0.6, 3))
        colour = (r, g, b)
    printed = rng.random() < 0.4
    return {
        "paint": Material(tint=colour, gloss=float(rng.uniform(0.3, 0.9)), mirror=0.12),
        "cargo": Material("print", (0.75, 0.75, 0.75), colour, 2.5, int(rng.integers(99)))
        if printed
        else Material(tint=(0.7, 0.7, 0.68), gloss=0.2),
        "glass": Material(
            tint=(0.02, 0.025, 0.03), gloss=0.9, mirror=float(rng.uniform(0.15, 0.5))
        ),
        "tyre": Material(tint=(0.015, 0.015, 0.015)),
        "rim": Material(tint=(0.4, 0.4, 0.42), gloss=0.6),
        "trim": Material(tint=(0.03, 0.03, 0.03), gloss=0.2),
        "lamp": Material(tint=(0.85, 0.85, 0.8), gloss=0.8, glow=2.0 if lit else 0.0),
        "rear": Material(tint=(0.5, 0.02, 0.02), gloss=0.6, glow=1.5 if lit else 0.1),
        "plate": Material("print", (0.8, 0.8, 0.7), (0.05, 0.05, 0.05), 0.3, int(rng.integers(99))),
    }


@cache
def vehicle(sort: str, variant: int, detail: int) -> Model:
    """Give a vehicle; roles as in `paints`. `detail` 0 has about 1,500 triangles, 3 about 150."""
    rng = np.random.default_rng([29, _SORTS.index(sort), variant % VARIANTS])
    length, width, height = (rng.uniform(*span) for span in _SIZES[sort])
    size = np.array([width, height, length])
    far, detail = detail > 2, min(detail, 2)
    if sort == "truck":
        return _truck(rng, size, detail)
    if sort == "bus":
        return _bus(rng, size, detail)
    line, cabin = _LINES[sort]
    wobble = rng.uniform(-0.015, 0.015, 4)
    spots = [c + w for c, w in zip(cabin, wobble, strict=True)]
    parts = [("paint", body(size, line, detail))]
    belt = float(np.interp(cabin[1], *np.array(line).T)) * height - 0.03
    closed = sort == "van" and rng.random() < 0.6
    parts += cabin_of(size, spots, belt, detail, closed=closed)
    if far:
        under = boxes(
            [[0, -0.25, length * s] for s in (-0.28, 0.3)], [width, 0.5, 0.55], sides="xXzZ"
        )
        return model([*parts, ("tyre", under)])
    radius = float(rng.uniform(0.29, 0.34) + 0.04 * (sort in ("suv", "pickup", "van")))
    axles = (length * rng.uniform(0.29, 0.32), -length * rng.uniform(0.27, 0.31))
    parts += wheels(width, axles, radius, detail)
    parts += trimmings(size, float(line[1][1]) * height, belt, detail)
    return model(parts)


def _truck(rng: np.random.Generator, size: Floats, detail: int) -> Model:
    """Make a cab with a box, a tank or an open bed behind it."""
    width, height, length = size
    cab = float(rng.uniform(1.5, 2.2))
    tall = min(height, float(rng.uniform(2.3, 2.9)))
    z = length / 2 - cab / 2
    rest = length - cab - 0.3
    middle = -length / 2 + rest / 2
    cargo = boxes([[0, -(1.0 + height) / 2, middle]], [width, height - 1.0, rest])
    if rng.random() < 0.25:
        cargo = boxes(
            [
                [0, -1.1, middle],
                [-width / 2, -1.4, middle],
                [width / 2, -1.4, middle],
                [0, -1.4, -length / 2],
            ],
            [[width, 0.1, rest], [0.06, 0.5, rest], [0.06, 0.5, rest], [width, 0.5, 0.06]],
        )
    pane = length / 2 + 0.006
    glass = merge(
        [
            cards(
                [[-width * 0.44, -tall * 0.9, pane]],
                [[width * 0.88, 0, 0]],
                [[0, tall * 0.33, 0.04]],
            ),
            boxes([[0, -tall * 0.72, z + cab * 0.1]], [width + 0.02, tall * 0.28, cab * 0.5]),
        ]
    )
    bed = boxes([[0, -0.85, -0.2]], [width * 0.45, 0.25, length - 0.6])
    parts = [
        ("paint", boxes([[0, -(0.45 + tall) / 2, z]], [width * 0.98, tall - 0.45, cab])),
        ("cargo", cargo), ("glass", glass), ("trim", bed),
        ("rear", boxes([[-0.9, -0.8, -length / 2], [0.9, -0.8, -length / 2]], [0.3, 0.12, 0.06])),
    ]  # fmt: skip
    axles = (z, -length / 2 + 1.2, -length / 2 + 2.3)[: 3 if length > 8 else 2]
    parts += wheels(width, axles, 0.48, detail)
    return model([*parts, *trimmings(size, 0.9, 1.1, max(1, detail))])


def _bus(rng: np.random.Generator, size: Floats, detail: int) -> Model:
    """Make a long box with a row of windows."""
    width, height, length = size
    count = int(length // 1.5)
    z = (np.arange(count) + 0.5) / count * (length - 0.6) - (length - 0.6) / 2
    sides = np.concatenate(
        [np.stack([0 * z + s * (width / 2), 0 * z - 1.75, z], -1) for s in (-1, 1)]
    )
    panes = boxes(sides, [0.03, 1.0, length / count * 0.88], sides="xX")
    screen = boxes(
        [[0, -1.7, length / 2], [0, -1.9, -length / 2]],
        [[width * 0.9, 1.4, 0.04], [width * 0.8, 0.8, 0.04]],
    )
    parts = [("paint", boxes([[0, -(0.35 + height) / 2, 0]], [width, height - 0.35, length]))]
    parts += [("glass", panes), ("glass", screen)]
    if rng.random() < 0.5:
        parts.append(("cargo", boxes([[0, -0.85, -1.0]], [width + 0.02, 0.6, length * 0.5])))
    parts += wheels(width, (length * 0.3, -length * 0.25), 0.47, detail)
    return model([*parts, *trimmings(size, 0.8, 1.0, max(1, detail))])
