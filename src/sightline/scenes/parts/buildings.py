"""Houses, terraces, blocks, offices and halls: modelled once per variant, coloured anew each time.

A building's front looks towards −z from z = 0, its middle is at x = 0, its depth goes towards +z.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sightline.scenes.parts import facades, roofs
from sightline.scenes.parts.facades import Parts
from sightline.scenes.parts.many import Floats, boxes, cards
from sightline.scenes.parts.models import Model, model
from sightline.scenes.shapes import Shape, merge
from sightline.scenes.world import Builder, Colour, Material, Pattern

#: Different ones of each sort there are.
VARIANTS = 14

#: Sort: width, depth, height of a floor, number of floors.
_SIZES: dict[
    str, tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[int, int]]
]
_SIZES = {
    "terrace": ((5, 13), (8, 12), (2.8, 3.6), (2, 6)),
    "block": ((14, 30), (10, 16), (2.7, 3.1), (4, 10)),
    "house": ((7, 14), (7, 11), (2.6, 3.0), (1, 4)),
    "office": ((14, 32), (12, 20), (3.2, 3.8), (3, 13)),
    "hall": ((15, 36), (14, 24), (4.5, 7.0), (1, 3)),
}
SORTS = tuple(_SIZES)

_WALLS: tuple[tuple[Pattern, float, Colour, Colour], ...] = (
    ("brick", 0.24, (0.42, 0.17, 0.11), (0.5, 0.47, 0.42)),
    ("brick", 0.24, (0.5, 0.38, 0.24), (0.55, 0.52, 0.48)),
    ("brick", 0.22, (0.24, 0.16, 0.13), (0.4, 0.38, 0.35)),
    ("plaster", 1.5, (0.72, 0.66, 0.52), (0.5, 0.45, 0.35)),
    ("plaster", 2.0, (0.75, 0.74, 0.7), (0.5, 0.5, 0.48)),
    ("plaster", 1.0, (0.6, 0.42, 0.3), (0.4, 0.3, 0.2)),
    ("plaster", 1.2, (0.5, 0.58, 0.6), (0.4, 0.42, 0.45)),
    ("tiles", 0.8, (0.55, 0.52, 0.46), (0.35, 0.33, 0.3)),
    ("planks", 0.2, (0.35, 0.22, 0.12), (0.2, 0.12, 0.07)),
    ("planks", 0.2, (0.62, 0.64, 0.6), (0.4, 0.4, 0.4)),
    ("noise", 2.0, (0.48, 0.47, 0.44), (0.36, 0.35, 0.33)),
    ("stripes", 0.3, (0.5, 0.52, 0.55), (0.38, 0.4, 0.42)),
)


def add_building(
    builder: Builder,
    rng: np.random.Generator,
    place: tuple[float, float, float],
    yaw: float,
    *,
    sort: str,
    variant: int,
    detail: int,
    dark: bool = False,
    paints: dict[str, Material] | None = None,
) -> None:
    """Put a building with the middle of its front at `place`; at yaw 0 the front looks towards −z."""
    with builder.thing("building"):
        building(sort, variant, min(detail, 3))[0].place(
            builder, paints or finishes(rng, dark=dark), place, yaw=yaw
        )


def finishes(rng: np.random.Generator, *, dark: bool = False) -> dict[str, Material]:
    """Choose a material for each role of a building."""
    pattern, scale, tint, second = _WALLS[rng.integers(len(_WALLS))]
    seed = int(rng.integers(1 << 16))
    shade = rng.uniform(0.7, 1.25) * rng.uniform(0.88, 1.12, 3)
    wall = Material(pattern, _mix(tint, shade), second, scale, seed)
    if rng.random() < 0.06:
        wall = Material("photo", (0.7, 0.7, 0.7), scale=float(rng.uniform(3, 9)), photo=seed)
    pale = float(rng.uniform(0.1, 0.85))
    roof = _ROOFS[rng.integers(len(_ROOFS))]
    vivid = _mix((1.0, 1.0, 1.0), rng.uniform(0.02, 0.7, 3))
    other = _mix((1.0, 1.0, 1.0), rng.uniform(0.02, 0.85, 3))
    pane = rng.uniform(0.15, 0.5)
    warm = _mix((0.9, 0.65, 0.32), rng.uniform(0.7, 1.1, 3))
    glass = Material(tint=(0.05, 0.07, 0.09), gloss=0.9, mirror=float(pane))
    plain = rng.random() < 0.5
    far = Material(
        "facade",
        wall.tint,
        (0.06, 0.08, 0.1),
        float(rng.uniform(2.2, 3.6)),
        seed,
        glow=0.8 if dark else 0.0,
    )
    return {
        "far": far,
        "wall": wall,
        "base": wall
        if plain
        else Material("plaster", _mix(tint, shade * 0.7), second, 1.0, seed + 1),
        "trim": Material(tint=(pale, pale, pale * 0.95), gloss=0.1),
        "glass": glass,
        "lit": Material("noise", warm, _mix(warm, np.full(3, 0.4)), 0.8, seed, glow=1.3)
        if dark
        else glass,
        "roof": Material(roof[0], _mix(roof[1], shade), _mix(roof[1], shade * 0.6), roof[2], seed),
        "door": Material("planks", vivid, _mix(vivid, np.full(3, 0.6)), 0.2, seed, gloss=0.3),
        "rail": Material(
            tint=_mix((1, 1, 1), np.full(3, rng.choice([0.03, 0.25, 0.7]))), gloss=0.4
        ),
        "sign": Material(
            "photo" if rng.random() < 0.2 else "print",
            vivid,
            other,
            1.2,
            seed,
            glow=0.9 if dark else 0.0,
            photo=seed,
        ),
        "awning": Material("stripes", vivid, other, float(rng.uniform(0.3, 0.8)), seed),
    }


@cache
def building(sort: str, variant: int, detail: int) -> tuple[Model, float, float, float]:
    """Give a building with its width, depth and height to the eaves, [m].

    `detail` 0 has openings with reveals, frames, sills and railings; 1 the same without the small
    pieces; 2 panes on flat walls; 3 is a box whose windows are painted on.
    """
    rng = np.random.default_rng([41, SORTS.index(sort), variant % VARIANTS])
    spans = _SIZES[sort]
    width, depth, floor = (float(rng.uniform(*span)) for span in spans[:3])
    floors = int(rng.integers(*spans[3]))
    height = floor * floors + float(rng.uniform(0.3, 0.9))
    if detail > 2:
        block = boxes([[0, -height / 2, depth / 2]], [width, height, depth], sides="xXzZ")
        far = roofs.roof(np.random.default_rng([variant]), sort, width, depth, height, fine=False)
        return model([("far", block), *far]), width, depth, height
    parts = _front(rng, sort, width, floor, floors, height, detail)
    front = [(role, shape.moved([-width / 2, 0, 0])) for role, shape in parts]
    shell = boxes([[0, -height / 2, depth / 2 + 0.15]], [width, height, depth - 0.3], sides="xXZ")
    sides = _side_panes(rng, width, depth, floor, floors)
    walls = [("wall", shell), ("glass", sides), ("wall", _returns(width, height))]
    top = roofs.roof(rng, sort, width, depth, height, fine=detail == 0)
    return model([*front, *walls, *top]), width, depth, height


def _front(
    rng: np.random.Generator,
    sort: str,
    width: float,
    floor: float,
    floors: int,
    height: float,
    detail: int,
) -> Parts:
    """Make the wall towards the street."""
    pitch = float(rng.uniform(1.7, 3.2)) * (0.6 if sort == "office" else 1.0)
    share = float(rng.uniform(0.35, 0.6)) if sort != "office" else float(rng.uniform(0.7, 0.92))
    across = facades.columns_of(rng, width, pitch, share)
    low, tall = float(rng.uniform(0.5, 1.0)), float(rng.uniform(1.2, 1.7))
    if sort == "office":
        low, tall = 0.4, floor - 0.8
    if sort == "hall":
        low, tall = floor - 1.8, 1.2
    fine = detail == 0
    if sort == "office" or (sort in ("terrace", "block") and rng.random() < 0.5):
        parts = facades.shop_front(rng, width, floor, fine=fine and sort != "office")
    else:
        parts = facades.entrance(rng, width, floor, across)
    levels = np.arange(1.0, floors)[:, None] * floor + [low, low + tall]
    deep = float(rng.uniform(0.08, 0.3)) if detail < 2 else -0.03
    wall, openings = facades.pierced(width, floor, height, across, levels, deep, flat=detail == 2)
    parts.append(("wall", wall))
    if len(openings):
        lit = (rng.random(len(openings)) < rng.uniform(0.15, 0.6)).astype(float)
        bars = [(0, 0), (1, 0), (1, 1), (2, 1)][rng.integers(4)]
        parts += facades.glazing(openings, deep, bars if fine else (0, 0), lit)
        parts += _dressing(rng, sort, openings, low, detail)
    if detail < 2:
        bands = [[width / 2, -height + 0.1, -0.08], [width / 2, -floor, -0.04]]
        trim = boxes(bands[: int(rng.integers(1, 3))], [width, 0.2, 0.16], sides="xXyYz")
        parts.append(("trim", trim))
    return parts


def _dressing(
    rng: np.random.Generator, sort: str, openings: Floats, low: float, detail: int
) -> Parts:
    """Make sills, shutters and balconies for (N, 4) windows that begin `low` [m] above their floor."""
    parts: Parts = []
    if detail < 2 and sort != "office":
        parts.append(("trim", facades.sills(openings, lintels=bool(rng.random() < 0.4))))
        if rng.random() < 0.25:
            parts.append(("door", facades.shutters(openings)))
    if sort in ("block", "terrace") and rng.random() < 0.55:
        chosen = openings[rng.random(len(openings)) < rng.uniform(0.15, 0.8)][:18]
        if len(chosen):
            raised = chosen - [0, 0, low - 0.1, 0]
            parts += facades.balconies(raised, float(rng.uniform(0.6, 1.4)), fine=detail == 0)
    return parts


def _side_panes(
    rng: np.random.Generator, width: float, depth: float, floor: float, floors: int
) -> Shape:
    """Make a few windows in the side walls and the back, as panes on the wall."""
    z = np.arange(2.0, depth - 1.5, float(rng.uniform(2.2, 4.0)))
    y = np.arange(floors) * floor + floor * 0.55
    gz, gy = (g.ravel() for g in np.meshgrid(z, y))
    both = [np.stack([0 * gz + s * width / 2, -gy, gz], -1) for s in (-1, 1)]
    wide = [0.06, 1.3, float(rng.uniform(0.8, 1.4))]
    left, right = (boxes(at, wide, sides=s) for at, s in zip(both, "xX", strict=True))
    x = np.arange(-width / 2 + 1.5, width / 2 - 1, 3.0)
    gx, gy = (g.ravel() for g in np.meshgrid(x, y))
    back = boxes(np.stack([gx, -gy, 0 * gx + depth], -1), [1.2, 1.3, 0.06], sides="Z")
    return merge([left, right, back])


def _returns(width: float, height: float) -> Shape:
    """Make short side walls that close the gap between the pierced front and the body behind it."""
    x = np.array([[-width / 2], [width / 2]])
    corner = np.concatenate([x, 0 * x - height, 0 * x], 1)
    return merge(
        [
            cards(corner, [[0.0, 0.0, 0.31]], [[0.0, height, 0.0]]),
            cards([[-width / 2, -height, 0]], [[width, 0, 0]], [[0, 0, 0.31]]),
        ]
    )


def _mix(colour: Colour, factor: Floats | float) -> Colour:
    """Make a colour times one factor or three, kept within 0.01 to 0.9."""
    r, g, b = (float(c) for c in np.clip(np.asarray(colour) * factor, 0.01, 0.9))
    return r, g, b


_ROOFS: tuple[tuple[Pattern, Colour, float], ...] = (
    ("tiles", (0.42, 0.16, 0.09), 0.3),
    ("tiles", (0.3, 0.12, 0.08), 0.3),
    ("tiles", (0.14, 0.14, 0.15), 0.35),
    ("planks", (0.2, 0.19, 0.18), 0.3),
    ("stripes", (0.35, 0.37, 0.38), 0.4),
    ("noise", (0.3, 0.29, 0.27), 1.0),
)
