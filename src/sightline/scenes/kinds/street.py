"""Streets seen from a car, from the pavement, from a window; squares, yards, alleys, car parks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.lighting import sample_weather
from sightline.scenes.mesh_arrays import box_array, rods
from sightline.scenes.meshes import merge
from sightline.scenes.outdoor.fences import markings
from sightline.scenes.outdoor.roads import (
    RoadSection,
    add_paint,
    add_surfaces,
    sample_bend,
    sample_section,
)
from sightline.scenes.outdoor.site import Site, view_from_angles
from sightline.scenes.outdoor.squares import alley, car_park, plaza, yard
from sightline.scenes.outdoor.street_sides import (
    add_backdrop,
    add_furniture,
    add_lamps,
    add_parked,
    add_side,
    add_street_trees,
    add_traffic,
    add_walkers,
    add_wires,
)
from sightline.scenes.outdoor.vegetation import add_branch
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import CameraView, Material, SceneKind, SceneWorld, WorldBuilder

#: Both sides of a street, and how often.
_LININGS = (
    ("town", "town"), ("city", "city"), ("villas", "villas"), ("town", "park"), ("works", "works"),
    ("field", "wood"), ("villas", "field"), ("park", "city"), ("wood", "wood"),
)  # fmt: skip
_SHARES = (0.27, 0.14, 0.17, 0.1, 0.06, 0.08, 0.06, 0.07, 0.05)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a street, square, yard, alley or car park and a camera in it."""
    layouts: tuple[Callable[[Random], tuple[SceneWorld, CameraView]], ...] = (
        _road, plaza, yard, alley, car_park,
    )  # fmt: skip
    return layouts[rng.choice(5, p=[0.66, 0.1, 0.08, 0.08, 0.08])](rng)


def _road(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Make a street that goes on to the horizon."""
    linings = _LININGS[rng.choice(len(_LININGS), p=_SHARES)]
    town = linings[0] in ("town", "city", "villas", "works")
    cut = sample_section(rng, town=town)
    if rng.random() < 0.5:
        linings = linings[::-1]
    place = rng.choice(4, p=[0.46, 0.17, 0.27, 0.1])
    view = (_driver, _sideways, _walker, _window)[place](rng, cut)
    site = Site(WorldBuilder(), rng, view, sample_weather(rng))
    gaps = _side_streets(rng) if town else []
    curved = sample_bend(rng) if place != 3 else None
    add_surfaces(site.builder, rng, cut, town=town)
    crossings = [g + float(s) * 6.5 for g in gaps for s in (-1, 1) if rng.random() < 0.6]
    add_paint(site.builder, rng, cut, crossings)
    for gap in gaps:
        _cross_road(site, cut, gap)
    busy = between(rng, 0.1, 0.8)
    add_traffic(site, cut, busy if place != 2 else busy * 0.8)
    if town:
        add_parked(site, cut, between(rng, 0.2, 0.95))
        add_lamps(site, cut)
        add_furniture(site, cut, int(rng.integers(3, 18)), crossings)
        add_walkers(site, cut, int(rng.integers(0, 5)))
    if rng.random() < 0.45:
        add_street_trees(site, cut)
    if rng.random() < 0.4:
        add_wires(site, cut)
    add_side(site, cut, -1, linings[0], gaps)
    add_side(site, cut, 1, linings[1], gaps)
    add_backdrop(site, 200.0, level=cut.curb)
    if place == 3:
        _window_frame(site)
    elif rng.random() < 0.06:
        _overhang(site)
    world, _ = site.finish()
    return (curved.apply(world) if curved else world), view


def _driver(rng: Random, cut: RoadSection) -> CameraView:
    """Look ahead or back from a car: level, 1.2 to 2 m high, in a lane."""
    lane = (
        (int(rng.integers(cut.lanes)) + 0.5) * cut.lane * float(rng.choice([-1, 1], p=[0.35, 0.65]))
    )
    eye = (lane + float(rng.normal(0, 0.2)), -between(rng, 1.2, 2.0), 0.0)
    yaw = float(rng.normal(0, 5)) + float(rng.choice([0.0, 180.0], p=[0.85, 0.15]))
    return view_from_angles(
        eye, yaw, float(rng.normal(0, 2)), roll=float(rng.normal(0, 0.8)), fov=between(rng, 48, 95)
    )


def _sideways(rng: Random, cut: RoadSection) -> CameraView:
    """Look out of a car to the side, as the other five cameras of a robot car do."""
    lane = 0.5 * cut.lane * float(rng.choice([-1, 1]))
    eye = (lane, -between(rng, 1.3, 1.8), 0.0)
    yaw = float(rng.choice([55, -55, 110, -110, 90, -90]) + rng.normal(0, 6))
    return view_from_angles(
        eye, yaw, float(rng.normal(0, 2.5)), roll=float(rng.normal(0, 1)), fov=between(rng, 55, 95)
    )


def _walker(rng: Random, cut: RoadSection) -> CameraView:
    """Stand on the pavement, hold the camera at chest or eye level, look anywhere along or across."""
    side = float(rng.choice([-1, 1]))
    low, high = cut.walk + 0.3, cut.walk + max(0.5, cut.pavement - 0.5)
    eye = (side * between(rng, low, high), -cut.curb - between(rng, 0.5, 1.8), 0.0)
    across = rng.random() < 0.4
    yaw = -side * between(rng, 35, 120) if across else float(rng.normal(0, 18) - side * 10)
    roll = float(rng.normal(0, 2.5))
    return view_from_angles(eye, yaw, float(rng.normal(-2, 7)), roll=roll, fov=between(rng, 38, 85))


def _window(rng: Random, cut: RoadSection) -> CameraView:
    """Look down into the street from an upper floor, just outside of the wall and its balconies."""
    side = float(rng.choice([-1, 1]))
    high = between(rng, 3.5, 20)
    eye = (side * (cut.front - 1.8), -high, 0.0)
    yaw = -side * between(rng, 8, 90)
    return view_from_angles(
        eye, yaw, between(rng, -42, -4), roll=float(rng.normal(0, 2)), fov=between(rng, 45, 85)
    )


def _side_streets(rng: Random) -> list[float]:
    """Choose places z where another street crosses."""
    gaps, z = [], between(rng, -20, 50)
    while z < 150:
        gaps.append(z)
        z += between(rng, 45, 110)
    return gaps if rng.random() < 0.75 else []


def _cross_road(site: Site, cut: RoadSection, z: float) -> None:
    """Lay the surface of a crossing street through the pavements at z."""
    for side in (-1, 1):
        middle = np.array([[side * (cut.road + 40.0), -cut.curb, z]])
        road = markings(middle, np.array([80.0, 7.0]), lift=0.008)
        site.builder.add(road, Material("asphalt", (0.16, 0.16, 0.16), (0.12, 0.12, 0.12), 2.0))


def _window_frame(site: Site) -> None:
    """Put a sill, a railing or nothing in front of a camera at a window."""
    rng, (x, y, z) = site.rng, site.view.eye
    style = rng.random()
    if style > 0.55:
        return
    ahead, right = site.axes
    middle = np.array([x, y + between(rng, 0.3, 0.55), z]) + ahead * 0.55
    with site.builder.instance("rail" if style < 0.35 else "window"):
        if style < 0.35:
            along = np.linspace(-1.4, 1.4, 22)[:, None] * right
            bars = rods(middle + along, middle + along + [0, 0.9, 0], 0.012, sectors=4)
            top = rods([middle - 1.5 * right], [middle + 1.5 * right], 0.028, sectors=6)
            site.builder.add(merge([bars, top]), Material(tint=(0.08, 0.08, 0.08), gloss=0.4))
        else:
            sill = box_array([middle + np.array([0, 0.05, 0])], [3.0, 0.05, 0.35], yaw=site.yaw)
            site.builder.add(sill, Material(tint=(0.6, 0.6, 0.58)))
            posts = np.stack([middle - 1.1 * right, middle + 1.1 * right])
            uprights = box_array(posts - [0, 0.7, 0], [0.07, 1.5, 0.07], yaw=site.yaw)
            site.builder.add(uprights, Material(tint=(0.65, 0.65, 0.62)))


def _overhang(site: Site) -> None:
    """Add a branch that hangs into the upper part of the picture."""
    rng, eye = site.rng, np.array(site.view.eye)
    ahead, right = site.axes
    side = float(rng.choice([-1, 1]))
    away = between(rng, 1.2, 2.5)
    start = eye + ahead * away + right * side * away * 0.9 - [0, 0.7 * away, 0]
    end = eye + ahead * away * 1.1 - right * side * away * 0.1 - [0, 0.3 * away, 0]
    add_branch(site.builder, rng, start, end, leafy=bool(rng.random() < 0.7))


KIND = SceneKind("street", build, weight=0.2, rank=3, default=True)
