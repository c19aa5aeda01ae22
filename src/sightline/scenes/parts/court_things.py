"""What belongs to squares, yards and alleys: fountains, stalls, sheds, washing lines, pipes, paving."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.buildings import VARIANTS, add_building, building, finishes
from sightline.scenes.parts.enclosures import wire
from sightline.scenes.parts.many import Floats, boxes, cards, rods
from sightline.scenes.parts.rocks import rock
from sightline.scenes.parts.site import Site
from sightline.scenes.shapes import lathe, merge, sphere
from sightline.scenes.world import Material, Pattern


def paving(rng: np.random.Generator) -> Material:
    """Choose a hard ground: slabs, setts, brick, concrete, asphalt."""
    grey = float(rng.uniform(0.15, 0.5))
    r, g, b = (float(grey * c) for c in rng.uniform([0.95, 0.9, 0.8], [1.1, 1.0, 1.0]))
    patterns: tuple[Pattern, ...] = ("tiles", "tiles", "brick", "noise", "asphalt", "checker")
    pattern = patterns[rng.integers(6)]
    scale = float(rng.uniform(0.12, 1.0)) if pattern != "noise" else 2.0
    wet = 0.3 * float(rng.random() < 0.1)
    return Material(
        pattern, (r, g, b), (r * 0.7, g * 0.7, b * 0.7), scale, int(rng.integers(1 << 16)),
        gloss=2 * wet, mirror=wet,
    )  # fmt: skip


def ring_of_houses(site: Site, half: float) -> None:
    """Close a square of half width `half` [m] with rows of houses, leaving the corners open."""
    rng = site.rng
    sorts = [("terrace", "block"), ("terrace",), ("block", "office"), ("house", "terrace")]
    choice = sorts[rng.integers(len(sorts))]
    alike = finishes(rng, dark=site.weather.dark) if rng.random() < 0.2 else None
    for turn in range(4):
        cos, sin = (1, 0, -1, 0)[turn], (0, 1, 0, -1)[turn]
        s = -half + float(rng.uniform(0, 4))
        while s < half - 4:
            sort, variant = choice[rng.integers(len(choice))], int(rng.integers(VARIANTS))
            _, width, _, _ = building(sort, variant, 2)
            middle = s + width / 2
            s += width + float(rng.choice([0.0, 0.0, 3.0]))
            # The row at z = half looks towards −z; the others are that row turned about the middle.
            x, z = middle * cos + half * sin, half * cos - middle * sin
            if site.sees(x, z, width / 2 + 4):
                detail = site.grade(x * 0.8, z * 0.8, "building")
                add_building(
                    site.builder, rng, (x, 0.0, z), 90.0 * turn, sort=sort, variant=variant,
                    detail=detail, dark=site.weather.dark, paints=alike,
                )  # fmt: skip


def add_monument(site: Site) -> None:
    """Put a fountain or a monument in the middle of a square."""
    rng, builder = site.rng, site.builder
    stone = Material("noise", (0.52, 0.5, 0.45), (0.38, 0.36, 0.33), 0.8, int(rng.integers(999)))
    wide = float(rng.uniform(1.2, 2.1))
    if rng.random() < 0.5:
        with builder.thing("fountain"):
            rim = [[wide, 0], [wide, 0.55], [wide - 0.2, 0.55], [wide - 0.2, 0.3]]
            builder.add(lathe(rim, sectors=24), stone)
            pool = lathe([[wide - 0.2, 0.42], [0, 0.42]], sectors=24)
            builder.add(
                pool, Material("water", (0.1, 0.2, 0.25), (0.3, 0.4, 0.45), 0.4, mirror=0.6)
            )
            bowl = [
                [0.12, 0.3],
                [0.16, 1.2],
                [0.7, 1.5],
                [0.65, 1.55],
                [0.1, 1.35],
                [0.08, 1.9],
                [0, 2],
            ]
            builder.add(lathe(bowl, sectors=16), stone)
        return
    with builder.thing("monument"):
        steps = boxes(
            [[0, -0.15, 0], [0, -0.45, 0], [0, -1.3, 0]],
            [[3.2, 0.3, 3.2], [2.4, 0.3, 2.4], [1.2, 1.4, 1.2]],
        )
        builder.add(steps, stone)
        bronze = builder.paint(
            Material("noise", (0.12, 0.16, 0.12), (0.08, 0.07, 0.05), 0.3, gloss=0.4)
        )
        if rng.random() < 0.4:
            column = [[0.4, 2], [0.3, 2.2], [0.25, 5], [0.4, 5.2], [0.4, 5.3], [0, 5.3]]
            builder.add(lathe(column, sectors=14), stone)
        else:
            lean = float(rng.uniform(-0.2, 0.2))
            limbs = rods(
                [[-0.12, -2, 0], [0.12, -2, 0], [-0.25, -3.3, 0], [0.25, -3.3, 0]],
                [[-0.1, -2.9, 0], [0.1, -2.9, 0], [-0.5, -2.7, 0.2], [0.6, -3.5 + lean, 0.3]],
                0.1, 0.08, sectors=8,
            )  # fmt: skip
            body = [
                sphere([0, -3.15, 0], [0.3, 0.42, 0.2], sectors=12),
                sphere([0, -3.75, 0], 0.16, sectors=12),
            ]
            builder.add(merge([limbs, *body]), bronze)


def add_stall(site: Site, at: Floats, yaw: float) -> None:
    """Put a market stall: four posts, a cloth roof, a table with heaps on it."""
    rng, builder = site.rng, site.builder
    r, g, b = (float(c) for c in rng.uniform(0.1, 0.8, 3))
    cloth = Material("stripes", (r, g, b), (0.75, 0.73, 0.7), 0.5, int(rng.integers(999)))
    feet = np.array([[-1.2, 0, -0.8], [1.2, 0, -0.8], [1.2, 0, 0.8], [-1.2, 0, 0.8]])
    with builder.thing("stall"):
        posts = rods(feet, feet - [0, 2.1, 0], 0.03, sectors=5)
        builder.add(posts.moved(at, yaw=yaw), Material(tint=(0.4, 0.4, 0.4)))
        slopes = cards(
            [[-1.4, -2.05, -1.1], [-1.4, -2.05, 1.1]],
            [[2.8, 0, 0]],
            [[0, -0.55, 1.1], [0, -0.55, -1.1]],
        )
        builder.add(slopes.moved(at, yaw=yaw), cloth)
        desk = boxes([[0, -0.42, -0.3]], [2.3, 0.84, 0.9])
        builder.add(
            desk.moved(at, yaw=yaw), Material("planks", (0.4, 0.28, 0.16), (0.25, 0.17, 0.1), 0.15)
        )
        for k in range(5):
            heap = rock(int(rng.integers(10)), 1).moved(
                [k * 0.45 - 0.9, -0.86, -0.3], scale=(0.19, 0.16, 0.3)
            )
            red, green, blue = (float(c) for c in rng.uniform(0.05, 0.7, 3))
            paint = Material(
                "noise", (red, green, blue), (red * 0.5, green * 0.5, blue * 0.5), 0.06
            )
            builder.add(heap.moved(at, yaw=yaw), paint)


def add_shed(site: Site, half: float) -> None:
    """Put a hut with a sloping roof into a far corner of a yard."""
    rng = site.rng
    wide, deep, high = rng.uniform([1.6, 1.5, 1.8], [3.0, 2.5, 2.4])
    side = float(rng.choice([-1, 1]))
    x, z = side * (half - wide / 2 - 0.3), half - deep / 2 - 0.3
    if not site.claim(x, z, max(wide, deep) * 0.6):
        return
    wood = Material("planks", (0.33, 0.22, 0.13), (0.2, 0.13, 0.08), 0.14, int(rng.integers(999)))
    with site.builder.thing("shed"):
        site.builder.add(boxes([[x, -high / 2, z]], [wide, high, deep]), wood)
        roof = cards(
            [[x - wide * 0.6, -high, z - deep * 0.62]],
            [[wide * 1.2, 0, 0]],
            [[0, -0.35, deep * 1.25]],
        )
        site.builder.add(roof, Material("stripes", (0.25, 0.25, 0.25), (0.18, 0.18, 0.18), 0.2))
        door = boxes([[x, -0.95, z - deep / 2]], [0.8, 1.9, 0.06])
        site.builder.add(door, Material("planks", (0.2, 0.3, 0.25), (0.1, 0.15, 0.12), 0.12))


def add_washing(site: Site, half: float) -> None:
    """Put up a washing line between two posts."""
    rng = site.rng
    z = float(rng.uniform(0, half * 0.7))
    a, b = (np.array([s * half * 0.7, -1.8, z + s]) for s in (-1.0, 1.0))
    posts = np.stack([a, b])
    with site.builder.thing("pole"):
        site.builder.add(
            rods(posts * [1, 0, 1], posts, 0.04, sectors=6), Material(tint=(0.4, 0.4, 0.4))
        )
    add_line(site, a, b)


def add_line(site: Site, start: Floats, end: Floats) -> None:
    """Put a line with or without washing between two points (3,)."""
    rng = site.rng
    sag = float(rng.uniform(0.02, 0.2))
    with site.builder.thing("wire"):
        site.builder.add(wire(start, end, sag, 0.006), Material(tint=(0.1, 0.1, 0.1)))
    if rng.random() < 0.35:
        return
    count = int(rng.integers(2, 8))
    share = np.sort(rng.uniform(0.08, 0.85, count))[:, None]
    top = start + (end - start) * share + [0, 1, 0] * (4 * sag * share * (1 - share))
    wide = (end - start) / np.linalg.norm(end - start) * rng.uniform(0.25, 0.8, (count, 1))
    drop = (
        np.array([0, 1, 0]) * rng.uniform(0.3, 1.0, (count, 1)) + rng.normal(size=(count, 3)) * 0.06
    )
    with site.builder.thing("washing"):
        for k in range(count):
            r, g, b = (float(c) for c in rng.uniform(0.05, 0.8, 3))
            sheet = cards(top[k : k + 1], wide[k : k + 1], drop[k : k + 1])
            site.builder.add(sheet, Material("cloth", (r, g, b), (r * 0.6, g * 0.6, b * 0.6), 0.2))


def add_pipes(site: Site, x: float) -> None:
    """Put rain pipes, cables and boxes on the wall of an alley at x."""
    rng = site.rng
    z = rng.uniform(1.5, 30, int(rng.integers(2, 7)))
    feet = np.stack([0 * z + x, 0 * z, z], -1)
    metal = site.builder.paint(Material(tint=(0.3, 0.31, 0.32), gloss=0.3))
    with site.builder.thing("pipe"):
        site.builder.add(rods(feet, feet - [0, 8, 0], 0.05, sectors=7), metal)
        level = float(rng.uniform(2.4, 3.4))
        site.builder.add(rods([[x, -level, -5]], [[x, -level, 35]], 0.02, sectors=5), metal)
    at = rng.uniform([x, -3.5, 2], [x, -2.2, 20], (int(rng.integers(1, 5)), 3))
    with site.builder.thing("box"):
        site.builder.add(boxes(at, [0.35, 0.6, 0.8]), Material(tint=(0.6, 0.6, 0.58)))
