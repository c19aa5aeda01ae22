"""Aerial views: towns, fields, woods, coasts and factories from 10 to 150 m, nadir or oblique."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.lighting import sample_weather
from sightline.scenes.outdoor import terrain
from sightline.scenes.outdoor.aerial_parts import (
    add_roads,
    add_row,
    add_small_objects,
    add_stack,
    add_trees,
    coast,
    ground_in_view,
    near_line,
)
from sightline.scenes.outdoor.buildings import building_materials
from sightline.scenes.outdoor.fences import markings
from sightline.scenes.outdoor.roads import grass_ground
from sightline.scenes.outdoor.site import Site, view_from_angles
from sightline.scenes.outdoor.vegetation import add_hedge, foliage
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import (
    CameraView,
    Material,
    Pattern,
    SceneKind,
    SceneWorld,
    WorldBuilder,
)

_CROPS: tuple[Pattern, ...] = ("stripes", "grass", "noise")


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a country and a camera above it."""
    return build_below(rng, _sample_view(rng))


def build_below(rng: Random, view: CameraView) -> tuple[SceneWorld, CameraView]:
    """Make a country below a given camera."""
    site = Site(WorldBuilder(), rng, view, sample_weather(rng, night=0.06, fog=0.35))
    lands: tuple[Callable[[Site], None], ...] = (_town, _fields, coast, _works)
    lands[rng.choice(4, p=[0.45, 0.27, 0.16, 0.12])](site)
    return site.finish()


def _sample_view(rng: Random) -> CameraView:
    """Sample a view above the origin; about one in three looks straight down."""
    high, pitch = float(np.exp(rng.uniform(np.log(10), np.log(150)))), between(rng, -65, -8)
    if rng.random() < 0.28:
        # Straight down from very high everything is equally far: those pictures teach little.
        high, pitch = (float(np.exp(rng.uniform(np.log(13), np.log(60)))), between(rng, -89, -76))
    roll = float(rng.normal(0, 3))
    fov = between(rng, 40, 84)
    return view_from_angles((0.0, -high, 0.0), between(rng, -180, 180), pitch, roll=roll, fov=fov)


def _town(site: Site) -> None:
    """Build a town: blocks of houses between streets, gardens and trees inside."""
    rng = site.rng
    site.builder.add(terrain.plane(0.0, 5000.0), grass_ground(rng))
    pitch_x, pitch_z = (float(v) for v in rng.uniform(38, 85, 2))
    wide = between(rng, 6, 10)
    # A crossing near what is looked at, so that a low flight does not show bare lawn.
    at_x, at_z, _ = ground_in_view(site)
    xs = np.arange(-3.0, 4.0) * pitch_x + at_x + float(rng.normal(0, 12))
    zs = np.arange(-3.0, 4.0) * pitch_z + at_z + float(rng.normal(0, 12))
    add_roads(site, xs, zs, wide)
    sorts = (
        ("house",),
        ("house", "terrace"),
        ("terrace", "block"),
        ("block", "office", "terrace"),
    )[rng.integers(4)]
    looks = [building_materials(rng, dark=site.weather.dark) for _ in range(9)]
    setback = wide / 2 + 3.0 + between(rng, 0, 5)
    for z, sign in ((z, s) for z in zs for s in (-1, 1)):
        for x in xs[:-1]:
            add_row(
                site,
                sorts,
                looks,
                (x + setback, x + pitch_x - setback),
                z + sign * setback,
                0.0 if sign > 0 else 180.0,
            )
    add_small_objects(site)
    add_trees(
        site,
        int(rng.integers(30, 120)),
        lambda x, z: near_line(x, xs, wide / 2 + 1) or near_line(z, zs, wide / 2 + 1),
        (3, 10),
    )
    for x, z in ((x, z) for x in xs for z in zs):
        if site.weather.dark and site.sees(x, z, 3):
            high = site.street_object(
                "lamp_post", (float(x) + wide / 2 + 1, 0.0, float(z)), 0.0, dark=True
            )
            site.lamps.append((float(x), -high, float(z)))


def _fields(site: Site) -> None:
    """Build a patchwork of fields with hedges, a road, farms and woods."""
    rng = site.rng
    site.builder.add(terrain.plane(0.0, 5000.0), grass_ground(rng))
    xs = np.cumsum(rng.uniform(25, 80, 9)) - 230
    zs = np.cumsum(rng.uniform(25, 80, 9)) - 230
    tints = (
        (0.16, 0.26, 0.07), (0.4, 0.33, 0.12), (0.26, 0.18, 0.11), (0.2, 0.3, 0.1),
        (0.5, 0.45, 0.1), (0.3, 0.3, 0.14),
    )  # fmt: skip
    leaf = foliage(rng, autumn=0.1)
    for i, j in np.ndindex(8, 8):
        x0, x1, z0, z1 = xs[i], xs[i + 1], zs[j], zs[j + 1]
        middle = (float(x0 + x1) / 2, float(z0 + z1) / 2)
        if not site.sees(*middle, 50):
            continue
        tint = tints[rng.integers(len(tints))]
        pattern = _CROPS[rng.integers(3)]
        dark = (tint[0] * 0.75, tint[1] * 0.75, tint[2] * 0.75)
        turned = rng.random() < 0.5
        size = np.array([z1 - z0, x1 - x0] if turned else [x1 - x0, z1 - z0])
        field = markings(
            np.array([[middle[0], 0.0, middle[1]]]), size, 90.0 if turned else 0.0, lift=0.006
        )
        site.builder.add(
            field, Material(pattern, tint, dark, between(rng, 0.8, 3.0), int(rng.integers(999)))
        )
        if rng.random() < 0.5:
            a, b = np.array([x0, 0.0, z0 + 4]), np.array([x0, 0.0, z1 - 4])
            add_hedge(site.builder, rng, a, b, between(rng, 1, 2.5), leaf=leaf, fine=False)
    at_x, at_z, reach = ground_in_view(site)
    # The road runs beside what is looked at.
    road = float(xs[np.argmin(np.abs(xs - at_x - rng.normal(0, 20)))])
    add_roads(site, np.array([road]), np.array([900.0]), between(rng, 4, 8))
    add_small_objects(site)
    for x, z in rng.normal([at_x, at_z], reach * 0.4, (int(rng.integers(1, 7)), 2)).tolist():
        if abs(x - road) > 14 and site.claim(x, z, 9.0, gap=8.0):
            sort = str(rng.choice(["house", "house", "hall"]))
            yaw = float(rng.choice([0, 90, 180, 270]) + rng.normal(0, 8))
            site.building((x, 0.0, z), yaw, sort, max(2, site.grade(x, z, "building")))
    add_trees(site, int(rng.integers(30, 110)), lambda x, _z: abs(x - road) < 6, (3, 14))


def _works(site: Site) -> None:
    """Build halls on paved ground with rows of cars, trucks and containers."""
    rng = site.rng
    tone = between(rng, 0.2, 0.4)
    site.builder.add(
        terrain.plane(0.0, 5000.0),
        Material("asphalt", (tone, tone, tone * 0.97), (tone * 0.75,) * 3, 4.0),
    )
    xs = np.array([-70.0, 20.0, 110.0]) + between(rng, -20, 20)
    add_roads(site, xs, np.array([-60.0, 60.0]), 8.0)
    x0, z0, reach = ground_in_view(site)
    for x, z in rng.normal([x0, z0], reach * 0.5, (14, 2)).tolist():
        at = (x, z)
        if (
            not near_line(at[0], xs, 22)
            and site.distance(*at) > 22
            and site.claim(*at, 17.0, gap=12.0)
        ):
            site.building(
                (at[0], 0.0, at[1]),
                float(rng.choice([0, 90])),
                "hall",
                max(2, site.grade(*at, "building")),
            )
    for x, z in rng.normal([x0, z0], reach * 0.45, (10, 2)).tolist():
        if site.claim(x, z, 8.0, gap=6.0):
            add_stack(site, x, z)
    add_trees(site, 30, lambda x, _z: near_line(x, xs, 6), (3, 9))


KIND = SceneKind("aerial", build, weight=0.05, rank=5, default=True)
