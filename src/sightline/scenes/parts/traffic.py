"""What moves and stands in a street: traffic, parked cars, bicycles, street furniture, people."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.cycles import add_cycle
from sightline.scenes.parts.enclosures import add_parasol, add_wired_poles, wire
from sightline.scenes.parts.plants import add_tree, crown_reach, foliage, sort_of_tree
from sightline.scenes.parts.roads import Section
from sightline.scenes.parts.site import Site
from sightline.scenes.parts.street_things import add_thing
from sightline.scenes.parts.vehicles import add_car
from sightline.scenes.shapes import merge
from sightline.scenes.world import Material

_SMALL = ("bin", "bench", "bollard", "hydrant", "box", "planter", "sign", "sign", "panel", "cone")


def add_parked(site: Site, cut: Section, share: float) -> None:
    """Fill `share` of the parking strips, or of the kerbside where there are none."""
    rng = site.rng
    x = cut.road - cut.parking / 2 if cut.parking else cut.road - 0.2
    level = 0.0
    for side in (-1, 1):
        if not cut.parking and rng.random() < 0.6:
            continue
        z = -30.0
        while z < 110.0:
            z += float(rng.uniform(5.0, 7.0))
            if rng.random() < share and site.claim(side * x, z, 2.1, gap=0.6):
                away = rng.random() < 0.85
                yaw = (0.0 if away == (side > 0) else 180.0) + float(rng.normal(0, 2))
                at = (side * x + float(rng.normal(0, 0.1)), -level, z)
                sorts = None if z - abs(site.view.eye[2]) > 12 else _no_lorry(rng)
                add_car(site.builder, rng, at, yaw, detail=site.grade(at[0], z, "car"), sort=sorts)


def _no_lorry(rng: np.random.Generator) -> str:
    """Close by a lorry would hide everything: choose something lower."""
    return ("hatchback", "saloon", "estate", "suv", "van")[rng.integers(5)]


def add_traffic(site: Site, cut: Section, busy: float) -> None:
    """Cars in the lanes, further apart the further away; `busy` 0 to 1."""
    rng = site.rng
    for lane in range(-cut.lanes, cut.lanes):
        x = (lane + 0.5) * cut.lane
        for way in (-1, 1):
            z = float(rng.uniform(5, 12))
            while z < 130:
                if rng.random() < busy and site.claim(x, way * z, 2.2, gap=2.5):
                    yaw = (0.0 if x > 0 else 180.0) + float(rng.normal(0, 1.5))
                    at = (x + float(rng.normal(0, 0.25)), 0.0, way * z)
                    lit = site.weather.dark or rng.random() < 0.15
                    if rng.random() < 0.08:
                        add_cycle(site.builder, rng, at, yaw, far=z > 15)
                    else:
                        sort = _no_lorry(rng) if z < 9 else None
                        add_car(
                            site.builder,
                            rng,
                            at,
                            yaw,
                            detail=site.grade(x, way * z, "car"),
                            lit=lit,
                            sort=sort,
                        )
                z += float(rng.uniform(7, 14)) + z * 0.15


def add_lamps(site: Site, cut: Section) -> None:
    """Street lamps at even distances on one or both sides; their places are kept for the night."""
    rng = site.rng
    step = float(rng.uniform(16, 32))
    both = rng.random() < 0.5
    x = cut.road + float(rng.uniform(0.4, 0.7))
    for side in (-1, 1) if both else (int(rng.choice([-1, 1])),):
        for z in np.arange(-30 + float(rng.uniform(0, step)), 130, step):
            if site.claim(side * x, float(z), 0.25):
                place = (side * x, -cut.kerb, float(z))
                high = add_thing(
                    site.builder, rng, "lamp_post", place, 90.0 * side, dark=site.weather.dark
                )
                site.lamps.append((side * (x - 1.0), -high + 0.3, float(z)))


def add_furniture(site: Site, cut: Section, count: int, crossings: list[float]) -> None:
    """Small things along the kerb and the walls, traffic lights and signs at crossings."""
    rng, builder = site.rng, site.builder
    dark = site.weather.dark
    for z in crossings:
        for side in (-1, 1):
            x = side * (cut.road + 0.5)
            if rng.random() < 0.7 and site.claim(x, z + side * 2.2, 0.3):
                sort = "traffic_light" if rng.random() < 0.6 else "sign"
                yaw = 0.0 if side > 0 else 180.0
                add_thing(builder, rng, sort, (x, -cut.kerb, z + side * 2.2), yaw, dark=dark)
    for _ in range(count):
        side = int(rng.choice([-1, 1]))
        inner = rng.random() < 0.6
        x = side * (cut.road + 0.6 if inner else cut.walk + cut.pavement - 0.5)
        z = float(rng.uniform(-6, 45))
        if site.claim(x, z, 0.5, gap=1.2):
            sort = str(rng.choice(_SMALL))
            yaw = (
                90.0 * side
                if sort in ("bench", "box", "bin")
                else float(rng.choice([0, 180]) + rng.normal(0, 12))
            )
            add_thing(builder, rng, sort, (x, -cut.kerb, z), yaw, dark=dark)
            if sort == "planter":
                add_tree(
                    builder,
                    rng,
                    (x, -cut.kerb - 0.4, z),
                    float(rng.uniform(0.6, 2.0)),
                    sort="shrub",
                    detail=1,
                )
    for _ in range(int(rng.integers(0, 6))):
        side = int(rng.choice([-1, 1]))
        x, z = side * (cut.walk + cut.pavement - 0.8), float(rng.uniform(-4, 30))
        if site.claim(x, z, 0.7, gap=1.2):
            far = site.detail(x, z) > 0
            add_cycle(builder, rng, (x, -cut.kerb, z), float(rng.uniform(0, 360)), far=far)
    if cut.pavement > 3.2 and rng.random() < 0.3:
        side = int(rng.choice([-1, 1]))
        for z in np.arange(float(rng.uniform(2, 12)), 32, 3.4):
            if site.claim(side * (cut.walk + cut.pavement - 1.3), float(z), 1.2, gap=1.5):
                add_parasol(
                    builder, rng, np.array([side * (cut.walk + cut.pavement - 1.3), -cut.kerb, z])
                )


def add_street_trees(site: Site, cut: Section) -> None:
    """Make a row of trees of one sort on one or both sides."""
    rng = site.rng
    sort, leaf = sort_of_tree(rng), foliage(rng)
    step, height = float(rng.uniform(7, 16)), float(rng.uniform(4, 13))
    x = cut.road + (cut.verge / 2 if cut.verge else 0.9)
    for side in (-1, 1) if rng.random() < 0.6 else (1,):
        for z in np.arange(-12 + float(rng.uniform(0, step)), 120, step):
            if site.claim(side * x, float(z), 0.5, gap=max(1.5, crown_reach(sort, height))):
                add_tree(
                    site.builder,
                    rng,
                    (side * x, -cut.kerb, float(z)),
                    height * float(rng.uniform(0.8, 1.2)),
                    sort=sort,
                    detail=site.grade(side * x, float(z)),
                    leaf=leaf,
                )


def add_wires(site: Site, cut: Section) -> None:
    """Poles with wires along the street, or wires across it from house to house."""
    rng = site.rng
    if rng.random() < 0.5:
        side = int(rng.choice([-1, 1]))
        x = side * (cut.road + 0.5)
        z = np.arange(-20 + float(rng.uniform(0, 15)), 110, float(rng.uniform(18, 30)))
        feet = np.array([[x, -cut.kerb, k] for k in z if site.free(x, float(k), 0.4)])
        if len(feet) > 1:
            add_wired_poles(site.builder, rng, feet)
        return
    high = float(rng.uniform(5, 8))
    spans = []
    for at in np.arange(float(rng.uniform(3, 15)), 80, float(rng.uniform(10, 25))):
        a, b = (np.array([s * cut.front, -high, at]) for s in (-1.0, 1.0))
        spans.append(wire(a, b, float(rng.uniform(0.1, 0.6)), 0.01))
    x = cut.lane / 2 * float(rng.choice([-1, 1]))
    for at in np.arange(-20, 90, 22.0):
        spans.append(wire(np.array([x, -high, at]), np.array([x, -high, at + 22]), 0.15, 0.01, 4))
    with site.builder.thing("wire"):
        site.builder.add(merge(spans), Material(tint=(0.02, 0.02, 0.02)))


def add_walkers(site: Site, cut: Section, count: int) -> None:
    """People on the pavements, a few crossing the road."""
    rng = site.rng
    for _ in range(count):
        side = int(rng.choice([-1, 1]))
        crossing = rng.random() < 0.2
        x = side * float(rng.uniform(cut.walk + 0.3, cut.walk + cut.pavement - 0.2))
        z = float(np.exp(rng.uniform(np.log(2.5), np.log(30.0)))) * (
            1 if rng.random() < 0.85 else -1
        )
        if crossing and abs(z) > 6:
            site.person(float(rng.uniform(-cut.road, cut.road)), z, float(rng.choice([90, -90])))
        else:
            yaw = float(rng.choice([0, 180]) + rng.normal(0, 25))
            site.person(x, z, yaw, foot=cut.kerb)
