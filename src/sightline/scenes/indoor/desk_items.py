"""Build small items for tables: books, boxes, paper, tools, cutlery, candles, electronic devices."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sightline.scenes.indoor.tableware import vessel
from sightline.scenes.layout import Parts, Prop, SupportSurface, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    dark,
    fabric,
    glowing,
    metal,
    painted,
    plastic,
    printed,
    screen,
    timber,
    white,
)
from sightline.scenes.mesh_arrays import cushion, repeat_shape, ring, rods
from sightline.scenes.meshes import TriangleMesh, box, boxes, cylinder, merge, quad, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint


def _one_book(wide: float, thick: float, long: float) -> tuple[TriangleMesh, TriangleMesh]:
    """Make cover and pages of a book that lies on the origin."""
    cover = boxes(
        [[0, -0.0015, 0], [0, -thick + 0.0015, 0], [-wide / 2, -thick / 2, 0]],
        [[wide, 0.003, long], [wide, 0.003, long], [0.003, thick, long]],
    )
    return cover, box([-0.002, -thick / 2, 0], [wide - 0.008, thick - 0.006, long - 0.008])


@prop_maker(0x9EEF1448)
def books(rng: Random) -> Prop:
    """Make a lying book, or a stack of them, each turned a little."""
    parts: Parts = []
    paper, height = white(rng), 0.0
    wide, long = between(rng, 0.1, 0.24), between(rng, 0.14, 0.32)
    for _ in range(randint(rng, 2, 7) if chance(rng, 0.5) else 1):
        w, d, thick = (
            wide * between(rng, 0.85, 1.15),
            long * between(rng, 0.85, 1.15),
            between(rng, 0.01, 0.05),
        )
        at, yaw = (
            [between(rng, -0.02, 0.02), -height, between(rng, -0.02, 0.02)],
            between(rng, -14, 14),
        )
        cover, pages = _one_book(w, thick, d)
        parts += [(cover.moved(at, yaw=yaw), printed(rng, w)), (pages.moved(at, yaw=yaw), paper)]
        height += thick
    return make_prop("book", parts, (SupportSurface(height, (-0.04, 0.04), (-0.05, 0.05), 0.3),))


@prop_maker(0xE4634107)
def open_book(rng: Random) -> Prop:
    """Make a book that lies open, its pages bent."""
    wide, long = between(rng, 0.12, 0.24), between(rng, 0.18, 0.32)
    bend = np.array([[0.0, 0.004], [0.25, 0.02], [0.6, 0.018], [1.0, 0.006]])
    sheets = []
    for side in (-1, 1):
        for a, b in pairwise(bend):
            start = [side * a[0] * wide, -a[1], -long / 2]
            sheets.append(quad(start, [side * (b[0] - a[0]) * wide, a[1] - b[1], 0], [0, 0, long]))
    cover = box([0, -0.002, 0], [2 * wide + 0.01, 0.003, long + 0.01])
    return make_prop("book", [(merge(sheets), printed(rng, wide)), (cover, painted(rng))])


@prop_maker(0x2783DEF2)
def carton(rng: Random) -> Prop:
    """Make a package: a closed box, a tall carton, or an open box with flaps."""
    wide, high, deep = (between(rng, 0.05, 0.35) for _ in range(3))
    if chance(rng, 0.7):
        return make_prop(
            "box",
            [(box([0, -high / 2, 0], [wide, high, deep]), printed(rng, wide))],
            (SupportSurface(high, (-wide / 3, wide / 3), (-deep / 3, deep / 3), 0.3),),
        )
    x, z, thick = wide / 2, deep / 2, 0.004
    walls = boxes(
        [
            [-x, -high / 2, 0], [x, -high / 2, 0], [0, -high / 2, -z], [0, -high / 2, z],
            [0, -thick, 0],
        ],
        [
            [thick, high, deep], [thick, high, deep], [wide, high, thick], [wide, high, thick],
            [wide, thick, deep],
        ],
    )  # fmt: skip
    flaps = []
    for side in (-1, 1):
        flap = box([side * wide * 0.22, 0, 0], [wide * 0.44, thick, deep])
        flaps.append(flap.moved([side * x, -high, 0], roll=side * between(rng, -50, 40)))
    return make_prop(
        "box", [(merge([walls, *flaps]), timber(rng) if chance(rng, 0.3) else printed(rng, wide))]
    )


@prop_maker(0x335FBF3A)
def sheets(rng: Random) -> Prop:
    """Make loose sheets of paper, letters or magazines, strewn about."""
    count = randint(rng, 1, 6)
    parts: Parts = []
    for k in range(count):
        size = pick(rng, ((0.21, 0.297), (0.148, 0.21), (0.11, 0.22)))
        sheet = box([0, 0, 0], [size[0], 0.001, size[1]])
        at = [between(rng, -0.1, 0.1), -0.001 - 0.0015 * k, between(rng, -0.08, 0.08)]
        parts.append((sheet.moved(at, yaw=between(rng, -60, 60)), printed(rng, size[0])))
    return make_prop("paper", parts)


@prop_maker(0x791B2887)
def pens(rng: Random) -> Prop:
    """Make a pot with pens, brushes or kitchen spoons that stick out."""
    radius, high = between(rng, 0.03, 0.06), between(rng, 0.08, 0.14)
    count = randint(rng, 3, 10)
    angle = rng.uniform(0, 2 * np.pi, count)
    foot = np.stack([np.cos(angle), 0 * angle, np.sin(angle)], -1) * radius * 0.4
    tip = -foot * rng.uniform(0.2, 2.4, (count, 1))
    tip[:, 1] = -high * rng.uniform(1.2, 2.2, count)
    half = count // 2
    pot = vessel([(radius * 0.9, 0.0), (radius, high)], 0.004)
    parts: Parts = [
        (pot, pick(rng, (ceramic, metal, plastic))(rng)),
        (rods(foot[half:], tip[half:], 0.004, sectors=5), plastic(rng)),
        (rods(foot[:half], tip[:half], 0.004, 0.006, sectors=5), timber(rng)),
    ]
    return make_prop("pens", parts)


@prop_maker(0xC105242D)
def cutlery(rng: Random) -> Prop:
    """Make fork, knife and spoon side by side."""
    steel = metal(rng)
    shapes = []
    for k, kind in enumerate(("fork", "knife", "spoon")[: randint(rng, 1, 3)]):
        x = (k - 1) * between(rng, 0.03, 0.05)
        shapes.append(rods([[x, -0.004, -0.1]], [[x, -0.006, 0.02]], 0.005, 0.003, sectors=5))
        if kind == "knife":
            shapes.append(box([x, -0.004, 0.06], [0.018, 0.002, 0.1]))
        elif kind == "spoon":
            shapes.append(cushion([x, -0.006, 0.05], [0.035, 0.012, 0.06], hard=2))
        else:
            tines = [[x + d, -0.006, 0.05] for d in (-0.009, -0.003, 0.003, 0.009)]
            shapes.append(boxes(tines, [0.002, 0.002, 0.06]))
            shapes.append(box([x, -0.006, 0.022], [0.022, 0.003, 0.02]))
    return make_prop("cutlery", [(merge(shapes), steel)])


@prop_maker(0x6FFD06B2)
def tool(rng: Random) -> Prop:
    """Make a hammer, screwdriver, spanner, brush or pair of scissors, lying."""
    grip, steel = pick(rng, (timber, plastic, dark))(rng), metal(rng)
    long = between(rng, 0.12, 0.3)
    style = pick(rng, ("hammer", "driver", "spanner", "scissors", "brush"))
    if style == "scissors":
        blades = rods(
            [[-0.02, -0.004, -long / 2], [0.02, -0.004, -long / 2]],
            [[0.02, -0.004, long / 2], [-0.02, -0.004, long / 2]],
            0.006,
            0.002,
            sectors=4,
        )
        eyes = [
            ring([s * 0.03, -0.006, -long / 2 - 0.02], 0.022, 0.005, sectors=12, sides=5)
            for s in (-1, 1)
        ]
        return make_prop("scissors", [(blades, steel), (merge(eyes), plastic(rng))])
    handle = rods([[0, -0.012, -long / 2]], [[0, -0.012, 0]], 0.012, 0.009, sectors=7)
    shaft = rods([[0, -0.012, 0]], [[0, -0.012, long / 2]], 0.005, sectors=6)
    head: list[TriangleMesh] = [shaft]
    if style == "hammer":
        head.append(box([0, -0.014, long / 2], [0.1, 0.026, 0.028]))
    elif style == "spanner":
        head.append(ring([0, -0.012, long / 2], 0.02, 0.006, sectors=12, sides=5))
    elif style == "brush":
        return make_prop(
            "brush",
            [
                (handle, grip),
                (box([0, -0.012, long * 0.2], [0.05, 0.02, long * 0.35]), fabric(rng)),
            ],
        )
    return make_prop("tool", [(handle, grip), (merge(head), steel)])


@prop_maker(0x9D951FEE)
def candle(rng: Random) -> Prop:
    """Make a candle or a group of them, some lit."""
    count = randint(rng, 1, 4)
    x = (np.arange(count) - (count - 1) / 2) * 0.07
    high = rng.uniform(0.05, 0.25, count)
    foot = np.stack([x, 0 * x, rng.uniform(-0.03, 0.03, count)], -1)
    wax = repeat_shape(
        cylinder([0, 0, 0], 1.0, 1.0, sectors=10),
        foot,
        scale=np.stack([np.full(count, 0.02), high, np.full(count, 0.02)], -1),
    )
    flames = repeat_shape(
        cushion([0, 0, 0], [0.012, 0.03, 0.012], hard=2),
        foot - np.stack([0 * x, high + 0.02, 0 * x], -1),
    )
    parts: Parts = [(wax, white(rng) if chance(rng, 0.5) else painted(rng))]
    if chance(rng, 0.5):
        parts.append((flames, glowing(rng)))
    return make_prop("candle", parts)


@prop_maker(0xF924FF40)
def tissue_box(rng: Random) -> Prop:
    """Make a box of tissues, or a roll of kitchen paper."""
    if chance(rng, 0.5):
        roll = cylinder([0, 0, 0], between(rng, 0.045, 0.06), between(rng, 0.1, 0.25), sectors=16)
        core = tube([[0, 0, 0], [0, -0.28, 0]], 0.012, sectors=6)
        return make_prop("paper", [(roll, white(rng)), (core, timber(rng))])
    tip = cushion([0, -0.12, 0], [0.08, 0.1, 0.03], hard=2)
    return make_prop(
        "box", [(box([0, -0.045, 0], [0.23, 0.09, 0.12]), printed(rng, 0.2)), (tip, white(rng))]
    )


def keys(wide: float, deep: float, rows: int, columns: int) -> TriangleMesh:
    """Make a field of keys centered on the origin, standing on y = 0."""
    x = (np.arange(columns) - (columns - 1) / 2) * wide / columns
    z = (np.arange(rows) - (rows - 1) / 2) * deep / rows
    gx, gz = (g.reshape(-1) for g in np.meshgrid(x, z))
    size = [wide / columns * 0.8, 0.006, deep / rows * 0.8]
    return boxes(np.stack([gx, np.full(len(gx), -0.003), gz], -1), size)


@prop_maker(0x6117A36F)
def laptop(rng: Random) -> Prop:
    """Make a laptop, open at some angle."""
    wide, deep = between(rng, 0.28, 0.38), between(rng, 0.2, 0.26)
    case = pick(rng, (metal, dark, white))(rng)
    field = keys(wide * 0.85, deep * 0.42, 4, 12).moved([0, -0.018, deep * 0.12])
    lid = box([0, -deep / 2, 0.004], [wide, deep, 0.007])
    face = box([0, -deep / 2, -0.001], [wide * 0.94, deep * 0.9, 0.006])
    at, tilt = [0.0, -0.018, deep / 2], -between(rng, 2, 45)
    parts: Parts = [
        (box([0, -0.009, 0], [wide, 0.018, deep]), case), (field, dark(rng)),
        (lid.moved(at, pitch=tilt), case), (face.moved(at, pitch=tilt), screen(rng, wide)),
    ]  # fmt: skip
    return make_prop("laptop", parts)


@prop_maker(0x8D921A9D)
def monitor(rng: Random) -> Prop:
    """Make a computer screen on a foot, one or two."""
    wide = between(rng, 0.42, 0.8)
    high, up = wide * between(rng, 0.55, 0.7), between(rng, 0.1, 0.18)
    case = dark(rng) if chance(rng, 0.7) else pick(rng, (white, metal))(rng)
    parts: Parts = [
        (box([0, -up - high / 2, 0.02], [wide, high, 0.035]), case),
        (box([0, -up - high / 2, 0.0], [wide * 0.96, high * 0.94, 0.008]), screen(rng, wide)),
        (box([0, -0.008, 0.04], [wide * 0.4, 0.016, 0.18]), case),
        (tube([[0, -0.01, 0.07], [0, -up - high * 0.4, 0.05]], 0.018, sectors=6), case),
    ]
    return make_prop("screen", parts)


@prop_maker(0x90749F40)
def keyboard(rng: Random) -> Prop:
    """Make a keyboard, of a computer or with piano keys."""
    wide, deep = between(rng, 0.28, 0.46), between(rng, 0.11, 0.16)
    case = pick(rng, (dark, white, metal))(rng)
    field = keys(wide * 0.95, deep * 0.88, 5, 15).moved([0, -0.014, 0])
    caps = pick(rng, (dark, white))(rng)
    return make_prop("keyboard", [(box([0, -0.007, 0], [wide, 0.014, deep]), case), (field, caps)])


@prop_maker(0x07D62F39)
def mouse(rng: Random) -> Prop:
    """Make a computer mouse with its cable."""
    body = cushion([0, -0.012, 0], [0.06, 0.036, 0.11], hard=3)
    parts: Parts = [(body, pick(rng, (dark, white, plastic))(rng))]
    if chance(rng, 0.6):
        parts.append((cable(rng, 0.25).moved([0, 0, 0.05]), dark(rng)))
    return make_prop("mouse", parts)


def cable(rng: Random, length: float) -> TriangleMesh:
    """Make a cable that wanders over the ground from the origin along +z."""
    count = 12
    t = np.linspace(0, 1, count)
    wave = np.cumsum(rng.normal(0, 0.35, count))
    path = np.stack(
        [np.cumsum(np.sin(wave)) * length / count, np.full(count, -0.004), t * length], -1
    )
    path[0] = [0, -0.004, 0]
    return tube(path, 0.003, sectors=4)


@prop_maker(0xECAC0E09)
def phone(rng: Random) -> Prop:
    """Make a phone or tablet lying on its back."""
    wide = between(rng, 0.065, 0.18)
    long = wide * between(rng, 1.4, 2.1)
    body = box([0, -0.004, 0], [wide, 0.008, long])
    face = box([0, -0.0085, 0], [wide * 0.93, 0.001, long * 0.93])
    return make_prop("phone", [(body, dark(rng)), (face, screen(rng, wide))])


@prop_maker(0x775B8033)
def headphones(rng: Random) -> Prop:
    """Make headphones lying on a side: a bow and two pads."""
    turn = np.linspace(0, np.pi, 12)
    bow = tube(
        np.stack([0.08 * np.cos(turn), np.full(12, -0.03), 0.09 * np.sin(turn)], -1),
        0.007,
        sectors=6,
    )
    pads = [cushion([side * 0.08, -0.035, -0.01], [0.03, 0.07, 0.07]) for side in (-1, 1)]
    return make_prop(
        "headphones", [(bow, metal(rng)), (merge(pads), pick(rng, (dark, white, plastic))(rng))]
    )


@prop_maker(0xBA0A1B51)
def camera(rng: Random) -> Prop:
    """Make a photo camera with a lens."""
    body = box([0, -0.045, 0], [0.13, 0.08, 0.05])
    hump = box([0, -0.092, 0], [0.05, 0.025, 0.04])
    lens = cylinder([0, 0, 0], 0.034, between(rng, 0.04, 0.12), sectors=16).moved(
        [0, -0.045, -0.02], pitch=90
    )
    rim = ring([0, 0, 0], 0.034, 0.004, sectors=16, sides=5).moved([0, -0.045, -0.06], pitch=90)
    coat = dark(rng)
    return make_prop("camera", [(merge([body, hump, lens]), coat), (rim, metal(rng))])


@prop_maker(0xDBA08AE6)
def remote(rng: Random) -> Prop:
    """Make a remote control or pocket calculator."""
    wide, long = between(rng, 0.04, 0.08), between(rng, 0.12, 0.2)
    field = keys(wide * 0.8, long * 0.7, randint(rng, 4, 7), 3).moved([0, -0.016, 0])
    body = box([0, -0.008, 0], [wide, 0.016, long])
    return make_prop("remote", [(body, dark(rng)), (field, pick(rng, (plastic, white))(rng))])


@prop_maker(0x17025879)
def speaker(rng: Random) -> Prop:
    """Make a loudspeaker: a box with round membranes."""
    wide, high = between(rng, 0.09, 0.25), between(rng, 0.15, 0.45)
    front = -wide / 2
    cones = [
        sphere([0, -high * y, front], [wide * r, wide * r, 0.012], sectors=12)
        for y, r in ((0.3, 0.36), (0.75, 0.18))
    ]
    body = box([0, -high / 2, 0], [wide, high, wide])
    return make_prop(
        "speaker", [(body, pick(rng, (dark, painted, white))(rng)), (merge(cones), dark(rng))]
    )


@prop_maker(0x9D370B2A)
def fan(rng: Random) -> Prop:
    """Make a table fan: a cage of thin wires around blades, on a foot."""
    radius, up = between(rng, 0.12, 0.22), between(rng, 0.15, 0.35)
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], -1)
    wires = rods(np.tile([[0.0, 0.0, -0.05]], (20, 1)), rim, 0.002, sectors=4)
    hoop = ring([0, 0, 0], radius, 0.006, sectors=24, sides=5).moved(pitch=90)
    blades = merge(
        [
            box([radius * 0.45, 0, 0], [radius * 0.8, 0.07, 0.004]).moved(roll=a, pitch=0)
            for a in (0, 120, 240)
        ]
    )
    at = [0, -up - radius, 0]
    foot = merge(
        [cylinder([0, 0, 0], 0.1, 0.02, sectors=14), tube([[0, 0, 0], at], 0.015, sectors=6)]
    )
    steel = pick(rng, (metal, white, dark))(rng)
    return make_prop(
        "fan",
        [(merge([wires, hoop]).moved(at), steel), (blades.moved(at), plastic(rng)), (foot, steel)],
    )
