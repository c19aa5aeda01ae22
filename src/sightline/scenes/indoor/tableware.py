"""Build tableware and food: cups, glasses, bottles, bowls, plates, vases, fruit, bread, cakes."""

from __future__ import annotations

import numpy as np

from sightline.scenes.layout import Parts, Prop, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    color,
    dark,
    glass,
    metal,
    painted,
    plastic,
    printed,
    seed,
    shaded,
    stone,
    timber,
    white,
)
from sightline.scenes.mesh_arrays import lump, repeat_shape
from sightline.scenes.meshes import TriangleMesh, box, cylinder, lathe, merge, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material


def vessel(outline: list[tuple[float, float]], wall: float, *, sectors: int = 16) -> TriangleMesh:
    """Make an open vessel of a wall from its outer outline (radius, height), from foot to rim."""
    rim = outline[-1]
    inside = [(max(r - wall, 0.002), max(h, wall)) for r, h in reversed(outline[1:])]
    return lathe(
        [(0.0, 0.0), *outline, (rim[0] - wall, rim[1]), *inside[1:], (0.0, wall)], sectors=sectors
    )


def handle(x: float, low: float, high: float, out: float, thick: float = 0.006) -> TriangleMesh:
    """Make an ear from (x, low) to (x, high) that stands out by `out`."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, 7)
    middle, half = (low + high) / 2, (high - low) / 2
    path = np.stack([x - 0.003 + out * np.cos(turn), -middle + half * np.sin(turn), 0 * turn], -1)
    return tube(path, thick, sectors=6)


def _drink(rng: Random, radius: float, height: float) -> tuple[TriangleMesh, Material]:
    """Make the surface of a drink."""
    tint = pick(rng, ((0.05, 0.02, 0.01), (0.35, 0.15, 0.03), (0.8, 0.75, 0.65), (0.6, 0.3, 0.05)))
    return cylinder([0, -height, 0], radius, 0.001, sectors=12), Material("plain", tint, gloss=0.8)


@prop_maker(0xA9617932)
def cup(rng: Random) -> Prop:
    """Make a cup or mug with an ear, often filled."""
    radius, high = between(rng, 0.032, 0.05), between(rng, 0.06, 0.12)
    foot = radius * between(rng, 0.6, 1.0)
    ware = ceramic(rng)
    line = [(foot, 0.0), (radius * between(rng, 0.9, 1.05), high * 0.5), (radius, high)]
    parts: Parts = [(vessel(line, 0.004), ware)]
    if chance(rng, 0.85):
        parts.append((handle(radius, high * 0.2, high * 0.8, high * 0.3), ware))
    if chance(rng, 0.6):
        parts.append(_drink(rng, radius * 0.9, high * 0.8))
    if chance(rng, 0.25):
        saucer = lathe([[0, 0], [0.04, 0], [0.075, 0.015], [0.04, 0.006], [0, 0.006]], sectors=18)
        parts = [(shape.moved([0, -0.008, 0]), m) for shape, m in parts] + [(saucer, ware)]
    return make_prop("cup", parts)


@prop_maker(0x15ECB812)
def drinking_glass(rng: Random) -> Prop:
    """Make a tumbler or a stemmed glass."""
    radius, high = between(rng, 0.028, 0.045), between(rng, 0.09, 0.16)
    clear = glass(rng)
    if chance(rng, 0.5):
        line = [(radius * between(rng, 0.7, 1.0), 0.0), (radius, high)]
        parts: Parts = [(vessel(line, 0.003), clear)]
        if chance(rng, 0.6):
            parts.append(_drink(rng, radius * 0.85, high * between(rng, 0.3, 0.8)))
        return make_prop("glass", parts)
    stem = high * between(rng, 0.4, 0.6)
    outline = [(radius * 0.9, 0.0), (0.006, 0.006), (0.004, stem), (radius, stem + high * 0.3)]
    body = lathe([(0.0, 0.0), *outline, (radius * 0.8, stem + high * 0.75)], sectors=14)
    parts = [(body, clear)]
    if chance(rng, 0.5):
        parts.append(_drink(rng, radius * 0.9, stem + high * 0.35))
    return make_prop("glass", parts)


@prop_maker(0xD5E0C115)
def bottle(rng: Random) -> Prop:
    """Make a bottle with neck, cap and label: wine, water, oil, detergent, shampoo."""
    radius, high = between(rng, 0.025, 0.05), between(rng, 0.14, 0.33)
    neck, shoulder = radius * between(rng, 0.25, 0.6), between(rng, 0.5, 0.85)
    line = [
        [0, 0], [radius, 0], [radius, high * shoulder], [radius * 0.8, high * (shoulder + 0.07)],
    ]  # fmt: skip
    line += [[neck, high * (shoulder * 0.4 + 0.6)], [neck, high * 0.97], [0, high * 0.97]]
    stuff = pick(rng, (glass, glass, plastic, painted, white, dark))(rng)
    cap = cylinder([0, -high * 0.95, 0], neck * 1.15, high * 0.06, sectors=12)
    label = lathe(
        [[radius * 1.015, high * 0.15], [radius * 1.015, high * shoulder * 0.85]], sectors=16
    )
    parts: Parts = [(lathe(line, sectors=16), stuff), (cap, plastic(rng))]
    if chance(rng, 0.7):
        parts.append((label, printed(rng, radius * 3)))
    return make_prop("bottle", parts)


@prop_maker(0xB8342503)
def bowl(rng: Random) -> Prop:
    """Make an open bowl, empty or filled."""
    radius, high = between(rng, 0.06, 0.16), between(rng, 0.04, 0.1)
    line = [(radius * 0.45, 0.0), (radius * 0.85, high * 0.45), (radius, high)]
    parts: Parts = [(vessel(line, 0.005, sectors=20), ceramic(rng))]
    if chance(rng, 0.4):
        food = lathe(
            [[radius * 0.85, high * 0.6], [radius * 0.5, high * 0.75], [0, high * 0.8]], sectors=14
        )
        tint = color(rng, hue=(0.0, 0.35), saturation=(0.3, 0.9), value=(0.3, 0.9))
        parts.append((food, Material("noise", tint, (0.3, 0.2, 0.1), 0.02)))
    return make_prop("bowl", parts)


@prop_maker(0xE44E3352)
def plate(rng: Random) -> Prop:
    """Make a plate, or a pile of them."""
    radius, ware = between(rng, 0.08, 0.15), ceramic(rng)
    flat = radius * between(rng, 0.55, 0.8)
    one = lathe([[0, 0], [flat, 0], [radius, 0.018], [flat, 0.005], [0, 0.005]], sectors=24)
    count = randint(rng, 2, 7) if chance(rng, 0.2) else 1
    return make_prop(
        "plate", [(merge([one.moved([0, -0.008 * k, 0]) for k in range(count)]), ware)]
    )


@prop_maker(0x7DC09304)
def can(rng: Random) -> Prop:
    """Make a tin or drink can with a printed side, or a spray can."""
    radius, high = between(rng, 0.025, 0.05), between(rng, 0.06, 0.2)
    side = lathe([[radius, 0.004], [radius, high - 0.006]], sectors=16)
    edge = [
        [0, 0], [radius * 0.93, 0], [radius * 0.93, high], [radius * 0.8, high - 0.004],
        [0, high - 0.004],
    ]  # fmt: skip
    return make_prop(
        "can", [(side, printed(rng, radius * 6)), (lathe(edge, sectors=16), metal(rng))]
    )


@prop_maker(0x6610F4C4)
def jar(rng: Random) -> Prop:
    """Make a jar with a lid: jam, spices, sweets."""
    radius, high = between(rng, 0.03, 0.07), between(rng, 0.07, 0.18)
    body = lathe(
        [[0, 0], [radius, 0], [radius, high * 0.85], [radius * 0.85, high * 0.9]], sectors=14
    )
    lid = cylinder([0, -high * 0.9, 0], radius * 0.9, high * 0.12, sectors=14)
    inside = cylinder([0, -0.004, 0], radius * 0.9, high * between(rng, 0.3, 0.8), sectors=12)
    cover = glass(rng) if chance(rng, 0.7) else ceramic(rng)
    return make_prop(
        "jar", [(body, cover), (lid, pick(rng, (metal, plastic))(rng)), (inside, stone(rng))]
    )


@prop_maker(0x7061B561)
def vase(rng: Random, *, size: float = 1.0) -> Prop:
    """Make a vase or jug of a random outline; `size` scales it."""
    high = between(rng, 0.12, 0.4) * size
    knots = np.linspace(0.0, 1.0, 5)
    radii = high * rng.uniform(0.12, 0.42, 5)
    radii[-1] = radii[-2] * between(rng, 0.5, 1.3)
    fine = np.linspace(0.0, 1.0, 11)
    radius = np.interp(fine, knots, radii)
    radius = np.convolve(np.pad(radius, 1, mode="edge"), [0.25, 0.5, 0.25], mode="valid")
    line = [(float(r), float(h) * high) for r, h in zip(radius, fine, strict=True)]
    ware = pick(rng, (ceramic, ceramic, ceramic, glass, metal, stone))(rng)
    parts: Parts = [(vessel(line, 0.02 * high, sectors=20), ware)]
    if chance(rng, 0.25):
        edge = float(radius[8])
        parts.append((handle(edge, high * 0.35, high * 0.85, high * 0.2, high * 0.025), ware))
    return make_prop("vase", parts)


@prop_maker(0x6B8C4472)
def teapot(rng: Random) -> Prop:
    """Make a teapot, kettle or watering can: belly, lid, spout and ear."""
    radius, high = between(rng, 0.06, 0.11), between(rng, 0.1, 0.2)
    ware = pick(rng, (ceramic, metal, plastic))(rng)
    line = [
        [0, 0], [radius * 0.7, 0], [radius, high * 0.35], [radius * 0.8, high * 0.75],
        [radius * 0.4, high * 0.9],
    ]  # fmt: skip
    belly = lathe([*line, [0.012, high * 0.95], [0.015, high * 1.05], [0, high * 1.08]], sectors=18)
    out = radius * between(rng, 1.6, 2.1)
    spout = tube(
        [[radius * 0.8, -high * 0.3, 0], [radius * 1.3, -high * 0.45, 0], [out, -high * 0.85, 0]],
        [0.02, 0.014, 0.01],
    )
    ear = handle(radius * 0.85, high * 0.25, high * 0.8, radius * 0.6, 0.008).moved(yaw=180)
    return make_prop("teapot", [(merge([belly, spout, ear]), ware)])


#: Range of hue, saturation and value of skins and crusts.
SKINS = {
    "apple": ((0.95, 1.3), (0.6, 0.95), (0.45, 0.85)),
    "orange": ((0.05, 0.09), (0.85, 1.0), (0.8, 0.95)),
    "lemon": ((0.12, 0.16), (0.7, 0.95), (0.8, 0.95)),
    "banana": ((0.12, 0.15), (0.6, 0.95), (0.7, 0.95)),
    "bread": ((0.06, 0.1), (0.5, 0.75), (0.4, 0.75)),
    "vegetable": ((0.0, 0.4), (0.5, 0.95), (0.25, 0.85)),
}


def _food_material(rng: Random, name: str) -> Material:
    hue, saturation, value = SKINS[name]
    tint = color(rng, hue=hue, saturation=saturation, value=value)
    return Material(
        "noise", tint, shaded(tint, 0.75), 0.04, seed(rng), gloss=between(rng, 0.1, 0.6)
    )


@prop_maker(0xE5B139B1)
def fruit(rng: Random) -> Prop:
    """Make an apple, pear, orange, lemon or banana."""
    kind = pick(rng, ("apple", "apple", "orange", "lemon", "banana", "pear"))
    radius = between(rng, 0.028, 0.05)
    if kind == "banana":
        turn = np.linspace(-0.9, 0.9, 8)
        path = np.stack([0.11 * np.sin(turn), np.full(8, -0.018), 0.11 * np.cos(turn) - 0.09], -1)
        thick = 0.018 * np.array([0.3, 0.75, 0.95, 1.0, 1.0, 0.95, 0.75, 0.3])
        return make_prop("fruit", [(tube(path, thick, sectors=7), _food_material(rng, "banana"))])
    if kind == "pear":
        r = radius
        line = [
            [0, 0], [r * 0.6, 0.1 * r], [r, 0.9 * r], [r * 0.75, 1.7 * r], [r * 0.4, 2.3 * r],
            [0, 2.6 * r],
        ]  # fmt: skip
        body, skin = lathe(line, sectors=12), _food_material(rng, "vegetable")
    else:
        stretch = [1.0, 0.9, 1.25 if kind == "lemon" else 1.0]
        body, skin = (
            sphere([0, -radius * 0.9, 0], np.array(stretch) * radius, sectors=12),
            _food_material(rng, kind),
        )
    stem = tube([[0, -radius * 1.7, 0], [0.005, -radius * 2.2, 0]], 0.002, sectors=4)
    return make_prop("fruit", [(body, skin), (stem, Material("plain", (0.1, 0.06, 0.03)))])


@prop_maker(0xCDAEDBD1)
def fruit_bowl(rng: Random) -> Prop:
    """Make a bowl heaped with round fruit."""
    radius = between(rng, 0.1, 0.17)
    high = radius * between(rng, 0.3, 0.6)
    line = [(radius * 0.4, 0.0), (radius * 0.85, high * 0.5), (radius, high)]
    parts: Parts = [(vessel(line, 0.005, sectors=20), ceramic(rng))]
    parts += fruit_heap(rng, radius * 0.7, high * 0.45, randint(rng, 5, 14))
    return make_prop("bowl", parts)


def fruit_heap(rng: Random, radius: float, height: float, count: int) -> Parts:
    """Make a heap of `count` balls of two or three sorts within `radius`, lying from `height` up."""
    distance = radius * np.sqrt(rng.random(count))
    angle = rng.uniform(0, 2 * np.pi, count)
    size = rng.uniform(0.026, 0.042, count)
    up = height + size + (1 - distance / radius) * 0.05 * rng.random(count)
    at = np.stack([distance * np.cos(angle), -up, distance * np.sin(angle)], -1)
    own = rng.integers(0, 3, count)
    ball = _fruit_ball()
    return [
        (repeat_shape(ball, at[own == k], scale=size[own == k]), _food_material(rng, name))
        for k, name in enumerate(("apple", "orange", "vegetable"))
        if (own == k).any()
    ]


def _fruit_ball() -> TriangleMesh:
    return sphere([0, 0, 0], 1.0, sectors=10)


@prop_maker(0xD979A66D)
def bread(rng: Random) -> Prop:
    """Make a loaf, a roll or a baguette, sometimes on a board."""
    long, wide = between(rng, 0.08, 0.4), between(rng, 0.07, 0.14)
    loaf = lump(rng, [long, wide * 0.8, wide], rough=0.07, cells=4)
    parts: Parts = [(loaf, _food_material(rng, "bread"))]
    if chance(rng, 0.4):
        parts = [(loaf.moved([0, -0.018, 0]), parts[0][1])]
        parts.append((box([0, -0.009, 0], [long + 0.08, 0.018, wide + 0.08]), timber(rng)))
    return make_prop("bread", parts)


@prop_maker(0x9FA45270)
def cake(rng: Random) -> Prop:
    """Make a round cake with layers and berries, on a plate."""
    radius, high = between(rng, 0.08, 0.14), between(rng, 0.05, 0.1)
    tint = color(rng, hue=(0.0, 0.15), saturation=(0.1, 0.8), value=(0.3, 0.95))
    body = lathe([[0, 0.01], [radius, 0.01], [radius, high], [0, high]], sectors=20)
    dish = lathe([[0, 0], [radius * 1.3, 0.012], [radius, 0.008], [0, 0.008]], sectors=20)
    layers = Material("stripes", tint, shaded(tint, 0.5), between(rng, 0.03, 0.08), seed(rng))
    parts: Parts = [(body, layers), (dish, ceramic(rng))]
    parts += fruit_heap(rng, radius * 0.8, high - 0.02, randint(rng, 3, 10))
    return make_prop("cake", parts)


@prop_maker(0xE3EAA879)
def vegetable(rng: Random) -> Prop:
    """Make a carrot, cucumber, pepper or cabbage."""
    if chance(rng, 0.5):
        long, thick = between(rng, 0.12, 0.25), between(rng, 0.015, 0.03)
        x = np.linspace(-long / 2, long / 2, 6)
        path = np.stack([x, np.full(6, -thick), 0.02 * np.sin(9 * x)], -1)
        taper = thick * np.array([0.2, 0.8, 1.0, 1.0, 0.9, 0.3])
        return make_prop(
            "vegetable", [(tube(path, taper, sectors=7), _food_material(rng, "vegetable"))]
        )
    size = between(rng, 0.07, 0.18)
    return make_prop(
        "vegetable",
        [(lump(rng, [size, size * 0.9, size], rough=0.12), _food_material(rng, "vegetable"))],
    )
