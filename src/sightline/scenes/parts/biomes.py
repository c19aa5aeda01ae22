"""Green countries: meadows, woods, mountains, parks."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.farm import add_animals, add_hut
from sightline.scenes.parts.land import (
    Fill,
    Land,
    add_path,
    fence_across,
    mixed_trees,
    peaks,
    plain,
)
from sightline.scenes.parts.plants import sort_of_tree
from sightline.scenes.parts.roads import grass_ground
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.world import Material


def meadow(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Grassland with single trees, fences, a hut, a path."""
    height = (
        terrain.total(plain(rng, 0.4), peaks(rng, 250.0)) if rng.random() < 0.4 else plain(rng, 0.4)
    )
    ground = grass_ground(rng)
    land = Land(height, ground, wilds.stone(rng), wilds.stone(rng), top_from=90.0)
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        wilds.add_meadow(site, height, 260, float(rng.uniform(0.08, 0.5)))
        if rng.random() < 0.5:
            add_path(site, land)
        if rng.random() < 0.4:
            for x, z in site.scatter(2, 15, 80, 0.8):
                add_hut(site, height, float(x), float(z))
        if rng.random() < 0.35:
            fence_across(site, land)
        if rng.random() < 0.4:
            add_animals(site, height, int(rng.integers(1, 7)))
        wilds.add_wood(
            site, height, int(rng.integers(8, 45)), near=6, far=260, sorts=sorts, tall=(4, 13)
        )
        wilds.add_stones(site, height, int(rng.integers(0, 12)), near=2, far=60, paint=land.steep)

    return land, fill


def forest(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Make a wood: trunks near and far, undergrowth, logs."""
    height = plain(rng, float(rng.uniform(0.2, 0.8)))
    r, g, b = (float(c) for c in np.array([0.16, 0.12, 0.07]) * rng.uniform(0.6, 1.5, 3))
    floor = Material(
        "leaves" if rng.random() < 0.5 else "noise",
        (r, g, b),
        (r * 0.5, g * 0.5, b * 0.5),
        0.3,
        int(rng.integers(999)),
    )
    land = Land(height, floor if rng.random() < 0.7 else grass_ground(rng), wilds.stone(rng), floor)
    sorts = (
        (sort_of_tree(rng), sort_of_tree(rng), "broadleaf", "shrub")
        if rng.random() < 0.6
        else (sort_of_tree(rng),)
    )

    def fill(site: Site) -> None:
        site.budget["plant"] = [2, 7, 30]
        wilds.add_wood(
            site, height, int(rng.integers(50, 110)), near=2.0, far=110, sorts=sorts, tall=(7, 20)
        )
        for x, z in site.scatter(5, 2, 20):
            wilds.add_log(site, height, float(x), float(z))
        wilds.add_meadow(site, height, 150, float(rng.uniform(0.1, 0.6)))
        wilds.add_stones(site, height, int(rng.integers(0, 14)), near=1.5, far=30, paint=land.steep)
        if rng.random() < 0.4:
            add_path(site, land)

    return land, fill


def mountains(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Make a vista: slopes, rocks, high peaks with snow."""
    height = terrain.total(plain(rng, 0.8), peaks(rng, float(rng.uniform(60, 150))))
    rock = wilds.stone(rng)
    snow = Material("noise", (0.85, 0.87, 0.9), (0.6, 0.62, 0.66), 15.0)
    ground = grass_ground(rng) if rng.random() < 0.6 else rock
    land = Land(
        height,
        ground,
        rock,
        snow if rng.random() < 0.6 else rock,
        top_from=float(rng.uniform(50, 130)),
    )

    def fill(site: Site) -> None:
        wilds.add_stones(site, height, int(rng.integers(15, 40)), near=1.5, far=120, paint=rock)
        wilds.add_pebbles(site, height, 120, rock)
        wilds.add_wood(
            site,
            height,
            int(rng.integers(5, 50)),
            near=8,
            far=300,
            sorts=("conifer", "conifer", "shrub", "bare"),
            tall=(4, 16),
        )
        wilds.add_meadow(site, height, 160, 0.15)

    return land, fill


def park(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Lawn with paths, benches, lamps, beds of flowers, rows of trees."""
    height = terrain.fractal(rng, 40.0, 0.3, octaves=2)
    land = Land(height, grass_ground(rng), wilds.stone(rng), wilds.stone(rng))
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        add_path(site, land)
        for x, z in site.scatter(int(rng.integers(3, 10)), 2.5, 35):
            at = float(x), float(z)
            if site.claim(*at, 0.9, gap=1.2):
                sort = str(rng.choice(["bench", "lamp_post", "bin", "sign", "planter"]))
                add_thing(
                    site.builder,
                    rng,
                    sort,
                    (at[0], -wilds.level(height, *at), at[1]),
                    float(rng.uniform(0, 360)),
                )
        for x, z in site.scatter(int(rng.integers(0, 5)), 3, 15):
            wilds.add_bed(site, height, float(x), float(z), 22, float(rng.uniform(0.2, 0.6)), 0.7)
        wilds.add_wood(
            site, height, int(rng.integers(15, 45)), near=3.5, far=120, sorts=sorts, tall=(3.5, 12)
        )

    return land, fill
