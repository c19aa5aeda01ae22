"""Shelves and what fills them: bookcases, racks, boards on walls; books, boxes, jars."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    ceramic,
    colour,
    metal,
    painted,
    printed,
    seed,
    shaded,
    timber,
    white,
)
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import spread
from sightline.scenes.shapes import box, boxes, lathe
from sightline.scenes.world import Material

Floats = NDArray[np.float64]


def bookcase(rng: np.random.Generator, *, tall: float = 2.2) -> Piece:
    """Make a bookcase with full, half full and empty boards, at most `tall` [m]."""
    width, depth = between(rng, 0.45, 1.6), between(rng, 0.2, 0.4)
    height = between(rng, 0.75, max(tall, 0.8))
    boards = max(2, round(height / between(rng, 0.26, 0.42)))
    columns = 1 if width < 0.9 else some(rng, 1, 3)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    thick = between(rng, 0.015, 0.03)
    levels = np.linspace(0.05, height, boards + 1)
    x = np.linspace(-width / 2 + thick / 2, width / 2 - thick / 2, columns + 1)
    upright = boxes(np.stack([x, np.full(len(x), -height / 2), 0 * x], -1), [thick, height, depth])
    level = boxes(
        np.stack([0 * levels, -levels + thick / 2, 0 * levels], -1), [width, thick, depth]
    )
    parts: Parts = [(upright, wood), (level, wood)]
    if chance(rng, 0.75):
        back = box([0, -height / 2, depth / 2 - 0.004], [width, height, 0.008])
        parts.append((back, wood if chance(rng, 0.6) else painted(rng)))
    cells = [
        (x[c] + thick / 2, x[c + 1] - thick / 2, levels[b], levels[b + 1] - levels[b] - thick)
        for b in range(boards)
        for c in range(columns)
    ]
    parts += filling(rng, np.array(cells), depth, back=depth / 2 - 0.01)
    inner = width / 2 - 0.08
    top = Top(height, (-inner, inner), (-depth / 2 + 0.06, depth / 2 - 0.06), 0.3)
    return made("shelf", parts, (top,))


def rack(rng: np.random.Generator) -> Piece:
    """Make an open metal rack of thin posts and boards, filled with boxes."""
    width, depth, height = between(rng, 0.6, 1.5), between(rng, 0.3, 0.5), between(rng, 1.0, 2.2)
    steel = metal(rng)
    boards = some(rng, 3, 6)
    levels = np.linspace(0.1, height - 0.02, boards)
    x, z = width / 2, depth / 2
    foot = np.array([[sx * x, 0.0, sz * z] for sx in (-1, 1) for sz in (-1, 1)])
    parts: Parts = [(rods(foot, foot - [0, height, 0], 0.013, sectors=5), steel)]
    slabs = np.stack([0 * levels, -levels, 0 * levels], -1)
    parts.append((boxes(slabs, [width, 0.02, depth]), steel if chance(rng, 0.6) else timber(rng)))
    if chance(rng, 0.5):
        cross = rods([[-x, -0.1, z], [x, -0.1, z]], [[x, -height, z], [-x, -height, z]], 0.005)
        parts.append((cross, steel))
    gap = levels[1] - levels[0] - 0.03
    cells = np.array([(-x + 0.03, x - 0.03, y + 0.01, gap) for y in levels])
    parts += filling(rng, cells, depth, back=z, boxy=0.7)
    return made("shelf", parts)


def wall_shelf(rng: np.random.Generator) -> Piece:
    """Make a board on brackets, its foot being the board's lower side; for hanging on a wall."""
    width, depth = between(rng, 0.4, 1.4), between(rng, 0.14, 0.26)
    wood = pick(rng, (timber, white))(rng)
    parts: Parts = [(box([0, -0.012, 0], [width, 0.024, depth]), wood)]
    for side in (-1, 1):
        x = side * width * 0.35
        parts.append((box([x, 0.04, depth / 2 - 0.01], [0.02, 0.1, 0.015]), metal(rng)))
    cells = np.array([(-width / 2 + 0.02, width / 2 - 0.02, 0.024, 0.3)])
    parts += filling(rng, cells, depth, back=depth / 2, boxy=0.35)
    return made("shelf", parts)


def filling(
    rng: np.random.Generator, cells: Floats, depth: float, *, back: float, boxy: float = 0.25
) -> Parts:
    """Fill the cells of a shelf with books, boxes and jars.

    Args:
        rng: draws everything.
        cells: (N, 4) of x from, x to, height of the board, free height; all in [m].
        depth: of the boards.
        back: z of the back of the shelf; things stand a little before it.
        boxy: share of cells with boxes instead of books.
    """
    books: list[Floats] = []
    cartons: list[Floats] = []
    jars: list[Floats] = []
    for left, right, foot, free in cells:
        draw = rng.random()
        if draw < 0.12:
            continue
        if draw < 0.12 + boxy:
            cartons.append(_row(rng, left, right, foot, free, depth, back, (0.1, 0.35)))
        elif draw < 0.2 + boxy:
            jars.append(_row(rng, left, right, foot, free * 0.8, depth, back, (0.06, 0.16)))
        else:
            books.append(_row(rng, left, right, foot, free, depth, back, (0.012, 0.05)))
    parts: Parts = []
    if books:
        parts += _in_colours(rng, np.concatenate(books), some(rng, 3, 7), book=True)
    if cartons:
        parts += _in_colours(rng, np.concatenate(cartons), some(rng, 2, 4), book=False)
    if jars:
        rows = np.concatenate(jars)
        jar = lathe(
            [[0, 0], [0.4, 0], [0.5, 0.3], [0.45, 0.8], [0.25, 0.88], [0.28, 1.0], [0, 1.0]],
            sectors=10,
        )
        foot = rows[:, :3] + [0, 0.5, 0] * rows[:, 3:]
        shape = spread(jar, foot, scale=np.maximum(rows[:, [3, 4, 3]], 1e-3))
        parts.append((shape, ceramic(rng)))
    return parts


def _row(
    rng: np.random.Generator,
    left: float,
    right: float,
    foot: float,
    free: float,
    depth: float,
    back: float,
    wide: tuple[float, float],
) -> Floats:
    """(N, 6) of centre (x, y, z) and size (x, y, z): things side by side on one board."""
    count = max(1, min(60, int((right - left) / ((wide[0] + wide[1]) / 2)) + 2))
    width = rng.uniform(*wide, count)
    gap = np.where(rng.random(count) < 0.12, rng.exponential(0.08, count), 0.002)
    edge = left + np.cumsum(width + gap)
    high = np.minimum(free * between(rng, 0.6, 0.9) * rng.uniform(0.75, 1.08, count), free * 0.97)
    deep = depth * rng.uniform(0.55, 0.85, count)
    front = back - depth * between(rng, 0.0, 0.12)
    rows = np.stack([edge - width / 2, -foot - high / 2, front - deep / 2, width, high, deep], -1)
    stop = right if chance(rng, 0.6) else between(rng, left, right)
    fits = edge <= stop
    fits[0] = edge[0] <= right
    return np.asarray(rows[fits])


def _in_colours(rng: np.random.Generator, rows: Floats, count: int, *, book: bool) -> Parts:
    """Paint boxes (N, 6) in `count` colours drawn at random."""
    if not len(rows):
        return []
    own = rng.integers(0, count, len(rows))
    calm = chance(rng, 0.3)
    parts: Parts = []
    for k in range(count):
        mine = rows[own == k]
        if not len(mine):
            continue
        if book:
            tint = colour(rng, saturation=(0.0, 0.3 if calm else 0.9), value=(0.15, 0.95))
            spine = Material("print", tint, shaded(tint, pick(rng, (0.3, 2.5))), 0.12, seed(rng))
            material = spine if chance(rng, 0.5) else Material("plain", tint)
        else:
            material = pick(rng, (printed, printed, painted, timber))(rng)
        shape = boxes(mine[:, :3], mine[:, 3:], yaw=0.0 if book else rng.normal(0, 3, len(mine)))
        parts.append((shape, material))
    return parts
