"""What hangs on walls and lies on floors: pictures, mirrors, clocks, screens, boards, coats, rugs."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    colour,
    dark,
    fabric,
    looking_glass,
    metal,
    painted,
    printed,
    screen,
    seed,
    timber,
    white,
)
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.parts.soft import cushion, drape, ring
from sightline.scenes.shapes import Shape, box, boxes, cylinder, lathe
from sightline.scenes.world import Material, Pattern


def _frame(wide: float, high: float, edge: float, deep: float) -> Shape:
    """Make four bars around a rectangle that stands on the origin."""
    y = -high / 2
    return boxes(
        [
            [0, -edge / 2, 0],
            [0, -high + edge / 2, 0],
            [-(wide - edge) / 2, y, 0],
            [(wide - edge) / 2, y, 0],
        ],
        [[wide, edge, deep], [wide, edge, deep], [edge, high, deep], [edge, high, deep]],
    )


def picture(rng: np.random.Generator) -> Piece:
    """Make a framed picture, a canvas or a poster."""
    wide, high = between(rng, 0.15, 1.2), between(rng, 0.15, 0.9)
    edge, deep = between(rng, 0.01, 0.06), between(rng, 0.01, 0.04)
    sheet = box([0, -high / 2, 0.0], [wide - edge, high - edge, deep * 0.4])
    parts: Parts = [(sheet, printed(rng, wide))]
    if chance(rng, 0.8):
        parts.append((_frame(wide, high, edge, deep), pick(rng, (timber, dark, white, metal))(rng)))
    return made("picture", parts)


def mirror(rng: np.random.Generator) -> Piece:
    """Make a mirror, rectangular with a frame or round."""
    wide, high = between(rng, 0.3, 1.2), between(rng, 0.4, 1.6)
    rim = pick(rng, (timber, metal, white, dark))(rng)
    if chance(rng, 0.3):
        radius = wide / 2
        disc = cylinder([0, 0, 0], radius, 0.01, sectors=24).moved([0, -radius, 0], pitch=90)
        around = ring([0, 0, 0], radius, 0.015, sectors=24, sides=5).moved(
            [0, -radius, 0], pitch=90
        )
        return made("mirror", [(disc, looking_glass(rng)), (around, rim)])
    sheet = box([0, -high / 2, 0], [wide, high, 0.01])
    parts: Parts = [(sheet, looking_glass(rng))]
    if chance(rng, 0.7):
        parts.append((_frame(wide, high, between(rng, 0.015, 0.07), 0.03), rim))
    return made("mirror", parts)


def clock(rng: np.random.Generator) -> Piece:
    """Make a round wall clock with two hands."""
    radius = between(rng, 0.1, 0.22)
    disc = cylinder([0, 0, 0], radius, 0.02, sectors=24).moved([0, -radius, 0.01], pitch=90)
    around = ring([0, 0, 0], radius, 0.012, sectors=24, sides=5).moved([0, -radius, 0], pitch=90)
    angle = rng.uniform(0, 2 * np.pi, 2)
    length = radius * np.array([0.85, 0.55])
    tip = np.stack(
        [length * np.sin(angle), -radius - length * np.cos(angle), np.full(2, -0.015)], -1
    )
    hands = rods(np.tile([[0.0, -radius, -0.015]], (2, 1)), tip, 0.005, sectors=4)
    return made("clock", [(disc, white(rng)), (around, painted(rng)), (hands, dark(rng))])


def television(rng: np.random.Generator, *, stand: bool = False) -> Piece:
    """Make a flat screen, to hang or on a foot."""
    wide = between(rng, 0.6, 1.5)
    high, up = wide * 0.57, (0.08 if stand else 0.0)
    body = box([0, -high / 2 - up, 0.01], [wide, high, 0.03])
    face = box([0, -high / 2 - up, -0.01], [wide * 0.97, high * 0.95, 0.012])
    parts: Parts = [(body, dark(rng)), (face, screen(rng, wide))]
    if stand:
        foot = boxes(
            [[0, -0.01, 0], [0, -0.06, 0.01]], [[wide * 0.4, 0.015, 0.2], [0.08, 0.12, 0.03]]
        )
        parts.append((foot, dark(rng)))
    return made("screen", parts)


def board(rng: np.random.Generator) -> Piece:
    """Make a whiteboard, blackboard or notice board with papers."""
    wide, high = between(rng, 0.8, 3.0), between(rng, 0.6, 1.2)
    tint = pick(rng, ((0.85, 0.85, 0.85), (0.02, 0.08, 0.05), (0.5, 0.33, 0.18)))
    pattern: Pattern = pick(rng, ("plain", "print", "noise"))
    face = Material(pattern, tint, (0.3, 0.3, 0.4), 1.2, seed(rng))
    parts: Parts = [
        (box([0, -high / 2, 0.005], [wide, high, 0.01]), face),
        (_frame(wide, high, 0.03, 0.03), metal(rng) if chance(rng, 0.6) else timber(rng)),
    ]
    for _ in range(some(rng, 0, 4)):
        x, y = between(rng, -0.42, 0.42) * wide, between(rng, 0.25, 0.8) * high
        sheet = box([0, 0, 0], [0.21, 0.297, 0.003]).moved(
            [x, -y, -0.008], roll=between(rng, -9, 9)
        )
        parts.append((sheet, printed(rng)))
    return made("board", parts)


def coats(rng: np.random.Generator) -> Piece:
    """Make a row of hooks with coats and bags; its foot is the lowest hem."""
    count, fall = some(rng, 1, 5), between(rng, 0.7, 1.1)
    wide = 0.3 * count
    rail = box([0, -fall - 0.12, 0.04], [wide + 0.1, 0.08, 0.02])
    x = (np.arange(count) - (count - 1) / 2) * 0.3
    top = np.stack([x, np.full(count, -fall - 0.12), np.full(count, 0.03)], -1)
    hooks = rods(top, top + np.array([0, -0.03, -0.06]), 0.006, sectors=5)
    parts: Parts = [(rail, timber(rng)), (hooks, metal(rng))]
    for k in range(count):
        if chance(rng, 0.8):
            long = fall * between(rng, 0.55, 1.0)
            coat = drape(rng, between(rng, 0.22, 0.34), long, folds=2.5, deep=0.05)
            parts.append((coat.moved([x[k], -fall - 0.1 + long, 0]), fabric(rng)))
            body = cushion([x[k], -fall - 0.1 + long * 0.5, 0.0], [0.2, long, 0.09], hard=4)
            parts.append((body, fabric(rng)))
    return made("coat", parts)


def rug(rng: np.random.Generator) -> Piece:
    """Make a rug, rectangular or round."""
    wide, deep, thick = between(rng, 0.8, 2.8), between(rng, 0.6, 2.0), between(rng, 0.004, 0.015)
    tint, second = colour(rng), colour(rng)
    pattern: Pattern = pick(
        rng, ("cloth", "stripes", "checker", "noise", "leaves", "photo", "marble")
    )
    weave = Material(pattern, tint, second, between(rng, 0.05, 0.6), seed(rng), photo=seed(rng))
    if chance(rng, 0.25):
        disc = lathe([[deep / 2, 0], [deep / 2, thick], [0, thick]], sectors=28)
        return made("rug", [(disc, weave)])
    parts: Parts = [(box([0, -thick / 2, 0], [wide, thick, deep]), weave)]
    if chance(rng, 0.4):
        rim = boxes(
            [[0, -thick / 2 - 0.001, side * (deep / 2 - 0.04)] for side in (-1, 1)],
            [wide, thick, 0.06],
        )
        parts.append((rim, fabric(rng)))
    return made("rug", parts)
