"""Land and sea from above: bays, beaches, rocks, boats, a few houses."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.buildings import VARIANTS, add_building
from sightline.scenes.parts.from_above import in_sight
from sightline.scenes.parts.loft import skin
from sightline.scenes.parts.many import Floats, boxes, part_of
from sightline.scenes.parts.plants import add_tree, foliage
from sightline.scenes.parts.roads import grass_ground
from sightline.scenes.parts.rocks import rock as boulder
from sightline.scenes.parts.site import Site
from sightline.scenes.world import Material


def coast(site: Site) -> None:
    """Land and sea: sand, rocks, boats, a few houses."""
    rng = site.rng
    at_x, at_z, reach = in_sight(site)
    turn = np.radians(rng.uniform(0, 360))
    # The shore runs through what is looked at.
    shore = float(at_x * np.sin(turn) + at_z * np.cos(turn) + rng.normal(0, 0.15 * reach))
    bays = terrain.fractal(rng, 70.0, 18.0, octaves=4)
    hills = terrain.fractal(rng, 90.0, float(rng.uniform(2, 9)))

    def height(x: Floats, z: Floats) -> Floats:
        inland = x * np.sin(turn) + z * np.cos(turn) - shore + bays(x, z)
        return np.clip(inland * 0.08, -5.0, 1.5) + np.clip(inland / 60, 0, 1) * (hills(x, z) + 3)

    shape = terrain.landscape(height, yaw=site.yaw, near=2.0, far=900.0)
    level = -shape.vertices[shape.faces][:, :, 1].mean(1)
    sand = Material("noise", (0.55, 0.47, 0.34), (0.42, 0.36, 0.27), 4.0)
    for keep, paint in ((level < 1.4, sand), (level >= 1.4, grass_ground(rng))):
        if keep.any():
            site.builder.add(part_of(shape, keep), paint)
    r, g, b = (float(c) for c in np.array([0.03, 0.12, 0.15]) * rng.uniform(0.6, 2.0, 3))
    sea = Material(
        "water",
        (r, g, b),
        (r * 2, g * 1.6, b * 1.5),
        float(rng.uniform(3, 12)),
        gloss=0.7,
        mirror=float(rng.uniform(0.2, 0.5)),
    )
    with site.builder.thing("water"):
        site.builder.add(terrain.plane(0.0, 5000.0), sea)
    looks = [foliage(rng) for _ in range(2)]
    rock = wilds.stone(rng)
    places = rng.normal([at_x, at_z], reach * 0.45, (110, 2))
    levels = height(places[:, 0], places[:, 1]).tolist()
    for (x, z), up in zip(places.tolist(), levels, strict=True):
        _coast_thing(site, x, z, up, looks, rock)


def _coast_thing(
    site: Site, x: float, z: float, level: float, looks: list[Material], paint: Material
) -> None:
    """Put what belongs to this height above the sea at (x, z): a boat, a rock, a tree, a house."""
    rng = site.rng
    if level < -1.0:
        if rng.random() < 0.3 and site.claim(x, z, 4.0, gap=6.0):
            _boat(site, x, z)
    elif level < 1.2:
        if rng.random() < 0.5 and site.claim(x, z, 1.5, gap=5.0):
            size = rng.uniform(0.4, 2.5) * rng.uniform(0.7, 1.3, 3)
            with site.builder.thing("rock"):
                shape = boulder(int(rng.integers(9)), 1).moved(
                    [x, -level, z], scale=size, yaw=float(rng.uniform(0, 360))
                )
                site.builder.add(shape, paint)
    elif rng.random() < 0.12:
        if site.claim(x, z, 9.0, gap=10.0):
            add_building(
                site.builder,
                rng,
                (x, -level + 0.6, z),
                float(rng.uniform(0, 360)),
                sort="house",
                variant=int(rng.integers(VARIANTS)),
                detail=max(2, site.grade(x, z, "building")),
                dark=site.weather.dark,
            )
    elif -site.view.eye[1] > level + 14 and site.claim(x, z, 1.6, gap=4.0):
        high = float(rng.uniform(3, 9))
        add_tree(
            site.builder,
            rng,
            (x, -level + 0.1, z),
            high,
            detail=site.grade(x, z),
            leaf=looks[rng.integers(2)],
        )


def _boat(site: Site, x: float, z: float) -> None:
    """Put a boat on the water: a hull, a cabin or a mast."""
    rng = site.rng
    long, yaw = float(rng.uniform(4, 14)), float(rng.uniform(0, 360))
    t = np.linspace(0, 1, 8)[:, None]
    half = 0.16 * long * np.sin(np.pi * np.clip(t * 0.72 + 0.28, 0, 1)) ** 0.7
    across, down = np.array([-1, -0.75, 0, 0.75, 1]), np.array([0.09, 0.0, -0.05, 0.0, 0.09]) * long
    grid = np.stack(np.broadcast_arrays(half * across, -down, (t - 0.5) * long), -1)
    deck = grid[:, [0, 4]] + [0.0, 0.02 * long, 0.0]
    r, g, b = (float(c) for c in rng.uniform(0.05, 0.85, 3))
    with site.builder.thing("boat"):
        site.builder.add(skin(grid).moved([x, 0, z], yaw=yaw), Material(tint=(r, g, b), gloss=0.5))
        site.builder.add(
            skin(deck).moved([x, 0, z], yaw=yaw),
            Material("planks", (0.5, 0.38, 0.24), (0.3, 0.2, 0.12), 0.2),
        )
        tall = long * float(rng.choice([0.12, 0.9]))
        wide = 0.14 * long if tall < long / 2 else 0.1
        cabin = boxes([[0, -tall / 2 - 0.05 * long, -0.1 * long]], [wide, tall, wide * 1.6])
        site.builder.add(cabin.moved([x, 0, z], yaw=yaw), Material(tint=(0.7, 0.7, 0.68)))
