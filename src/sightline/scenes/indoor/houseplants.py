"""Build potted plants (bushes, palms, blades, trailing plants, cacti, twigs) and cut flowers."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.indoor.tableware import vase, vessel
from sightline.scenes.layout import Parts, Prop, make_prop, prop_maker
from sightline.scenes.materials import ceramic, color, plastic, seed, shaded, stone, timber
from sightline.scenes.mesh_arrays import repeat_shape, rods
from sightline.scenes.meshes import TriangleMesh, cylinder, lathe, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material

Floats = NDArray[np.float64]


def leaf_material(rng: Random) -> Material:
    """Draw the green (or red, or dry) of leaves."""
    tint = color(rng, hue=(0.2, 0.42), saturation=(0.3, 0.85), value=(0.15, 0.7))
    if chance(rng, 0.12):
        tint = color(rng, hue=(-0.05, 0.15), saturation=(0.3, 0.8), value=(0.25, 0.7))
    second = shaded(tint, between(rng, 0.4, 1.6))
    return Material(
        "noise", tint, second, between(rng, 0.02, 0.1), seed(rng), gloss=between(rng, 0, 0.4)
    )


@cache
def leaf(slim: float, bend: float) -> TriangleMesh:
    """Make a leaf of length one along +z from the origin: pointed, creased, drooping by `bend`."""
    t = np.array([0.0, 0.3, 0.65, 1.0])
    half = np.array([0.02, 0.5, 0.42, 0.01]) * slim
    droop = bend * t**2
    crease = half * 0.35
    middle = np.stack([0 * t, droop, t], -1)
    rows = [middle + np.stack([s * half, -crease * abs(s), 0 * t], -1) for s in (-1.0, 0.0, 1.0)]
    vertices = np.stack(rows, 1).reshape(-1, 3)
    a = (np.arange(3)[:, None] * 3 + np.arange(2)).reshape(-1)
    faces = np.concatenate([np.stack([a, a + 1, a + 3], -1), np.stack([a + 1, a + 4, a + 3], -1)])
    normals = np.tile([[-0.35, -1.0, 0.0], [0.0, -1.0, 0.0], [0.35, -1.0, 0.0]], (4, 1))
    normals = normals + np.repeat(np.stack([0 * t, 0 * t, -2 * bend * t], -1), 3, 0)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return TriangleMesh(vertices, faces.astype(np.int32), normals, vertices[:, [0, 2]].copy())


def _pot_crown(rng: Random, size: float, foot: float) -> Parts:
    """Make what grows out of a pot whose soil is `foot` high, about `size` tall."""
    style = pick(rng, ("bush", "bush", "palm", "blades", "trailing", "cactus", "twigs", "tree"))
    green = leaf_material(rng)
    if style == "cactus":
        return _cactus(size * 0.7, foot, green, rng)
    if style in ("twigs", "tree"):
        return _branches(rng, size, foot, green, leaves=style == "tree")
    count = {
        "bush": randint(rng, 25, 70),
        "palm": randint(rng, 8, 18),
        "blades": randint(rng, 6, 16),
    }.get(style, 40)
    yaw = rng.uniform(0, 360, count)
    if style == "blades":
        shape = leaf(round(between(rng, 0.1, 0.2), 2), 0.02)
        at = (
            np.tile([[0.0, -foot, 0.0]], (count, 1))
            + rng.normal(0, 0.1 * size, (count, 3)) * [1, 0, 1] * 0.4
        )
        return [
            (
                repeat_shape(
                    shape,
                    at,
                    yaw=yaw,
                    pitch=rng.uniform(60, 88, count),
                    scale=size * rng.uniform(0.6, 1.1, count),
                ),
                green,
            )
        ]
    if style == "palm":
        shape = leaf(round(between(rng, 0.15, 0.5), 1), 0.3)
        pitch, length = rng.uniform(20, 75, count), size * rng.uniform(0.5, 0.9, count)
        stem = size * rng.uniform(0.0, 0.5)
        at = np.tile([[0.0, -foot - stem, 0.0]], (count, 1))
        trunk = tube([[0, -foot, 0], [0, -foot - stem - 0.01, 0]], 0.02 * size + 0.004, sectors=6)
        return [
            (repeat_shape(shape, at, yaw=yaw, pitch=pitch, scale=length), green),
            (trunk, timber(rng)),
        ]
    # Stems fan out from the pot; a leaf sits somewhere along each.
    up = rng.uniform(30, 85, count) if style == "bush" else rng.uniform(-30, 60, count)
    reach = size * rng.uniform(0.3, 0.9, count)
    way = np.stack(
        [
            np.sin(np.radians(yaw)) * np.cos(np.radians(up)),
            -np.sin(np.radians(up)),
            np.cos(np.radians(yaw)) * np.cos(np.radians(up)),
        ],
        -1,
    )
    start = np.tile([[0.0, -foot, 0.0]], (count, 1))
    tips = start + way * reach[:, None]
    shape = leaf(round(between(rng, 0.4, 1.0), 1), round(between(rng, 0.0, 0.3), 1))
    blades = repeat_shape(
        shape,
        tips,
        yaw=yaw + rng.normal(0, 25, count),
        pitch=up * 0.3 - rng.uniform(0, 40, count),
        scale=size * rng.uniform(0.12, 0.32, count),
    )
    return [(blades, green), (rods(start, tips, 0.003, 0.0015, sectors=3), green)]


def _cactus(size: float, foot: float, green: Material, rng: Random) -> Parts:
    """Make a column with ribs or balls, with one or two arms."""
    radius = size * between(rng, 0.12, 0.3)
    shapes = [sphere([0, -foot - size / 2, 0], [radius, size / 2, radius], sectors=12)]
    for side in (-1, 1):
        if chance(rng, 0.5):
            y = -foot - size * between(rng, 0.3, 0.6)
            x = side * radius * 1.9
            path = [[0, y, 0], [x, y, 0], [x * 1.05, y - size * 0.3, 0]]
            shapes.append(tube(path, [radius * 0.4, radius * 0.4, radius * 0.3], sectors=8))
    return [(shape, green) for shape in shapes]


def _branches(rng: Random, size: float, foot: float, green: Material, *, leaves: bool) -> Parts:
    """Make thin branches that fork twice, bare or with small leaves at their ends."""
    start, end = np.zeros((1, 3)) - [0, foot, 0], np.array([[0.0, -foot - size * 0.35, 0.0]])
    shapes, radius = [rods(start, end, 0.012 * size + 0.003, sectors=5)], 0.008 * size + 0.002
    for length in (0.4, 0.28):
        count = len(end) * 4
        start = np.repeat(end, 4, 0) + rng.normal(0, 0.02 * size, (count, 3))
        way = rng.normal(0, 1, (count, 3)) * [1, 0.4, 1] - [0, 0.9, 0]
        end = start + way / np.linalg.norm(
            way, axis=1, keepdims=True
        ) * size * length * rng.uniform(0.6, 1.1, (count, 1))
        shapes.append(rods(start, end, radius, radius * 0.6, sectors=4))
        radius *= 0.6
    parts: Parts = [
        (shape, Material("bark", (0.2, 0.13, 0.08), (0.1, 0.07, 0.04), 0.02)) for shape in shapes
    ]
    if leaves:
        count = len(end) * 5
        at = np.repeat(end, 5, 0) + rng.normal(0, 0.06 * size, (count, 3))
        shape = repeat_shape(
            leaf(0.6, 0.2),
            at,
            yaw=rng.uniform(0, 360, count),
            pitch=rng.uniform(-50, 50, count),
            scale=size * rng.uniform(0.06, 0.14, count),
        )
        parts.append((shape, green))
    return parts


@prop_maker(0x631D3A49)
def plant(rng: Random, size: float = 0.0) -> Prop:
    """Make a plant in a pot, about `size` tall [m]; drawn from 0.15 to 1.6 if not given."""
    tall = size or float(np.exp(between(rng, np.log(0.15), np.log(1.6))))
    pot_high, radius = tall * between(rng, 0.18, 0.4), tall * between(rng, 0.12, 0.2)
    line = [(radius * between(rng, 0.6, 1.0), 0.0), (radius, pot_high)]
    pot = vessel(line, radius * 0.1, sectors=pick(rng, (4, 14, 14)))
    soil = cylinder([0, -pot_high * 0.8, 0], radius * 0.85, 0.002, sectors=10)
    parts: Parts = [
        (pot.moved(yaw=45), pick(rng, (ceramic, plastic, stone, timber))(rng)),
        (soil, Material("noise", (0.06, 0.04, 0.03), (0.12, 0.09, 0.06), 0.02)),
    ]
    return make_prop("plant", parts + _pot_crown(rng, tall - pot_high, pot_high * 0.8))


@prop_maker(0xF9A0A129)
def flowers(rng: Random) -> Prop:
    """Make a bunch of flowers in a vase."""
    pot = vase(rng)
    high, count = pot.size[1], randint(rng, 4, 16)
    spread_out = between(rng, 0.06, 0.16)
    tips = np.stack(
        [
            rng.normal(0, spread_out, count),
            -high - rng.uniform(0.06, 0.25, count),
            rng.normal(0, spread_out, count),
        ],
        -1,
    )
    foot = np.tile([[0.0, -high * 0.6, 0.0]], (count, 1))
    petal = lathe([[0.05, 0.25], [0.4, 0.45], [1.0, 0.5], [0.35, 0.25], [0.0, 0.0]], sectors=7)
    heads = repeat_shape(
        petal,
        tips,
        yaw=rng.uniform(0, 360, count),
        pitch=rng.uniform(-50, 50, count),
        scale=rng.uniform(0.018, 0.05, count),
    )
    half = count // 2
    blades = repeat_shape(
        leaf(0.4, 0.2),
        (foot + tips)[:half] / 2,
        yaw=rng.uniform(0, 360, half),
        pitch=rng.uniform(0, 60, half),
        scale=rng.uniform(0.06, 0.14, half),
    )
    green = leaf_material(rng)
    bloom = Material("plain", color(rng, saturation=(0.3, 1.0), value=(0.5, 1.0)))
    parts: Parts = [
        *pot.parts,
        (rods(foot, tips, 0.0025, sectors=3), green),
        (heads, bloom),
        (blades, green),
    ]
    return make_prop("flowers", parts)
