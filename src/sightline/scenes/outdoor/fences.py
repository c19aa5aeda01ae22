"""Build fences, walls, wires between poles, outdoor stairs, parasols with tables, road markings."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sightline.scenes.mesh_arrays import Floats, box_array, quads, repeat_upright, rods
from sightline.scenes.meshes import TriangleMesh, cylinder, lathe, merge
from sightline.scenes.sampling import Random, between
from sightline.scenes.world import Color, Material, Pattern, WorldBuilder, as_color

FENCES = ("pickets", "railing", "mesh", "rails", "boards", "wall")


def add_fence(
    builder: WorldBuilder, rng: Random, start: Floats, end: Floats, *, sort: str | None = None
) -> None:
    """Put a fence or a wall between two places (3,) on level ground; long ones thin out far away."""
    chosen = sort or str(rng.choice(FENCES))
    length = float(np.hypot(end[0] - start[0], end[2] - start[2]))
    yaw = float(np.degrees(np.arctan2(end[0] - start[0], end[2] - start[2])))
    high = between(rng, 0.8, 2.0)
    seed = int(rng.integers(1 << 16))
    tint = as_color(rng.uniform(0.05, 0.7, 3))
    paint = [
        Material("planks", (0.34, 0.24, 0.15), (0.2, 0.14, 0.08), 0.1, seed),
        Material(tint=(0.7, 0.7, 0.68)),
        Material(tint=(0.05, 0.07, 0.06), gloss=0.3),
        Material(tint=tint),
    ][rng.integers(4)]
    parts = _run(rng, chosen, length, high)
    if chosen == "wall":
        tints: tuple[Color, ...] = ((0.4, 0.2, 0.14), (0.6, 0.56, 0.48), (0.45, 0.44, 0.42))
        patterns: tuple[Pattern, ...] = ("brick", "plaster", "tiles")
        pattern = patterns[rng.integers(3)]
        paint = Material(pattern, tints[rng.integers(3)], (0.4, 0.38, 0.35), 0.3, seed)
        if rng.random() < 0.15:
            paint = Material("photo", (0.7, 0.7, 0.7), scale=3.0, photo=seed)
    with builder.instance("wall" if chosen == "wall" else "fence"):
        builder.add(parts.moved(start, yaw=yaw), paint)


def _run(rng: Random, sort: str, length: float, high: float) -> TriangleMesh:
    """Make a fence of this length along +z from the origin."""
    if sort == "wall":
        cap = box_array([[0, -high - 0.04, length / 2]], [0.36, 0.08, length])
        return merge([box_array([[0, -high / 2, length / 2]], [0.26, high, length]), cap])
    step = {"pickets": 0.14, "railing": 0.13, "mesh": 0.2, "rails": 2.0, "boards": 0.5}[sort]
    step = max(step * between(rng, 0.9, 1.4), length / 90)
    z = np.arange(step / 2, length, step)
    zero = 0 * z
    feet = np.stack([zero, zero, z], -1)
    posts_z = np.arange(0.0, length + 0.1, max(2.2, length / 14))
    posts = np.stack([0 * posts_z, 0 * posts_z, posts_z], -1)
    stout = rods(posts, posts - [0, high + 0.08, 0], 0.045, sectors=5)
    levels = {"pickets": (0.25, 0.75), "railing": (0.08, 0.97), "mesh": (0.02, 0.5, 0.99)}.get(
        sort, (0.35, 0.65, 0.95)
    )
    ends = [([0.0, -high * k, 0.0], [0.0, -high * k, length]) for k in levels]
    bars = rods([a for a, _ in ends], [b for _, b in ends], 0.022, sectors=4)
    if sort == "rails":
        return merge([stout, bars])
    if sort == "boards":
        board = box_array(feet - [0, high / 2, 0], [0.025, high, step * 0.97])
        return merge([stout, board])
    if sort == "pickets":
        tall = high * rng.uniform(0.97, 1.03, len(z))
        flat = np.stack([zero + 0.03, -tall / 2 - 0.04, z], -1)
        return merge(
            [stout, bars, box_array(flat, np.stack([zero + 0.02, tall, zero + step * 0.6], -1))]
        )
    if sort == "railing":
        return merge([stout, bars, rods(feet, feet - [0, high, 0], 0.01, sectors=3)])
    # Mesh: wires leaning both ways, as of a chain-link fence.
    up = [
        rods(feet, feet + np.array([0, -high, s * high * 0.5]), 0.004, sectors=3) for s in (-1, 1)
    ]
    return merge([stout, bars, *up])


def wire(
    start: Floats, end: Floats, sag: float, radius: float = 0.012, pieces: int = 8
) -> TriangleMesh:
    """Make a hanging wire from `start` to `end` (3,), `sag` [m] lower in the middle."""
    t = np.linspace(0, 1, pieces + 1)[:, None]
    line = start + (end - start) * t + [0, 1, 0] * (4 * sag * t * (1 - t))
    return rods(line[:-1], line[1:], radius, sectors=3)


def add_wired_poles(builder: WorldBuilder, rng: Random, feet: Floats) -> None:
    """Put wooden poles at (N, 3) in a row, with cross-arms and wires from each to the next."""
    tall = between(rng, 6.5, 9.5)
    arms = int(rng.integers(1, 4))
    wood = Material("bark", (0.25, 0.2, 0.15), (0.12, 0.1, 0.08), 0.3, int(rng.integers(999)))
    black = builder.paint(Material(tint=(0.02, 0.02, 0.02)))
    along = feet[-1] - feet[0]
    side = np.array([along[2], 0.0, -along[0]])
    side = side / max(float(np.linalg.norm(side)), 1e-9)
    hooks = []
    for k in range(arms):
        for reach in (-0.8, 0.8) if k else (-0.9, -0.4, 0.4, 0.9):
            hooks.append(side * reach - [0, tall - 0.2 - 0.7 * k, 0])
    for foot in feet:
        with builder.instance("pole"):
            builder.add(cylinder(foot, 0.14, tall, top=0.1, sectors=7), wood)
            middle = np.array([foot - [0, tall - 0.2 - 0.7 * k, 0] for k in range(arms)])
            builder.add(rods(middle - side, middle + side, 0.05, sectors=4), wood)
    sag = between(rng, 0.2, 0.9)
    spans = [wire(a + h, b + h, sag, pieces=6) for a, b in pairwise(feet) for h in hooks]
    if spans:
        with builder.instance("wire"):
            builder.add(merge(spans), black)


def add_stairs(
    builder: WorldBuilder, rng: Random, place: Floats, yaw: float, steps: int, width: float
) -> None:
    """Put a flight of steps that rises toward +z turned by `yaw` [degrees]."""
    k = np.arange(steps)
    rise, tread = 0.16, 0.32
    zero = 0.0 * k
    center = np.stack([zero, -(k + 1) * rise / 2, k * tread + (steps - k) * tread / 2], -1)
    size = np.stack([zero + width, (k + 1) * rise, (steps - k) * tread], -1)
    stone = Material("noise", (0.5, 0.48, 0.45), (0.38, 0.37, 0.35), 0.7, int(rng.integers(999)))
    with builder.instance("stairs"):
        builder.add(box_array(center, size).moved(place, yaw=yaw), stone)
        side = np.array([[-width / 2, 0, 0], [width / 2, 0, 0]])
        top = side + np.array([0, -steps * rise - 0.9, steps * tread])
        rail = [
            rods(side - [0, 0.9, 0], top, 0.025, sectors=5),
            rods(side, side - [0, 0.9, 0], 0.025),
        ]
        rail.append(rods(top, top + np.array([0, 0.9, 0]), 0.025))
        builder.add(merge(rail).moved(place, yaw=yaw), Material(tint=(0.1, 0.1, 0.1), gloss=0.4))


def add_parasol(builder: WorldBuilder, rng: Random, place: Floats) -> None:
    """Put a round table with chairs under a parasol."""
    tint = as_color(rng.uniform(0.1, 0.8, 3))
    cloth = Material("stripes", tint, (0.75, 0.72, 0.68), 0.4, int(rng.integers(999)))
    metal = builder.paint(Material(tint=(0.3, 0.3, 0.3), gloss=0.5))
    wide = between(rng, 1.1, 1.7)
    with builder.instance("parasol"):
        builder.add(cylinder(place, 0.025, 2.5, sectors=6), metal)
        top = lathe([[wide, 2.05], [0.6 * wide, 2.3], [0, 2.55]], sectors=8).moved(place)
        builder.add(top, cloth)
    with builder.instance("table"):
        disc = lathe([[0, 0.7], [0.45, 0.7], [0.45, 0.73], [0, 0.73]], sectors=14).moved(place)
        builder.add(disc, Material("planks", (0.5, 0.36, 0.22), (0.3, 0.2, 0.12), 0.1))
        builder.add(rods([place], [place - [0, 0.7, 0]], 0.04, sectors=6), metal)
    chair = _chair()
    for k in range(int(rng.integers(2, 5))):
        angle = float(k * 90 + rng.uniform(-25, 25))
        turn = np.radians(angle)
        at = place - 0.75 * np.array([np.sin(turn), 0, np.cos(turn)])
        with builder.instance("chair"):
            builder.add(repeat_upright(chair, [at], yaw=angle), cloth if k % 2 else metal)


def _chair() -> TriangleMesh:
    """Make a thin garden chair facing +z."""
    legs = np.array([[-0.2, 0, -0.2], [0.2, 0, -0.2], [0.2, 0, 0.2], [-0.2, 0, 0.2]])
    frame = rods(legs, legs - [0, 0.45, 0], 0.014, sectors=4)
    back = rods(legs[:2] - [0, 0.45, 0], legs[:2] - [0, 0.88, 0.06], 0.014, sectors=4)
    slats = box_array([[0, -0.46, z] for z in (-0.15, 0, 0.15)] + [[0, -0.7, -0.22], [0, -0.82, -0.24]],
                  [[0.42, 0.02, 0.1]] * 3 + [[0.42, 0.07, 0.015]] * 2)  # fmt: skip
    return merge([frame, back, slats])


def markings(
    at: Floats, size: Floats, yaw: float | Floats = 0.0, lift: float = 0.005
) -> TriangleMesh:
    """Make flat paint on the ground: (N, 3) middles, (N, 2) or (2,) size across and along, a yaw."""
    half = np.broadcast_to(np.asarray(size, np.float64), (len(at), 2)) / 2
    turn = np.radians(np.broadcast_to(yaw, (len(at),)))
    right = np.stack([np.cos(turn), 0 * turn, -np.sin(turn)], -1) * half[:, :1]
    ahead = np.stack([np.sin(turn), 0 * turn, np.cos(turn)], -1) * half[:, 1:]
    return quads(at - right - ahead - [0, lift, 0], 2 * right, 2 * ahead)
