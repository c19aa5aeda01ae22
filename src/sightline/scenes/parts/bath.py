"""Bathrooms: tubs, showers behind glass, toilets, basins with mirrors, towels."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick
from sightline.scenes.parts.finishes import (
    dark,
    fabric,
    glass,
    metal,
    timber,
    white,
)
from sightline.scenes.parts.kitchen import tap
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import cushion, drape, ring
from sightline.scenes.parts.storage import cabinet
from sightline.scenes.shapes import Shape, box, boxes, cylinder, lathe, tube


def basin_bowl(radius: float, high: float, sectors: int = 18) -> Shape:
    """Make an open bowl with a thick rim standing on the origin."""
    r = radius
    outer = [[0, 0], [r * 0.45, 0], [r * 0.85, high * 0.5], [r, high]]
    inner = [[r * 0.94, high], [r * 0.78, high * 0.5], [r * 0.35, high * 0.22], [0, high * 0.2]]
    return lathe([*outer, *inner], sectors=sectors)


def washbasin(rng: np.random.Generator) -> Piece:
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
            Top(up, (x - 0.14, x - 0.05), (-0.15, 0.15)),
            Top(up, (-x + 0.05, -x + 0.14), (-0.15, 0.15)),
        )
        return made("washbasin", parts, tops)
    parts = [(bowl.moved([0, -high + 0.15, 0], scale=stretch), ware)]
    parts.append((spout.moved([0, -high, 0.2]), metal(rng)))
    foot = lathe([[0.1, 0], [0.08, 0.3], [0.1, high - 0.12]], sectors=12)
    if chance(rng, 0.6):
        parts.append((foot, ware))
    else:
        pipe = tube([[0, -high + 0.16, 0], [0, -0.5, 0], [0, -0.45, 0.1], [0, -0.5, 0.25]], 0.02)
        parts.append((pipe, metal(rng)))
    return made("washbasin", parts)


def toilet(rng: np.random.Generator) -> Piece:
    """Make a toilet: bowl, seat, lid up or down, cistern."""
    ware, high = white(rng), between(rng, 0.38, 0.44)
    profile = [
        [0.11, 0],
        [0.1, 0.1],
        [0.14, 0.22],
        [0.19, high],
        [0.15, high],
        [0.08, 0.25],
        [0, 0.2],
    ]
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
    return made("toilet", parts, (Top(high + 0.4, (-0.12, 0.12), (0.23, 0.3)),))


def bathtub(rng: np.random.Generator) -> Piece:
    """Make a tub that is open above: boxed in, or free-standing with round ends."""
    long, wide, high = between(rng, 1.4, 1.8), between(rng, 0.68, 0.85), between(rng, 0.5, 0.62)
    ware = white(rng)
    if chance(rng, 0.35):
        tub = basin_bowl(0.5, 1.0, sectors=24).moved(scale=[long, high, wide])
        return made("bathtub", [(tub, ware), (tap(rng).moved([0, -high, 0.3]), metal(rng))])
    rim, floor = 0.07, 0.12
    x, z = long / 2, wide / 2
    y = -high / 2
    shell = boxes(
        [
            [0, y, -z + rim / 2],
            [0, y, z - rim / 2],
            [-x + rim / 2, y, 0],
            [x - rim / 2, y, 0],
            [0, -floor / 2, 0],
        ],
        [
            [long, high, rim],
            [long, high, rim],
            [rim, high, wide],
            [rim, high, wide],
            [long, floor, wide],
        ],
    )
    parts: Parts = [(shell, ware), (tap(rng).moved([x - 0.05, -high, 0], yaw=90), metal(rng))]
    if chance(rng, 0.3):
        water = box([0, -high * 0.6, 0], [long - 2 * rim, 0.01, wide - 2 * rim])
        parts.append((water, glass(rng)))
    if chance(rng, 0.35):
        curtain = drape(rng, long * between(rng, 0.3, 0.9), 1.5, folds=12, deep=0.04)
        parts.append((curtain.moved([0, -high + 0.1, -z + 0.03]), fabric(rng)))
        parts.append((rods([[-x, -2.0, -z + 0.03]], [[x, -2.0, -z + 0.03]], 0.012), metal(rng)))
    return made("bathtub", parts)


def shower(rng: np.random.Generator) -> Piece:
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
        (box([0, -0.04, 0], [wide, 0.08, deep]), white(rng)),
        (panes, glass(rng)),
        (rods(edge, edge - [0, high, 0], 0.015, sectors=4), frame),
        (pipe, frame),
        (head, frame),
    ]
    return made("shower", parts)


def towel_rail(rng: np.random.Generator) -> Piece:
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
    return made("towel", parts)


def basket(rng: np.random.Generator) -> Piece:
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
    return made("bin", parts)
