"""Build houses, terraces, blocks, offices and halls with their roofs: one model per variant, recolored.

A building's front looks toward −z from z = 0, its middle is at x = 0, its depth goes toward +z.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, polygon, quads, rods
from sightline.scenes.meshes import TriangleMesh, merge
from sightline.scenes.outdoor import facades
from sightline.scenes.outdoor.facades import RoleParts
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import (
    Color,
    Material,
    PartModel,
    Pattern,
    Point,
    WorldBuilder,
    as_color,
    make_model,
)


def roof(
    rng: Random, sort: str, width: float, depth: float, height: float, *, fine: bool
) -> RoleParts:
    """Choose and make the roof of a building of this width, depth and height to the eaves, [m]."""
    if sort in ("block", "office", "hall") or (sort == "terrace" and rng.random() < 0.3):
        return _flat_roof(rng, width, depth, height, fine=fine)
    hipped = rng.random() < 0.3
    along_street = rng.random() < 0.65
    return _pitched_roof(rng, width, depth, height, hipped=hipped, along=along_street, fine=fine)


def _flat_roof(rng: Random, width: float, depth: float, height: float, *, fine: bool) -> RoleParts:
    """Make a parapet around a flat roof with boxes and poles on it."""
    rim, low = between(rng, 0.2, 0.9), height
    y = -(low + rim / 2 - 0.05)
    walls = box_array(
        [
            [0, y, 0.12], [0, y, depth - 0.12], [-width / 2 + 0.12, y, depth / 2],
            [width / 2 - 0.12, y, depth / 2],
        ],
        [[width, rim, 0.24], [width, rim, 0.24], [0.24, rim, depth], [0.24, rim, depth]],
    )  # fmt: skip
    parts: RoleParts = [
        ("wall", walls),
        ("roof", box_array([[0, -low - 0.03, depth / 2]], [width, 0.1, depth])),
    ]
    count = int(rng.integers(1, 5))
    size = rng.uniform([1.0, 0.6, 1.0], [4.0, 2.6, 4.0], (count, 3))
    at = rng.uniform([-0.3, 0, 0.3], [0.3, 0, 0.7], (count, 3)) * [width, 1, depth]
    at[:, 1] = -low - size[:, 1] / 2
    parts.append(("trim", box_array(at, size)))
    if fine:
        parts.append(("rail", _aerials(rng, at * [1, 0, 1] - [0, low, 0])))
    return parts


def _aerials(rng: Random, feet: Floats) -> TriangleMesh:
    """Make aerials: poles with cross-bars."""
    tall = rng.uniform(1.5, 4.5, (len(feet), 1))
    top = feet - tall * [0, 1, 0]
    starts, ends = [feet], [top]
    for share in (0.8, 0.9, 0.98):
        at = feet - tall * share * [0, 1, 0]
        starts.append(at - [0.45, 0, 0])
        ends.append(at + np.array([0.45, 0, 0]))
    return rods(np.concatenate(starts), np.concatenate(ends), 0.02, sectors=3)


def _pitched_roof(
    rng: Random, width: float, depth: float, height: float, *, hipped: bool, along: bool, fine: bool
) -> RoleParts:
    """Make a roof of two or four slopes; the ridge runs along the street or toward it."""
    span = depth if along else width
    long = width if along else depth
    rise = span / 2 * float(np.tan(np.radians(rng.uniform(22, 52))))
    out = between(rng, 0.15, 0.6)
    a, c = long / 2 + out * 0.6, span / 2 + out
    drop = out * rise / (span / 2)
    inset = span / 2 * between(rng, 0.6, 1.0) if hipped else 0.0
    ridge = max(0.1, long / 2 + out * 0.6 - min(inset, long / 2))
    # In the roof's own frame: x along the ridge, z across, y up from the eaves.
    low = np.array([[-a, -drop, -c], [a, -drop, -c], [a, -drop, c], [-a, -drop, c]])
    high = np.array([[-ridge, rise, 0.0], [ridge, rise, 0.0]])
    slopes = [[low[0], low[1], high[1], high[0]], [low[2], low[3], high[0], high[1]]]
    gables = [[low[1], low[2], high[1]], [low[3], low[0], high[0]]]

    def place(points: list[Floats]) -> Floats:
        p = np.array(points)
        x, z = (p[:, 0], p[:, 2]) if along else (p[:, 2], p[:, 0])
        return np.stack([x, -(height + p[:, 1]), z + depth / 2], -1)

    parts: RoleParts = [("roof", polygon(place(s))) for s in slopes]
    if hipped:
        parts += [("roof", polygon(place(g))) for g in gables]
    else:
        inner = [[long / 2 * s, rise, 0.0] for s in (-1, 1)]
        for s, top in zip((-1, 1), inner, strict=True):
            foot = [[long / 2 * s, 0.0, -span / 2], [long / 2 * s, 0.0, span / 2]]
            parts.append(("wall", polygon(place([np.array(p) for p in (*foot, top)]))))
    under = [[-a, -drop, -c], [a, -drop, -c], [a, -drop, c], [-a, -drop, c]]
    parts.append(("trim", polygon(place([np.array(p) for p in under]) + np.array([0, 0.02, 0]))))
    chimneys = int(rng.integers(0, 3))
    if chimneys:
        x = rng.uniform(-0.4, 0.4, chimneys) * long
        z = rng.uniform(-0.25, 0.25, chimneys) * span
        base = place([np.array([p, rise * 0.9, q]) for p, q in zip(x, z, strict=True)])
        parts.append(("base", box_array(base - [0, 0.3, 0], [0.6, 1.8, 0.6])))
        if fine:
            parts.append(("rail", _aerials(rng, base - [0.5, 0.2, 0])))
    if rng.random() < 0.35 and not hipped:
        count = max(1, int(long / 4))
        x = (np.arange(count) + 0.5) / count * long - long / 2
        at = place([np.array([p, rise * 0.35, -span * 0.28]) for p in x])
        size = [1.2, 1.2, 1.6] if along else [1.6, 1.2, 1.2]
        parts.append(("trim", box_array(at - [0, 0.2, 0], size)))
        pane = [0.8, 0.8, 1.64] if along else [1.64, 0.8, 0.8]
        parts.append(("glass", box_array(at - [0, 0.25, 0], pane)))
    return parts


#: Different ones of each sort there are.
BUILDING_VARIANTS = 14

#: Sort: width, depth, height of a floor, number of floors.
_BUILDING_SIZES: dict[
    str, tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[int, int]]
]
_BUILDING_SIZES = {
    "terrace": ((5, 13), (8, 12), (2.8, 3.6), (2, 6)),
    "block": ((14, 30), (10, 16), (2.7, 3.1), (4, 10)),
    "house": ((7, 14), (7, 11), (2.6, 3.0), (1, 4)),
    "office": ((14, 32), (12, 20), (3.2, 3.8), (3, 13)),
    "hall": ((15, 36), (14, 24), (4.5, 7.0), (1, 3)),
}
BUILDING_TYPES = tuple(_BUILDING_SIZES)

_WALLS: tuple[tuple[Pattern, float, Color, Color], ...] = (
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
    builder: WorldBuilder,
    rng: Random,
    place: Point,
    yaw: float,
    *,
    sort: str,
    variant: int,
    detail: int,
    dark: bool = False,
    paints: dict[str, Material] | None = None,
) -> None:
    """Put a building with the middle of its front at `place`; at yaw 0 the front looks toward −z."""
    with builder.instance("building"):
        building_model(sort, variant, min(detail, 3))[0].place(
            builder, paints or building_materials(rng, dark=dark), place, yaw=yaw
        )


def building_materials(rng: Random, *, dark: bool = False) -> dict[str, Material]:
    """Choose a material for each role of a building."""
    pattern, scale, tint, second = _WALLS[rng.integers(len(_WALLS))]
    seed = int(rng.integers(1 << 16))
    shade = rng.uniform(0.7, 1.25) * rng.uniform(0.88, 1.12, 3)
    wall = Material(pattern, _scaled_color(tint, shade), second, scale, seed)
    if rng.random() < 0.06:
        wall = Material("photo", (0.7, 0.7, 0.7), scale=between(rng, 3, 9), photo=seed)
    pale = between(rng, 0.1, 0.85)
    roof = _ROOFS[rng.integers(len(_ROOFS))]
    vivid = _scaled_color((1.0, 1.0, 1.0), rng.uniform(0.02, 0.7, 3))
    other = _scaled_color((1.0, 1.0, 1.0), rng.uniform(0.02, 0.85, 3))
    pane = rng.uniform(0.15, 0.5)
    warm = _scaled_color((0.9, 0.65, 0.32), rng.uniform(0.7, 1.1, 3))
    glass = Material(tint=(0.05, 0.07, 0.09), gloss=0.9, mirror=float(pane))
    plain = rng.random() < 0.5
    far = Material(
        "facade",
        wall.tint,
        (0.06, 0.08, 0.1),
        between(rng, 2.2, 3.6),
        seed,
        glow=0.8 if dark else 0.0,
    )
    return {
        "far": far,
        "wall": wall,
        "base": wall
        if plain
        else Material("plaster", _scaled_color(tint, shade * 0.7), second, 1.0, seed + 1),
        "trim": Material(tint=(pale, pale, pale * 0.95), gloss=0.1),
        "glass": glass,
        "lit": Material("noise", warm, _scaled_color(warm, np.full(3, 0.4)), 0.8, seed, glow=1.3)
        if dark
        else glass,
        "roof": Material(
            roof[0],
            _scaled_color(roof[1], shade),
            _scaled_color(roof[1], shade * 0.6),
            roof[2],
            seed,
        ),
        "door": Material(
            "planks", vivid, _scaled_color(vivid, np.full(3, 0.6)), 0.2, seed, gloss=0.3
        ),
        "rail": Material(
            tint=_scaled_color((1, 1, 1), np.full(3, rng.choice([0.03, 0.25, 0.7]))), gloss=0.4
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
        "awning": Material("stripes", vivid, other, between(rng, 0.3, 0.8), seed),
    }


@cache
def building_model(sort: str, variant: int, detail: int) -> tuple[PartModel, float, float, float]:
    """Return a building model with its width, depth and height to the eaves, [m].

    `detail` 0 has openings with reveals, frames, sills and railings; 1 the same without the small
    pieces; 2 panes on flat walls; 3 is a box whose windows are painted on.
    """
    rng = np.random.default_rng([41, BUILDING_TYPES.index(sort), variant % BUILDING_VARIANTS])
    spans = _BUILDING_SIZES[sort]
    width, depth, floor = (between(rng, *span) for span in spans[:3])
    floors = int(rng.integers(*spans[3]))
    height = floor * floors + between(rng, 0.3, 0.9)
    if detail > 2:
        block = box_array([[0, -height / 2, depth / 2]], [width, height, depth], sides="xXzZ")
        far = roof(np.random.default_rng([variant]), sort, width, depth, height, fine=False)
        return make_model([("far", block), *far]), width, depth, height
    parts = _front(rng, sort, width, floor, floors, height, detail)
    front = [(role, shape.moved([-width / 2, 0, 0])) for role, shape in parts]
    shell = box_array(
        [[0, -height / 2, depth / 2 + 0.15]], [width, height, depth - 0.3], sides="xXZ"
    )
    sides = _side_panes(rng, width, depth, floor, floors)
    walls = [("wall", shell), ("glass", sides), ("wall", _returns(width, height))]
    top = roof(rng, sort, width, depth, height, fine=detail == 0)
    return make_model([*front, *walls, *top]), width, depth, height


def _front(
    rng: Random, sort: str, width: float, floor: float, floors: int, height: float, detail: int
) -> RoleParts:
    """Make the wall toward the street."""
    pitch = between(rng, 1.7, 3.2) * (0.6 if sort == "office" else 1.0)
    share = between(rng, 0.35, 0.6) if sort != "office" else between(rng, 0.7, 0.92)
    across = facades.columns_of(rng, width, pitch, share)
    low, tall = between(rng, 0.5, 1.0), between(rng, 1.2, 1.7)
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
    deep = between(rng, 0.08, 0.3) if detail < 2 else -0.03
    wall, openings = facades.pierced(width, floor, height, across, levels, deep, flat=detail == 2)
    parts.append(("wall", wall))
    if len(openings):
        lit = (rng.random(len(openings)) < rng.uniform(0.15, 0.6)).astype(float)
        bars = [(0, 0), (1, 0), (1, 1), (2, 1)][rng.integers(4)]
        parts += facades.glazing(openings, deep, bars if fine else (0, 0), lit)
        parts += _dressing(rng, sort, openings, low, detail)
    if detail < 2:
        bands = [[width / 2, -height + 0.1, -0.08], [width / 2, -floor, -0.04]]
        trim = box_array(bands[: int(rng.integers(1, 3))], [width, 0.2, 0.16], sides="xXyYz")
        parts.append(("trim", trim))
    return parts


def _dressing(rng: Random, sort: str, openings: Floats, low: float, detail: int) -> RoleParts:
    """Make sills, shutters and balconies for (N, 4) windows that begin `low` [m] above their floor."""
    parts: RoleParts = []
    if detail < 2 and sort != "office":
        parts.append(("trim", facades.sills(openings, lintels=bool(rng.random() < 0.4))))
        if rng.random() < 0.25:
            parts.append(("door", facades.shutters(openings)))
    if sort in ("block", "terrace") and rng.random() < 0.55:
        chosen = openings[rng.random(len(openings)) < rng.uniform(0.15, 0.8)][:18]
        if len(chosen):
            raised = chosen - [0, 0, low - 0.1, 0]
            parts += facades.balconies(raised, between(rng, 0.6, 1.4), fine=detail == 0)
    return parts


def _side_panes(rng: Random, width: float, depth: float, floor: float, floors: int) -> TriangleMesh:
    """Make a few windows in the side walls and the back, as panes on the wall."""
    z = np.arange(2.0, depth - 1.5, between(rng, 2.2, 4.0))
    y = np.arange(floors) * floor + floor * 0.55
    gz, gy = (g.ravel() for g in np.meshgrid(z, y))
    both = [np.stack([0 * gz + s * width / 2, -gy, gz], -1) for s in (-1, 1)]
    wide = [0.06, 1.3, between(rng, 0.8, 1.4)]
    left, right = (box_array(at, wide, sides=s) for at, s in zip(both, "xX", strict=True))
    x = np.arange(-width / 2 + 1.5, width / 2 - 1, 3.0)
    gx, gy = (g.ravel() for g in np.meshgrid(x, y))
    back = box_array(np.stack([gx, -gy, 0 * gx + depth], -1), [1.2, 1.3, 0.06], sides="Z")
    return merge([left, right, back])


def _returns(width: float, height: float) -> TriangleMesh:
    """Make short side walls that close the gap between the pierced front and the body behind it."""
    x = np.array([[-width / 2], [width / 2]])
    corner = np.concatenate([x, 0 * x - height, 0 * x], 1)
    return merge(
        [
            quads(corner, [[0.0, 0.0, 0.31]], [[0.0, height, 0.0]]),
            quads([[-width / 2, -height, 0]], [[width, 0, 0]], [[0, 0, 0.31]]),
        ]
    )


def _scaled_color(color: Color, factor: Floats | float) -> Color:
    """Make a color times one factor or three, kept within 0.01 to 0.9."""
    return as_color(np.clip(np.asarray(color) * factor, 0.01, 0.9))


_ROOFS: tuple[tuple[Pattern, Color, float], ...] = (
    ("tiles", (0.42, 0.16, 0.09), 0.3),
    ("tiles", (0.3, 0.12, 0.08), 0.3),
    ("tiles", (0.14, 0.14, 0.15), 0.35),
    ("planks", (0.2, 0.19, 0.18), 0.3),
    ("stripes", (0.35, 0.37, 0.38), 0.4),
    ("noise", (0.3, 0.29, 0.27), 1.0),
)
