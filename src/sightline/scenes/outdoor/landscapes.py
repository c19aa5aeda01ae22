"""Build landscapes: meadow, forest, mountains, park, lake, beach, desert, snow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sightline.scenes.indoor.animals import animal
from sightline.scenes.layout import placed_parts
from sightline.scenes.mesh_arrays import Floats, box_array, quads
from sightline.scenes.meshes import merge
from sightline.scenes.outdoor import terrain
from sightline.scenes.outdoor.fences import add_fence, add_parasol
from sightline.scenes.outdoor.ground_cover import (
    add_bed,
    add_cactus,
    add_log,
    add_meadow,
    add_pebbles,
    add_stones,
    add_wood,
    ground_level,
    rock_material,
)
from sightline.scenes.outdoor.roads import grass_ground
from sightline.scenes.outdoor.site import Site
from sightline.scenes.outdoor.terrain import Height
from sightline.scenes.outdoor.vegetation import sample_species
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Color, Material, as_color, scale_color

#: Fills a landscape with objects.
Fill = Callable[[Site], None]


@dataclass(frozen=True, slots=True, eq=False)
class Landscape:
    """Terrain and its materials, before anything stands on it.

    Attributes:
        height: height of the ground, [m].
        ground: how the ground looks where it is gentle and low.
        steep: how it looks where it is steep.
        top: how it looks high up, above `top_from` [m].
        top_from: where that begins.
        water: level of the water, None without.
    """

    height: Height
    ground: Material
    steep: Material
    top: Material
    top_from: float = 1e9
    water: float | None = None


def plain(rng: Random, rough: float) -> Height:
    """Return gentle relief that turns into hills far away."""
    near = terrain.fractal(rng, between(rng, 8, 30), rough, octaves=3)
    hills = terrain.fractal(rng, between(rng, 80, 220), between(rng, 2, 30))
    return terrain.total(near, terrain.beyond(20.0, 200.0, hills))


def peaks(rng: Random, start: float) -> Height:
    """Return mountains that begin `start` [m] away."""
    ridges = terrain.ridged(
        terrain.fractal(rng, between(rng, 120, 260), 1.0, octaves=5), between(rng, 60, 220)
    )
    return terrain.beyond(start, 560.0, ridges)


def mixed_trees(rng: Random) -> tuple[str, ...]:
    """Sample the tree species of a landscape, with bushes among them."""
    return (sample_species(rng), sample_species(rng), "shrub")


def add_path(site: Site, land: Landscape) -> None:
    """Lay a winding path away from the camera."""
    rng = site.rng
    turn = np.radians(site.yaw + rng.uniform(-15, 15))
    s = np.concatenate([[-3.0], np.geomspace(0.5, 140.0, 36)])
    sway = (
        np.sin(s / rng.uniform(8, 25) + rng.uniform(0, 6))
        * np.clip(s, 0, 30)
        * rng.uniform(0.02, 0.12)
    )
    side = float(rng.normal(0, 1.0))
    line = np.stack(
        [
            s * np.sin(turn) + (sway + side) * np.cos(turn),
            s * np.cos(turn) - (sway + side) * np.sin(turn),
        ],
        -1,
    )
    tint = as_color(np.array([0.4, 0.33, 0.24]) * rng.uniform(0.5, 1.3))
    paint = Material("noise", tint, scale_color(tint, 0.75), 0.8, int(rng.integers(999)))
    width = between(rng, 0.6, 3.0)
    site.builder.add(terrain.path(line, width, land.height), paint)
    site.taken += [(float(x), float(z), width * 0.5) for x, z in line[::2]]


def fence_across(site: Site, land: Landscape) -> None:
    """Add a fence in short straight pieces that follow the terrain."""
    rng = site.rng
    x, z = (float(v) for v in site.scatter(1, 5, 18, 0.5)[0])
    turn = float(np.radians(rng.uniform(0, 360)))
    sort = str(rng.choice(["rails", "pickets", "mesh"]))
    step = 4.0
    for k in range(-5, 6):
        a, b = ((x + np.sin(turn) * step * j, z + np.cos(turn) * step * j) for j in (k, k + 1))
        middle = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        if site.sees(*middle, step) and site.free(*middle, step / 2):
            ends = [np.array([p, -ground_level(land.height, p, q), q]) for p, q in (a, b)]
            add_fence(site.builder, rng, *ends, sort=sort)


def add_animals(site: Site, height: Height, count: int) -> None:
    """Add a few animals."""
    rng = site.rng
    for x, z in site.scatter(count, 2.5, 40.0, 0.8).tolist():
        creature = animal(rng)
        if site.claim(x, z, max(creature.size[0], creature.size[2]) * 0.6, gap=1.0):
            at = (x, -ground_level(height, x, z), z)
            with site.builder.instance(creature.kind):
                for shape, paint in placed_parts(creature, at, between(rng, 0, 360)):
                    site.builder.add(shape, paint)


def add_hut(site: Site, height: Height, x: float, z: float) -> None:
    """Put a hut or barn into the landscape."""
    rng = site.rng
    wide, deep, high = (float(v) for v in rng.uniform([4, 5, 2.4], [9, 12, 4.0]))
    if not site.claim(x, z, deep * 0.7, gap=3.0):
        return
    place, yaw = [x, -ground_level(height, x, z) + 0.5, z], between(rng, 0, 360)
    rise = wide * between(rng, 0.3, 0.6)
    wood = Material("planks", (0.3, 0.2, 0.13), (0.18, 0.12, 0.08), 0.2, int(rng.integers(999)))
    slope = quads(
        [
            [-wide * 0.6, -high + rise * 0.15, -deep * 0.55],
            [wide * 0.6, -high + rise * 0.15, -deep * 0.55],
        ],
        [[wide * 0.6, -rise * 1.15, 0], [-wide * 0.6, -rise * 1.15, 0]],
        [[0, 0, deep * 1.1]],
    )
    steps = np.linspace(0.1, 0.9, 5)
    ends = box_array(
        [[0, -high - rise * k, 0] for k in steps],
        [[wide * (1 - k), rise * 0.2, deep] for k in steps],
    )
    holes = box_array(
        [[0, -1.4, -deep / 2], [wide * 0.3, -1.6, -deep / 2]], [[1.1, 2.0, 0.06], [0.8, 0.8, 0.06]]
    )
    with site.builder.instance("building"):
        body = merge([box_array([[0, -high / 2, 0]], [wide, high, deep]), ends])
        site.builder.add(body.moved(place, yaw=yaw), wood)
        site.builder.add(
            slope.moved(place, yaw=yaw), Material("tiles", (0.3, 0.14, 0.1), (0.2, 0.1, 0.07), 0.3)
        )
        site.builder.add(holes.moved(place, yaw=yaw), Material(tint=(0.05, 0.05, 0.05), gloss=0.5))


def meadow(rng: Random) -> tuple[Landscape, Fill]:
    """Make a meadow with single trees, fences, a hut, a path."""
    height = (
        terrain.total(plain(rng, 0.4), peaks(rng, 250.0)) if rng.random() < 0.4 else plain(rng, 0.4)
    )
    ground = grass_ground(rng)
    land = Landscape(height, ground, rock_material(rng), rock_material(rng), top_from=90.0)
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        add_meadow(site, height, 260, between(rng, 0.08, 0.5))
        if rng.random() < 0.5:
            add_path(site, land)
        if rng.random() < 0.4:
            for x, z in site.scatter(2, 15, 80, 0.8).tolist():
                add_hut(site, height, x, z)
        if rng.random() < 0.35:
            fence_across(site, land)
        if rng.random() < 0.4:
            add_animals(site, height, int(rng.integers(1, 7)))
        add_wood(site, height, int(rng.integers(8, 45)), (6, 260), sorts, (4, 13))
        add_stones(site, height, int(rng.integers(0, 12)), (2, 60), land.steep)

    return land, fill


def forest(rng: Random) -> tuple[Landscape, Fill]:
    """Make a wood: trunks near and far, undergrowth, logs."""
    height = plain(rng, between(rng, 0.2, 0.8))
    tint = as_color(np.array([0.16, 0.12, 0.07]) * rng.uniform(0.6, 1.5, 3))
    floor = Material(
        "leaves" if rng.random() < 0.5 else "noise",
        tint,
        scale_color(tint, 0.5),
        0.3,
        int(rng.integers(999)),
    )
    land = Landscape(
        height, floor if rng.random() < 0.7 else grass_ground(rng), rock_material(rng), floor
    )
    sorts = (
        (sample_species(rng), sample_species(rng), "broadleaf", "shrub")
        if rng.random() < 0.6
        else (sample_species(rng),)
    )

    def fill(site: Site) -> None:
        site.budget["plant"] = [2, 7, 30]
        add_wood(site, height, int(rng.integers(50, 110)), (2.0, 110), sorts, (7, 20))
        for x, z in site.scatter(5, 2, 20).tolist():
            add_log(site, height, x, z)
        add_meadow(site, height, 150, between(rng, 0.1, 0.6))
        add_stones(site, height, int(rng.integers(0, 14)), (1.5, 30), land.steep)
        if rng.random() < 0.4:
            add_path(site, land)

    return land, fill


def mountains(rng: Random) -> tuple[Landscape, Fill]:
    """Make a vista: slopes, rocks, high peaks with snow."""
    height = terrain.total(plain(rng, 0.8), peaks(rng, between(rng, 60, 150)))
    rock = rock_material(rng)
    snow = Material("noise", (0.85, 0.87, 0.9), (0.6, 0.62, 0.66), 15.0)
    ground = grass_ground(rng) if rng.random() < 0.6 else rock
    land = Landscape(
        height, ground, rock, snow if rng.random() < 0.6 else rock, top_from=between(rng, 50, 130)
    )

    def fill(site: Site) -> None:
        add_stones(site, height, int(rng.integers(15, 40)), (1.5, 120), rock)
        add_pebbles(site, height, 120, rock)
        add_wood(
            site,
            height,
            int(rng.integers(5, 50)),
            (8, 300),
            ("conifer", "conifer", "shrub", "bare"),
            (4, 16),
        )
        add_meadow(site, height, 160, 0.15)

    return land, fill


def park(rng: Random) -> tuple[Landscape, Fill]:
    """Make a park: lawn, paths, benches, lamps, flower beds, trees."""
    height = terrain.fractal(rng, 40.0, 0.3, octaves=2)
    land = Landscape(height, grass_ground(rng), rock_material(rng), rock_material(rng))
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        add_path(site, land)
        for x, z in site.scatter(int(rng.integers(3, 10)), 2.5, 35).tolist():
            at = x, z
            if site.claim(*at, 0.9, gap=1.2):
                sort = str(rng.choice(["bench", "lamp_post", "bin", "sign", "planter"]))
                site.street_object(
                    sort,
                    (at[0], -ground_level(height, *at), at[1]),
                    between(rng, 0, 360),
                    dark=False,
                )
        for x, z in site.scatter(int(rng.integers(0, 5)), 3, 15).tolist():
            add_bed(site, height, x, z, 22, between(rng, 0.2, 0.6), 0.7)
        add_wood(site, height, int(rng.integers(15, 45)), (3.5, 120), sorts, (3.5, 12))

    return land, fill


def lake(rng: Random) -> tuple[Landscape, Fill]:
    """Make a lake or river with wooded shores."""
    river, width = rng.random() < 0.4, between(rng, 3, 14)
    offset = between(rng, 6, 40) + width
    bends = terrain.fractal(rng, 60.0, 8.0, octaves=2)
    base = (
        terrain.total(plain(rng, 0.3), peaks(rng, 300.0)) if rng.random() < 0.5 else plain(rng, 0.3)
    )

    def height(x: Floats, z: Floats) -> Floats:
        across = (
            z - offset + bends(x, 0 * x)
            if river
            else np.maximum(offset - z + bends(x, z) * 0.6, z - 190)
        )
        trench = (
            np.exp(-((across / width) ** 2))
            if river
            else 1 / (1 + np.exp(np.clip(across / 4, -40, 40)))
        )
        return base(x, z) * (1 - 0.9 * trench) + 1.0 - 3.5 * trench

    earth = Material("noise", (0.22, 0.17, 0.11), (0.12, 0.1, 0.07), 1.0, int(rng.integers(999)))
    land = Landscape(
        height, grass_ground(rng), earth, rock_material(rng), top_from=110.0, water=-0.2
    )
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        add_wood(site, height, int(rng.integers(25, 80)), (4, 330), sorts, (4, 14), above=0.1)
        add_meadow(site, height, 220, between(rng, 0.15, 0.8), above=-0.4)
        add_stones(site, height, int(rng.integers(4, 22)), (2, 50), land.top)

    return land, fill


def beach(rng: Random) -> tuple[Landscape, Fill]:
    """Make a beach: sand, sea to the horizon, palms or rocks, parasols."""
    turn, shore = np.radians(rng.uniform(-80, 80)), between(rng, 4, 25)
    bumps = terrain.fractal(rng, 8.0, 0.12, octaves=3)
    cliff = float(rng.choice([0.0, 0.0, 12.0]))

    def height(x: Floats, z: Floats) -> Floats:
        away = shore - (x * np.sin(turn) + z * np.cos(turn))
        rise = cliff / (1 + np.exp(np.clip((shore + 15 - away) / 2, -40, 40)))
        return np.clip(away * 0.06, -3.0, 2.0) + bumps(x, z) + rise

    sand = Material("noise", (0.6, 0.5, 0.35), (0.5, 0.41, 0.28), 1.5, int(rng.integers(999)))
    rock = rock_material(rng)
    land = Landscape(height, sand, rock, grass_ground(rng), top_from=6.0, water=0.0)

    def fill(site: Site) -> None:
        sorts = ("palm", "shrub") if rng.random() < 0.6 else (sample_species(rng), "shrub")
        add_wood(site, height, int(rng.integers(4, 30)), (4, 120), sorts, (3, 9), above=0.5)
        add_stones(site, height, int(rng.integers(2, 25)), (2, 80), rock)
        add_pebbles(site, height, 100, rock)
        for x, z in site.scatter(int(rng.integers(0, 7)), 4, 40).tolist():
            foot = ground_level(height, x, z)
            if foot > 0.15 and site.claim(x, z, 1.5, gap=1.5):
                add_parasol(site.builder, rng, np.array([x, -foot, z]))

    return land, fill


def desert(rng: Random) -> tuple[Landscape, Fill]:
    """Make a desert: sand or gravel with dunes or buttes, cacti, stones."""
    dunes = terrain.ridged(
        terrain.fractal(rng, between(rng, 30, 90), 0.8, octaves=2), between(rng, 2, 12)
    )
    height = terrain.total(
        terrain.fractal(rng, 10.0, 0.15, octaves=2), terrain.beyond(8.0, 80.0, dunes)
    )
    tint: Color = ((0.55, 0.4, 0.24), (0.5, 0.3, 0.17), (0.48, 0.44, 0.36))[rng.integers(3)]
    sand = Material(
        "noise", tint, (tint[0] * 0.8, tint[1] * 0.78, tint[2] * 0.72), 2.5, int(rng.integers(999))
    )
    rock = rock_material(rng, warm=True)
    land = Landscape(height, sand, sand if rng.random() < 0.5 else rock, rock, top_from=60.0)

    def fill(site: Site) -> None:
        for x, z in site.scatter(int(rng.integers(0, 14)), 3, 80).tolist():
            add_cactus(site, height, x, z)
        add_stones(site, height, int(rng.integers(8, 36)), (1.5, 200), rock)
        add_pebbles(site, height, 150, rock)
        add_wood(site, height, int(rng.integers(0, 14)), (4, 90), ("shrub", "bare", "palm"), (3, 7))

    return land, fill


def snow(rng: Random) -> tuple[Landscape, Fill]:
    """Make a winter landscape: white ground, dark trees."""
    height = (
        terrain.total(plain(rng, 0.5), peaks(rng, 200.0)) if rng.random() < 0.5 else plain(rng, 0.5)
    )
    white = Material("noise", (0.82, 0.85, 0.9), (0.7, 0.73, 0.8), 3.0, int(rng.integers(999)))
    land = Landscape(height, white, rock_material(rng), white)

    def fill(site: Site) -> None:
        site.budget["plant"] = [2, 6, 30]
        add_wood(
            site,
            height,
            int(rng.integers(20, 80)),
            (3, 220),
            ("conifer", "bare", "conifer"),
            (4, 15),
            white=True,
        )
        add_stones(site, height, int(rng.integers(0, 10)), (2, 40), white)
        if rng.random() < 0.4:
            fence_across(site, land)
        if rng.random() < 0.4:
            add_hut(site, height, between(rng, -20, 20), between(rng, 25, 60))

    return land, fill
