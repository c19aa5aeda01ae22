"""What lines a street: rows of houses, villas, parks, fields, works; and what is far off."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.buildings import VARIANTS, add_building, building, finishes
from sightline.scenes.parts.enclosures import add_fence
from sightline.scenes.parts.plants import (
    add_hedge,
    add_tree,
    crown_reach,
    foliage,
    sort_of_tree,
)
from sightline.scenes.parts.roads import Section
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.terrain import horizon_hills
from sightline.scenes.world import Material

#: How far along the street anything is built, [m].
START, END = -70.0, 190.0


def add_side(site: Site, cut: Section, side: int, sort: str, gaps: list[float]) -> None:
    """Line one side of a street (−1 left, +1 right); side streets at the z of `gaps` stay open."""
    if sort in ("town", "city", "villas", "works"):
        _houses(site, cut, side, sort, gaps)
    if sort in ("villas", "works", "park", "field"):
        _boundary(site, cut, side, sort, gaps)
    if sort in ("park", "field", "villas", "wood"):
        _greenery(site, cut, side, sort)


def _houses(site: Site, cut: Section, side: int, sort: str, gaps: list[float]) -> None:
    """Make buildings one after the other; touching in towns, apart elsewhere."""
    rng = site.rng
    sorts = {
        "town": ("terrace", "terrace", "terrace", "block"),
        "city": ("block", "office", "block", "terrace"),
        "villas": ("house",),
        "works": ("hall", "hall", "office"),
    }[sort]
    looks = [finishes(rng, dark=site.weather.dark) for _ in range(int(rng.choice([1, 4, 7])))]
    z = START + float(rng.uniform(0, 8))
    while z < END:
        chosen = sorts[rng.integers(len(sorts))]
        variant = int(rng.integers(VARIANTS))
        _, width, depth, _ = building(chosen, variant, 2)
        gap = {"town": 0.0, "city": float(rng.choice([0.0, 4.0])), "villas": 5.0, "works": 10.0}[
            sort
        ]
        blocked = next((g for g in gaps if z - 5 < g < z + width + 5), None)
        if blocked is not None:
            z = blocked + 5.1
            continue
        middle = z + width / 2
        z += width + gap * float(rng.uniform(0.5, 1.5))
        back = float(rng.uniform(0, 4)) if sort == "villas" else 0.0
        x = side * (cut.front + back)
        if not site.sees(x, middle, width / 2 + depth * 0.5):
            continue
        # The nearest corner decides how fine it is built, not the middle.
        near = float(np.clip(site.view.eye[2], middle - width / 2, middle + width / 2))
        detail = site.grade(x, near, "building")
        add_building(
            site.builder, rng, (x, -cut.kerb, middle), 90.0 * side, sort=chosen, variant=variant,
            detail=detail, dark=site.weather.dark, paints=looks[rng.integers(len(looks))],
        )  # fmt: skip


def _boundary(site: Site, cut: Section, side: int, sort: str, gaps: list[float]) -> None:
    """Make a fence, wall or hedge along the inner edge of the pavement."""
    rng = site.rng
    x = side * (cut.walk + cut.pavement + 0.4)
    if cut.garden < 1.0 and sort != "field":
        return
    style = rng.random()
    leaf = foliage(rng, autumn=0.05)
    height = float(rng.uniform(0.7, 1.9))
    z = -30.0
    while z < 90.0:
        end = z + float(rng.uniform(6, 14))
        if not any(z - 4 < g < end + 4 for g in gaps) and site.sees(
            x, (z + end) / 2, (end - z) / 2
        ):
            a, b = (np.array([x, -cut.kerb, k]) for k in (z, end - 0.8))
            if style < 0.4 and sort != "field":
                fine = site.detail(x, z) == 0 or site.detail(x, end) == 0
                add_hedge(site.builder, rng, a, b, height, leaf=leaf, fine=fine)
            elif site.distance(x, (z + end) / 2) < 60:
                sorts = {"field": ("rails", "mesh"), "works": ("mesh", "railing", "wall")}
                choice = sorts.get(sort, ("pickets", "railing", "boards", "wall"))
                kind = choice[int(style * 97) % len(choice)]
                add_fence(site.builder, rng, a, b, sort=kind)
        z = end


def _greenery(site: Site, cut: Section, side: int, sort: str) -> None:
    """Trees and bushes behind the boundary."""
    rng = site.rng
    count = {"park": 26, "field": 16, "villas": 12, "wood": 60}[sort]
    kinds = [sort_of_tree(rng) for _ in range(3)]
    leaf = [foliage(rng) for _ in range(3)]
    start = cut.walk + cut.pavement + 1.5
    for _ in range(count):
        x = side * (start + float(rng.exponential(9.0 if sort != "field" else 30.0)))
        z = float(rng.uniform(-20, 120))
        pick = int(rng.integers(3))
        bush = rng.random() < 0.3
        height = float(rng.uniform(0.6, 2.2)) if bush else float(rng.uniform(4, 14))
        if not site.claim(x, z, 1.2, gap=crown_reach("shrub" if bush else kinds[pick], height)):
            continue
        add_tree(
            site.builder, rng, (x, -cut.kerb, z), height,
            sort="shrub" if bush else kinds[pick], detail=site.grade(x, z), leaf=leaf[pick],
        )  # fmt: skip


def add_backdrop(site: Site, reach: float, *, level: float = 0.0) -> None:
    """Add what closes the view: a skyline beyond `reach` [m], a line of trees, hills."""
    rng = site.rng
    if rng.random() < 0.6:
        r, g, b = (float(c) for c in np.array([0.13, 0.19, 0.12]) * rng.uniform(0.6, 2.0, 3))
        hills = horizon_hills(rng, 580.0, float(rng.uniform(10, 110)))
        site.builder.add(
            hills.moved([0, -level, 0]),
            Material("noise", (r, g, b), (r * 0.7, g * 0.7, b * 0.7), 60.0),
        )
    if rng.random() < 0.6:
        looks = [finishes(rng, dark=site.weather.dark) for _ in range(4)]
        for x, z in site.scatter(int(rng.integers(6, 22)), reach, 420.0).tolist():
            _, width, _, _ = building("office", variant := int(rng.integers(VARIANTS)), 2)
            sort = "office" if rng.random() < 0.5 else "block"
            if site.claim(x, z, width / 2):
                yaw = float(rng.choice([0, 90, 180, 270]))
                add_building(
                    site.builder,
                    rng,
                    (x, -level, z),
                    yaw,
                    sort=sort,
                    variant=variant,
                    detail=3,
                    paints=looks[rng.integers(4)],
                )
    if rng.random() < 0.7:
        leaf, sorts = foliage(rng), (sort_of_tree(rng), sort_of_tree(rng))
        for x, z in site.scatter(int(rng.integers(8, 30)), reach * 0.7, 260.0).tolist():
            if site.claim(x, z, 3.0):
                add_tree(
                    site.builder, rng, (x, -level, z), float(rng.uniform(5, 14)),
                    sort=sorts[rng.integers(2)], detail=3, leaf=leaf,
                )  # fmt: skip
