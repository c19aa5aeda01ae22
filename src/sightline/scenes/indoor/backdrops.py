"""Build backdrops for single objects: open ground under the sky, or a plain studio."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes import materials
from sightline.scenes.layout import PropLayout
from sightline.scenes.lighting import indoor_light, lamp_color, sky_outside
from sightline.scenes.materials import color, gray, seed, shaded
from sightline.scenes.mesh_arrays import leaf_quads as leaf_cards
from sightline.scenes.mesh_arrays import lump, repeat_shape
from sightline.scenes.meshes import TriangleMesh, box, boxes, quad
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Light, Material, Pattern, Sky


def outdoor_backdrop(layout: PropLayout, rng: Random) -> tuple[Light, Sky]:
    """Build open ground with a hedge, wall, fence, trees or houses at some distance."""
    pattern: Pattern = pick(rng, ("grass", "grass", "asphalt", "noise", "tiles", "brick", "planks"))
    green = pattern == "grass"
    hue = (0.15, 0.35) if green else (0.03, 0.15)
    tint = color(rng, hue=hue, saturation=(0.1, 0.6), value=(0.25, 0.8))
    soil = Material(
        pattern, tint, shaded(tint, between(rng, 0.4, 0.8)), between(rng, 0.1, 0.8), seed(rng)
    )
    layout.builder.add(quad([-300, 0, -300], [600, 0, 0], [0, 0, 600]), soil)
    for _ in range(randint(rng, 1, 3)):
        _add_boundary(layout, rng, between(rng, 3, 25), between(rng, 0, 2 * math.pi))
    for _ in range(randint(rng, 0, 9)):
        angle, away = between(rng, 0, 2 * math.pi), between(rng, 6, 50)
        _add_bush(layout, rng, away * math.cos(angle), away * math.sin(angle))
    if green:
        layout.builder.add(
            _grass_tufts(rng),
            Material("leaves", shaded(tint, 0.9), shaded(tint, 0.5), 0.1, seed(rng)),
        )
    rise, turn = math.radians(between(rng, 10, 75)), between(rng, 0, 2 * math.pi)
    to_sun = np.array(
        [math.cos(turn) * math.cos(rise), -math.sin(rise), math.sin(turn) * math.cos(rise)]
    )
    blue = between(rng, 0.25, 0.6)
    dull = chance(rng, 0.35)
    light = Light(
        to_sun=None if dull else to_sun,
        sun=lamp_color(rng, between(rng, 0.6, 1.6)),
        above=(blue * 0.85, blue * 0.93, blue),
        below=shaded(tint, between(rng, 0.2, 0.5)),
        fog=between(rng, 0.0, 0.01) if chance(rng, 0.3) else 0.0,
    )
    return light, sky_outside(rng)


def _grass_tufts(rng: Random) -> TriangleMesh:
    """Make some hundred blades of grass around the middle."""
    count = randint(rng, 150, 700)
    at = rng.normal(0, 1.5, (count, 3)) * [1, 0, 1]
    up = np.stack(
        [rng.normal(0, 0.03, count), -rng.uniform(0.04, 0.16, count), rng.normal(0, 0.03, count)],
        -1,
    )
    return leaf_cards(at, up, 0.012, rng)


def _add_boundary(layout: PropLayout, rng: Random, away: float, angle: float) -> None:
    """Build a hedge, wall or fence across the direction `angle` [radians]."""
    wide, high = between(rng, 8, 40), between(rng, 0.8, 4.0)
    yaw, at = math.degrees(angle), [away * math.sin(angle), 0.0, away * math.cos(angle)]
    style = pick(rng, ("hedge", "wall", "fence", "house"))
    if style == "fence":
        x = np.arange(-wide / 2, wide / 2, between(rng, 0.12, 0.4))[:150]
        posts = boxes(np.stack([x, np.full(len(x), -0.6), 0 * x], -1), [0.08, 1.2, 0.02])
        rails = boxes([[0, -0.3, 0.03], [0, -0.9, 0.03]], [wide, 0.06, 0.03])
        wood = Material("planks", color(rng, hue=(0.05, 0.1), saturation=(0.1, 0.5)), scale=0.1)
        with layout.builder.instance("fence"):
            layout.builder.add(posts.moved(at, yaw=yaw), wood)
            layout.builder.add(rails.moved(at, yaw=yaw), wood)
        return
    if style == "hedge":
        green = color(rng, hue=(0.2, 0.4), saturation=(0.3, 0.7), value=(0.15, 0.5))
        leafy = Material("leaves", green, shaded(green, 0.4), between(rng, 0.1, 0.4), seed(rng))
        count = int(wide / 1.2)
        places = np.stack(
            [(np.arange(count) - count / 2) * 1.2, np.zeros(count), rng.normal(0, 0.2, count)], -1
        )
        row = repeat_shape(
            lump(rng, [1.6, high, 1.4], rough=0.3, cells=4), places, yaw=rng.uniform(0, 360, count)
        )
        with layout.builder.instance("bush"):
            layout.builder.add(row.moved(at, yaw=yaw), leafy)
        return
    pattern: Pattern = "facade" if style == "house" else pick(rng, ("brick", "plaster", "photo"))
    high = between(rng, 3, 12) if style == "house" else high
    scale = 2.8 if style == "house" else between(rng, 0.2, 0.6)
    tint = color(rng, saturation=(0.0, 0.5), value=(0.3, 0.95))
    face = Material(pattern, tint, gray(rng, 0.1, 0.5), scale, seed(rng), photo=seed(rng))
    with layout.builder.instance("building" if style == "house" else "wall"):
        layout.builder.add(box([0, -high / 2, 1.0], [wide, high, 2.0]).moved(at, yaw=yaw), face)


def _add_bush(layout: PropLayout, rng: Random, x: float, z: float) -> None:
    """Build a round bush, or a tree with a trunk."""
    green = color(rng, hue=(0.15, 0.4), saturation=(0.3, 0.8), value=(0.15, 0.6))
    leafy = Material("leaves", green, shaded(green, 0.4), between(rng, 0.1, 0.5), seed(rng))
    size = rng.uniform(1.0, 4.5, 3)
    is_tree = chance(rng, 0.5)
    trunk = between(rng, 1.0, 3.0) if is_tree else 0.0
    with layout.builder.instance("tree" if is_tree else "bush"):
        layout.builder.add(lump(rng, size, rough=0.45).moved([x, -trunk, z]), leafy)
        if is_tree:
            bark = Material("bark", (0.16, 0.1, 0.07), (0.07, 0.05, 0.03), 0.1)
            layout.builder.add(boxes([[x, -trunk / 2, z]], [0.25, trunk + 0.6, 0.25]), bark)


def studio_backdrop(layout: PropLayout, rng: Random) -> tuple[Light, None]:
    """Build a plain floor that bends up into a plain wall all around, lit from the side."""
    finish = materials.wall(rng) if chance(rng, 0.5) else materials.floor(rng)
    tint = color(rng, saturation=(0.0, 0.6), value=(0.15, 0.95))
    paper = Material("plain", tint, shaded(tint, 0.9)) if chance(rng, 0.6) else finish
    half, turn = between(rng, 2.0, 6.0), np.linspace(0, np.pi / 2, 7)
    bend = between(rng, 0.1, 1.0)
    line = [(-half, 0.0)] + [
        (half - bend + bend * math.sin(t), bend - bend * math.cos(t)) for t in turn
    ]
    line += [(half, 5.0)]
    layout.builder.add(_swept_sheet(line, 14.0).moved(yaw=between(rng, 0, 360)), paper)
    layout.builder.add(quad([-40, 0.005, -40], [80, 0, 0], [0, 0, 80]), finish)
    around = quad([-9, 0, 9], [18, 0, 0], [0, -7, 0])
    for yaw in (0, 90, 180, 270):
        layout.builder.add(around.moved(yaw=yaw), finish)
    layout.builder.add(quad([-9, -7, -9], [18, 0, 0], [0, 0, 18]), finish)
    lamp = (between(rng, -2.5, 2.5), -between(rng, 2.0, 4.0), between(rng, -2.5, 2.5))
    return indoor_light(rng, 3.0, 3.0, 4.5, sun=False, lamps=[lamp]), None


def _swept_sheet(line: list[tuple[float, float]], width: float) -> TriangleMesh:
    """Make a smooth sheet from a line of (z, height), `width` wide along x."""
    points = np.array(line)
    step = np.gradient(points, axis=0)
    normal = np.stack([0 * step[:, 0], -step[:, 0], -step[:, 1]], -1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    sides = [
        np.stack([np.full(len(points), x), -points[:, 1], points[:, 0]], -1)
        for x in (-width / 2, width / 2)
    ]
    vertices = np.stack(sides, 1).reshape(-1, 3)
    a = 2 * np.arange(len(points) - 1)
    faces = np.concatenate([np.stack([a, a + 1, a + 2], -1), np.stack([a + 1, a + 3, a + 2], -1)])
    uv = np.stack([np.tile([0.0, width], len(points)), np.repeat(along, 2)], -1)
    return TriangleMesh(vertices, faces.astype(np.int32), np.repeat(normal, 2, 0), uv)
