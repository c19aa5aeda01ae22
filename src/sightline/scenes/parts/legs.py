"""What furniture stands on: straight, tapered and splayed legs, trestles, pedestals, hairpins."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.soft import ring
from sightline.scenes.shapes import Shape, boxes, lathe, merge, tube

#: The four corners of a rectangle as signs of (x, z), going around.
CORNERS = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))


def four_legs(
    rng: np.random.Generator,
    width: float,
    depth: float,
    height: float,
    *,
    thick: float = 0.04,
    rails: float = 0.5,
) -> Shape:
    """Four legs under a rectangle of width × depth, up to `height`, sometimes with rails between.

    Args:
        rng: draws the style.
        width: between the outer edges of the legs along x, [m].
        depth: the same along z.
        height: of the top of the legs.
        thick: of a leg.
        rails: how often the legs are joined below.
    """
    signs = np.array(CORNERS)
    at = signs * [(width - thick) / 2, (depth - thick) / 2]
    if chance(rng, 0.5):
        low = np.stack([at[:, 0], np.full(4, -height / 2), at[:, 1]], -1)
        legs = boxes(low, [thick, height, thick])
    else:
        splay = between(rng, 0.0, 0.12) * height if chance(rng, 0.6) else 0.0
        foot = np.stack([at[:, 0], np.zeros(4), at[:, 1]], -1)
        head = foot - np.concatenate([splay * signs, np.zeros((4, 1))], 1)[:, [0, 2, 1]]
        head[:, 1] = -height
        sectors = 4 if chance(rng, 0.3) else 7
        legs = rods(foot, head, thick * between(rng, 0.25, 0.5), thick / 2, sectors=sectors)
    if not chance(rng, rails):
        return legs
    return merge([legs, _rails(rng, at, thick * 0.6, height * between(rng, 0.15, 0.5))])


def _rails(rng: np.random.Generator, at: np.ndarray, thick: float, up: float) -> Shape:
    """Rails between neighbouring legs at (4, 2) places: all around, at the sides, or an H."""
    style = pick(rng, ("around", "sides", "h"))
    order = {"around": (0, 1, 2, 3), "sides": (1, 3), "h": (1, 3)}[style]
    start, end = at[list(order)], at[[(k + 1) % 4 for k in order]]
    if style == "h":
        middle = (start + end) / 2
        start, end = np.concatenate([start, middle[:1]]), np.concatenate([end, middle[1:]])
    y = np.full((len(start), 1), -up)
    a, b = (np.concatenate([p[:, :1], y, p[:, 1:]], 1) for p in (start, end))
    return rods(a, b, thick / 2, sectors=5)


def hairpins(width: float, depth: float, height: float) -> Shape:
    """Four pairs of thin rods that meet at the floor."""
    signs = np.array(CORNERS)
    foot = np.stack([signs[:, 0] * width / 2, np.zeros(4), signs[:, 1] * depth / 2], -1)
    pairs = []
    for side in ((0.12, 0.0), (0.0, 0.12)):
        head = foot * [1.0 - side[0] / width * 2, 1.0, 1.0 - side[1] / depth * 2]
        head[:, 1] = -height
        pairs.append(rods(foot, head, 0.006, sectors=5))
    return merge(pairs)


def trestles(width: float, depth: float, height: float, thick: float = 0.04) -> Shape:
    """Two crossed or A-shaped stands at the ends of a table."""
    x = width / 2 - 0.12
    feet, heads = [], []
    for side in (-x, x):
        for z in (-depth / 2.4, depth / 2.4):
            feet.append([side, 0.0, z])
            heads.append([side, -height, -z * 0.25])
    beam = boxes([[0.0, -height * 0.45, 0.0]], [2 * x, thick, thick * 0.7])
    return merge([rods(feet, heads, thick * 0.6, sectors=4), beam])


def pedestal(rng: np.random.Generator, height: float, radius: float) -> Shape:
    """One turned or straight post on a round or star foot; `radius` of the foot."""
    thin = between(rng, 0.02, 0.05)
    if chance(rng, 0.5):
        swell = [[radius, 0.0], [radius, 0.02], [thin * 1.5, 0.06], [thin, height * 0.5]]
        return lathe([*swell, [thin * 1.6, height]], sectors=16)
    return merge([star_foot(radius, thin * 0.6, rng), tube([[0, 0, 0], [0, -height, 0]], thin)])


def star_foot(radius: float, thick: float, rng: np.random.Generator, arms: int = 0) -> Shape:
    """Arms that spread from a post along the floor; as many as given, else three to five."""
    count = arms or 3 + int(rng.random() * 3)
    angle = 2 * np.pi * np.arange(count) / count + rng.uniform(0, 6)
    end = np.stack([np.cos(angle) * radius, np.full(count, -thick), np.sin(angle) * radius], -1)
    start = np.tile([[0.0, -thick * 3.0, 0.0]], (count, 1))
    return rods(start, end, thick, thick * 0.8, sectors=6)


def sled(width: float, depth: float, height: float, thick: float = 0.012) -> Shape:
    """Two bent tubes, one on each side, from seat to floor to seat."""
    z = depth / 2
    path = [[0.0, -height, -z], [0.0, -0.03, -z], [0.0, -0.01, -z + 0.03]]
    path += [[0.0, -0.01, z - 0.03], [0.0, -0.03, z], [0.0, -height, z]]
    one = tube(path, thick, sectors=6)
    return merge([one.moved([side * width / 2, 0.0, 0.0]) for side in (-1.0, 1.0)])


def foot_ring(height: float, radius: float, thick: float = 0.008) -> Shape:
    """Ring to rest the feet on, as on a bar stool."""
    return ring([0.0, -height, 0.0], radius, thick, sectors=18, sides=5)
