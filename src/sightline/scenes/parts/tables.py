"""Tables and desks: rectangular, round, of glass, with drawers."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import glass, metal, painted, stone, timber, white
from sightline.scenes.parts.legs import four_legs, hairpins, pedestal, trestles
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import drape
from sightline.scenes.shapes import Shape, box, boxes, lathe, merge
from sightline.scenes.world import Material


def table(
    rng: np.random.Generator,
    *,
    width: tuple[float, float] = (0.8, 2.2),
    depth: tuple[float, float] = (0.6, 1.1),
    height: tuple[float, float] = (0.68, 0.78),
) -> Piece:
    """Make a table of a size from these ranges in [m], round in about one case of four."""
    wide, deep, high = between(rng, *width), between(rng, *depth), between(rng, *height)
    board = table_top(rng)
    thick = between(rng, 0.008, 0.02) if board.clear else between(rng, 0.018, 0.06)
    frame = (
        board if chance(rng, 0.5) and not board.clear else pick(rng, (timber, metal, painted))(rng)
    )
    if chance(rng, 0.27):
        wide = deep = min(wide, deep * 1.2)
        plate = _disc(wide / 2, thick).moved([0, -high + thick, 0])
        inner = wide * 0.35
    else:
        plate = box([0, -high + thick / 2, 0], [wide, thick, deep])
        inner = wide / 2 - 0.05
    parts: Parts = [(plate, board), (_stand(rng, wide, deep, high - thick), frame)]
    if chance(rng, 0.08):
        parts.append((_cloth(rng, wide, deep, high), painted(rng)))
    top = Top(high, (-inner, inner), (-deep / 2 + 0.05, deep / 2 - 0.05), 1.0)
    return made("table", parts, (top,))


def table_top(rng: np.random.Generator) -> Material:
    """Draw what the board is made of."""
    return pick(rng, (timber, timber, timber, timber, painted, white, stone, glass))(rng)


def _disc(radius: float, thick: float) -> Shape:
    """Make a round board standing on y = 0."""
    edge = min(thick * 0.3, 0.006)
    profile = [[0, 0], [radius, 0], [radius, thick - edge], [radius - edge, thick], [0, thick]]
    return lathe(profile, sectors=28)


def _stand(rng: np.random.Generator, wide: float, deep: float, high: float) -> Shape:
    """Make what the board rests on."""
    style = pick(rng, ("legs", "legs", "legs", "trestles", "pedestal", "hairpins"))
    if style == "trestles" and wide > 1.0:
        return trestles(wide, deep, high)
    if style == "pedestal" and wide < 1.2:
        return pedestal(rng, high, wide * 0.3)
    if style == "hairpins":
        return hairpins(wide * 0.9, deep * 0.85, high)
    inset = between(rng, 0.0, 0.12)
    wide, deep = wide - inset, deep - inset
    if wide == deep:
        wide = deep = wide * 0.68
    legs = four_legs(rng, wide, deep, high, thick=between(rng, 0.03, 0.09), rails=0.2)
    if not chance(rng, 0.5):
        return legs
    y, apron = -high + 0.05, between(rng, 0.05, 0.1)
    sides = boxes(
        [[0, y, -deep / 2 + 0.02], [0, y, deep / 2 - 0.02], [-wide / 2, y, 0], [wide / 2, y, 0]],
        [[wide, apron, 0.02], [wide, apron, 0.02], [0.02, apron, deep], [0.02, apron, deep]],
    )
    return merge([legs, sides])


def _cloth(rng: np.random.Generator, wide: float, deep: float, high: float) -> Shape:
    """Make a table cloth: a thin cover with hanging edges."""
    fall = between(rng, 0.12, 0.35)
    cover = box([0, -high - 0.002, 0], [wide + 0.02, 0.003, deep + 0.02])
    edges = [cover]
    for side in (-1, 1):
        hang = drape(rng, wide + 0.03, fall, folds=wide * 5, deep=0.012)
        edges.append(hang.moved([0, -high + fall, side * (deep / 2 + 0.02)]))
        hang = drape(rng, deep + 0.03, fall, folds=deep * 5, deep=0.012)
        edges.append(hang.moved([side * (wide / 2 + 0.02), -high + fall, 0], yaw=90))
    return merge(edges)


def desk(rng: np.random.Generator) -> Piece:
    """Make a desk: board on legs or on a chest of drawers, sometimes with a shelf above."""
    wide, deep, high = between(rng, 1.0, 1.8), between(rng, 0.5, 0.8), between(rng, 0.7, 0.77)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    frame = metal(rng) if chance(rng, 0.4) else wood
    parts: Parts = [(box([0, -high + 0.015, 0], [wide, 0.03, deep]), wood)]
    parts.append((four_legs(rng, wide * 0.97, deep * 0.95, high - 0.03, thick=0.045), frame))
    if chance(rng, 0.6):
        chest, side = between(rng, 0.35, 0.45), pick(rng, (-1, 1))
        x = side * (wide / 2 - chest / 2 - 0.04)
        parts += drawers_front(rng, chest, high - 0.1, deep * 0.9, some(rng, 2, 4), wood, x)
    if chance(rng, 0.4):
        rail = boxes([[0, -high * 0.7, deep / 2 - 0.02]], [wide * 0.95, high * 0.4, 0.015])
        parts.append((rail, wood))
    if chance(rng, 0.3):
        up = between(rng, 0.25, 0.45)
        x = wide / 2 - 0.02
        posts = rods(
            [[-x, -high, 0.2], [x, -high, 0.2]],
            [[-x, -high - up, 0.2], [x, -high - up, 0.2]],
            0.012,
        )
        parts += [(posts, frame), (box([0, -high - up, 0.2], [wide, 0.02, 0.2]), wood)]
    top = Top(high, (-wide / 2 + 0.08, wide / 2 - 0.08), (-deep / 2 + 0.08, deep / 2 - 0.1), 0.8)
    return made("desk", parts, (top,))


def drawers_front(
    rng: np.random.Generator,
    width: float,
    height: float,
    depth: float,
    count: int,
    wood: Material,
    x: float = 0.0,
) -> Parts:
    """Make a chest with `count` drawers: body, fronts a little apart, and handles."""
    body = box([x, -height / 2 - 0.02, 0.01], [width, height - 0.02, depth - 0.02])
    each = (height - 0.04) / count
    y = -0.04 - each * (np.arange(count) + 0.5)
    z = np.full(count, -depth / 2)
    fronts = boxes(np.stack([x + 0 * y, y, z], -1), [width - 0.01, each - 0.012, 0.02])
    knob = [width * between(rng, 0.08, 0.6), 0.012, 0.02]
    handles = boxes(np.stack([x + 0 * y, y - each * 0.15, z - 0.02], -1), knob)
    front = wood if chance(rng, 0.75) else painted(rng)
    return [(body, wood), (fronts, front), (handles, metal(rng))]


def coffee_table(rng: np.random.Generator) -> Piece:
    """Make a low table, sometimes with a lower shelf."""
    low = table(rng, width=(0.5, 1.3), depth=(0.4, 0.75), height=(0.3, 0.5))
    wide, high, deep = low.size
    if chance(rng, 0.3):
        shelf = box([0, -high * 0.35, 0], [wide * 0.8, 0.015, deep * 0.8])
        return made("table", [*low.parts, (shelf, low.parts[0][1])], low.tops)
    return low


def bedside(rng: np.random.Generator) -> Piece:
    """Make a bedside table: a small chest, or a small table."""
    if chance(rng, 0.3):
        return table(rng, width=(0.35, 0.5), depth=(0.35, 0.45), height=(0.45, 0.6))
    width, height, depth = (
        between(rng, 0.35, 0.5),
        between(rng, 0.4, 0.65),
        between(rng, 0.32, 0.42),
    )
    wood = timber(rng)
    parts = drawers_front(rng, width, height, depth, some(rng, 1, 3), wood)
    parts.append((box([0, -height, 0], [width + 0.02, 0.02, depth + 0.02]), wood))
    x, z = width / 2 - 0.04, depth / 2 - 0.04
    return made("cabinet", parts, (Top(height + 0.01, (-x, x), (-z, z)),))
