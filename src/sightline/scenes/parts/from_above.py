"""What a drone sees of a country: streets with cars, rows of houses, trees, yards with containers."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sightline.scenes.parts.buildings import VARIANTS, add_building, building
from sightline.scenes.parts.enclosures import markings
from sightline.scenes.parts.many import Floats, boxes
from sightline.scenes.parts.plants import add_tree, foliage, sort_of_tree
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.parts.vehicles import add_car
from sightline.scenes.shapes import merge
from sightline.scenes.world import Material


def in_sight(site: Site) -> tuple[float, float, float]:
    """(x, z) that the camera looks at on the ground, and how wide the country in sight is, [m]."""
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
    x0, z0, reach = in_sight(site)
    looks = [foliage(rng) for _ in range(4)]
    sorts = [sort_of_tree(rng) for _ in range(2)]
    low = -site.view.eye[1]
    for x, z in rng.normal([x0, z0], reach * 0.5, (count, 2)).tolist():
        high = float(rng.uniform(*tall))
        if keep_off(x, z) or high > low - 3 or not site.claim(x, z, high * 0.25, gap=3.0):
            continue
        add_tree(
            site.builder, rng, (x, 0.0, z), high, sort=sorts[rng.integers(2)],
            detail=site.grade(x, z), leaf=looks[rng.integers(4)],
        )  # fmt: skip


def add_small(site: Site) -> None:
    """Put people, benches, bins and bushes where a low flight can tell them apart."""
    rng = site.rng
    if -site.view.eye[1] > 45:
        return
    x0, z0, reach = in_sight(site)
    for x, z in rng.normal([x0, z0], reach * 0.3, (int(rng.integers(4, 18)), 2)).tolist():
        if rng.random() < 0.25:
            site.person(x, z, float(rng.uniform(0, 360)))
        elif site.claim(x, z, 0.8, gap=2.0):
            sort = str(rng.choice(["bench", "bin", "box", "planter", "sign", "bush"]))
            if sort == "bush":
                add_tree(
                    site.builder,
                    rng,
                    (x, 0.0, z),
                    float(rng.uniform(0.8, 2.2)),
                    sort="shrub",
                    detail=site.grade(x, z),
                )
            else:
                add_thing(site.builder, rng, sort, (x, 0.0, z), float(rng.uniform(0, 360)))


def add_roads(site: Site, xs: Floats, zs: Floats, wide: float) -> None:
    """Lay a grid of streets with markings and cars: along z at each x, along x at each z."""
    rng, builder = site.rng, site.builder
    tone = float(rng.uniform(0.1, 0.28))
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
    x0, z0, reach = in_sight(site)
    for _ in range(int(rng.integers(12, 60))):
        lengthwise = rng.random() < 0.5
        middle = float(rng.choice(xs if lengthwise else zs))
        parked = rng.random() < 0.5
        off = (wide / 2 + 0.3 if parked else wide / 4) * float(rng.choice([-1, 1]))
        spot = float(rng.normal(z0 if lengthwise else x0, reach * 0.5))
        at_x, at_z = (middle + off, spot) if lengthwise else (spot, middle + off)
        if site.claim(at_x, at_z, 2.2, gap=1.0):
            yaw = (0.0 if lengthwise else 90.0) + (180.0 if off < 0 else 0.0)
            add_car(
                builder,
                rng,
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
    x0, z0, _ = in_sight(site)
    x = span[0] + float(rng.uniform(0, 4))
    gap = float(rng.choice([0.0, 4.0])) if sorts[0] != "house" else 5.0
    while True:
        sort, variant = sorts[rng.integers(len(sorts))], int(rng.integers(VARIANTS))
        _, width, depth, height = building(sort, variant, 3)
        if x + width > span[1]:
            return
        middle = x + width / 2
        x += width + gap * float(rng.uniform(0.6, 1.6))
        inner = z + (depth / 2 if yaw == 0 else -depth / 2)
        # A tall house right before the lens would be all there is to see.
        if height + 12 > -site.view.eye[1] and site.distance(middle, inner) < 28 + width / 2:
            continue
        if math.hypot(middle - x0, z - z0) < 160 and site.sees(middle, inner, width):
            site.taken.append((middle, inner, max(width, depth) * 0.55))
            detail = max(1, site.grade(middle, z, "building"))
            add_building(
                site.builder, rng, (middle, 0.0, z), yaw, sort=sort, variant=variant, detail=detail,
                paints=looks[rng.integers(len(looks))],
            )  # fmt: skip


def near_line(value: float, lines: Floats, width: float) -> bool:
    """Say whether a coordinate lies within `width` of one of the lines."""
    return bool((np.abs(lines - value) < width).any())


def add_stack(site: Site, x: float, z: float) -> None:
    """Put a block of containers, or a row of parked cars, at (x, z)."""
    rng = site.rng
    if rng.random() < 0.5:
        for k in range(6):
            place = (x + 2.7 * k - 7, 0.0, z)
            if site.distance(place[0], z) > 4:
                add_car(
                    site.builder,
                    rng,
                    place,
                    float(rng.choice([0, 180])),
                    detail=max(2, site.grade(x, z, "car")),
                )
        return
    for i, j in np.ndindex(3, 2):
        r, g, b = (float(c) for c in rng.uniform(0.05, 0.6, 3))
        high = int(rng.integers(1, 4))
        if 2.6 * high + 5 < -site.view.eye[1]:
            with site.builder.thing("container"):
                block = boxes(
                    [[x + 2.7 * i - 3, -1.3 * high, z + 6.5 * j - 3]],
                    [2.44, 2.6 * high, 6.06],
                    sides="xXyzZ",
                )
                site.builder.add(
                    block, Material("stripes", (r, g, b), (r * 0.8, g * 0.8, b * 0.8), 0.25)
                )
