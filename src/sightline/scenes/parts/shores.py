"""Countries with water: lakes and rivers, beaches."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.enclosures import add_parasol
from sightline.scenes.parts.land import (
    Fill,
    Land,
    mixed_trees,
    peaks,
    plain,
)
from sightline.scenes.parts.many import Floats
from sightline.scenes.parts.plants import sort_of_tree
from sightline.scenes.parts.roads import grass_ground
from sightline.scenes.parts.site import Site
from sightline.scenes.world import Material


def lake(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Water with wooded shores, or a river."""
    river, width = rng.random() < 0.4, float(rng.uniform(3, 14))
    offset = float(rng.uniform(6, 40)) + width
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
    land = Land(height, grass_ground(rng), earth, wilds.stone(rng), top_from=110.0, water=-0.2)
    sorts = mixed_trees(rng)

    def fill(site: Site) -> None:
        wilds.add_wood(
            site,
            height,
            int(rng.integers(25, 80)),
            near=4,
            far=330,
            sorts=sorts,
            tall=(4, 14),
            above=0.1,
        )
        wilds.add_meadow(site, height, 220, float(rng.uniform(0.15, 0.8)), above=-0.4)
        wilds.add_stones(site, height, int(rng.integers(4, 22)), near=2, far=50, paint=land.top)

    return land, fill


def beach(rng: np.random.Generator) -> tuple[Land, Fill]:
    """Sand, the sea to the horizon, palms or rocks, parasols."""
    turn, shore = np.radians(rng.uniform(-80, 80)), float(rng.uniform(4, 25))
    bumps = terrain.fractal(rng, 8.0, 0.12, octaves=3)
    cliff = float(rng.choice([0.0, 0.0, 12.0]))

    def height(x: Floats, z: Floats) -> Floats:
        away = shore - (x * np.sin(turn) + z * np.cos(turn))
        rise = cliff / (1 + np.exp(np.clip((shore + 15 - away) / 2, -40, 40)))
        return np.clip(away * 0.06, -3.0, 2.0) + bumps(x, z) + rise

    sand = Material("noise", (0.6, 0.5, 0.35), (0.5, 0.41, 0.28), 1.5, int(rng.integers(999)))
    rock = wilds.stone(rng)
    land = Land(height, sand, rock, grass_ground(rng), top_from=6.0, water=0.0)

    def fill(site: Site) -> None:
        sorts = ("palm", "shrub") if rng.random() < 0.6 else (sort_of_tree(rng), "shrub")
        wilds.add_wood(
            site,
            height,
            int(rng.integers(4, 30)),
            near=4,
            far=120,
            sorts=sorts,
            tall=(3, 9),
            above=0.5,
        )
        wilds.add_stones(site, height, int(rng.integers(2, 25)), near=2, far=80, paint=rock)
        wilds.add_pebbles(site, height, 100, rock)
        for x, z in site.scatter(int(rng.integers(0, 7)), 4, 40):
            foot = wilds.level(height, float(x), float(z))
            if foot > 0.15 and site.claim(float(x), float(z), 1.5, gap=1.5):
                add_parasol(site.builder, rng, np.array([float(x), -foot, float(z)]))

    return land, fill
