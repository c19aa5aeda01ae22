"""Paper, packages and tools: books, boxes, sheets, pens, scissors, cutlery, hand tools, candles."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sightline.scenes.parts.crockery import vessel
from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    ceramic,
    dark,
    fabric,
    lit,
    metal,
    painted,
    plastic,
    printed,
    timber,
    white,
)
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import cushion, ring, spread
from sightline.scenes.shapes import Shape, box, boxes, cylinder, merge, quad, tube


def _one_book(wide: float, thick: float, long: float) -> tuple[Shape, Shape]:
    """Make cover and pages of a book that lies on the origin."""
    cover = boxes(
        [[0, -0.0015, 0], [0, -thick + 0.0015, 0], [-wide / 2, -thick / 2, 0]],
        [[wide, 0.003, long], [wide, 0.003, long], [0.003, thick, long]],
    )
    return cover, box([-0.002, -thick / 2, 0], [wide - 0.008, thick - 0.006, long - 0.008])


def books(rng: np.random.Generator) -> Piece:
    """Make a lying book, or a stack of them, each turned a little."""
    parts: Parts = []
    paper, height = white(rng), 0.0
    wide, long = between(rng, 0.1, 0.24), between(rng, 0.14, 0.32)
    for _ in range(some(rng, 2, 7) if chance(rng, 0.5) else 1):
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
    return made("book", parts, (Top(height, (-0.04, 0.04), (-0.05, 0.05), 0.3),))


def open_book(rng: np.random.Generator) -> Piece:
    """Make a book that lies open, its pages bent."""
    wide, long = between(rng, 0.12, 0.24), between(rng, 0.18, 0.32)
    bend = np.array([[0.0, 0.004], [0.25, 0.02], [0.6, 0.018], [1.0, 0.006]])
    sheets = []
    for side in (-1, 1):
        for a, b in pairwise(bend):
            start = [side * a[0] * wide, -a[1], -long / 2]
            sheets.append(quad(start, [side * (b[0] - a[0]) * wide, a[1] - b[1], 0], [0, 0, long]))
    cover = box([0, -0.002, 0], [2 * wide + 0.01, 0.003, long + 0.01])
    return made("book", [(merge(sheets), printed(rng, wide)), (cover, painted(rng))])


def carton(rng: np.random.Generator) -> Piece:
    """Make a package: a closed box, a tall carton, or an open box with flaps."""
    wide, high, deep = (between(rng, 0.05, 0.35) for _ in range(3))
    if chance(rng, 0.7):
        return made(
            "box",
            [(box([0, -high / 2, 0], [wide, high, deep]), printed(rng, wide))],
            (Top(high, (-wide / 3, wide / 3), (-deep / 3, deep / 3), 0.3),),
        )
    x, z, thick = wide / 2, deep / 2, 0.004
    walls = boxes(
        [
            [-x, -high / 2, 0],
            [x, -high / 2, 0],
            [0, -high / 2, -z],
            [0, -high / 2, z],
            [0, -thick, 0],
        ],
        [
            [thick, high, deep],
            [thick, high, deep],
            [wide, high, thick],
            [wide, high, thick],
            [wide, thick, deep],
        ],
    )
    flaps = []
    for side in (-1, 1):
        flap = box([side * wide * 0.22, 0, 0], [wide * 0.44, thick, deep])
        flaps.append(flap.moved([side * x, -high, 0], roll=side * between(rng, -50, 40)))
    return made(
        "box", [(merge([walls, *flaps]), timber(rng) if chance(rng, 0.3) else printed(rng, wide))]
    )


def sheets(rng: np.random.Generator) -> Piece:
    """Make loose sheets of paper, letters or magazines, strewn about."""
    count = some(rng, 1, 6)
    parts: Parts = []
    for k in range(count):
        size = pick(rng, ((0.21, 0.297), (0.148, 0.21), (0.11, 0.22)))
        sheet = box([0, 0, 0], [size[0], 0.001, size[1]])
        at = [between(rng, -0.1, 0.1), -0.001 - 0.0015 * k, between(rng, -0.08, 0.08)]
        parts.append((sheet.moved(at, yaw=between(rng, -60, 60)), printed(rng, size[0])))
    return made("paper", parts)


def pens(rng: np.random.Generator) -> Piece:
    """Make a pot with pens, brushes or kitchen spoons that stick out."""
    radius, high = between(rng, 0.03, 0.06), between(rng, 0.08, 0.14)
    count = some(rng, 3, 10)
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
    return made("pens", parts)


def cutlery(rng: np.random.Generator) -> Piece:
    """Make fork, knife and spoon side by side."""
    steel = metal(rng)
    shapes = []
    for k, kind in enumerate(("fork", "knife", "spoon")[: some(rng, 1, 3)]):
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
    return made("cutlery", [(merge(shapes), steel)])


def tool(rng: np.random.Generator) -> Piece:
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
        return made("scissors", [(blades, steel), (merge(eyes), plastic(rng))])
    handle = rods([[0, -0.012, -long / 2]], [[0, -0.012, 0]], 0.012, 0.009, sectors=7)
    shaft = rods([[0, -0.012, 0]], [[0, -0.012, long / 2]], 0.005, sectors=6)
    head: list[Shape] = [shaft]
    if style == "hammer":
        head.append(box([0, -0.014, long / 2], [0.1, 0.026, 0.028]))
    elif style == "spanner":
        head.append(ring([0, -0.012, long / 2], 0.02, 0.006, sectors=12, sides=5))
    elif style == "brush":
        return made(
            "brush",
            [
                (handle, grip),
                (box([0, -0.012, long * 0.2], [0.05, 0.02, long * 0.35]), fabric(rng)),
            ],
        )
    return made("tool", [(handle, grip), (merge(head), steel)])


def candle(rng: np.random.Generator) -> Piece:
    """Make a candle or a group of them, some lit."""
    count = some(rng, 1, 4)
    x = (np.arange(count) - (count - 1) / 2) * 0.07
    high = rng.uniform(0.05, 0.25, count)
    foot = np.stack([x, 0 * x, rng.uniform(-0.03, 0.03, count)], -1)
    wax = spread(
        cylinder([0, 0, 0], 1.0, 1.0, sectors=10),
        foot,
        scale=np.stack([np.full(count, 0.02), high, np.full(count, 0.02)], -1),
    )
    flames = spread(
        cushion([0, 0, 0], [0.012, 0.03, 0.012], hard=2),
        foot - np.stack([0 * x, high + 0.02, 0 * x], -1),
    )
    parts: Parts = [(wax, white(rng) if chance(rng, 0.5) else painted(rng))]
    if chance(rng, 0.5):
        parts.append((flames, lit(rng)))
    return made("candle", parts)


def tissue_box(rng: np.random.Generator) -> Piece:
    """Make a box of tissues, or a roll of kitchen paper."""
    if chance(rng, 0.5):
        roll = cylinder([0, 0, 0], between(rng, 0.045, 0.06), between(rng, 0.1, 0.25), sectors=16)
        core = tube([[0, 0, 0], [0, -0.28, 0]], 0.012, sectors=6)
        return made("paper", [(roll, white(rng)), (core, timber(rng))])
    tip = cushion([0, -0.12, 0], [0.08, 0.1, 0.03], hard=2)
    return made(
        "box", [(box([0, -0.045, 0], [0.23, 0.09, 0.12]), printed(rng, 0.2)), (tip, white(rng))]
    )
