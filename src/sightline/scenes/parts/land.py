"""A landscape before anything stands on it, and what leads through it: paths and fences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sightline.scenes.parts import terrain, wilds
from sightline.scenes.parts.enclosures import add_fence
from sightline.scenes.parts.plants import sort_of_tree
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.terrain import Height
from sightline.scenes.world import Material

#: Puts things onto a land that it knows.
Fill = Callable[[Site], None]


@dataclass(frozen=True, slots=True, eq=False)
class Land:
    """A landscape before anything stands on it.

    Attributes:
        height: of the ground, [m].
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


def plain(rng: np.random.Generator, rough: float) -> Height:
    """Gentle land that turns into hills or mountains far away."""
    near = terrain.fractal(rng, float(rng.uniform(8, 30)), rough, octaves=3)
    hills = terrain.fractal(rng, float(rng.uniform(80, 220)), float(rng.uniform(2, 30)))
    return terrain.total(near, terrain.beyond(20.0, 200.0, hills))


def peaks(rng: np.random.Generator, start: float) -> Height:
    """Mountains that begin `start` [m] away."""
    ridges = terrain.ridged(
        terrain.fractal(rng, float(rng.uniform(120, 260)), 1.0, octaves=5),
        float(rng.uniform(60, 220)),
    )
    return terrain.beyond(start, 560.0, ridges)


def mixed_trees(rng: np.random.Generator) -> tuple[str, ...]:
    """Choose the sorts of trees of a country, with bushes among them."""
    return (sort_of_tree(rng), sort_of_tree(rng), "shrub")


def add_path(site: Site, land: Land) -> None:
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
    r, g, b = (float(c) for c in np.array([0.4, 0.33, 0.24]) * rng.uniform(0.5, 1.3))
    paint = Material(
        "noise", (r, g, b), (r * 0.75, g * 0.75, b * 0.75), 0.8, int(rng.integers(999))
    )
    width = float(rng.uniform(0.6, 3.0))
    site.builder.add(terrain.path(line, width, land.height), paint)
    site.taken += [(float(x), float(z), width * 0.5) for x, z in line[::2]]


def fence_across(site: Site, land: Land) -> None:
    """Run a fence through the country in short straight pieces that follow the ground."""
    rng = site.rng
    x, z = (float(v) for v in site.scatter(1, 5, 18, 0.5)[0])
    turn = float(np.radians(rng.uniform(0, 360)))
    sort = str(rng.choice(["rails", "pickets", "mesh"]))
    step = 4.0
    for k in range(-5, 6):
        a, b = ((x + np.sin(turn) * step * j, z + np.cos(turn) * step * j) for j in (k, k + 1))
        middle = (a[0] + b[0]) / 2, (a[1] + b[1]) / 2
        if site.sees(*middle, step) and site.free(*middle, step / 2):
            ends = [np.array([p, -wilds.level(land.height, p, q), q]) for p, q in (a, b)]
            add_fence(site.builder, rng, *ends, sort=sort)
