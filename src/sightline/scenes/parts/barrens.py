"""Countries where little grows: deserts and snow."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.farm import add_hut
from sightline.scenes.parts.land import (
    Fill,
    Land,
    fence_across,
    peaks,
    plain,
)
from sightline.scenes.parts.site import Site
from sightline.scenes.world import Colour, Material


def desert(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Sand or gravel with dunes or buttes, cacti, stones."""
    dunes = terrain.ridged(
        terrain.fractal(rng, float(rng.uniform(30, 90)), 0.8, octaves=2), float(rng.uniform(2, 12))
    )
    height = terrain.total(
        terrain.fractal(rng, 10.0, 0.15, octaves=2), terrain.beyond(8.0, 80.0, dunes)
    )
    tint: Colour = ((0.55, 0.4, 0.24), (0.5, 0.3, 0.17), (0.48, 0.44, 0.36))[rng.integers(3)]
    sand = Material(
        "noise", tint, (tint[0] * 0.8, tint[1] * 0.78, tint[2] * 0.72), 2.5, int(rng.integers(999))
    )
    rock = wilds.stone(rng, warm=True)
    land = Land(height, sand, sand if rng.random() < 0.5 else rock, rock, top_from=60.0)

    def fill(site: Site) -> None:
        for x, z in site.scatter(int(rng.integers(0, 14)), 3, 80):
            wilds.add_cactus(site, height, float(x), float(z))
        wilds.add_stones(site, height, int(rng.integers(8, 36)), near=1.5, far=200, paint=rock)
        wilds.add_pebbles(site, height, 150, rock)
        wilds.add_wood(
            site,
            height,
            int(rng.integers(0, 14)),
            near=4,
            far=90,
            sorts=("shrub", "bare", "palm"),
            tall=(3, 7),
        )

    return land, fill


def snow(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Winter: white ground, dark trees."""
    height = (
        terrain.total(plain(rng, 0.5), peaks(rng, 200.0)) if rng.random() < 0.5 else plain(rng, 0.5)
    )
    white = Material("noise", (0.82, 0.85, 0.9), (0.7, 0.73, 0.8), 3.0, int(rng.integers(999)))
    land = Land(height, white, wilds.stone(rng), white)

    def fill(site: Site) -> None:
        site.budget["plant"] = [2, 6, 30]
        wilds.add_wood(
            site,
            height,
            int(rng.integers(20, 80)),
            near=3,
            far=220,
            sorts=("conifer", "bare", "conifer"),
            tall=(4, 15),
            white=True,
        )
        wilds.add_stones(site, height, int(rng.integers(0, 10)), near=2, far=40, paint=white)
        if rng.random() < 0.4:
            fence_across(site, land)
        if rng.random() < 0.4:
            add_hut(site, height, float(rng.uniform(-20, 20)), float(rng.uniform(25, 60)))

    return land, fill
