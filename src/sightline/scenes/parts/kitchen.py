"""Kitchens: runs of base units with sink and hob, wall units, fridges, ovens, hoods, pots."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    ceramic,
    dark,
    glass,
    metal,
    painted,
    stone,
    timber,
    white,
)
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import ring
from sightline.scenes.parts.storage import fronts
from sightline.scenes.shapes import Shape, box, boxes, cylinder, lathe, merge, tube
from sightline.scenes.world import Material


def counter(rng: np.random.Generator) -> Piece:
    """Make a run of units of any width."""
    return units(rng, between(rng, 1.0, 3.4))


def units(rng: np.random.Generator, width: float, *, wet: bool = True) -> Piece:
    """Make a run of base units of this width with worktop, hob, sink, and often wall units above."""
    depth, high = between(rng, 0.58, 0.68), between(rng, 0.86, 0.94)
    door, handle = pick(rng, (timber, painted, white, white))(rng), metal(rng)
    board = pick(rng, (timber, stone, stone, white, dark))(rng)
    columns = max(1, round(width / between(rng, 0.4, 0.65)))
    rows = some(rng, 1, 3)
    parts: Parts = [(box([0, -high / 2 + 0.05, 0.02], [width, high - 0.14, depth - 0.04]), door)]
    parts.append((box([0, -0.05, 0.06], [width, 0.1, depth - 0.12]), dark(rng)))
    parts += fronts(rng, width, high - 0.14, 0.1, -depth / 2 + 0.01, columns, rows, door, handle)
    top_z = -depth / 2 - 0.01
    parts += _worktop(rng, width, depth, high, board, sink=wet and width > 1.3)
    if width > 1.7:
        parts += _hob(rng, -width / 2 + 0.45, high, depth)
    tops = [Top(high, (-width / 2 + 0.8, width / 2 - 0.85), (top_z + 0.1, depth / 2 - 0.1), 0.5)]
    if width < 1.7:
        tops = [Top(high, (-width / 2 + 0.1, width / 2 - 0.1), (top_z + 0.1, depth / 2 - 0.1), 0.5)]
    if chance(rng, 0.65):
        parts += wall_units(rng, width, depth, door if chance(rng, 0.7) else white(rng), handle)
    return made("counter", parts, tuple(tops))


def _worktop(
    rng: np.random.Generator,
    width: float,
    depth: float,
    high: float,
    board: Material,
    *,
    sink: bool,
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
        (left, x0, front, back),
        (x1, right, front, back),
        (x0, x1, front, z0),
        (x0, x1, z1, back),
    ]
    centres = [[(a + b) / 2, y, (c + d) / 2] for a, b, c, d in slabs]
    sizes = [[b - a, thick, d - c] for a, b, c, d in slabs]
    bowl = metal(rng) if chance(rng, 0.7) else ceramic(rng)
    down = -high + 0.16
    walls = boxes(
        [
            [x0, -high + 0.08, z],
            [x1, -high + 0.08, z],
            [x, -high + 0.08, z0],
            [x, -high + 0.08, z1],
            [x, down, z],
        ],
        [
            [0.01, 0.18, deep],
            [0.01, 0.18, deep],
            [wide, 0.18, 0.01],
            [wide, 0.18, 0.01],
            [wide, 0.01, deep],
        ],
    )
    return [
        (boxes(centres, sizes), board),
        (walls, bowl),
        (tap(rng).moved([x, -high, z1 + 0.05]), metal(rng)),
    ]


def tap(rng: np.random.Generator) -> Shape:
    """Make a tap standing on the origin, its spout towards −z."""
    high, reach = between(rng, 0.12, 0.38), between(rng, 0.1, 0.2)
    path = [
        [0, 0, 0],
        [0, -high * 0.8, 0],
        [0, -high, -reach * 0.3],
        [0, -high, -reach * 0.7],
        [0, -high * 0.8, -reach],
    ]
    return tube(path, between(rng, 0.008, 0.015), sectors=7)


def _hob(rng: np.random.Generator, x: float, high: float, depth: float) -> Parts:
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


def wall_units(
    rng: np.random.Generator, width: float, depth: float, door: Material, handle: Material
) -> Parts:
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


def fridge(rng: np.random.Generator) -> Piece:
    """Make a fridge with one, two or four doors."""
    wide, high, deep = between(rng, 0.55, 0.92), between(rng, 0.85, 1.95), between(rng, 0.58, 0.72)
    coat = pick(rng, (white, metal, painted, dark))(rng)
    columns = 2 if wide > 0.75 else 1
    rows = 1 if high < 1.2 else 2
    parts: Parts = [(box([0, -high / 2, 0.02], [wide, high, deep - 0.04]), coat)]
    parts += fronts(rng, wide, high - 0.04, 0.03, -deep / 2, columns, rows, coat, metal(rng))
    if chance(rng, 0.35):
        count = some(rng, 2, 9)
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
    return made("fridge", parts, (Top(high, (-x, x), (-z, z), 0.4),))


def cooker(rng: np.random.Generator) -> Piece:
    """Make a free-standing cooker or a washing machine."""
    wide, high, deep = 0.6, between(rng, 0.84, 0.92), 0.6
    coat = pick(rng, (white, white, metal, dark))(rng)
    parts: Parts = [(box([0, -high / 2, 0], [wide, high, deep]), coat)]
    if chance(rng, 0.5):
        parts += _hob(rng, 0.0, high, deep)
        return made("stove", parts)
    door = ring([0, 0, 0], 0.19, 0.03, sectors=20, sides=6).moved(
        [0, -high * 0.48, -deep / 2], pitch=90
    )
    pane = cylinder([0, 0, 0], 0.17, 0.03, sectors=20).moved([0, -high * 0.48, -deep / 2], pitch=90)
    panel = box([0, -high + 0.07, -deep / 2 - 0.005], [wide * 0.95, 0.1, 0.01])
    parts += [(door, metal(rng)), (pane, dark(rng)), (panel, white(rng))]
    x = wide / 2 - 0.1
    return made("washing machine", parts, (Top(high, (-x, x), (-x, x)),))


def pot(rng: np.random.Generator) -> Piece:
    """Make a cooking pot or pan with handles, with or without lid."""
    radius, high = between(rng, 0.08, 0.15), between(rng, 0.05, 0.2)
    stuff = metal(rng) if chance(rng, 0.6) else painted(rng)
    rim = radius * 0.95
    profile = [[0, 0], [radius, 0], [radius, high], [rim, high], [rim, 0.01], [0, 0.01]]
    if chance(rng, 0.4):
        profile = [
            [0, 0],
            [radius, 0],
            [radius, high],
            [radius * 0.6, high + 0.03],
            [0.01, high + 0.045],
        ]
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
    return made("pot", parts)


def microwave(rng: np.random.Generator) -> Piece:
    """Make a microwave or toaster oven: a box with a dark window, a row of buttons and feet."""
    wide, high, deep = between(rng, 0.4, 0.52), between(rng, 0.24, 0.32), between(rng, 0.3, 0.4)
    front = -deep / 2 - 0.004
    buttons = np.array([[wide * 0.4, -high * f, front - 0.004] for f in (0.2, 0.4, 0.6, 0.8)])
    parts: Parts = [
        (box([0, -high / 2, 0], [wide, high, deep]), pick(rng, (white, metal, dark))(rng)),
        (box([-wide * 0.1, -high / 2, front], [wide * 0.72, high * 0.8, 0.008]), dark(rng)),
        (boxes(buttons, [0.035, 0.025, 0.01]), metal(rng)),
    ]
    return made("microwave", parts)
