"""Things to eat: fruit, vegetables, bread, cakes, eggs, on their own or in heaps."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.crockery import vessel
from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import ceramic, colour, seed, shaded, timber
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.parts.soft import lump, spread
from sightline.scenes.shapes import Shape, box, lathe, sphere, tube
from sightline.scenes.world import Material

#: Range of hue, saturation and value of skins and crusts.
SKINS = {
    "apple": ((0.95, 1.3), (0.6, 0.95), (0.45, 0.85)),
    "orange": ((0.05, 0.09), (0.85, 1.0), (0.8, 0.95)),
    "lemon": ((0.12, 0.16), (0.7, 0.95), (0.8, 0.95)),
    "banana": ((0.12, 0.15), (0.6, 0.95), (0.7, 0.95)),
    "bread": ((0.06, 0.1), (0.5, 0.75), (0.4, 0.75)),
    "vegetable": ((0.0, 0.4), (0.5, 0.95), (0.25, 0.85)),
}


def _skin(rng: np.random.Generator, name: str) -> Material:
    hue, saturation, value = SKINS[name]
    tint = colour(rng, hue=hue, saturation=saturation, value=value)
    return Material(
        "noise", tint, shaded(tint, 0.75), 0.04, seed(rng), gloss=between(rng, 0.1, 0.6)
    )


def fruit(rng: np.random.Generator) -> Piece:
    """Make an apple, pear, orange, lemon or banana."""
    kind = pick(rng, ("apple", "apple", "orange", "lemon", "banana", "pear"))
    radius = between(rng, 0.028, 0.05)
    if kind == "banana":
        turn = np.linspace(-0.9, 0.9, 8)
        path = np.stack([0.11 * np.sin(turn), np.full(8, -0.018), 0.11 * np.cos(turn) - 0.09], -1)
        thick = 0.018 * np.array([0.3, 0.75, 0.95, 1.0, 1.0, 0.95, 0.75, 0.3])
        return made("fruit", [(tube(path, thick, sectors=7), _skin(rng, "banana"))])
    if kind == "pear":
        r = radius
        line = [
            [0, 0],
            [r * 0.6, 0.1 * r],
            [r, 0.9 * r],
            [r * 0.75, 1.7 * r],
            [r * 0.4, 2.3 * r],
            [0, 2.6 * r],
        ]
        body, skin = lathe(line, sectors=12), _skin(rng, "vegetable")
    else:
        stretch = [1.0, 0.9, 1.25 if kind == "lemon" else 1.0]
        body, skin = (
            sphere([0, -radius * 0.9, 0], np.array(stretch) * radius, sectors=12),
            _skin(rng, kind),
        )
    stem = tube([[0, -radius * 1.7, 0], [0.005, -radius * 2.2, 0]], 0.002, sectors=4)
    return made("fruit", [(body, skin), (stem, Material("plain", (0.1, 0.06, 0.03)))])


def fruit_bowl(rng: np.random.Generator) -> Piece:
    """Make a bowl heaped with round fruit."""
    radius = between(rng, 0.1, 0.17)
    high = radius * between(rng, 0.3, 0.6)
    line = [(radius * 0.4, 0.0), (radius * 0.85, high * 0.5), (radius, high)]
    parts: Parts = [(vessel(line, 0.005, sectors=20), ceramic(rng))]
    parts += heap(rng, radius * 0.7, high * 0.45, some(rng, 5, 14))
    return made("bowl", parts)


def heap(rng: np.random.Generator, radius: float, height: float, count: int) -> Parts:
    """Make a heap of `count` balls of two or three sorts within `radius`, lying from `height` up."""
    distance = radius * np.sqrt(rng.random(count))
    angle = rng.uniform(0, 2 * np.pi, count)
    size = rng.uniform(0.026, 0.042, count)
    up = height + size + (1 - distance / radius) * 0.05 * rng.random(count)
    at = np.stack([distance * np.cos(angle), -up, distance * np.sin(angle)], -1)
    own = rng.integers(0, 3, count)
    ball = _ball()
    return [
        (spread(ball, at[own == k], scale=size[own == k]), _skin(rng, name))
        for k, name in enumerate(("apple", "orange", "vegetable"))
        if (own == k).any()
    ]


def _ball() -> Shape:
    return sphere([0, 0, 0], 1.0, sectors=10)


def bread(rng: np.random.Generator) -> Piece:
    """Make a loaf, a roll or a baguette, sometimes on a board."""
    long, wide = between(rng, 0.08, 0.4), between(rng, 0.07, 0.14)
    loaf = lump(rng, [long, wide * 0.8, wide], rough=0.07, cells=4)
    parts: Parts = [(loaf, _skin(rng, "bread"))]
    if chance(rng, 0.4):
        parts = [(loaf.moved([0, -0.018, 0]), parts[0][1])]
        parts.append((box([0, -0.009, 0], [long + 0.08, 0.018, wide + 0.08]), timber(rng)))
    return made("bread", parts)


def cake(rng: np.random.Generator) -> Piece:
    """Make a round cake with layers and berries, on a plate."""
    radius, high = between(rng, 0.08, 0.14), between(rng, 0.05, 0.1)
    tint = colour(rng, hue=(0.0, 0.15), saturation=(0.1, 0.8), value=(0.3, 0.95))
    body = lathe([[0, 0.01], [radius, 0.01], [radius, high], [0, high]], sectors=20)
    dish = lathe([[0, 0], [radius * 1.3, 0.012], [radius, 0.008], [0, 0.008]], sectors=20)
    layers = Material("stripes", tint, shaded(tint, 0.5), between(rng, 0.03, 0.08), seed(rng))
    parts: Parts = [(body, layers), (dish, ceramic(rng))]
    parts += heap(rng, radius * 0.8, high - 0.02, some(rng, 3, 10))
    return made("cake", parts)


def vegetable(rng: np.random.Generator) -> Piece:
    """Make a carrot, cucumber, pepper or cabbage."""
    if chance(rng, 0.5):
        long, thick = between(rng, 0.12, 0.25), between(rng, 0.015, 0.03)
        x = np.linspace(-long / 2, long / 2, 6)
        path = np.stack([x, np.full(6, -thick), 0.02 * np.sin(9 * x)], -1)
        taper = thick * np.array([0.2, 0.8, 1.0, 1.0, 0.9, 0.3])
        return made("vegetable", [(tube(path, taper, sectors=7), _skin(rng, "vegetable"))])
    size = between(rng, 0.07, 0.18)
    return made(
        "vegetable", [(lump(rng, [size, size * 0.9, size], rough=0.12), _skin(rng, "vegetable"))]
    )
