"""Build open places between houses: squares, yards, alleys and car parks."""

from __future__ import annotations

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, quads, rods
from sightline.scenes.meshes import lathe, merge, sphere
from sightline.scenes.outdoor.buildings import BUILDING_VARIANTS, building_materials, building_model
from sightline.scenes.outdoor.fences import add_fence, add_parasol, add_stairs, markings, wire
from sightline.scenes.outdoor.roads import grass_ground
from sightline.scenes.outdoor.site import Site, handheld_site
from sightline.scenes.outdoor.street_sides import add_backdrop
from sightline.scenes.outdoor.terrain import plane, rock_shape
from sightline.scenes.outdoor.vegetation import add_flowers, crown_reach, foliage, sample_species
from sightline.scenes.outdoor.vehicles import add_cycle
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import CameraView, Material, Pattern, SceneWorld, as_color, scale_color


def paving(rng: Random) -> Material:
    """Choose a hard ground: slabs, setts, brick, concrete, asphalt."""
    gray = between(rng, 0.15, 0.5)
    r, g, b = (float(gray * c) for c in rng.uniform([0.95, 0.9, 0.8], [1.1, 1.0, 1.0]))
    patterns: tuple[Pattern, ...] = ("tiles", "tiles", "brick", "noise", "asphalt", "checker")
    pattern = patterns[rng.integers(6)]
    scale = between(rng, 0.12, 1.0) if pattern != "noise" else 2.0
    wet = 0.3 * float(rng.random() < 0.1)
    return Material(
        pattern, (r, g, b), (r * 0.7, g * 0.7, b * 0.7), scale, int(rng.integers(1 << 16)),
        gloss=2 * wet, mirror=wet,
    )  # fmt: skip


def add_ring_of_houses(site: Site, half: float) -> None:
    """Add rows of houses around a square of half width `half` [m], leaving the corners open."""
    rng = site.rng
    sorts = [("terrace", "block"), ("terrace",), ("block", "office"), ("house", "terrace")]
    choice = sorts[rng.integers(len(sorts))]
    alike = building_materials(rng, dark=site.weather.dark) if rng.random() < 0.2 else None
    for turn in range(4):
        cos, sin = (1, 0, -1, 0)[turn], (0, 1, 0, -1)[turn]
        s = -half + between(rng, 0, 4)
        while s < half - 4:
            sort, variant = choice[rng.integers(len(choice))], int(rng.integers(BUILDING_VARIANTS))
            _, width, _, _ = building_model(sort, variant, 2)
            middle = s + width / 2
            s += width + float(rng.choice([0.0, 0.0, 3.0]))
            # The row at z = half looks toward −z; the others are that row turned about the middle.
            x, z = middle * cos + half * sin, half * cos - middle * sin
            if site.sees(x, z, width / 2 + 4):
                detail = site.grade(x * 0.8, z * 0.8, "building")
                site.building((x, 0.0, z), 90.0 * turn, sort, detail, variant=variant, paints=alike)


def add_monument(site: Site) -> None:
    """Put a fountain or a monument in the middle of a square."""
    rng, builder = site.rng, site.builder
    stone = Material("noise", (0.52, 0.5, 0.45), (0.38, 0.36, 0.33), 0.8, int(rng.integers(999)))
    wide = between(rng, 1.2, 2.1)
    if rng.random() < 0.5:
        with builder.instance("fountain"):
            rim = [[wide, 0], [wide, 0.55], [wide - 0.2, 0.55], [wide - 0.2, 0.3]]
            builder.add(lathe(rim, sectors=24), stone)
            pool = lathe([[wide - 0.2, 0.42], [0, 0.42]], sectors=24)
            builder.add(
                pool, Material("water", (0.1, 0.2, 0.25), (0.3, 0.4, 0.45), 0.4, mirror=0.6)
            )
            bowl = [
                [0.12, 0.3], [0.16, 1.2], [0.7, 1.5], [0.65, 1.55], [0.1, 1.35], [0.08, 1.9],
                [0, 2],
            ]  # fmt: skip
            builder.add(lathe(bowl, sectors=16), stone)
        return
    with builder.instance("monument"):
        steps = box_array(
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
            lean = between(rng, -0.2, 0.2)
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
    tint = as_color(rng.uniform(0.1, 0.8, 3))
    cloth = Material("stripes", tint, (0.75, 0.73, 0.7), 0.5, int(rng.integers(999)))
    feet = np.array([[-1.2, 0, -0.8], [1.2, 0, -0.8], [1.2, 0, 0.8], [-1.2, 0, 0.8]])
    with builder.instance("stall"):
        posts = rods(feet, feet - [0, 2.1, 0], 0.03, sectors=5)
        builder.add(posts.moved(at, yaw=yaw), Material(tint=(0.4, 0.4, 0.4)))
        slopes = quads(
            [[-1.4, -2.05, -1.1], [-1.4, -2.05, 1.1]],
            [[2.8, 0, 0]],
            [[0, -0.55, 1.1], [0, -0.55, -1.1]],
        )
        builder.add(slopes.moved(at, yaw=yaw), cloth)
        desk = box_array([[0, -0.42, -0.3]], [2.3, 0.84, 0.9])
        builder.add(
            desk.moved(at, yaw=yaw), Material("planks", (0.4, 0.28, 0.16), (0.25, 0.17, 0.1), 0.15)
        )
        for k in range(5):
            heap = rock_shape(int(rng.integers(10)), 1).moved(
                [k * 0.45 - 0.9, -0.86, -0.3], scale=(0.19, 0.16, 0.3)
            )
            hue_ = as_color(rng.uniform(0.05, 0.7, 3))
            paint = Material("noise", hue_, scale_color(hue_, 0.5), 0.06)
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
    with site.builder.instance("shed"):
        site.builder.add(box_array([[x, -high / 2, z]], [wide, high, deep]), wood)
        roof = quads(
            [[x - wide * 0.6, -high, z - deep * 0.62]],
            [[wide * 1.2, 0, 0]],
            [[0, -0.35, deep * 1.25]],
        )
        site.builder.add(roof, Material("stripes", (0.25, 0.25, 0.25), (0.18, 0.18, 0.18), 0.2))
        door = box_array([[x, -0.95, z - deep / 2]], [0.8, 1.9, 0.06])
        site.builder.add(door, Material("planks", (0.2, 0.3, 0.25), (0.1, 0.15, 0.12), 0.12))


def add_washing(site: Site, half: float) -> None:
    """Put up a washing line between two posts."""
    rng = site.rng
    z = between(rng, 0, half * 0.7)
    a, b = (np.array([s * half * 0.7, -1.8, z + s]) for s in (-1.0, 1.0))
    posts = np.stack([a, b])
    with site.builder.instance("pole"):
        site.builder.add(
            rods(posts * [1, 0, 1], posts, 0.04, sectors=6), Material(tint=(0.4, 0.4, 0.4))
        )
    add_line(site, a, b)


def add_line(site: Site, start: Floats, end: Floats) -> None:
    """Put a line with or without washing between two points (3,)."""
    rng = site.rng
    sag = between(rng, 0.02, 0.2)
    with site.builder.instance("wire"):
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
    with site.builder.instance("washing"):
        for k in range(count):
            tint = as_color(rng.uniform(0.05, 0.8, 3))
            sheet = quads(top[k : k + 1], wide[k : k + 1], drop[k : k + 1])
            site.builder.add(sheet, Material("cloth", tint, scale_color(tint, 0.6), 0.2))


def add_pipes(site: Site, x: float) -> None:
    """Put rain pipes, cables and boxes on the wall of an alley at x."""
    rng = site.rng
    z = rng.uniform(1.5, 30, int(rng.integers(2, 7)))
    feet = np.stack([0 * z + x, 0 * z, z], -1)
    metal = site.builder.paint(Material(tint=(0.3, 0.31, 0.32), gloss=0.3))
    with site.builder.instance("pipe"):
        site.builder.add(rods(feet, feet - [0, 8, 0], 0.05, sectors=7), metal)
        level = between(rng, 2.4, 3.4)
        site.builder.add(rods([[x, -level, -5]], [[x, -level, 35]], 0.02, sectors=5), metal)
    at = rng.uniform([x, -3.5, 2], [x, -2.2, 20], (int(rng.integers(1, 5)), 3))
    with site.builder.instance("box"):
        site.builder.add(box_array(at, [0.35, 0.6, 0.8]), Material(tint=(0.6, 0.6, 0.58)))


#: What stands about in squares.
_SQUARE = (
    "bench", "lamp_post", "bin", "bollard", "planter", "sign", "parasol", "cycle", "stall", "stairs",
)  # fmt: skip


def plaza(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a square with houses around, a fountain or monument, benches, tables, trees and people."""
    half = between(rng, 13, 32)
    eye_xz = rng.uniform(-half * 0.6, half * 0.6, 2)
    site = handheld_site(rng, (float(eye_xz[0]), float(eye_xz[1])), toward=(0.0, 0.0), spread=50)
    site.builder.add(plane(0.0), paving(rng))
    add_ring_of_houses(site, half)
    if site.claim(0.0, 0.0, 2.2, gap=1.5):
        add_monument(site)
    sort, leaf = sample_species(rng), foliage(rng)
    for x, z in site.scatter(int(rng.integers(6, 22)), 2.0, half * 1.2).tolist():
        if max(abs(x), abs(z)) > half - 1.5:
            continue
        _square_thing(site, x, z, half)
    for x, z in rng.uniform(-half + 3, half - 3, (int(rng.integers(0, 9)), 2)).tolist():
        if site.claim(x, z, 1.0, gap=2.5):
            site.tree((x, 0.0, z), between(rng, 4.5, 9), sort=sort, leaf=leaf)
    for x, z in site.scatter(int(rng.integers(0, 6)), 2.0, 18.0).tolist():
        site.person(x, z, between(rng, 0, 360))
    return site.finish()


def _square_thing(site: Site, x: float, z: float, half: float) -> None:
    """Put one object of a square at (x, z) if there is room."""
    rng = site.rng
    sort = str(rng.choice(_SQUARE))
    radius = {"parasol": 1.5, "stall": 1.8, "stairs": 2.5}.get(sort, 0.7)
    if (sort == "stairs" and half < 20) or not site.claim(x, z, radius, gap=1.2):
        return
    at, yaw = np.array([x, 0.0, z]), between(rng, 0, 360)
    if sort == "parasol":
        add_parasol(site.builder, rng, at)
    elif sort == "cycle":
        add_cycle(site.builder, rng, (x, 0.0, z), yaw, far=site.detail(x, z) > 0)
    elif sort == "stairs":
        add_stairs(site.builder, rng, at, yaw, int(rng.integers(3, 8)), between(rng, 1.5, 3.5))
    elif sort == "stall":
        add_stall(site, at, yaw)
    else:
        high = site.street_object(sort, (x, 0.0, z), yaw)
        if sort == "lamp_post":
            site.lamps.append((x, -high - 0.4, z))


def yard(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a back yard or garden: fences, a shed, a tree, bins, bicycles, washing, flowers."""
    half = between(rng, 4, 9)
    start = (between(rng, -1.5, 1.5), -half + 0.8)
    site = handheld_site(rng, start, toward=(0.0, half), spread=18)
    lawn = rng.random() < 0.6
    site.builder.add(plane(0.0), grass_ground(rng) if lawn else paving(rng))
    for a, b in (
        ((-half, -half), (-half, half)),
        ((half, -half), (half, half)),
        ((-half, half), (half, half)),
    ):
        add_fence(site.builder, rng, np.array([a[0], 0, a[1]]), np.array([b[0], 0, b[1]]))
    for x in np.arange(-half * 1.5, half * 1.6, 13.0):
        sort = str(rng.choice(["house", "terrace"]))
        at = (float(x), 0.0, half + between(rng, 1.0, 14))
        site.building(at, 0.0, sort, 1)
    if rng.random() < 0.5:
        add_shed(site, half)
    if rng.random() < 0.4:
        add_washing(site, half)
    for x, z in site.scatter(int(rng.integers(4, 14)), 1.6, half * 1.6, 0.9).tolist():
        if max(abs(x), abs(z)) > half - 0.7 or not site.claim(x, z, 0.7, gap=0.9):
            continue
        _yard_thing(site, x, z)
    for x, z in site.scatter(int(rng.integers(0, 3)), 2.0, half * 1.3, 0.7).tolist():
        if max(abs(x), abs(z)) < half - 0.5:
            site.person(x, z, between(rng, 0, 360))
    add_backdrop(site, 60.0)
    return site.finish()


def _yard_thing(site: Site, x: float, z: float) -> None:
    """Put one object of a yard at (x, z)."""
    rng, builder = site.rng, site.builder
    sort = str(
        rng.choice(["bin", "bench", "cycle", "bush", "tree", "parasol", "flower", "planter", "box"])
    )
    if sort == "cycle":
        add_cycle(builder, rng, (x, 0.0, z), between(rng, 0, 360))
    elif sort in ("bush", "tree"):
        high = between(rng, 0.5, 1.8) if sort == "bush" else between(rng, 2.5, 6)
        kind = "shrub" if sort == "bush" else sample_species(rng)
        if site.distance(x, z) < crown_reach(kind, high):
            return
        site.tree((x, 0.0, z), high, sort=kind)
    elif sort == "parasol":
        add_parasol(builder, rng, np.array([x, 0.0, z]))
    elif sort == "flower":
        at = rng.normal([x, 0, z], [0.4, 0, 0.4], (24, 3)) * [1, 0, 1]
        add_flowers(builder, rng, at, between(rng, 0.2, 0.7), fine=True)
    else:
        site.street_object(sort, (x, 0.0, z), between(rng, 0, 360))


def alley(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a lane between high walls: pipes, boxes, bins, washing overhead, steps, doors."""
    half = between(rng, 1.1, 2.6)
    site = handheld_site(
        rng, (between(rng, -half * 0.4, half * 0.4), 0.0), toward=(0.0, 20.0), spread=9
    )
    site.builder.add(plane(0.0), paving(rng))
    builder = site.builder
    for side in (-1, 1):
        z = -8.0
        while z < 45:
            variant = int(rng.integers(BUILDING_VARIANTS))
            _, width, _, _ = building_model("terrace", variant, 2)
            detail = 0 if z < 14 else 1
            jut = float(rng.choice([0.0, 0.3]))
            site.building(
                (side * (half + jut), 0.0, z + width / 2),
                90.0 * side,
                "terrace",
                detail,
                variant=variant,
            )
            z += width
        add_pipes(site, side * (half - 0.07))
        for z in rng.uniform(2.0, 22.0, int(rng.integers(2, 7))):
            x = side * (half - 0.45)
            if site.claim(x, float(z), 0.5, gap=1.0):
                sort = str(rng.choice(["bin", "box", "planter", "cycle"]))
                if sort == "cycle":
                    add_cycle(builder, rng, (x, 0.0, float(z)), 0.0)
                else:
                    site.street_object(sort, (x, 0.0, float(z)), 90.0 * side)
    high = rng.uniform(3.5, 7.0, 4)
    for z, y in zip(rng.uniform(3, 25, 4), high, strict=True):
        add_line(site, np.array([-half, -y, z]), np.array([half, -y, z]))
    if rng.random() < 0.6:
        site.person(between(rng, -0.5, 0.5), between(rng, 4, 18), float(rng.choice([0, 180])))
    site.lamps += [(0.0, -3.5, float(z)) for z in (6, 18, 30)]
    return site.finish()


def car_park(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make rows of parked cars with painted bays, lamps and trees between, something big behind."""
    eye = (between(rng, -3, 3), 0.0)
    site = handheld_site(rng, eye, toward=(between(rng, -15, 15), 20.0), spread=20)
    tone = between(rng, 0.1, 0.3)
    site.builder.add(plane(0.0), Material("asphalt", (tone, tone, tone), (tone * 0.7,) * 3, 2.0))
    bay, long = between(rng, 2.4, 2.8), 5.0
    aisle = between(rng, 5.5, 7.0)
    full = between(rng, 0.25, 0.95)
    lines = []
    for row in range(-2, 5):
        z0 = aisle / 2 + row * (2 * long + aisle)
        for part in (0, 1):
            z = z0 + (part + 0.5) * long
            x = np.arange(-14, 15) * bay + between(rng, -0.5, 0.5)
            lines.append(
                markings(np.stack([x - bay / 2, 0 * x, 0 * x + z], -1), np.array([0.1, long]))
            )
            for spot in x:
                if (
                    rng.random() < full
                    and site.distance(float(spot), z) < 55
                    and site.claim(float(spot), z, 1.25, gap=0.7)
                ):
                    yaw = float(rng.choice([0, 180]) + rng.normal(0, 2))
                    sort = (
                        None
                        if rng.random() < 0.1
                        else str(rng.choice(["hatchback", "saloon", "estate", "suv", "van"]))
                    )
                    detail = site.grade(float(spot), z, "car")
                    site.car((float(spot), 0.0, z), yaw, detail=detail, sort=sort)
    site.builder.add(merge(lines), Material(tint=(0.65, 0.65, 0.62)))
    for x, z in site.scatter(int(rng.integers(2, 9)), 4, 60).tolist():
        if site.claim(x, z, 0.4):
            if rng.random() < 0.5:
                high = site.street_object("lamp_post", (x, 0, z), 0.0)
                site.lamps.append((x, -high, z))
            else:
                site.tree((x, 0, z), between(rng, 3, 8), detail=max(1, site.detail(x, z)))
    for far in np.arange(-90, 91, 36.0):
        variant = int(rng.integers(BUILDING_VARIANTS))
        sort = str(rng.choice(["hall", "office", "block"]))
        site.building((float(far), 0.0, 95.0), 0.0, sort, 2, variant=variant)
    for x, z in site.scatter(int(rng.integers(0, 4)), 3, 20).tolist():
        site.person(x, z, between(rng, 0, 360))
    add_backdrop(site, 130.0)
    return site.finish()
