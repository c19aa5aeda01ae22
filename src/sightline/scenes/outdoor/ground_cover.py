"""Scatter trees, grass, flowers, stones, logs and cacti over a landscape."""

from __future__ import annotations

import numpy as np

from sightline.scenes.mesh_arrays import leaf_quads, repeat_upright, rods
from sightline.scenes.meshes import cylinder, merge
from sightline.scenes.outdoor.site import Site
from sightline.scenes.outdoor.terrain import ROCK_VARIANTS, Height, rock_shape
from sightline.scenes.outdoor.vegetation import (
    add_branch,
    add_flowers,
    bark,
    crown_reach,
    foliage,
    grass,
)
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Material


def ground_level(height: Height, x: float, z: float) -> float:
    """Return the terrain height at one point, [m]."""
    return float(height(np.array([x]), np.array([z]))[0])


def add_wood(
    site: Site,
    height: Height,
    count: int,
    reach: tuple[float, float],
    species: tuple[str, ...],
    tall: tuple[float, float],
    *,
    above: float = -1e9,
    white: bool = False,
) -> None:
    """Scatter trees over a landscape.

    Args:
        site: scene under construction.
        height: terrain height.
        count: number of trees tried.
        reach: nearest and farthest distance from the camera, [m].
        species: tree species to choose from.
        tall: smallest and largest tree height, [m].
        above: trees grow only where the terrain is higher, [m].
        white: cover leaves with snow.
    """
    rng = site.rng
    looks = [_snowy(rng) if white else foliage(rng) for _ in range(3)]
    woods = [bark(rng) for _ in range(2)]
    greens = [_snowy(rng) if white else foliage(rng, autumn=0.0) for _ in range(2)]
    places = site.scatter(count, *reach)
    grounds = height(places[:, 0], places[:, 1]).tolist()
    for (x, z), ground in zip(places.tolist(), grounds, strict=True):
        sort = species[rng.integers(len(species))]
        high = between(rng, *tall) * (0.2 if sort == "shrub" else 1.0)
        room = between(rng, 0.5, 1.3)
        if ground < above or not site.claim(x, z, room, gap=crown_reach(sort, high)):
            continue
        palette = greens if sort in ("conifer", "palm") else looks
        site.tree(
            (x, -ground + 0.05, z),
            high,
            sort=sort,
            leaf=palette[rng.integers(len(palette))],
            wood=woods[rng.integers(2)],
        )


def _snowy(rng: Random) -> Material:
    """Choose needles under snow."""
    share = between(rng, 0.25, 0.85)
    r, g, b = (float(c * (1 - share) + 0.85 * share) for c in (0.08, 0.15, 0.08))
    return Material("leaves", (r, g, b), (r * 0.6, g * 0.65, b * 0.65), 0.3, int(rng.integers(999)))


def rock_material(rng: Random, *, warm: bool = False) -> Material:
    """Choose the look of rock."""
    tone = between(rng, 0.15, 0.5)
    tint = (tone * 1.15, tone * 0.85, tone * 0.6) if warm else (tone, tone * 0.97, tone * 0.92)
    dark = (tint[0] * 0.5, tint[1] * 0.5, tint[2] * 0.5)
    return Material("noise", tint, dark, between(rng, 0.3, 1.5), int(rng.integers(1 << 16)))


def add_stones(
    site: Site, height: Height, count: int, reach: tuple[float, float], paint: Material
) -> None:
    """Scatter boulders at distances in `reach` [m], larger with distance so that all are visible."""
    rng = site.rng
    places = site.scatter(count, *reach)
    grounds = height(places[:, 0], places[:, 1]).tolist()
    shares = np.exp(rng.uniform(np.log(0.02), np.log(0.16), count)).tolist()
    for (x, z), ground, share in zip(places.tolist(), grounds, shares, strict=True):
        away = site.distance(x, z)
        size = min(max(away * share, 0.05), 6.0)
        if not site.claim(x, z, size, gap=0.7):
            continue
        scale = size * rng.uniform(0.7, 1.3, 3) * [1, 0.75, 1]
        fine = 2 if size / away > 0.06 else 1
        shape = rock_shape(int(rng.integers(ROCK_VARIANTS)), fine)
        place = [x, -ground - 0.25 * float(scale[1]), z]
        with site.builder.instance("rock"):
            site.builder.add(shape.moved(place, yaw=between(rng, 0, 360), scale=scale), paint)


def add_pebbles(site: Site, height: Height, count: int, paint: Material) -> None:
    """Scatter pebbles over the ground close by, as part of the background."""
    rng = site.rng
    at = site.scatter(count, 0.8, 14.0)
    size = rng.uniform(0.01, 0.05, count) * (1 + np.hypot(*(at - at.mean(0)).T) * 0.1)
    y = -height(at[:, 0], at[:, 1])
    places = np.stack([at[:, 0], y, at[:, 1]], -1)
    pebble = rock_shape(int(rng.integers(ROCK_VARIANTS)), 0)
    site.builder.add(
        repeat_upright(pebble, places, yaw=rng.uniform(0, 360, count), scale=size), paint
    )


def add_meadow(
    site: Site, height: Height, count: int, tall: float, *, near: float = 0.8, far: float = 14.0,
    above: float = -1e9,
) -> None:  # fmt: skip
    """Grow tufts of grass close by, as part of the ground."""
    rng = site.rng
    at = site.scatter(count, near, far)
    y = height(at[:, 0], at[:, 1])
    places = np.stack([at[:, 0], -y, at[:, 1]], -1)[y > above]
    if len(places):
        site.builder.add(grass(rng, places, tall, blades=4), foliage(rng, autumn=0.25))


def add_bed(
    site: Site, height: Height, x: float, z: float, count: int, tall: float, spread: float
) -> None:
    """Grow a patch of flowers around (x, z)."""
    rng = site.rng
    at = rng.normal([x, z], spread, (count, 2))
    far = np.hypot(at[:, 0] - site.view.eye[0], at[:, 1] - site.view.eye[2]) > 0.35
    at = at[far]
    if len(at):
        places = np.stack([at[:, 0], -height(at[:, 0], at[:, 1]), at[:, 1]], -1)
        add_flowers(site.builder, rng, places, tall, fine=site.distance(x, z) < 4)


def add_log(site: Site, height: Height, x: float, z: float) -> None:
    """Lay a fallen trunk, or leave a stump."""
    rng = site.rng
    long, thick = between(rng, 1.0, 5.0), between(rng, 0.08, 0.3)
    if not site.claim(x, z, long / 2, gap=0.8):
        return
    ground = ground_level(height, x, z)
    with site.builder.instance("log"):
        if rng.random() < 0.3:
            stump = cylinder(
                [x, -ground + 0.05, z], thick * 1.4, long * 0.15 + 0.1, top=thick * 1.1, sectors=9
            )
            site.builder.add(stump, bark(rng))
            return
        turn = rng.uniform(0, 2 * np.pi)
        half = np.array([np.sin(turn), rng.uniform(-0.05, 0.05), np.cos(turn)]) * long / 2
        middle = np.array([x, -ground - thick * 0.8, z])
        t = np.array([-0.4, 0.1, 0.5])[:, None]
        stubs = middle + half * 2 * t * 0.8
        up = rng.normal(size=(3, 3)) * 0.3 - [0, 0.4, 0]
        trunk = rods([middle - half], [middle + half], thick, thick * 0.7, sectors=9)
        site.builder.add(
            merge([trunk, rods(stubs, stubs + up, thick * 0.25, thick * 0.1)]), bark(rng)
        )


def add_cactus(site: Site, height: Height, x: float, z: float) -> None:
    """Plant a column cactus with arms."""
    rng = site.rng
    if not site.claim(x, z, 0.8, gap=1.0):
        return
    high = between(rng, 1.0, 4.5)
    ground = ground_level(height, x, z)
    foot = np.array([x, -ground, z])
    thick = high * 0.07
    lines = [(foot, foot - [0, high, 0])]
    for _ in range(int(rng.integers(0, 4))):
        turn, share = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 0.7)
        root = foot - [0, high * share, 0]
        out = root + np.array([np.sin(turn), -0.1, np.cos(turn)]) * high * 0.2
        lines += [(root, out), (out, out - [0, high * rng.uniform(0.15, 0.4), 0])]
    arms = rods([a for a, _ in lines], [b for _, b in lines], thick, thick * 0.85, sectors=9)
    green = Material("stripes", (0.14, 0.24, 0.1), (0.08, 0.15, 0.06), thick * 0.6)
    with site.builder.instance("cactus"):
        site.builder.add(arms, green)


def add_foreground(site: Site) -> None:
    """Add a branch or tall stalks close to the camera at one edge of the picture."""
    rng, eye = site.rng, np.array(site.view.eye)
    ahead, right = site.axes
    side = float(rng.choice([-1, 1]))
    wide = float(np.tan(np.radians(site.view.fov / 2)))
    away = between(rng, 0.6, 1.8)
    edge = eye + ahead * away + right * side * away * wide * 1.1
    if rng.random() < 0.6:
        start = edge - [0, between(rng, -0.2, 0.7) * away * wide, 0]
        reach = between(rng, 0.5, 1.4) * away * wide
        end = start - right * side * reach + rng.normal(size=3) * [0.1, 0.25, 0.1] * away
        add_branch(site.builder, rng, start, end, leafy=bool(rng.random() < 0.7))
        return
    count = int(rng.integers(4, 14))
    feet = edge + right * rng.uniform(-0.3, 0.25, (count, 1)) * away + [0, away, 0]
    tops = (
        feet
        - np.array([0, 1, 0]) * rng.uniform(0.6, 1.7, (count, 1)) * away
        + rng.normal(size=(count, 3)) * 0.12 * away
    )
    stalks = rods(feet, tops, 0.006 * away, 0.002 * away, sectors=4)
    way = (tops - feet) * 0.25 + rng.normal(size=(count, 3)) * 0.08 * away
    ears = leaf_quads(feet + (tops - feet) * 0.6, way, 0.03 * away, rng)
    with site.builder.instance("reed"):
        site.builder.add(merge([stalks, ears]), foliage(rng, autumn=0.4))
        site.builder.add(
            leaf_quads(tops, (tops - feet) * 0.12, 0.05 * away, rng), foliage(rng, autumn=0.6)
        )
