"""Build storage: cabinets, wardrobes, chests, bookcases, racks and what fills them; beds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.indoor.furniture import drawers_front, four_legs
from sightline.scenes.layout import Parts, Prop, SupportSurface, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    color,
    fabric,
    glass,
    metal,
    mirror_glass,
    painted,
    printed,
    seed,
    shaded,
    timber,
    upholstery,
    white,
)
from sightline.scenes.mesh_arrays import cushion, lump, repeat_shape, rods
from sightline.scenes.meshes import box, boxes, lathe
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material


def fronts(
    rng: Random,
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
        rng: random generator.
        width: width of the whole, centered on x = 0.
        height: height of the whole.
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


@prop_maker(0xDC8D7958)
def cabinet(
    rng: Random,
    *,
    width: tuple[float, float] = (0.5, 1.8),
    height: tuple[float, float] = (0.6, 1.4),
    depth: tuple[float, float] = (0.32, 0.5),
    kind: str = "cabinet",
) -> Prop:
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
    return make_prop(kind, parts, (SupportSurface(high + 0.02, (-x, x), (-z, z), 0.7),))


@prop_maker(0x82C10F38)
def wardrobe(rng: Random) -> Prop:
    """Make a wardrobe, sometimes with a mirror on a door."""
    prop = cabinet(rng, width=(0.8, 2.2), height=(1.7, 2.25), depth=(0.45, 0.65), kind="wardrobe")
    if chance(rng, 0.25):
        wide, high, deep = prop.size
        mirror = box(
            [wide * 0.22, -high * 0.52, -deep / 2 - 0.005], [wide * 0.3, high * 0.75, 0.01]
        )
        return make_prop("wardrobe", [*prop.parts, (mirror, mirror_glass(rng))], prop.tops)
    return prop


@prop_maker(0xFAD27F1B)
def chest(rng: Random) -> Prop:
    """Make a chest of drawers."""
    wide, high, deep = between(rng, 0.5, 1.3), between(rng, 0.6, 1.2), between(rng, 0.35, 0.5)
    wood = pick(rng, (timber, timber, white, painted))(rng)
    parts = drawers_front(rng, wide, high, deep, randint(rng, 3, 6), wood)
    parts.append((box([0, -high, 0], [wide + 0.02, 0.02, deep + 0.02]), wood))
    x, z = wide / 2 - 0.06, deep / 2 - 0.06
    return make_prop("cabinet", parts, (SupportSurface(high + 0.01, (-x, x), (-z, z), 0.7),))


@prop_maker(0xE98CE59F)
def bed(rng: Random) -> Prop:
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
    for row in range(randint(rng, 1, 2)):
        for k in range(count):
            x = (k - (count - 1) / 2) * wide / count + between(rng, -0.05, 0.05)
            pad = cushion([0, -0.09, 0], [min(0.7, wide / count * 0.85), 0.16, 0.45], hard=4)
            at = [x, -lying - 0.1 * row, long / 2 - 0.3 - 0.1 * row]
            pitch = between(rng, 0, 25) + 20 * row
            parts.append((pad.moved(at, yaw=between(rng, -12, 12), pitch=pitch), pillows))
    half = wide / 2 - 0.1
    top = SupportSurface(lying + 0.05, (-half, half), (-long / 2 + 0.2, long / 2 - 0.8), 0.5)
    return make_prop("bed", parts, (top,))


def _headboard(rng: Random, wide: float, long: float, lying: float, wood: Material) -> Parts:
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
    count = randint(rng, 5, 14)
    x = np.linspace(-wide / 2, wide / 2, count)
    foot = np.stack([x, np.full(count, -0.2), np.full(count, z)], -1)
    head = foot * [1, 0, 1] - [0, high, 0]
    rail = box([0, -high, z], [wide + 0.04, 0.035, 0.035])
    ends = rods(foot, head, 0.011, sectors=5)
    foot_end = rods(foot * [1, 1, -1], foot * [1, 0, -1] - [0, lying + 0.15, 0], 0.011, sectors=5)
    return [(rail, wood), (ends, wood)] + ([(foot_end, wood)] if chance(rng, 0.5) else [])


Floats = NDArray[np.float64]


@prop_maker(0xFD42F919)
def bookcase(rng: Random, *, tall: float = 2.2) -> Prop:
    """Make a bookcase with full, half full and empty boards, at most `tall` [m]."""
    width, depth = between(rng, 0.45, 1.6), between(rng, 0.2, 0.4)
    height = between(rng, 0.75, max(tall, 0.8))
    boards = max(2, round(height / between(rng, 0.26, 0.42)))
    columns = 1 if width < 0.9 else randint(rng, 1, 3)
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
    top = SupportSurface(height, (-inner, inner), (-depth / 2 + 0.06, depth / 2 - 0.06), 0.3)
    return make_prop("shelf", parts, (top,))


@prop_maker(0x93C8AB52)
def rack(rng: Random) -> Prop:
    """Make an open metal rack of thin posts and boards, filled with boxes."""
    width, depth, height = between(rng, 0.6, 1.5), between(rng, 0.3, 0.5), between(rng, 1.0, 2.2)
    steel = metal(rng)
    boards = randint(rng, 3, 6)
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
    return make_prop("shelf", parts)


@prop_maker(0xDFCC9722)
def wall_shelf(rng: Random) -> Prop:
    """Make a board on brackets, its foot being the board's lower side; for hanging on a wall."""
    width, depth = between(rng, 0.4, 1.4), between(rng, 0.14, 0.26)
    wood = pick(rng, (timber, white))(rng)
    parts: Parts = [(box([0, -0.012, 0], [width, 0.024, depth]), wood)]
    for side in (-1, 1):
        x = side * width * 0.35
        parts.append((box([x, 0.04, depth / 2 - 0.01], [0.02, 0.1, 0.015]), metal(rng)))
    cells = np.array([(-width / 2 + 0.02, width / 2 - 0.02, 0.024, 0.3)])
    parts += filling(rng, cells, depth, back=depth / 2, boxy=0.35)
    return make_prop("shelf", parts)


def filling(rng: Random, cells: Floats, depth: float, *, back: float, boxy: float = 0.25) -> Parts:
    """Fill the cells of a shelf with books, boxes and jars.

    Args:
        rng: random generator.
        cells: (N, 4) of x from, x to, height of the board, free height; all in [m].
        depth: depth of the boards.
        back: z of the back of the shelf; items stand a little before it.
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
        parts += _in_colors(rng, np.concatenate(books), randint(rng, 3, 7), book=True)
    if cartons:
        parts += _in_colors(rng, np.concatenate(cartons), randint(rng, 2, 4), book=False)
    if jars:
        rows = np.concatenate(jars)
        jar = lathe(
            [[0, 0], [0.4, 0], [0.5, 0.3], [0.45, 0.8], [0.25, 0.88], [0.28, 1.0], [0, 1.0]],
            sectors=10,
        )
        foot = rows[:, :3] + [0, 0.5, 0] * rows[:, 3:]
        shape = repeat_shape(jar, foot, scale=np.maximum(rows[:, [3, 4, 3]], 1e-3))
        parts.append((shape, ceramic(rng)))
    return parts


def _row(
    rng: Random,
    left: float,
    right: float,
    foot: float,
    free: float,
    depth: float,
    back: float,
    wide: tuple[float, float],
) -> Floats:
    """Return (N, 6) center and size of items side by side on one board."""
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


def _in_colors(rng: Random, rows: Floats, count: int, *, book: bool) -> Parts:
    """Paint boxes (N, 6) in `count` colors drawn at random."""
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
            tint = color(rng, saturation=(0.0, 0.3 if calm else 0.9), value=(0.15, 0.95))
            spine = Material("print", tint, shaded(tint, pick(rng, (0.3, 2.5))), 0.12, seed(rng))
            material = spine if chance(rng, 0.5) else Material("plain", tint)
        else:
            material = pick(rng, (printed, printed, painted, timber))(rng)
        shape = boxes(mine[:, :3], mine[:, 3:], yaw=0.0 if book else rng.normal(0, 3, len(mine)))
        parts.append((shape, material))
    return parts
