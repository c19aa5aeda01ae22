"""Where cars and bins are kept: alleys between high walls, car parks."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.buildings import VARIANTS, add_building, building
from sightline.scenes.parts.court_things import (
    add_line,
    add_pipes,
    paving,
)
from sightline.scenes.parts.cycles import add_cycle
from sightline.scenes.parts.enclosures import markings
from sightline.scenes.parts.frontage import add_backdrop
from sightline.scenes.parts.plants import (
    add_tree,
)
from sightline.scenes.parts.site import stand
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.parts.terrain import plane
from sightline.scenes.parts.vehicles import add_car
from sightline.scenes.shapes import merge
from sightline.scenes.world import Material, View, World


def alley(rng: np.random.Generator) -> tuple[World, View]:
    """Make a lane between high walls: pipes, boxes, bins, washing overhead, steps, doors."""
    half = float(rng.uniform(1.1, 2.6))
    site = stand(
        rng, (float(rng.uniform(-half * 0.4, half * 0.4)), 0.0), towards=(0.0, 20.0), spread=9
    )
    site.builder.add(plane(0.0), paving(rng))
    builder = site.builder
    for side in (-1, 1):
        z = -8.0
        while z < 45:
            variant = int(rng.integers(VARIANTS))
            _, width, _, _ = building("terrace", variant, 2)
            detail = 0 if z < 14 else 1
            jut = float(rng.choice([0.0, 0.3]))
            add_building(
                builder, rng, (side * (half + jut), 0.0, z + width / 2), 90.0 * side, sort="terrace",
                variant=variant, detail=detail, dark=site.weather.dark,
            )  # fmt: skip
            z += width
        add_pipes(site, side * (half - 0.07))
        for z in rng.uniform(2.0, 22.0, int(rng.integers(2, 7))):
            x = side * (half - 0.45)
            if site.claim(x, float(z), 0.5, gap=1.0):
                sort = str(rng.choice(["bin", "box", "planter", "cycle"]))
                if sort == "cycle":
                    add_cycle(builder, rng, (x, 0.0, float(z)), 0.0)
                else:
                    add_thing(
                        builder, rng, sort, (x, 0.0, float(z)), 90.0 * side, dark=site.weather.dark
                    )
    high = rng.uniform(3.5, 7.0, 4)
    for z, y in zip(rng.uniform(3, 25, 4), high, strict=True):
        add_line(site, np.array([-half, -y, z]), np.array([half, -y, z]))
    if rng.random() < 0.6:
        site.person(
            float(rng.uniform(-0.5, 0.5)), float(rng.uniform(4, 18)), float(rng.choice([0, 180]))
        )
    site.lamps += [(0.0, -3.5, float(z)) for z in (6, 18, 30)]
    return site.finish()


def car_park(rng: np.random.Generator) -> tuple[World, View]:
    """Make rows of parked cars with painted bays, lamps and trees between, something big behind."""
    eye = (float(rng.uniform(-3, 3)), 0.0)
    site = stand(rng, eye, towards=(float(rng.uniform(-15, 15)), 20.0), spread=20)
    tone = float(rng.uniform(0.1, 0.3))
    site.builder.add(plane(0.0), Material("asphalt", (tone, tone, tone), (tone * 0.7,) * 3, 2.0))
    bay, long = float(rng.uniform(2.4, 2.8)), 5.0
    aisle = float(rng.uniform(5.5, 7.0))
    full = float(rng.uniform(0.25, 0.95))
    lines = []
    for row in range(-2, 5):
        z0 = aisle / 2 + row * (2 * long + aisle)
        for part in (0, 1):
            z = z0 + (part + 0.5) * long
            x = np.arange(-14, 15) * bay + float(rng.uniform(-0.5, 0.5))
            lines.append(
                markings(np.stack([x - bay / 2, 0 * x, 0 * x + z], -1), np.array([0.1, long]))
            )
            for spot in x:
                if (
                    rng.random() < full
                    and site.distance(float(spot), z) < 55
                    and site.claim(float(spot), z, 1.25, gap=0.7)
                ):
                    yaw = float(rng.choice([0, 180]) + rng.normal(0, 2))
                    sort = (
                        None
                        if rng.random() < 0.1
                        else str(rng.choice(["hatchback", "saloon", "estate", "suv", "van"]))
                    )
                    detail = site.grade(float(spot), z, "car")
                    add_car(site.builder, rng, (float(spot), 0.0, z), yaw, detail=detail, sort=sort)
    site.builder.add(merge(lines), Material(tint=(0.65, 0.65, 0.62)))
    for x, z in site.scatter(int(rng.integers(2, 9)), 4, 60):
        if site.claim(float(x), float(z), 0.4):
            if rng.random() < 0.5:
                high = add_thing(
                    site.builder,
                    rng,
                    "lamp_post",
                    (float(x), 0, float(z)),
                    0.0,
                    dark=site.weather.dark,
                )
                site.lamps.append((float(x), -high, float(z)))
            else:
                add_tree(
                    site.builder,
                    rng,
                    (float(x), 0, float(z)),
                    float(rng.uniform(3, 8)),
                    detail=max(1, site.detail(float(x), float(z))),
                )
    for far in np.arange(-90, 91, 36.0):
        variant = int(rng.integers(VARIANTS))
        sort = str(rng.choice(["hall", "office", "block"]))
        add_building(
            site.builder,
            rng,
            (float(far), 0.0, 95.0),
            0.0,
            sort=sort,
            variant=variant,
            detail=2,
            dark=site.weather.dark,
        )
    for x, z in site.scatter(int(rng.integers(0, 4)), 3, 20):
        site.person(float(x), float(z), float(rng.uniform(0, 360)))
    add_backdrop(site, 130.0)
    return site.finish()
