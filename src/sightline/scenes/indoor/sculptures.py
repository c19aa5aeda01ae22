"""Build statues and abstract objects: machines of boxes and pipes, towers and tangles of solids."""

from __future__ import annotations

import numpy as np

from sightline.scenes.layout import Parts, Prop, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    dark,
    fabric,
    glass,
    metal,
    painted,
    plastic,
    printed,
    stone,
    timber,
)
from sightline.scenes.mesh_arrays import cushion, lump, repeat_shape, ring, rods
from sightline.scenes.meshes import (
    TriangleMesh,
    box,
    boxes,
    cylinder,
    extrude,
    lathe,
    merge,
    sphere,
    tube,
)
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material


@prop_maker(0xEB5681A7)
def statue(rng: Random) -> Prop:
    """Make a figure on a plinth, standing with its arms somehow: stone or bronze."""
    stuff = stone(rng) if chance(rng, 0.7) else metal(rng)
    plinth, h = between(rng, 0.2, 1.2), between(rng, 0.6, 2.0)
    wide = h * 0.3
    lean = between(rng, -0.05, 0.05) * h
    hip, neck = -0.5 * h, -0.82 * h
    shapes = [
        tube(
            [
                [0, hip - 0.02 * h, 0], [0, -0.66 * h, 0], [lean, neck, 0],
                [lean, neck - 0.04 * h, 0],
            ],
            np.array([0.1, 0.085, 0.12, 0.04]) * h,
            sectors=12,
        ),
        sphere([lean, -0.92 * h, 0], [0.06 * h, 0.08 * h, 0.07 * h], sectors=12),
    ]  # fmt: skip
    for side in (-1, 1):
        step = between(rng, -0.12, 0.12) * h
        path = [
            [side * 0.055 * h, hip, 0],
            [side * 0.07 * h, -0.27 * h, step * 0.8 - 0.02 * h],
            [side * 0.075 * h, 0, step],
        ]
        shapes.append(tube(path, np.array([0.075, 0.05, 0.035]) * h, sectors=8))
        raised = between(rng, -1.0, 1.0)
        elbow = [
            side * between(rng, 0.14, 0.26) * h + lean,
            (-0.62 - 0.14 * raised) * h,
            between(rng, -0.1, 0.05) * h,
        ]
        hand = [
            elbow[0] + between(rng, -0.1, 0.12) * side * h,
            elbow[1] + between(rng, -0.18, 0.14) * h,
            elbow[2] - between(rng, 0, 0.15) * h,
        ]
        shapes.append(
            tube(
                [[side * 0.11 * h + lean, -0.78 * h, 0], elbow, hand],
                np.array([0.042, 0.034, 0.025]) * h,
                sectors=7,
            )
        )
    if chance(rng, 0.5):
        gown = lathe([[0.17 * h, 0.0], [0.14 * h, 0.3 * h], [0.09 * h, 0.55 * h]], sectors=14)
        shapes.append(gown)
    parts: Parts = [(merge(shapes).moved([0, -plinth, 0], yaw=between(rng, -20, 20)), stuff)]
    block = box([0, -plinth / 2, 0], [wide * 1.6, plinth, wide * 1.6])
    slab = box([0, -0.04, 0], [wide * 2.0, 0.08, wide * 2.0])
    parts.append((merge([block, slab]), stuff if chance(rng, 0.5) else stone(rng)))
    return make_prop("statue", parts)


def anything(rng: Random) -> Material:
    """Draw any opaque finish, rarely glass."""
    makers = (painted, plastic, timber, metal, stone, ceramic, fabric, printed, painted, plastic)
    return glass(rng) if chance(rng, 0.04) else pick(rng, makers)(rng)


def solid(rng: Random, size: float) -> TriangleMesh:
    """Make a simple body of about `size` [m] around the origin: box, ball, cone, ring, prism, rod."""
    kind = pick(
        rng,
        ("box", "ball", "cylinder", "cone", "ring", "prism", "cushion", "rod", "lump", "turned"),
    )
    s = size * rng.uniform(0.35, 1.0, 3)
    if kind == "box":
        return boxes([[0, 0, 0]], s)
    if kind == "ball":
        return sphere([0, 0, 0], s / 2, sectors=16)
    if kind in ("cylinder", "cone"):
        top = None if kind == "cylinder" else float(s[0] / 2 * rng.uniform(0, 0.7))
        return cylinder(
            [0, s[1] / 2, 0], float(s[0] / 2), float(s[1]), top=top, sectors=pick(rng, (6, 8, 18))
        )
    if kind == "ring":
        return ring([0, 0, 0], float(s[0] / 2), float(s[0] * rng.uniform(0.03, 0.16)))
    if kind == "prism":
        turn = np.linspace(0, 2 * np.pi, randint(rng, 3, 7) + 1)[:-1]
        return extrude(
            np.stack([s[0] / 2 * np.cos(turn), s[1] / 2 * np.sin(turn)], -1), float(s[2])
        )
    if kind == "cushion":
        return cushion([0, 0, 0], s, hard=pick(rng, (3, 4, 8)))
    if kind == "rod":
        return tube(
            [[0, -size / 2, 0], [0, size / 2, 0]], size * between(rng, 0.01, 0.05), sectors=7
        )
    if kind == "lump":
        return lump(rng, s, rough=between(rng, 0.1, 0.5)).moved([0, s[1] * 0.4, 0])
    heights = np.linspace(0, float(s[1]), 6)
    radii = float(s[0]) * rng.uniform(0.15, 0.5, 6)
    line = [[0, 0], *np.stack([radii, heights], -1).tolist(), [0, heights[-1] + 1e-3]]
    return lathe(line, sectors=16).moved([0, s[1] / 2, 0])


@prop_maker(0x02749A14)
def tangle(rng: Random) -> Prop:
    """Make a composition of simple bodies stacked and leaning every way, with thin rods and rings."""
    size = float(np.exp(between(rng, np.log(0.2), np.log(2.0))))
    count = randint(rng, 3, 14)
    parts: Parts = []
    for _ in range(count):
        part = size * between(rng, 0.15, 0.6)
        at = rng.normal(0, size * 0.28, 3) * [1, 0.2, 1]
        at[1] = -part / 2 - size * float(rng.random() ** 4)
        yaw, pitch, roll = rng.uniform(0, 360, 3)
        shape = solid(rng, part).moved(at, yaw=yaw, pitch=pitch, roll=roll)
        parts.append((shape, anything(rng)))
    if chance(rng, 0.6):
        n = randint(rng, 2, 12)
        ends = rng.normal(0, size * 0.4, (2, n, 3))
        ends[..., 1] = -np.abs(ends[..., 1]) - 0.02
        parts.append(
            (rods(ends[0], ends[1], size * between(rng, 0.004, 0.02), sectors=6), metal(rng))
        )
    return make_prop("sculpture", _above_ground(parts))


def _above_ground(parts: Parts) -> Parts:
    """Shift parts so that the lowest point is at y = 0."""
    low = max(float(shape.vertices[:, 1].max()) for shape, _ in parts)
    return [(shape.moved([0.0, -low, 0.0]), material) for shape, material in parts]


@prop_maker(0x2D72DEAD)
def tower(rng: Random) -> Prop:
    """Make a stack of bodies, each on top of the one before."""
    size = float(np.exp(between(rng, np.log(0.1), np.log(0.8))))
    parts: Parts = []
    height = 0.0
    for _ in range(randint(rng, 2, 7)):
        shape = solid(rng, size * between(rng, 0.5, 1.0)).moved(yaw=between(rng, 0, 360))
        low, high = float(shape.vertices[:, 1].max()), float(shape.vertices[:, 1].min())
        shift = rng.normal(0, size * 0.05, 2)
        parts.append((shape.moved([shift[0], -height - low, shift[1]]), anything(rng)))
        height += (low - high) * 0.98
    return make_prop("sculpture", parts)


@prop_maker(0x4288CC67)
def machine(rng: Random) -> Prop:
    """Make a machine: housings, drums, pipes that bend at right angles, knobs, wheels or feet."""
    size = float(np.exp(between(rng, np.log(0.25), np.log(1.8))))
    coat, steel = painted(rng), metal(rng)
    count = randint(rng, 2, 5)
    centers = rng.uniform([-0.5, -0.9, -0.4], [0.5, -0.35, 0.4], (count, 3)) * size
    sizes = rng.uniform(0.25, 0.7, (count, 3)) * size
    sizes[:, 1] = np.minimum(sizes[:, 1], -2 * centers[:, 1] - 0.1 * size)
    sizes = np.maximum(sizes, 0.05 * size)
    base = boxes([[0, -0.28 * size, 0]], [0.95 * size, 0.1 * size, 0.7 * size])
    parts: Parts = [(boxes(centers, sizes), coat), (base, dark(rng))]
    for _ in range(randint(rng, 1, 3)):
        drum = cylinder(
            [0, 0, 0], size * between(rng, 0.08, 0.25), size * between(rng, 0.2, 0.7), sectors=16
        )
        at = rng.uniform([-0.5, -0.7, -0.4], [0.5, -0.3, 0.4]) * size
        parts.append(
            (
                drum.moved(at, pitch=pick(rng, (0.0, 90.0)), yaw=pick(rng, (0.0, 90.0))),
                pick(rng, (coat, steel, dark(rng))),
            )
        )
    for _ in range(randint(rng, 1, 5)):
        parts.append((_pipe(rng, size), steel if chance(rng, 0.6) else painted(rng)))
    count = randint(rng, 2, 10)
    face = rng.uniform(-0.45, 0.45, (count, 3)) * sizes[0] + centers[0]
    face[:, 2] = centers[0, 2] - sizes[0, 2] / 2
    parts.append((repeat_shape(sphere([0, 0, 0], 0.03 * size, sectors=7), face), plastic(rng)))
    if chance(rng, 0.5):
        wheel = ring([0, 0, 0], 0.13 * size, 0.04 * size, sectors=16, sides=6).moved(
            pitch=90, yaw=90
        )
        axles = [
            [sx * 0.42 * size, -0.15 * size, sz * 0.3 * size] for sx in (-1, 1) for sz in (-1, 1)
        ]
        parts.append((repeat_shape(wheel, axles), dark(rng)))
    feet = np.array([[sx * 0.35 * size, 0.0, sz * 0.25 * size] for sx in (-1, 1) for sz in (-1, 1)])
    parts.append((rods(feet, feet - [0, 0.3 * size, 0], 0.02 * size, sectors=5), steel))
    return make_prop("machine", parts)


def _pipe(rng: Random, size: float) -> TriangleMesh:
    """Make a pipe of three to six straight runs along the axes."""
    at = rng.uniform([-0.5, -0.9, -0.4], [0.5, -0.3, 0.4]) * size
    path = [at]
    for k in range(randint(rng, 2, 5)):
        step = np.zeros(3)
        step[(k + randint(rng, 0, 1)) % 3] = rng.uniform(-0.6, 0.6) * size
        after = path[-1] + step
        after[1] = min(after[1], -0.05 * size)
        if np.abs(after - path[-1]).max() > 0.02 * size:
            path.append(after)
    if len(path) == 1:
        path.append(at - [0, 0.3 * size, 0])
    radius = size * between(rng, 0.01, 0.035)
    # Straight runs joined by balls: a bent tube would be flat at its corners.
    joints = repeat_shape(sphere([0, 0, 0], radius * 1.2, sectors=7), np.array(path))
    runs = rods(np.array(path[:-1]), np.array(path[1:]), radius, sectors=7)
    return merge([runs, joints])


@prop_maker(0x8A13EEE3)
def stacked_boxes(rng: Random) -> Prop:
    """Make a heap of parcels and crates."""
    count, size = randint(rng, 2, 9), between(rng, 0.15, 0.6)
    parts: Parts = []
    level = np.zeros(3)
    for _ in range(count):
        column = randint(rng, 0, 2)
        s = size * rng.uniform(0.5, 1.0, 3)
        at = [
            (column - 1) * size + between(rng, -0.05, 0.05),
            -level[column] - s[1] / 2,
            between(rng, -0.1, 0.1),
        ]
        material = timber(rng) if chance(rng, 0.4) else printed(rng, float(s[0]))
        parts.append((boxes([at], s, yaw=between(rng, -20, 20)), material))
        level[column] += s[1]
    return make_prop("box", parts)
