"""Closed furniture: cupboards, wardrobes, sideboards, chests of drawers; and beds."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    fabric,
    glass,
    looking_glass,
    metal,
    painted,
    timber,
    upholstery,
    white,
)
from sightline.scenes.parts.legs import four_legs
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import cushion, lump
from sightline.scenes.parts.tables import drawers_front
from sightline.scenes.shapes import box, boxes
from sightline.scenes.world import Material


def fronts(
    rng: np.random.Generator,
    width: float,
    height: float,
    foot: float,
    front: float,
    columns: int,
    rows: int,
    door: Material,
    handle: Material,
) -> Parts:
    """Make a grid of doors or drawers with handles.

    Args:
        rng: draws the handles.
        width: of the whole, centred on x = 0.
        height: of the whole.
        foot: height of its lower edge.
        front: z of the front.
        columns: doors side by side.
        rows: doors above each other.
        door: their material.
        handle: material of the handles.
    """
    wide, high = width / columns, height / rows
    x = (np.arange(columns) - (columns - 1) / 2) * wide
    y = -(foot + (np.arange(rows) + 0.5) * high)
    gx, gy = (g.reshape(-1) for g in np.meshgrid(x, y))
    z = np.full(len(gx), front)
    panels = boxes(np.stack([gx, gy, z], -1), [wide - 0.008, high - 0.008, 0.02])
    if wide > high:
        bar, shift = [min(0.3, wide * between(rng, 0.15, 0.7)), 0.012, 0.02], (0.0, -high * 0.3)
    else:
        bar, shift = [0.012, min(0.5, high * between(rng, 0.08, 0.4)), 0.02], (wide * 0.38, 0.0)
    side = np.where(np.arange(len(gx)) % 2 == 0, 1.0, -1.0)
    places = np.stack([gx + side * shift[0], gy + shift[1], z - 0.024], -1)
    return [(panels, door), (boxes(places, bar), handle)]


def cabinet(
    rng: np.random.Generator,
    *,
    width: tuple[float, float] = (0.5, 1.8),
    height: tuple[float, float] = (0.6, 1.4),
    depth: tuple[float, float] = (0.32, 0.5),
    kind: str = "cabinet",
) -> Piece:
    """Make a cupboard, sideboard or chest with doors or drawers, of a size from these ranges in [m]."""
    wide, high, deep = between(rng, *width), between(rng, *height), between(rng, *depth)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    leg = between(rng, 0.02, 0.16)
    body = box([0, -(high + leg) / 2, 0.01], [wide, high - leg, deep - 0.02])
    parts: Parts = [
        (body, wood),
        (four_legs(rng, wide * 0.95, deep * 0.9, leg, thick=0.04, rails=0.0), wood),
    ]
    columns = max(1, round(wide / between(rng, 0.35, 0.6)))
    rows = max(1, round(high / between(rng, 0.25, 1.6)))
    door = wood if chance(rng, 0.65) else pick(rng, (painted, white, glass, timber))(rng)
    parts += fronts(
        rng, wide - 0.02, high - leg - 0.02, leg + 0.01, -deep / 2, columns, rows, door, metal(rng)
    )
    parts.append((box([0, -high - 0.01, 0], [wide + 0.02, 0.02, deep + 0.02]), wood))
    x, z = wide / 2 - 0.08, deep / 2 - 0.08
    return made(kind, parts, (Top(high + 0.02, (-x, x), (-z, z), 0.7),))


def wardrobe(rng: np.random.Generator) -> Piece:
    """Make a wardrobe, sometimes with a mirror on a door."""
    piece = cabinet(rng, width=(0.8, 2.2), height=(1.7, 2.25), depth=(0.45, 0.65), kind="wardrobe")
    if chance(rng, 0.25):
        wide, high, deep = piece.size
        mirror = box(
            [wide * 0.22, -high * 0.52, -deep / 2 - 0.005], [wide * 0.3, high * 0.75, 0.01]
        )
        return made("wardrobe", [*piece.parts, (mirror, looking_glass(rng))], piece.tops)
    return piece


def chest(rng: np.random.Generator) -> Piece:
    """Make a chest of drawers."""
    wide, high, deep = between(rng, 0.5, 1.3), between(rng, 0.6, 1.2), between(rng, 0.35, 0.5)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    parts = drawers_front(rng, wide, high, deep, some(rng, 3, 6), wood)
    parts.append((box([0, -high, 0], [wide + 0.02, 0.02, deep + 0.02]), wood))
    x, z = wide / 2 - 0.06, deep / 2 - 0.06
    return made("cabinet", parts, (Top(high + 0.01, (-x, x), (-z, z), 0.7),))


def bed(rng: np.random.Generator) -> Piece:
    """Make a bed with headboard (at +z), mattress, blanket and pillows, made or unmade."""
    wide, long = pick(rng, (0.9, 1.0, 1.4, 1.6, 1.8)), between(rng, 1.9, 2.15)
    base, thick = between(rng, 0.18, 0.35), between(rng, 0.14, 0.28)
    wood = pick(rng, (timber, timber, painted, upholstery, metal))(rng)
    lying = base + thick
    parts: Parts = [
        (four_legs(rng, wide, long, base, thick=0.06, rails=0.0), wood),
        (box([0, -base + 0.05, 0], [wide + 0.04, 0.12, long]), wood),
        (cushion([0, -base - thick / 2, 0], [wide, thick, long * 0.985], hard=8), white(rng)),
    ]
    parts += _headboard(rng, wide, long, lying, wood)
    cover, share = fabric(rng), between(rng, 0.45, 0.8)
    z = -long / 2 + long * share / 2 - 0.02
    blanket = cushion([0, -lying + 0.06, z], [wide + 0.1, 0.24, long * share], hard=8)
    parts.append((blanket, cover))
    if chance(rng, 0.5):
        fold = cushion([0, -lying - 0.07, z + long * share / 2], [wide + 0.06, 0.1, 0.35], hard=4)
        parts.append((fold, cover if chance(rng, 0.6) else fabric(rng)))
    if chance(rng, 0.35):
        heap = lump(rng, [wide * between(rng, 0.4, 0.8), 0.4, between(rng, 0.5, 1.0)], rough=0.35)
        parts.append((heap.moved([between(rng, -0.2, 0.2), -lying, -long * 0.2]), fabric(rng)))
    pillows = fabric(rng) if chance(rng, 0.5) else white(rng)
    count = 1 if wide < 1.2 else 2
    for row in range(some(rng, 1, 2)):
        for k in range(count):
            x = (k - (count - 1) / 2) * wide / count + between(rng, -0.05, 0.05)
            pad = cushion([0, -0.09, 0], [min(0.7, wide / count * 0.85), 0.16, 0.45], hard=4)
            at = [x, -lying - 0.1 * row, long / 2 - 0.3 - 0.1 * row]
            pitch = between(rng, 0, 25) + 20 * row
            parts.append((pad.moved(at, yaw=between(rng, -12, 12), pitch=pitch), pillows))
    half = wide / 2 - 0.1
    top = Top(lying + 0.05, (-half, half), (-long / 2 + 0.2, long / 2 - 0.8), 0.5)
    return made("bed", parts, (top,))


def _headboard(
    rng: np.random.Generator, wide: float, long: float, lying: float, wood: Material
) -> Parts:
    """Make a headboard: a panel, a pad, or bars between posts; sometimes a footboard too."""
    high = lying + between(rng, 0.25, 0.7)
    z = long / 2 + 0.02
    style = pick(rng, ("panel", "pad", "bars", "none"))
    if style == "none":
        return []
    if style == "panel":
        return [(box([0, -high / 2, z], [wide + 0.06, high, 0.04]), wood)]
    if style == "pad":
        pad = cushion([0, -high / 2 - 0.1, z], [wide + 0.1, high - 0.2, 0.12], hard=8)
        return [(pad, upholstery(rng))]
    count = some(rng, 5, 14)
    x = np.linspace(-wide / 2, wide / 2, count)
    foot = np.stack([x, np.full(count, -0.2), np.full(count, z)], -1)
    head = foot * [1, 0, 1] - [0, high, 0]
    rail = box([0, -high, z], [wide + 0.04, 0.035, 0.035])
    ends = rods(foot, head, 0.011, sectors=5)
    foot_end = rods(foot * [1, 1, -1], foot * [1, 0, -1] - [0, lying + 0.15, 0], 0.011, sectors=5)
    return [(rail, wood), (ends, wood)] + ([(foot_end, wood)] if chance(rng, 0.5) else [])
