"""Build walls with openings, windows, curtains, doors, radiators and stairs.

Parts of a wall are built in the wall's own frame: x along it, its face in the plane z = 0, the room on
the side of −z, the outside on the side of +z, feet on y = 0.
"""

from __future__ import annotations

import numpy as np

from sightline.scenes.layout import Parts, Prop, SupportSurface, make_prop, prop_maker
from sightline.scenes.materials import fabric, glass, metal, painted, timber, white
from sightline.scenes.mesh_arrays import drape, quads, rods
from sightline.scenes.meshes import TriangleMesh, box, boxes, merge, sphere
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material

#: An opening in a wall: x from, x to, height from, height to.
Opening = tuple[float, float, float, float]


def wall_sheet(length: float, height: float, openings: list[Opening]) -> TriangleMesh:
    """Make a wall of length × height, centered on x = 0: a grid of sheets that spares the openings."""
    xs = np.unique(
        np.clip(
            [-length / 2, length / 2, *(x for o in openings for x in o[:2])],
            -length / 2,
            length / 2,
        )
    )
    ys = np.unique(np.clip([0.0, height, *(y for o in openings for y in o[2:])], 0.0, height))
    left, low = (g.reshape(-1) for g in np.meshgrid(xs[:-1], ys[:-1]))
    wide, high = (g.reshape(-1) for g in np.meshgrid(np.diff(xs), np.diff(ys)))
    keep = np.ones(len(left), bool)
    for x0, x1, y0, y1 in openings:
        x, y = left + wide / 2, low + high / 2
        keep &= ~((x > x0) & (x < x1) & (y > y0) & (y < y1))
    left, low, wide, high = left[keep], low[keep], wide[keep], high[keep]
    zero = 0 * left
    sheet = quads(
        np.stack([left, -low, zero], -1),
        np.stack([wide, zero, zero], -1),
        np.stack([zero, -high, zero], -1),
    )
    # One pattern over all the sheets of a wall.
    return TriangleMesh(
        sheet.vertices, sheet.faces, sheet.normals, sheet.vertices[:, :2] * [1.0, -1.0]
    )


def reveal(opening: Opening, depth: float) -> TriangleMesh:
    """Make the four inner sides of an opening in a wall of this thickness."""
    x0, x1, y0, y1 = opening
    across, up, out = [x1 - x0, 0, 0], [0, y0 - y1, 0], [0, 0, depth]
    corners = [[x0, -y0, 0], [x0, -y1, 0], [x0, -y0, 0], [x1, -y0, 0]]
    return quads(corners, [across, across, up, up], [out] * 4)


def window(rng: Random, opening: Opening, depth: float, *, view: bool) -> Parts:
    """Make frame, glazing bars and sill of a window, and its pane.

    Args:
        rng: random generator.
        opening: opening of the wall.
        depth: depth of the wall; the pane sits near its outer side.
        view: whether one looks out; else the pane is bright and blank: frosted, or far too bright.
    """
    x0, x1, y0, y1 = opening
    wide, high, z = x1 - x0, y1 - y0, depth * 0.8
    x, y = (x0 + x1) / 2, -(y0 + y1) / 2
    frame = pick(rng, (white, white, timber, painted, metal))(rng)
    thick = between(rng, 0.035, 0.08)
    edges = boxes(
        [
            [x, -y0 - thick / 2, z], [x, -y1 + thick / 2, z], [x0 + thick / 2, y, z],
            [x1 - thick / 2, y, z],
        ],
        [[wide, thick, 0.05], [wide, thick, 0.05], [thick, high, 0.05], [thick, high, 0.05]],
    )  # fmt: skip
    columns = max(1, round(wide / between(rng, 0.5, 1.2)))
    rows = max(1, round(high / between(rng, 0.5, 2.0)))
    bar = thick * between(rng, 0.4, 1.0)
    upright = x0 + wide * np.arange(1, columns) / columns
    level = -y0 - high * np.arange(1, rows) / rows
    shapes = [edges]
    if columns > 1:
        shapes.append(boxes([[u, y, z] for u in upright], [bar, high, 0.04]))
    if rows > 1:
        shapes.append(boxes([[x, v, z] for v in level], [wide, bar, 0.04]))
    parts: Parts = [(merge(shapes), frame)]
    if chance(rng, 0.75):
        out = between(rng, 0.02, 0.2)
        parts.append((box([x, -y0 + 0.012, z / 2 - out / 2], [wide + 0.06, 0.024, z + out]), frame))
    pane = box([x, y, z], [wide, high, 0.004])
    if not view:
        parts.append((pane, _bright(rng)))
    elif chance(rng, 0.15):
        parts.append((pane, glass(rng)))
    return parts


def _bright(rng: Random) -> Material:
    """Draw a blank pane: daylight that is too bright for the picture, dusk, or night."""
    value = pick(rng, (between(rng, 0.8, 1.0), between(rng, 0.8, 1.0), between(rng, 0.02, 0.4)))
    tint = (value * between(rng, 0.8, 1.0), value * between(rng, 0.9, 1.0), value)
    return Material("plain", tint, glow=between(rng, 0.8, 2.0), gloss=0.8, mirror=0.05)


def curtains(rng: Random, opening: Opening, ceiling: float) -> Parts:
    """Make curtains at both sides on a rail, a net over all, a roller blind or slats."""
    x0, x1, y0, y1 = opening
    wide, x, z = x1 - x0, (x0 + x1) / 2, -0.06
    style = pick(rng, ("pair", "pair", "net", "roller", "slats"))
    top = min(y1 + between(rng, 0.05, 0.25), ceiling - 0.02)
    if style == "slats":
        count = max(3, int((y1 - y0) / between(rng, 0.03, 0.06) * between(rng, 0.4, 1.0)))
        y = -y1 + np.arange(count) * 0.045
        tilt = pick(rng, (0.004, 0.02))
        slats = boxes(np.stack([x + 0 * y, y, z + 0 * y], -1), [wide, tilt, 0.03])
        cords = rods(
            [[x0 + 0.15, -y1, z], [x1 - 0.15, -y1, z]],
            [[x0 + 0.15, y[-1], z], [x1 - 0.15, y[-1], z]],
            0.003,
        )
        return [(slats, white(rng)), (cords, white(rng))]
    if style == "roller":
        low = between(rng, y0 + 0.2 * (y1 - y0), y1 - 0.1)
        sheet = box([x, -(low + y1) / 2, 0.02], [wide * 0.97, y1 - low, 0.005])
        return [
            (sheet, fabric(rng)),
            (box([x, -low, 0.02], [wide * 0.97, 0.02, 0.015]), white(rng)),
        ]
    foot = 0.02 if chance(rng, 0.6) else max(0.02, y0 - 0.15)
    rail = rods([[x0 - 0.3, -top, z]], [[x1 + 0.3, -top, z]], 0.012, sectors=6)
    parts: Parts = [(rail, metal(rng))]
    cloth = fabric(rng)
    if style == "net":
        cloth = Material(
            "cloth", (0.9, 0.9, 0.88), (0.8, 0.8, 0.8), 0.1, clear=between(rng, 0.0, 0.5)
        )
        hang = drape(rng, wide + 0.3, top - foot, folds=wide * 6, deep=0.025)
        return [*parts, (hang.moved([x, -foot, z]), cloth)]
    for side in (-1, 1):
        cover = wide * between(rng, 0.12, 0.45)
        hang = drape(rng, cover, top - foot, folds=max(2, cover * 9), deep=between(rng, 0.03, 0.06))
        middle = (x0 - 0.2 + cover / 2) if side < 0 else (x1 + 0.2 - cover / 2)
        parts.append((hang.moved([middle, -foot, z]), cloth))
    return parts


def door(rng: Random, opening: Opening, *, swing: float) -> Parts:
    """Make a door with frame and handle in an opening; `swing` is how far it stands open [degrees]."""
    x0, x1, y0, y1 = opening
    wide, high = x1 - x0, y1 - y0
    paint = pick(rng, (white, white, timber, painted))(rng)
    trim = paint if chance(rng, 0.7) else white(rng)
    edge = between(rng, 0.05, 0.1)
    frame = boxes(
        [
            [x0 - edge / 2, -high / 2, -0.01],
            [x1 + edge / 2, -high / 2, -0.01],
            [(x0 + x1) / 2, -high - edge / 2, -0.01],
        ],
        [[edge, high, 0.03], [edge, high, 0.03], [wide + 2 * edge, edge, 0.03]],
    )
    leaf = [box([wide / 2, -high / 2, 0], [wide - 0.01, high - 0.01, 0.04])]
    rows = randint(rng, 0, 4)
    if rows:
        y = -high * (np.arange(rows) + 0.5) / rows
        for face in (-0.024, 0.024):
            at = np.stack([np.full(rows, wide / 2), y, np.full(rows, face)], -1)
            leaf.append(boxes(at, [wide * 0.66, high / rows * 0.7, 0.012]))
    handle = rods([[wide - 0.07, -1.03, -0.07]], [[wide - 0.2, -1.03, -0.07]], 0.011, sectors=6)
    knob = sphere([wide - 0.07, -1.03, -0.045], 0.03, sectors=8)
    hinge = [x0, -y0, 0.03]
    return [
        (frame, trim),
        (merge(leaf).moved(hinge, yaw=swing), paint),
        (merge([handle, knob]).moved(hinge, yaw=swing), metal(rng)),
    ]


@prop_maker(0xAC0DAEDF)
def radiator(rng: Random) -> Prop:
    """Make a radiator of columns or a ribbed panel, with pipes."""
    wide, high, deep = between(rng, 0.5, 1.6), between(rng, 0.4, 0.7), between(rng, 0.07, 0.14)
    coat = white(rng) if chance(rng, 0.8) else painted(rng)
    pitch = between(rng, 0.04, 0.09)
    count = max(3, int(wide / pitch))
    x = (np.arange(count) - (count - 1) / 2) * pitch
    ribs = boxes(
        np.stack([x, np.full(count, -high / 2 - 0.1), 0 * x], -1), [pitch * 0.6, high, deep]
    )
    across = (
        [[x[0], -0.15, 0], [x[0], -high - 0.05, 0]],
        [[x[-1], -0.15, 0], [x[-1], -high - 0.05, 0]],
    )
    pipes = rods(
        [*across[0], [x[-1] + 0.05, 0, 0]], [*across[1], [x[-1] + 0.05, -0.15, 0]], 0.02, sectors=6
    )
    panel = box([0, -high / 2 - 0.1, 0], [wide, high * 0.98, deep * 0.3])
    parts: Parts = [(ribs, coat), (pipes, coat)]
    if chance(rng, 0.5):
        parts.append((panel, coat))
    return make_prop(
        "radiator", parts, (SupportSurface(high + 0.1, (-wide / 2, wide / 2), (-0.03, 0.03)),)
    )


def stairs(rng: Random, height: float) -> Prop:
    """Make a straight flight up to `height` along +x, closed or open, with banisters."""
    wide, rise, tread = between(rng, 0.8, 1.1), between(rng, 0.16, 0.2), between(rng, 0.24, 0.3)
    count = int(height / rise)
    k = np.arange(count)
    x = (k - count / 2 + 0.5) * tread
    wood = pick(rng, (timber, timber, white, painted))(rng)
    if chance(rng, 0.5):
        top = (k + 1) * rise
        steps = boxes(
            np.stack([x, -top / 2, 0 * x], -1),
            np.stack([np.full(count, tread), top, np.full(count, wide)], -1),
        )
    else:
        steps = boxes(np.stack([x, -(k + 1) * rise + 0.02, 0 * x], -1), [tread * 1.05, 0.04, wide])
    z = -wide / 2 + 0.03
    foot = np.stack([x, -(k + 1) * rise, np.full(count, z)], -1)
    posts = rods(foot, foot - [0, 0.85, 0], 0.012, sectors=5)
    rail = rods(foot[:1] - [0, 0.85, 0], foot[-1:] - [0, 0.85, 0], 0.03, sectors=6)
    rest = metal(rng) if chance(rng, 0.4) else wood
    return make_prop("stairs", [(steps, wood), (merge([posts, rail]), rest)])
