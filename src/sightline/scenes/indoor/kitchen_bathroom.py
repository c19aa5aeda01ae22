"""Build kitchen units, appliances and pots; baths, showers, toilets and washbasins."""

from __future__ import annotations

import numpy as np

from sightline.scenes.indoor.cabinets import cabinet, fronts
from sightline.scenes.layout import Parts, Prop, SupportSurface, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    dark,
    fabric,
    glass,
    metal,
    painted,
    stone,
    timber,
    white,
)
from sightline.scenes.mesh_arrays import cushion, drape, ring, rods
from sightline.scenes.meshes import TriangleMesh, box, boxes, cylinder, lathe, merge, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material


@prop_maker(0x327F3FE0)
def counter(rng: Random) -> Prop:
    """Make a run of units of any width."""
    return units(rng, between(rng, 1.0, 3.4))


def units(rng: Random, width: float, *, wet: bool = True) -> Prop:
    """Make a run of base units of this width with worktop, hob, sink, and often wall units above."""
    depth, high = between(rng, 0.58, 0.68), between(rng, 0.86, 0.94)
    door, handle = pick(rng, (timber, painted, white, white))(rng), metal(rng)
    board = pick(rng, (timber, stone, stone, white, dark))(rng)
    columns = max(1, round(width / between(rng, 0.4, 0.65)))
    rows = randint(rng, 1, 3)
    parts: Parts = [(box([0, -high / 2 + 0.05, 0.02], [width, high - 0.14, depth - 0.04]), door)]
    parts.append((box([0, -0.05, 0.06], [width, 0.1, depth - 0.12]), dark(rng)))
    parts += fronts(rng, width, high - 0.14, 0.1, -depth / 2 + 0.01, columns, rows, door, handle)
    top_z = -depth / 2 - 0.01
    parts += _worktop(rng, width, depth, high, board, sink=wet and width > 1.3)
    if width > 1.7:
        parts += _hob(rng, -width / 2 + 0.45, high, depth)
    tops = [
        SupportSurface(
            high, (-width / 2 + 0.8, width / 2 - 0.85), (top_z + 0.1, depth / 2 - 0.1), 0.5
        )
    ]
    if width < 1.7:
        tops = [
            SupportSurface(
                high, (-width / 2 + 0.1, width / 2 - 0.1), (top_z + 0.1, depth / 2 - 0.1), 0.5
            )
        ]
    if chance(rng, 0.65):
        parts += wall_units(rng, width, depth, door if chance(rng, 0.7) else white(rng), handle)
    return make_prop("counter", parts, tuple(tops))


def _worktop(
    rng: Random, width: float, depth: float, high: float, board: Material, *, sink: bool
) -> Parts:
    """Make the worktop; with a sink it is laid around the bowl, which is open from above."""
    y, thick, z = -high + 0.02, 0.04, -0.01
    if not sink:
        return [(box([0, y, z], [width + 0.02, thick, depth + 0.02]), board)]
    x, wide, deep = width / 2 - 0.45, between(rng, 0.38, 0.6), between(rng, 0.34, 0.42)
    left, right = -width / 2 - 0.01, width / 2 + 0.01
    front, back = z - depth / 2 - 0.01, z + depth / 2 + 0.01
    x0, x1, z0, z1 = x - wide / 2, x + wide / 2, z - deep / 2, z + deep / 2
    slabs = [
        (left, x0, front, back), (x1, right, front, back), (x0, x1, front, z0), (x0, x1, z1, back),
    ]  # fmt: skip
    centers = [[(a + b) / 2, y, (c + d) / 2] for a, b, c, d in slabs]
    sizes = [[b - a, thick, d - c] for a, b, c, d in slabs]
    bowl = metal(rng) if chance(rng, 0.7) else ceramic(rng)
    down = -high + 0.16
    walls = boxes(
        [
            [x0, -high + 0.08, z], [x1, -high + 0.08, z], [x, -high + 0.08, z0],
            [x, -high + 0.08, z1], [x, down, z],
        ],
        [
            [0.01, 0.18, deep], [0.01, 0.18, deep], [wide, 0.18, 0.01], [wide, 0.18, 0.01],
            [wide, 0.01, deep],
        ],
    )  # fmt: skip
    return [
        (boxes(centers, sizes), board),
        (walls, bowl),
        (tap(rng).moved([x, -high, z1 + 0.05]), metal(rng)),
    ]


def tap(rng: Random) -> TriangleMesh:
    """Make a tap standing on the origin, its spout toward −z."""
    high, reach = between(rng, 0.12, 0.38), between(rng, 0.1, 0.2)
    path = [
        [0, 0, 0], [0, -high * 0.8, 0], [0, -high, -reach * 0.3], [0, -high, -reach * 0.7],
        [0, -high * 0.8, -reach],
    ]  # fmt: skip
    return tube(path, between(rng, 0.008, 0.015), sectors=7)


def _hob(rng: Random, x: float, high: float, depth: float) -> Parts:
    """Make a hob with four plates or gas rings, knobs, and an oven door below."""
    plate = box([x, -high - 0.006, 0], [0.58, 0.012, 0.5])
    at = [[x + sx * 0.14, -high - 0.016, sz * 0.12] for sx in (-1, 1) for sz in (-1, 1)]
    gas = chance(rng, 0.5)
    rings = [
        ring(p, between(rng, 0.06, 0.1), 0.008 if gas else 0.003, sectors=16, sides=5) for p in at
    ]
    parts: Parts = [
        (plate, dark(rng) if chance(rng, 0.7) else metal(rng)),
        (merge(rings), dark(rng)),
    ]
    z = -depth / 2 - 0.012
    parts.append((box([x, -high * 0.5, z], [0.56, high * 0.55, 0.02]), dark(rng)))
    parts.append((box([x, -high * 0.74, z - 0.035], [0.45, 0.018, 0.018]), metal(rng)))
    knobs = np.array([[x + k * 0.1, -high + 0.09, z - 0.02] for k in range(-2, 3)])
    parts.append((boxes(knobs, [0.03, 0.03, 0.03]), metal(rng)))
    for p in at:
        if chance(rng, 0.2):
            parts += [(shape.moved([p[0], -high - 0.025, p[2]]), m) for shape, m in pot(rng).parts]
    return parts


def wall_units(rng: Random, width: float, depth: float, door: Material, handle: Material) -> Parts:
    """Make cupboards above a worktop, with a gap or a hood over the hob."""
    low, high, deep = between(rng, 1.35, 1.5), between(rng, 0.5, 0.9), between(rng, 0.3, 0.38)
    z = depth / 2 - deep / 2
    parts: Parts = []
    start = -width / 2 + (0.78 if width > 1.7 else 0.0)
    wide = width / 2 - start
    x = (start + width / 2) / 2
    parts.append((box([x, -low - high / 2, z], [wide, high, deep]), door))
    glazed = glass(rng) if chance(rng, 0.15) else door
    doors = fronts(
        rng, wide, high, low, z - deep / 2 - 0.01, max(1, round(wide / 0.5)), 1, glazed, handle
    )
    parts += [(shape.moved([x, 0, 0]), material) for shape, material in doors]
    if width > 1.7:
        hood = lathe([[0.4, 0], [0.4, 0.06], [0.16, 0.25], [0.14, 0.9], [0, 0.9]], sectors=4)
        at = [-width / 2 + 0.4, -low - 0.05, depth / 2 - 0.3]
        parts.append((hood.moved(at, yaw=45), metal(rng)))
    return parts


@prop_maker(0x16339D9B)
def fridge(rng: Random) -> Prop:
    """Make a fridge with one, two or four doors."""
    wide, high, deep = between(rng, 0.55, 0.92), between(rng, 0.85, 1.95), between(rng, 0.58, 0.72)
    coat = pick(rng, (white, metal, painted, dark))(rng)
    columns = 2 if wide > 0.75 else 1
    rows = 1 if high < 1.2 else 2
    parts: Parts = [(box([0, -high / 2, 0.02], [wide, high, deep - 0.04]), coat)]
    parts += fronts(rng, wide, high - 0.04, 0.03, -deep / 2, columns, rows, coat, metal(rng))
    if chance(rng, 0.35):
        count = randint(rng, 2, 9)
        at = np.stack(
            [
                rng.uniform(-0.4, 0.4, count) * wide,
                -rng.uniform(0.5, 0.9, count) * high,
                np.full(count, -deep / 2 - 0.012),
            ],
            -1,
        )
        parts.append((boxes(at, [0.06, 0.08, 0.003]), painted(rng)))
    x, z = wide / 2 - 0.1, deep / 2 - 0.1
    return make_prop("fridge", parts, (SupportSurface(high, (-x, x), (-z, z), 0.4),))


@prop_maker(0x415CA0BF)
def cooker(rng: Random) -> Prop:
    """Make a free-standing cooker or a washing machine."""
    wide, high, deep = 0.6, between(rng, 0.84, 0.92), 0.6
    coat = pick(rng, (white, white, metal, dark))(rng)
    parts: Parts = [(box([0, -high / 2, 0], [wide, high, deep]), coat)]
    if chance(rng, 0.5):
        parts += _hob(rng, 0.0, high, deep)
        return make_prop("stove", parts)
    door = ring([0, 0, 0], 0.19, 0.03, sectors=20, sides=6).moved(
        [0, -high * 0.48, -deep / 2], pitch=90
    )
    pane = cylinder([0, 0, 0], 0.17, 0.03, sectors=20).moved([0, -high * 0.48, -deep / 2], pitch=90)
    panel = box([0, -high + 0.07, -deep / 2 - 0.005], [wide * 0.95, 0.1, 0.01])
    parts += [(door, metal(rng)), (pane, dark(rng)), (panel, white(rng))]
    x = wide / 2 - 0.1
    return make_prop("washing machine", parts, (SupportSurface(high, (-x, x), (-x, x)),))


@prop_maker(0xE6177D69)
def pot(rng: Random) -> Prop:
    """Make a cooking pot or pan with handles, with or without lid."""
    radius, high = between(rng, 0.08, 0.15), between(rng, 0.05, 0.2)
    stuff = metal(rng) if chance(rng, 0.6) else painted(rng)
    rim = radius * 0.95
    profile = [[0, 0], [radius, 0], [radius, high], [rim, high], [rim, 0.01], [0, 0.01]]
    if chance(rng, 0.4):
        profile = [
            [0, 0], [radius, 0], [radius, high], [radius * 0.6, high + 0.03],
            [0.01, high + 0.045],
        ]  # fmt: skip
        profile += [[0.02, high + 0.07], [0, high + 0.07]]
    parts: Parts = [(lathe(profile, sectors=16), stuff)]
    grip = dark(rng)
    if chance(rng, 0.5):
        end = radius + between(rng, 0.12, 0.2)
        rod = tube([[radius, -high * 0.9, 0], [end, -high * 1.0, 0]], 0.01, sectors=6)
        parts.append((rod.moved(yaw=between(rng, 0, 360)), grip))
    else:
        for side in (-1, 1):
            x = side * radius
            path = [[x, -high * 0.8, -0.03], [x * 1.25, -high * 0.8, 0], [x, -high * 0.8, 0.03]]
            parts.append((tube(path, 0.006, sectors=6), grip))
    return make_prop("pot", parts)


@prop_maker(0x608B2859)
def microwave(rng: Random) -> Prop:
    """Make a microwave or toaster oven: a box with a dark window, a row of buttons and feet."""
    wide, high, deep = between(rng, 0.4, 0.52), between(rng, 0.24, 0.32), between(rng, 0.3, 0.4)
    front = -deep / 2 - 0.004
    buttons = np.array([[wide * 0.4, -high * f, front - 0.004] for f in (0.2, 0.4, 0.6, 0.8)])
    parts: Parts = [
        (box([0, -high / 2, 0], [wide, high, deep]), pick(rng, (white, metal, dark))(rng)),
        (box([-wide * 0.1, -high / 2, front], [wide * 0.72, high * 0.8, 0.008]), dark(rng)),
        (boxes(buttons, [0.035, 0.025, 0.01]), metal(rng)),
    ]
    return make_prop("microwave", parts)


def basin_bowl(radius: float, high: float, sectors: int = 18) -> TriangleMesh:
    """Make an open bowl with a thick rim standing on the origin."""
    r = radius
    outer = [[0, 0], [r * 0.45, 0], [r * 0.85, high * 0.5], [r, high]]
    inner = [[r * 0.94, high], [r * 0.78, high * 0.5], [r * 0.35, high * 0.22], [0, high * 0.2]]
    return lathe([*outer, *inner], sectors=sectors)


@prop_maker(0xC4912ED7)
def washbasin(rng: Random) -> Prop:
    """Make a washbasin on a cabinet, on a pedestal, or hung from the wall; with tap."""
    ware, high = white(rng), between(rng, 0.78, 0.88)
    bowl = basin_bowl(between(rng, 0.2, 0.28), 0.15)
    stretch = [between(rng, 1.0, 1.35), 1.0, between(rng, 0.75, 1.0)]
    spout = tap(rng)
    if chance(rng, 0.5):
        base = cabinet(rng, width=(0.5, 1.2), height=(high - 0.1, high), depth=(0.45, 0.52))
        up = base.size[1]
        parts = [*base.parts, (bowl.moved([0, -up, -0.02], scale=stretch), ware)]
        parts.append((spout.moved([0, -up, 0.2]), metal(rng)))
        x = base.size[0] / 2
        tops = (
            SupportSurface(up, (x - 0.14, x - 0.05), (-0.15, 0.15)),
            SupportSurface(up, (-x + 0.05, -x + 0.14), (-0.15, 0.15)),
        )
        return make_prop("washbasin", parts, tops)
    parts = [(bowl.moved([0, -high + 0.15, 0], scale=stretch), ware)]
    parts.append((spout.moved([0, -high, 0.2]), metal(rng)))
    foot = lathe([[0.1, 0], [0.08, 0.3], [0.1, high - 0.12]], sectors=12)
    if chance(rng, 0.6):
        parts.append((foot, ware))
    else:
        pipe = tube([[0, -high + 0.16, 0], [0, -0.5, 0], [0, -0.45, 0.1], [0, -0.5, 0.25]], 0.02)
        parts.append((pipe, metal(rng)))
    return make_prop("washbasin", parts)


@prop_maker(0xE8C67599)
def toilet(rng: Random) -> Prop:
    """Make a toilet: bowl, seat, lid up or down, cistern."""
    ware, high = white(rng), between(rng, 0.38, 0.44)
    profile = [
        [0.11, 0], [0.1, 0.1], [0.14, 0.22], [0.19, high], [0.15, high], [0.08, 0.25], [0, 0.2],
    ]  # fmt: skip
    bowl = lathe(profile, sectors=18).moved([0, 0, -0.1], scale=[0.95, 1.0, 1.25])
    seat = ring([0, 0, 0], 0.16, 0.028, sectors=20, sides=6)
    parts: Parts = [
        (bowl, ware),
        (box([0, -high / 2, 0.16], [0.2, high, 0.24]), ware),
        (seat.moved([0, -high - 0.01, -0.1], scale=[1.0, 0.5, 1.3]), ware),
    ]
    lid = cylinder([0, 0, 0], 0.19, 0.02, sectors=20)
    if chance(rng, 0.5):
        parts.append((lid.moved([0, -high - 0.02, -0.1], scale=[1, 1, 1.25]), ware))
    else:
        parts.append((lid.moved([0, -high - 0.24, 0.13], pitch=80, scale=[1, 1, 1.25]), ware))
    parts.append((box([0, -high - 0.2, 0.27], [between(rng, 0.34, 0.42), 0.4, 0.16]), ware))
    return make_prop("toilet", parts, (SupportSurface(high + 0.4, (-0.12, 0.12), (0.23, 0.3)),))


@prop_maker(0xD56CF68A)
def bathtub(rng: Random) -> Prop:
    """Make a tub that is open above: boxed in, or free-standing with round ends."""
    long, wide, high = between(rng, 1.4, 1.8), between(rng, 0.68, 0.85), between(rng, 0.5, 0.62)
    ware = white(rng)
    if chance(rng, 0.35):
        tub = basin_bowl(0.5, 1.0, sectors=24).moved(scale=[long, high, wide])
        return make_prop("bathtub", [(tub, ware), (tap(rng).moved([0, -high, 0.3]), metal(rng))])
    rim, floor = 0.07, 0.12
    x, z = long / 2, wide / 2
    y = -high / 2
    shell = boxes(
        [
            [0, y, -z + rim / 2], [0, y, z - rim / 2], [-x + rim / 2, y, 0], [x - rim / 2, y, 0],
            [0, -floor / 2, 0],
        ],
        [
            [long, high, rim], [long, high, rim], [rim, high, wide], [rim, high, wide],
            [long, floor, wide],
        ],
    )  # fmt: skip
    parts: Parts = [(shell, ware), (tap(rng).moved([x - 0.05, -high, 0], yaw=90), metal(rng))]
    if chance(rng, 0.3):
        water = box([0, -high * 0.6, 0], [long - 2 * rim, 0.01, wide - 2 * rim])
        parts.append((water, glass(rng)))
    if chance(rng, 0.35):
        curtain = drape(rng, long * between(rng, 0.3, 0.9), 1.5, folds=12, deep=0.04)
        parts.append((curtain.moved([0, -high + 0.1, -z + 0.03]), fabric(rng)))
        parts.append((rods([[-x, -2.0, -z + 0.03]], [[x, -2.0, -z + 0.03]], 0.012), metal(rng)))
    return make_prop("bathtub", parts)


@prop_maker(0x9B982F49)
def shower(rng: Random) -> Prop:
    """Make a shower: tray, glass walls with metal edges, head on a bent pipe."""
    wide, deep, high = between(rng, 0.8, 1.2), between(rng, 0.8, 1.0), between(rng, 1.85, 2.05)
    x, z = wide / 2, deep / 2
    panes = boxes(
        [[0, -high / 2, -z], [-x, -high / 2, 0]], [[wide, high, 0.008], [0.008, high, deep]]
    )
    edge = np.array([[-x, 0, -z], [x, 0, -z], [-x, 0, z]], np.float64)
    frame = metal(rng)
    pipe = tube(
        [[x * 0.6, -1.0, z - 0.03], [x * 0.6, -high, z - 0.03], [x * 0.6, -high - 0.05, z - 0.3]],
        0.012,
    )
    head = cylinder([x * 0.6, -high - 0.02, z - 0.3], 0.08, 0.03, sectors=14)
    parts: Parts = [
        (box([0, -0.04, 0], [wide, 0.08, deep]), white(rng)), (panes, glass(rng)),
        (rods(edge, edge - [0, high, 0], 0.015, sectors=4), frame), (pipe, frame), (head, frame),
    ]  # fmt: skip
    return make_prop("shower", parts)


@prop_maker(0x95E8DC81)
def towel_rail(rng: Random) -> Prop:
    """Make a ladder-shaped heated rail or a single bar, with towels; to hang on a wall."""
    wide, high = between(rng, 0.4, 0.6), pick(rng, (0.06, 0.8, 1.2))
    steel = metal(rng) if chance(rng, 0.6) else white(rng)
    count = 1 if high < 0.1 else 9
    y = -np.linspace(0.03, high, count)
    bars = rods(
        np.stack([np.full(count, -wide / 2), y, 0 * y], -1),
        np.stack([np.full(count, wide / 2), y, 0 * y], -1),
        0.01,
        sectors=6,
    )
    parts: Parts = [(bars, steel)]
    if count > 1:
        posts = rods(
            [[-wide / 2, 0, 0], [wide / 2, 0, 0]],
            [[-wide / 2, -high, 0], [wide / 2, -high, 0]],
            0.016,
        )
        parts.append((posts, steel))
    for side in (-1, 1):
        if chance(rng, 0.6):
            fall = between(rng, 0.25, 0.5)
            towel = cushion([0, -fall / 2, 0], [wide * 0.4, fall, 0.05], hard=8)
            parts.append((towel.moved([side * wide * 0.23, -high + fall, 0]), fabric(rng)))
    return make_prop("towel", parts)


@prop_maker(0xB8928B00)
def basket(rng: Random) -> Prop:
    """Make a laundry basket or waste bin."""
    radius, high = between(rng, 0.12, 0.24), between(rng, 0.25, 0.6)
    low = radius * between(rng, 0.7, 1.0)
    inner = radius * 0.93
    profile = [[0, 0], [low, 0], [radius, high], [inner, high], [low * 0.9, 0.03], [0, 0.03]]
    sectors = pick(rng, (4, 14, 14))
    stuff = pick(rng, (dark, metal, timber, white, fabric))(rng)
    parts: Parts = [(lathe(profile, sectors=sectors).moved(yaw=45), stuff)]
    if chance(rng, 0.5):
        heap = cushion([0, -high * 0.9, 0], [radius * 1.5, high * 0.4, radius * 1.5])
        parts.append((heap, fabric(rng)))
    return make_prop("bin", parts)
