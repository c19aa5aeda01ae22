"""Build what a drone sees: street grids with cars, rows of houses, trees, containers, coasts, boats."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, select_faces, surface_from_grid
from sightline.scenes.meshes import merge
from sightline.scenes.outdoor import ground_cover, terrain
from sightline.scenes.outdoor.buildings import BUILDING_VARIANTS, building_model
from sightline.scenes.outdoor.fences import markings
from sightline.scenes.outdoor.roads import grass_ground
from sightline.scenes.outdoor.site import Site
from sightline.scenes.outdoor.terrain import rock_shape as boulder
from sightline.scenes.outdoor.vegetation import foliage, sample_species
from sightline.scenes.sampling import between
from sightline.scenes.world import Material, Point, as_color, scale_color


def ground_in_view(site: Site) -> Point:
    """Return (x, z) of the ground point that the camera looks at, and the visible extent, [m]."""
    eye, target = np.array(site.view.eye), np.array(site.view.target)
    way = (target - eye) / np.linalg.norm(target - eye)
    away = min(-eye[1] / max(way[1], 0.05), 260.0)
    x, _, z = eye + way * away
    return float(x), float(z), float(np.clip(away * 1.5, 30.0, 230.0))


def add_trees(
    site: Site, count: int, keep_off: Callable[[float, float], bool], tall: tuple[float, float]
) -> None:
    """Scatter trees over the country in sight."""
    rng = site.rng
    x0, z0, reach = ground_in_view(site)
    looks = [foliage(rng) for _ in range(4)]
    sorts = [sample_species(rng) for _ in range(2)]
    low = -site.view.eye[1]
    for x, z in rng.normal([x0, z0], reach * 0.5, (count, 2)).tolist():
        high = between(rng, *tall)
        if keep_off(x, z) or high > low - 3 or not site.claim(x, z, high * 0.25, gap=3.0):
            continue
        site.tree((x, 0.0, z), high, sort=sorts[rng.integers(2)], leaf=looks[rng.integers(4)])


def add_small_objects(site: Site) -> None:
    """Add people, benches, bins and bushes if the flight is low enough to resolve them."""
    rng = site.rng
    if -site.view.eye[1] > 45:
        return
    x0, z0, reach = ground_in_view(site)
    for x, z in rng.normal([x0, z0], reach * 0.3, (int(rng.integers(4, 18)), 2)).tolist():
        if rng.random() < 0.25:
            site.person(x, z, between(rng, 0, 360))
        elif site.claim(x, z, 0.8, gap=2.0):
            sort = str(rng.choice(["bench", "bin", "box", "planter", "sign", "bush"]))
            if sort == "bush":
                site.tree((x, 0.0, z), between(rng, 0.8, 2.2), sort="shrub")
            else:
                site.street_object(sort, (x, 0.0, z), between(rng, 0, 360), dark=False)


def add_roads(site: Site, xs: Floats, zs: Floats, wide: float) -> None:
    """Lay a grid of streets with markings and cars: along z at each x, along x at each z."""
    rng, builder = site.rng, site.builder
    tone = between(rng, 0.1, 0.28)
    asphalt = Material("asphalt", (tone, tone, tone), (tone * 0.75,) * 3, 3.0)
    far = 700.0
    along = [markings(np.stack([xs, 0 * xs, 0 * xs], -1), np.array([wide, far]), lift=0.03)]
    along.append(markings(np.stack([0 * zs, 0 * zs, zs], -1), np.array([far, wide]), lift=0.04))
    walks = [markings(np.stack([xs, 0 * xs, 0 * xs], -1), np.array([wide + 5, far]), lift=0.01)]
    walks.append(markings(np.stack([0 * zs, 0 * zs, zs], -1), np.array([far, wide + 5]), lift=0.02))
    builder.add(merge(along), asphalt)
    builder.add(merge(walks), Material("tiles", (0.4, 0.39, 0.37), (0.3, 0.29, 0.28), 0.6))
    dash = np.arange(-200, 200, 7.0)
    across, along_z = (g.ravel() for g in np.meshgrid(xs, dash))
    along_x, beyond = (g.ravel() for g in np.meshgrid(dash, zs))
    x, z = np.concatenate([across, along_x]), np.concatenate([along_z, beyond])
    size = np.repeat([[0.15, 3.0], [3.0, 0.15]], [len(across), len(along_x)], 0)
    lines = markings(np.stack([x, 0 * x, z], -1), size, lift=0.055)
    builder.add(lines, Material(tint=(0.7, 0.7, 0.68)))
    x0, z0, reach = ground_in_view(site)
    for _ in range(int(rng.integers(12, 60))):
        lengthwise = rng.random() < 0.5
        middle = float(rng.choice(xs if lengthwise else zs))
        parked = rng.random() < 0.5
        off = (wide / 2 + 0.3 if parked else wide / 4) * float(rng.choice([-1, 1]))
        spot = float(rng.normal(z0 if lengthwise else x0, reach * 0.5))
        at_x, at_z = (middle + off, spot) if lengthwise else (spot, middle + off)
        if site.claim(at_x, at_z, 2.2, gap=1.0):
            yaw = (0.0 if lengthwise else 90.0) + (180.0 if off < 0 else 0.0)
            site.car(
                (at_x, -0.04, at_z),
                yaw,
                detail=max(1, site.grade(at_x, at_z, "car")),
                lit=site.weather.dark,
            )


def add_row(
    site: Site,
    sorts: tuple[str, ...],
    looks: list[dict[str, Material]],
    span: tuple[float, float],
    z: float,
    yaw: float,
) -> None:
    """Put houses side by side along x from span[0] to span[1] at z, the fronts turned by yaw.

    `looks` are the finishes to choose from: a town is built of few materials.
    """
    rng = site.rng
    x0, z0, _ = ground_in_view(site)
    x = span[0] + between(rng, 0, 4)
    gap = float(rng.choice([0.0, 4.0])) if sorts[0] != "house" else 5.0
    while True:
        sort, variant = sorts[rng.integers(len(sorts))], int(rng.integers(BUILDING_VARIANTS))
        _, width, depth, height = building_model(sort, variant, 3)
        if x + width > span[1]:
            return
        middle = x + width / 2
        x += width + gap * between(rng, 0.6, 1.6)
        inner = z + (depth / 2 if yaw == 0 else -depth / 2)
        # A tall house right before the lens would be all there is to see.
        if height + 12 > -site.view.eye[1] and site.distance(middle, inner) < 28 + width / 2:
            continue
        if math.hypot(middle - x0, z - z0) < 160 and site.sees(middle, inner, width):
            site.taken.append((middle, inner, max(width, depth) * 0.55))
            detail = max(1, site.grade(middle, z, "building"))
            site.building(
                (middle, 0.0, z),
                yaw,
                sort,
                detail,
                variant=variant,
                paints=looks[rng.integers(len(looks))],
            )


def near_line(value: float, lines: Floats, width: float) -> bool:
    """Return whether a coordinate lies within `width` of one of the lines."""
    return bool((np.abs(lines - value) < width).any())


def add_stack(site: Site, x: float, z: float) -> None:
    """Put a block of containers, or a row of parked cars, at (x, z)."""
    rng = site.rng
    if rng.random() < 0.5:
        for k in range(6):
            place = (x + 2.7 * k - 7, 0.0, z)
            if site.distance(place[0], z) > 4:
                site.car(place, float(rng.choice([0, 180])), detail=max(2, site.grade(x, z, "car")))
        return
    for i, j in np.ndindex(3, 2):
        tint = as_color(rng.uniform(0.05, 0.6, 3))
        high = int(rng.integers(1, 4))
        if 2.6 * high + 5 < -site.view.eye[1]:
            with site.builder.instance("container"):
                block = box_array(
                    [[x + 2.7 * i - 3, -1.3 * high, z + 6.5 * j - 3]],
                    [2.44, 2.6 * high, 6.06],
                    sides="xXyzZ",
                )
                site.builder.add(block, Material("stripes", tint, scale_color(tint, 0.8), 0.25))


def coast(site: Site) -> None:
    """Build a coast: sand, rocks, boats, a few houses."""
    rng = site.rng
    at_x, at_z, reach = ground_in_view(site)
    turn = np.radians(rng.uniform(0, 360))
    # The shore runs through what is looked at.
    shore = float(at_x * np.sin(turn) + at_z * np.cos(turn) + rng.normal(0, 0.15 * reach))
    bays = terrain.fractal(rng, 70.0, 18.0, octaves=4)
    hills = terrain.fractal(rng, 90.0, between(rng, 2, 9))

    def height(x: Floats, z: Floats) -> Floats:
        inland = x * np.sin(turn) + z * np.cos(turn) - shore + bays(x, z)
        return np.clip(inland * 0.08, -5.0, 1.5) + np.clip(inland / 60, 0, 1) * (hills(x, z) + 3)

    shape = terrain.landscape(height, yaw=site.yaw, near=2.0, far=900.0)
    level = -shape.vertices[shape.faces][:, :, 1].mean(1)
    sand = Material("noise", (0.55, 0.47, 0.34), (0.42, 0.36, 0.27), 4.0)
    for keep, paint in ((level < 1.4, sand), (level >= 1.4, grass_ground(rng))):
        if keep.any():
            site.builder.add(select_faces(shape, keep), paint)
    r, g, b = (float(c) for c in np.array([0.03, 0.12, 0.15]) * rng.uniform(0.6, 2.0, 3))
    sea = Material(
        "water",
        (r, g, b),
        (r * 2, g * 1.6, b * 1.5),
        between(rng, 3, 12),
        gloss=0.7,
        mirror=between(rng, 0.2, 0.5),
    )
    with site.builder.instance("water"):
        site.builder.add(terrain.plane(0.0, 5000.0), sea)
    looks = [foliage(rng) for _ in range(2)]
    rock = ground_cover.rock_material(rng)
    places = rng.normal([at_x, at_z], reach * 0.45, (110, 2))
    levels = height(places[:, 0], places[:, 1]).tolist()
    for (x, z), up in zip(places.tolist(), levels, strict=True):
        _coast_thing(site, x, z, up, looks, rock)


def _coast_thing(
    site: Site, x: float, z: float, level: float, looks: list[Material], paint: Material
) -> None:
    """Put a boat, rock, tree or house at (x, z), depending on the height above the sea."""
    rng = site.rng
    if level < -1.0:
        if rng.random() < 0.3 and site.claim(x, z, 4.0, gap=6.0):
            _boat(site, x, z)
    elif level < 1.2:
        if rng.random() < 0.5 and site.claim(x, z, 1.5, gap=5.0):
            size = rng.uniform(0.4, 2.5) * rng.uniform(0.7, 1.3, 3)
            with site.builder.instance("rock"):
                shape = boulder(int(rng.integers(9)), 1).moved(
                    [x, -level, z], scale=size, yaw=between(rng, 0, 360)
                )
                site.builder.add(shape, paint)
    elif rng.random() < 0.12:
        if site.claim(x, z, 9.0, gap=10.0):
            site.building(
                (x, -level + 0.6, z),
                between(rng, 0, 360),
                "house",
                max(2, site.grade(x, z, "building")),
            )
    elif -site.view.eye[1] > level + 14 and site.claim(x, z, 1.6, gap=4.0):
        high = between(rng, 3, 9)
        site.tree((x, -level + 0.1, z), high, leaf=looks[rng.integers(2)])


def _boat(site: Site, x: float, z: float) -> None:
    """Put a boat on the water: a hull, a cabin or a mast."""
    rng = site.rng
    long, yaw = between(rng, 4, 14), between(rng, 0, 360)
    t = np.linspace(0, 1, 8)[:, None]
    half = 0.16 * long * np.sin(np.pi * np.clip(t * 0.72 + 0.28, 0, 1)) ** 0.7
    across, down = np.array([-1, -0.75, 0, 0.75, 1]), np.array([0.09, 0.0, -0.05, 0.0, 0.09]) * long
    grid = np.stack(np.broadcast_arrays(half * across, -down, (t - 0.5) * long), -1)
    deck = grid[:, [0, 4]] + [0.0, 0.02 * long, 0.0]
    tint = as_color(rng.uniform(0.05, 0.85, 3))
    with site.builder.instance("boat"):
        site.builder.add(
            surface_from_grid(grid).moved([x, 0, z], yaw=yaw), Material(tint=tint, gloss=0.5)
        )
        site.builder.add(
            surface_from_grid(deck).moved([x, 0, z], yaw=yaw),
            Material("planks", (0.5, 0.38, 0.24), (0.3, 0.2, 0.12), 0.2),
        )
        tall = long * float(rng.choice([0.12, 0.9]))
        wide = 0.14 * long if tall < long / 2 else 0.1
        cabin = box_array([[0, -tall / 2 - 0.05 * long, -0.1 * long]], [wide, tall, wide * 1.6])
        site.builder.add(cabin.moved([x, 0, z], yaw=yaw), Material(tint=(0.7, 0.7, 0.68)))
