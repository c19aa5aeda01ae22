"""Fill a street: building rows, gardens and fields beside it, traffic, furniture, pedestrians."""

from __future__ import annotations

import numpy as np

from sightline.scenes.meshes import merge
from sightline.scenes.outdoor.buildings import BUILDING_VARIANTS, building_materials, building_model
from sightline.scenes.outdoor.fences import add_fence, add_parasol, add_wired_poles, wire
from sightline.scenes.outdoor.roads import RoadSection
from sightline.scenes.outdoor.site import Site
from sightline.scenes.outdoor.terrain import horizon_hills
from sightline.scenes.outdoor.vegetation import add_hedge, crown_reach, foliage, sample_species
from sightline.scenes.outdoor.vehicles import add_cycle
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Material, as_color, scale_color

#: How far along the street anything is built, [m].
START, END = -70.0, 190.0


def add_side(site: Site, cut: RoadSection, side: int, sort: str, gaps: list[float]) -> None:
    """Fill one side of a street (−1 left, +1 right), leaving side streets at the z of `gaps` open."""
    if sort in ("town", "city", "villas", "works"):
        _houses(site, cut, side, sort, gaps)
    if sort in ("villas", "works", "park", "field"):
        _boundaries(site, cut, side, sort, gaps)
    if sort in ("park", "field", "villas", "wood"):
        _greenery(site, cut, side, sort)


def _houses(site: Site, cut: RoadSection, side: int, sort: str, gaps: list[float]) -> None:
    """Make buildings one after the other; touching in towns, apart elsewhere."""
    rng = site.rng
    sorts = {
        "town": ("terrace", "terrace", "terrace", "block"),
        "city": ("block", "office", "block", "terrace"),
        "villas": ("house",),
        "works": ("hall", "hall", "office"),
    }[sort]
    looks = [
        building_materials(rng, dark=site.weather.dark) for _ in range(int(rng.choice([1, 4, 7])))
    ]
    z = START + between(rng, 0, 8)
    while z < END:
        chosen = sorts[rng.integers(len(sorts))]
        variant = int(rng.integers(BUILDING_VARIANTS))
        _, width, depth, _ = building_model(chosen, variant, 2)
        gap = {"town": 0.0, "city": float(rng.choice([0.0, 4.0])), "villas": 5.0, "works": 10.0}[
            sort
        ]
        blocked = next((g for g in gaps if z - 5 < g < z + width + 5), None)
        if blocked is not None:
            z = blocked + 5.1
            continue
        middle = z + width / 2
        z += width + gap * between(rng, 0.5, 1.5)
        back = between(rng, 0, 4) if sort == "villas" else 0.0
        x = side * (cut.front + back)
        if not site.sees(x, middle, width / 2 + depth * 0.5):
            continue
        # The nearest corner decides how fine it is built, not the middle.
        near = float(np.clip(site.view.eye[2], middle - width / 2, middle + width / 2))
        detail = site.grade(x, near, "building")
        site.building(
            (x, -cut.curb, middle),
            90.0 * side,
            chosen,
            detail,
            variant=variant,
            paints=looks[rng.integers(len(looks))],
        )


def _boundaries(site: Site, cut: RoadSection, side: int, sort: str, gaps: list[float]) -> None:
    """Make a fence, wall or hedge along the inner edge of the pavement."""
    rng = site.rng
    x = side * (cut.walk + cut.pavement + 0.4)
    if cut.garden < 1.0 and sort != "field":
        return
    style = rng.random()
    leaf = foliage(rng, autumn=0.05)
    height = between(rng, 0.7, 1.9)
    z = -30.0
    while z < 90.0:
        end = z + between(rng, 6, 14)
        if not any(z - 4 < g < end + 4 for g in gaps) and site.sees(
            x, (z + end) / 2, (end - z) / 2
        ):
            a, b = (np.array([x, -cut.curb, k]) for k in (z, end - 0.8))
            if style < 0.4 and sort != "field":
                fine = site.detail(x, z) == 0 or site.detail(x, end) == 0
                add_hedge(site.builder, rng, a, b, height, leaf=leaf, fine=fine)
            elif site.distance(x, (z + end) / 2) < 60:
                sorts = {"field": ("rails", "mesh"), "works": ("mesh", "railing", "wall")}
                choice = sorts.get(sort, ("pickets", "railing", "boards", "wall"))
                kind = choice[int(style * 97) % len(choice)]
                add_fence(site.builder, rng, a, b, sort=kind)
        z = end


def _greenery(site: Site, cut: RoadSection, side: int, sort: str) -> None:
    """Add trees and bushes behind the boundary."""
    rng = site.rng
    count = {"park": 26, "field": 16, "villas": 12, "wood": 60}[sort]
    kinds = [sample_species(rng) for _ in range(3)]
    leaf = [foliage(rng) for _ in range(3)]
    start = cut.walk + cut.pavement + 1.5
    for _ in range(count):
        x = side * (start + float(rng.exponential(9.0 if sort != "field" else 30.0)))
        z = between(rng, -20, 120)
        pick = int(rng.integers(3))
        bush = rng.random() < 0.3
        height = between(rng, 0.6, 2.2) if bush else between(rng, 4, 14)
        if not site.claim(x, z, 1.2, gap=crown_reach("shrub" if bush else kinds[pick], height)):
            continue
        site.tree((x, -cut.curb, z), height, sort="shrub" if bush else kinds[pick], leaf=leaf[pick])


def add_backdrop(site: Site, reach: float, *, level: float = 0.0) -> None:
    """Add what closes the view: a skyline beyond `reach` [m], a line of trees, hills."""
    rng = site.rng
    if rng.random() < 0.6:
        tint = as_color(np.array([0.13, 0.19, 0.12]) * rng.uniform(0.6, 2.0, 3))
        hills = horizon_hills(rng, 580.0, between(rng, 10, 110))
        site.builder.add(
            hills.moved([0, -level, 0]), Material("noise", tint, scale_color(tint, 0.7), 60.0)
        )
    if rng.random() < 0.6:
        looks = [building_materials(rng, dark=site.weather.dark) for _ in range(4)]
        for x, z in site.scatter(int(rng.integers(6, 22)), reach, 420.0).tolist():
            _, width, _, _ = building_model(
                "office", variant := int(rng.integers(BUILDING_VARIANTS)), 2
            )
            sort = "office" if rng.random() < 0.5 else "block"
            if site.claim(x, z, width / 2):
                yaw = float(rng.choice([0, 90, 180, 270]))
                site.building(
                    (x, -level, z), yaw, sort, 3, variant=variant, paints=looks[rng.integers(4)]
                )
    if rng.random() < 0.7:
        leaf, sorts = foliage(rng), (sample_species(rng), sample_species(rng))
        for x, z in site.scatter(int(rng.integers(8, 30)), reach * 0.7, 260.0).tolist():
            if site.claim(x, z, 3.0):
                site.tree(
                    (x, -level, z),
                    between(rng, 5, 14),
                    sort=sorts[rng.integers(2)],
                    detail=3,
                    leaf=leaf,
                )


_SMALL = ("bin", "bench", "bollard", "hydrant", "box", "planter", "sign", "sign", "panel", "cone")


def add_parked(site: Site, cut: RoadSection, share: float) -> None:
    """Fill `share` of the parking strips, or of the curbside where there are none."""
    rng = site.rng
    x = cut.road - cut.parking / 2 if cut.parking else cut.road - 0.2
    level = 0.0
    for side in (-1, 1):
        if not cut.parking and rng.random() < 0.6:
            continue
        z = -30.0
        while z < 110.0:
            z += between(rng, 5.0, 7.0)
            if rng.random() < share and site.claim(side * x, z, 2.1, gap=0.6):
                away = rng.random() < 0.85
                yaw = (0.0 if away == (side > 0) else 180.0) + float(rng.normal(0, 2))
                at = (side * x + float(rng.normal(0, 0.1)), -level, z)
                sorts = None if z - abs(site.view.eye[2]) > 12 else _no_lorry(rng)
                site.car(at, yaw, detail=site.grade(at[0], z, "car"), sort=sorts)


def _no_lorry(rng: Random) -> str:
    """Sample a low vehicle: close to the camera a truck would hide everything."""
    return ("hatchback", "saloon", "estate", "suv", "van")[rng.integers(5)]


def add_traffic(site: Site, cut: RoadSection, busy: float) -> None:
    """Add cars to the lanes, sparser with distance; `busy` 0 to 1."""
    rng = site.rng
    for lane in range(-cut.lanes, cut.lanes):
        x = (lane + 0.5) * cut.lane
        for way in (-1, 1):
            z = between(rng, 5, 12)
            while z < 130:
                if rng.random() < busy and site.claim(x, way * z, 2.2, gap=2.5):
                    yaw = (0.0 if x > 0 else 180.0) + float(rng.normal(0, 1.5))
                    at = (x + float(rng.normal(0, 0.25)), 0.0, way * z)
                    lit = site.weather.dark or rng.random() < 0.15
                    if rng.random() < 0.08:
                        add_cycle(site.builder, rng, at, yaw, far=z > 15)
                    else:
                        sort = _no_lorry(rng) if z < 9 else None
                        site.car(at, yaw, detail=site.grade(x, way * z, "car"), lit=lit, sort=sort)
                z += between(rng, 7, 14) + z * 0.15


def add_lamps(site: Site, cut: RoadSection) -> None:
    """Add street lamps at even distances and record their positions for the night."""
    rng = site.rng
    step = between(rng, 16, 32)
    both = rng.random() < 0.5
    x = cut.road + between(rng, 0.4, 0.7)
    for side in (-1, 1) if both else (int(rng.choice([-1, 1])),):
        for z in np.arange(-30 + between(rng, 0, step), 130, step):
            if site.claim(side * x, float(z), 0.25):
                place = (side * x, -cut.curb, float(z))
                high = site.street_object("lamp_post", place, 90.0 * side)
                site.lamps.append((side * (x - 1.0), -high + 0.3, float(z)))


def add_furniture(site: Site, cut: RoadSection, count: int, crossings: list[float]) -> None:
    """Add street furniture along curb and walls, traffic lights and signs at crossings."""
    rng, builder = site.rng, site.builder
    for z in crossings:
        for side in (-1, 1):
            x = side * (cut.road + 0.5)
            if rng.random() < 0.7 and site.claim(x, z + side * 2.2, 0.3):
                sort = "traffic_light" if rng.random() < 0.6 else "sign"
                yaw = 0.0 if side > 0 else 180.0
                site.street_object(sort, (x, -cut.curb, z + side * 2.2), yaw)
    for _ in range(count):
        side = int(rng.choice([-1, 1]))
        inner = rng.random() < 0.6
        x = side * (cut.road + 0.6 if inner else cut.walk + cut.pavement - 0.5)
        z = between(rng, -6, 45)
        if site.claim(x, z, 0.5, gap=1.2):
            sort = str(rng.choice(_SMALL))
            yaw = (
                90.0 * side
                if sort in ("bench", "box", "bin")
                else float(rng.choice([0, 180]) + rng.normal(0, 12))
            )
            site.street_object(sort, (x, -cut.curb, z), yaw)
            if sort == "planter":
                site.tree((x, -cut.curb - 0.4, z), between(rng, 0.6, 2.0), sort="shrub", detail=1)
    for _ in range(int(rng.integers(0, 6))):
        side = int(rng.choice([-1, 1]))
        x, z = side * (cut.walk + cut.pavement - 0.8), between(rng, -4, 30)
        if site.claim(x, z, 0.7, gap=1.2):
            far = site.detail(x, z) > 0
            add_cycle(builder, rng, (x, -cut.curb, z), between(rng, 0, 360), far=far)
    if cut.pavement > 3.2 and rng.random() < 0.3:
        side = int(rng.choice([-1, 1]))
        for z in np.arange(between(rng, 2, 12), 32, 3.4):
            if site.claim(side * (cut.walk + cut.pavement - 1.3), float(z), 1.2, gap=1.5):
                add_parasol(
                    builder, rng, np.array([side * (cut.walk + cut.pavement - 1.3), -cut.curb, z])
                )


def add_street_trees(site: Site, cut: RoadSection) -> None:
    """Make a row of trees of one sort on one or both sides."""
    rng = site.rng
    sort, leaf = sample_species(rng), foliage(rng)
    step, height = between(rng, 7, 16), between(rng, 4, 13)
    x = cut.road + (cut.verge / 2 if cut.verge else 0.9)
    for side in (-1, 1) if rng.random() < 0.6 else (1,):
        for z in np.arange(-12 + between(rng, 0, step), 120, step):
            if site.claim(side * x, float(z), 0.5, gap=max(1.5, crown_reach(sort, height))):
                site.tree(
                    (side * x, -cut.curb, float(z)),
                    height * between(rng, 0.8, 1.2),
                    sort=sort,
                    leaf=leaf,
                )


def add_wires(site: Site, cut: RoadSection) -> None:
    """Add poles with wires along the street, or wires across it from house to house."""
    rng = site.rng
    if rng.random() < 0.5:
        side = int(rng.choice([-1, 1]))
        x = side * (cut.road + 0.5)
        z = np.arange(-20 + between(rng, 0, 15), 110, between(rng, 18, 30))
        feet = np.array([[x, -cut.curb, k] for k in z if site.free(x, float(k), 0.4)])
        if len(feet) > 1:
            add_wired_poles(site.builder, rng, feet)
        return
    high = between(rng, 5, 8)
    spans = []
    for at in np.arange(between(rng, 3, 15), 80, between(rng, 10, 25)):
        a, b = (np.array([s * cut.front, -high, at]) for s in (-1.0, 1.0))
        spans.append(wire(a, b, between(rng, 0.1, 0.6), 0.01))
    x = cut.lane / 2 * float(rng.choice([-1, 1]))
    for at in np.arange(-20, 90, 22.0):
        spans.append(wire(np.array([x, -high, at]), np.array([x, -high, at + 22]), 0.15, 0.01, 4))
    with site.builder.instance("wire"):
        site.builder.add(merge(spans), Material(tint=(0.02, 0.02, 0.02)))


def add_walkers(site: Site, cut: RoadSection, count: int) -> None:
    """Add people on the pavements, a few crossing the road."""
    rng = site.rng
    for _ in range(count):
        side = int(rng.choice([-1, 1]))
        crossing = rng.random() < 0.2
        x = side * between(rng, cut.walk + 0.3, cut.walk + cut.pavement - 0.2)
        z = float(np.exp(rng.uniform(np.log(2.5), np.log(30.0)))) * (
            1 if rng.random() < 0.85 else -1
        )
        if crossing and abs(z) > 6:
            site.person(between(rng, -cut.road, cut.road), z, float(rng.choice([90, -90])))
        else:
            yaw = float(rng.choice([0, 180]) + rng.normal(0, 25))
            site.person(x, z, yaw, foot=cut.curb)
