"""What people keep in the country: animals, huts and barns."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.animals import animal
from sightline.scenes.parts.many import boxes, cards
from sightline.scenes.parts.pieces import moved
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.terrain import Height
from sightline.scenes.parts.wilds import level
from sightline.scenes.shapes import merge
from sightline.scenes.world import Material


def add_animals(site: Site, height: Height, count: int) -> None:
    """Let a few animals stand about."""
    rng = site.rng
    for x, z in site.scatter(count, 2.5, 40.0, 0.8).tolist():
        creature = animal(rng)
        if site.claim(x, z, max(creature.size[0], creature.size[2]) * 0.6, gap=1.0):
            at = (x, -level(height, x, z), z)
            with site.builder.thing(creature.kind):
                for shape, paint in moved(creature, at, float(rng.uniform(0, 360))):
                    site.builder.add(shape, paint)


def add_hut(site: Site, height: Height, x: float, z: float) -> None:
    """Put a hut or barn into the landscape."""
    rng = site.rng
    wide, deep, high = (float(v) for v in rng.uniform([4, 5, 2.4], [9, 12, 4.0]))
    if not site.claim(x, z, deep * 0.7, gap=3.0):
        return
    place, yaw = [x, -level(height, x, z) + 0.5, z], float(rng.uniform(0, 360))
    rise = wide * float(rng.uniform(0.3, 0.6))
    wood = Material("planks", (0.3, 0.2, 0.13), (0.18, 0.12, 0.08), 0.2, int(rng.integers(999)))
    slope = cards(
        [
            [-wide * 0.6, -high + rise * 0.15, -deep * 0.55],
            [wide * 0.6, -high + rise * 0.15, -deep * 0.55],
        ],
        [[wide * 0.6, -rise * 1.15, 0], [-wide * 0.6, -rise * 1.15, 0]],
        [[0, 0, deep * 1.1]],
    )
    steps = np.linspace(0.1, 0.9, 5)
    ends = boxes(
        [[0, -high - rise * k, 0] for k in steps],
        [[wide * (1 - k), rise * 0.2, deep] for k in steps],
    )
    holes = boxes(
        [[0, -1.4, -deep / 2], [wide * 0.3, -1.6, -deep / 2]], [[1.1, 2.0, 0.06], [0.8, 0.8, 0.06]]
    )
    with site.builder.thing("building"):
        body = merge([boxes([[0, -high / 2, 0]], [wide, high, deep]), ends])
        site.builder.add(body.moved(place, yaw=yaw), wood)
        site.builder.add(
            slope.moved(place, yaw=yaw), Material("tiles", (0.3, 0.14, 0.1), (0.2, 0.1, 0.07), 0.3)
        )
        site.builder.add(holes.moved(place, yaw=yaw), Material(tint=(0.05, 0.05, 0.05), gloss=0.5))
