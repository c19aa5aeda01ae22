"""Open places between houses: squares, yards, alleys and car parks."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.buildings import VARIANTS, add_building
from sightline.scenes.parts.court_things import (
    add_monument,
    add_shed,
    add_stall,
    add_washing,
    paving,
    ring_of_houses,
)
from sightline.scenes.parts.cycles import add_cycle
from sightline.scenes.parts.enclosures import add_fence, add_parasol, add_stairs
from sightline.scenes.parts.frontage import add_backdrop
from sightline.scenes.parts.plants import (
    add_flowers,
    add_tree,
    crown_reach,
    foliage,
    sort_of_tree,
)
from sightline.scenes.parts.roads import grass_ground
from sightline.scenes.parts.site import Site, stand
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.parts.terrain import plane
from sightline.scenes.world import View, World

#: What stands about in squares.
_SQUARE = (
    "bench", "lamp_post", "bin", "bollard", "planter", "sign", "parasol", "cycle", "stall", "stairs",
)  # fmt: skip


def plaza(rng: np.random.Generator) -> tuple[World, View]:
    """Make a square with houses around, a fountain or monument, benches, tables, trees and people."""
    half = float(rng.uniform(13, 32))
    eye_xz = rng.uniform(-half * 0.6, half * 0.6, 2)
    site = stand(rng, (float(eye_xz[0]), float(eye_xz[1])), towards=(0.0, 0.0), spread=50)
    site.builder.add(plane(0.0), paving(rng))
    ring_of_houses(site, half)
    if site.claim(0.0, 0.0, 2.2, gap=1.5):
        add_monument(site)
    sort, leaf = sort_of_tree(rng), foliage(rng)
    for x, z in site.scatter(int(rng.integers(6, 22)), 2.0, half * 1.2):
        if max(abs(x), abs(z)) > half - 1.5:
            continue
        _square_thing(site, float(x), float(z), half)
    for x, z in rng.uniform(-half + 3, half - 3, (int(rng.integers(0, 9)), 2)):
        if site.claim(float(x), float(z), 1.0, gap=2.5):
            add_tree(
                site.builder, rng, (float(x), 0.0, float(z)), float(rng.uniform(4.5, 9)), sort=sort,
                detail=site.grade(float(x), float(z)), leaf=leaf,
            )  # fmt: skip
    for x, z in site.scatter(int(rng.integers(0, 6)), 2.0, 18.0):
        site.person(float(x), float(z), float(rng.uniform(0, 360)))
    return site.finish()


def _square_thing(site: Site, x: float, z: float, half: float) -> None:
    """Put one thing of a square at (x, z) if there is room."""
    rng = site.rng
    sort = str(rng.choice(_SQUARE))
    radius = {"parasol": 1.5, "stall": 1.8, "stairs": 2.5}.get(sort, 0.7)
    if (sort == "stairs" and half < 20) or not site.claim(x, z, radius, gap=1.2):
        return
    at, yaw = np.array([x, 0.0, z]), float(rng.uniform(0, 360))
    if sort == "parasol":
        add_parasol(site.builder, rng, at)
    elif sort == "cycle":
        add_cycle(site.builder, rng, (x, 0.0, z), yaw, far=site.detail(x, z) > 0)
    elif sort == "stairs":
        add_stairs(
            site.builder, rng, at, yaw, int(rng.integers(3, 8)), float(rng.uniform(1.5, 3.5))
        )
    elif sort == "stall":
        add_stall(site, at, yaw)
    else:
        high = add_thing(site.builder, rng, sort, (x, 0.0, z), yaw, dark=site.weather.dark)
        if sort == "lamp_post":
            site.lamps.append((x, -high - 0.4, z))


def yard(rng: np.random.Generator) -> tuple[World, View]:
    """Make a back yard or garden: fences, a shed, a tree, bins, bicycles, washing, flowers."""
    half = float(rng.uniform(4, 9))
    start = (float(rng.uniform(-1.5, 1.5)), -half + 0.8)
    site = stand(rng, start, towards=(0.0, half), spread=18)
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
        at = (float(x), 0.0, half + float(rng.uniform(1.0, 14)))
        add_building(
            site.builder,
            rng,
            at,
            0.0,
            sort=sort,
            variant=int(rng.integers(VARIANTS)),
            detail=1,
            dark=site.weather.dark,
        )
    if rng.random() < 0.5:
        add_shed(site, half)
    if rng.random() < 0.4:
        add_washing(site, half)
    for x, z in site.scatter(int(rng.integers(4, 14)), 1.6, half * 1.6, 0.9):
        if max(abs(x), abs(z)) > half - 0.7 or not site.claim(float(x), float(z), 0.7, gap=0.9):
            continue
        _yard_thing(site, float(x), float(z))
    for x, z in site.scatter(int(rng.integers(0, 3)), 2.0, half * 1.3, 0.7):
        if max(abs(x), abs(z)) < half - 0.5:
            site.person(float(x), float(z), float(rng.uniform(0, 360)))
    add_backdrop(site, 60.0)
    return site.finish()


def _yard_thing(site: Site, x: float, z: float) -> None:
    """Put one thing of a yard at (x, z)."""
    rng, builder = site.rng, site.builder
    sort = str(
        rng.choice(["bin", "bench", "cycle", "bush", "tree", "parasol", "flower", "planter", "box"])
    )
    if sort == "cycle":
        add_cycle(builder, rng, (x, 0.0, z), float(rng.uniform(0, 360)))
    elif sort in ("bush", "tree"):
        high = float(rng.uniform(0.5, 1.8)) if sort == "bush" else float(rng.uniform(2.5, 6))
        kind = "shrub" if sort == "bush" else sort_of_tree(rng)
        if site.distance(x, z) < crown_reach(kind, high):
            return
        add_tree(builder, rng, (x, 0.0, z), high, sort=kind, detail=site.grade(x, z))
    elif sort == "parasol":
        add_parasol(builder, rng, np.array([x, 0.0, z]))
    elif sort == "flower":
        at = rng.normal([x, 0, z], [0.4, 0, 0.4], (24, 3)) * [1, 0, 1]
        add_flowers(builder, rng, at, float(rng.uniform(0.2, 0.7)), fine=True)
    else:
        add_thing(
            builder, rng, sort, (x, 0.0, z), float(rng.uniform(0, 360)), dark=site.weather.dark
        )
