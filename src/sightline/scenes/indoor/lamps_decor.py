"""Build lamps, and what hangs on walls or lies on floors: pictures, mirrors, clocks, screens, rugs."""

from __future__ import annotations

import numpy as np

from sightline.scenes.indoor.furniture import pedestal, star_foot
from sightline.scenes.layout import Parts, Prop, make_prop, prop_maker
from sightline.scenes.materials import (
    ceramic,
    color,
    dark,
    fabric,
    glowing,
    metal,
    mirror_glass,
    painted,
    printed,
    screen,
    seed,
    timber,
    white,
)
from sightline.scenes.mesh_arrays import cushion, drape, repeat_shape, ring, rods
from sightline.scenes.meshes import TriangleMesh, box, boxes, cylinder, lathe, merge, sphere, tube
from sightline.scenes.sampling import Random, between, chance, pick, randint
from sightline.scenes.world import Material, Pattern


def lampshade(rng: Random, radius: float) -> tuple[TriangleMesh, float]:
    """Make a lampshade standing on the origin, and return its height."""
    style = pick(rng, ("drum", "cone", "bell", "ball", "dish"))
    high = radius * between(rng, 0.9, 1.7)
    if style == "ball":
        return sphere([0, -radius, 0], radius, sectors=14), 2 * radius
    if style == "dish":
        high = radius * 0.5
        return lathe([[radius, 0], [radius * 0.8, high * 0.5], [0.02, high]], sectors=18), high
    if style == "bell":
        line = [
            [radius, 0], [radius * 0.8, high * 0.25], [radius * 0.6, high * 0.7],
            [radius * 0.3, high],
        ]  # fmt: skip
        return lathe(line, sectors=18), high
    upper = radius * (between(rng, 0.8, 1.0) if style == "drum" else between(rng, 0.2, 0.7))
    return lathe([[radius, 0], [upper, high]], sectors=pick(rng, (6, 18, 18))), high


def shade_material(rng: Random, on: bool) -> Material:
    """Draw what the shade is made of; glowing if the lamp is on."""
    if on:
        return glowing(rng)
    return pick(rng, (fabric, white, metal, painted))(rng)


def standing_lamp(rng: Random, *, on: bool) -> Prop:
    """Make a floor lamp: a thin post, straight, bowed or on three legs, with a shade."""
    high, radius = between(rng, 1.2, 1.8), between(rng, 0.1, 0.26)
    steel = metal(rng) if chance(rng, 0.7) else timber(rng)
    cover, tall = lampshade(rng, radius)
    style = pick(rng, ("post", "bow", "tripod"))
    if style == "tripod":
        angle = np.arange(3) * 2.1 + between(rng, 0, 6)
        feet = np.stack([0.28 * np.cos(angle), 0 * angle, 0.28 * np.sin(angle)], -1)
        stand, at = rods(feet, np.tile([[0.0, -high, 0.0]], (3, 1)), 0.014), [0.0, -high, 0.0]
    elif style == "bow":
        turn = np.linspace(0, np.pi * 0.8, 10)
        reach = between(rng, 0.4, 0.9)
        x, y = reach / 2 * (1 - np.cos(turn)), -high - 0.25 * np.sin(turn)
        path = np.concatenate([[[0, 0, 0], [0, -high, 0]], np.stack([x, y, 0 * x], -1)[1:]])
        foot = cylinder([0, 0, 0], 0.14, 0.03)
        stand, at = merge([tube(path, 0.011, sectors=6), foot]), [x[-1], y[-1] + tall, 0.0]
    else:
        foot = cylinder([0, 0, 0], 0.13, 0.025) if chance(rng, 0.6) else star_foot(0.18, 0.012, rng)
        stand, at = (
            merge([foot, tube([[0, 0, 0], [0, -high, 0]], 0.011, sectors=6)]),
            [0.0, -high, 0.0],
        )
    return make_prop("lamp", [(stand, steel), (cover.moved(at), shade_material(rng, on))])


def table_lamp(rng: Random, *, on: bool) -> Prop:
    """Make a table lamp: a turned foot with a shade, or a jointed desk lamp."""
    if chance(rng, 0.35):
        a, b = between(rng, 0.18, 0.3), between(rng, 0.15, 0.3)
        elbow, tip = [0.1, -a, 0.0], [-b * 0.8, -a - b * 0.4, 0.0]
        arms = tube([[0, -0.02, 0], elbow, tip], 0.007, sectors=6)
        head = lathe([[0.07, 0], [0.03, 0.09], [0, 0.1]], sectors=12).moved(tip, roll=20)
        steel = pick(rng, (metal, dark, painted))(rng)
        foot = cylinder([0, 0, 0], 0.08, 0.02, sectors=14)
        bulb = sphere([tip[0], tip[1] - 0.01, 0], 0.025, sectors=8)
        return make_prop(
            "lamp", [(merge([arms, foot, head]), steel), (bulb, glowing(rng) if on else white(rng))]
        )
    high, radius = between(rng, 0.15, 0.35), between(rng, 0.08, 0.17)
    w = radius * between(rng, 0.3, 0.7)
    line = [
        [0, 0], [w, 0], [w * between(rng, 0.3, 1.3), high * 0.4], [w * 0.3, high * 0.8],
        [0.01, high * 1.1],
    ]  # fmt: skip
    foot = lathe(line, sectors=14) if chance(rng, 0.7) else pedestal(rng, high, w)
    cover, _ = lampshade(rng, radius)
    stuff = pick(rng, (ceramic, metal, timber))(rng)
    return make_prop("lamp", [(foot, stuff), (cover.moved([0, -high, 0]), shade_material(rng, on))])


def hanging_lamp(rng: Random, *, on: bool) -> Prop:
    """Make a pendant, a row of them or a chandelier; its foot is the lowest point, a cable goes up."""
    drop = between(rng, 0.3, 1.1)
    style = pick(rng, ("one", "one", "row", "chandelier"))
    cover, tall = lampshade(
        rng, between(rng, 0.08, 0.3) if style == "one" else between(rng, 0.06, 0.13)
    )
    glow, wire = shade_material(rng, on), dark(rng)
    if style == "chandelier":
        count, reach = randint(rng, 4, 8), between(rng, 0.2, 0.4)
        angle = np.arange(count) * 2 * np.pi / count
        end = np.stack([reach * np.cos(angle), np.full(count, -0.12), reach * np.sin(angle)], -1)
        arms = rods(np.tile([[0.0, -0.05, 0.0]], (count, 1)), end, 0.008, sectors=5)
        bulbs = repeat_shape(sphere([0, 0, 0], 0.035, sectors=8), end - [0, 0.03, 0], scale=[1.0])
        rod = tube([[0, 0, 0], [0, -drop, 0]], 0.01, sectors=5)
        return make_prop("lamp", [(merge([arms, rod]), metal(rng)), (bulbs, glow)])
    places = [0.0] if style == "one" else list(np.linspace(-0.5, 0.5, randint(rng, 2, 4)))
    covers = merge([cover.moved([x, 0, 0]) for x in places])
    top = np.array([[x, -tall, 0.0] for x in places])
    cables = rods(top, top * [1, 0, 1] - [0, tall + drop, 0], 0.004, sectors=4)
    return make_prop("lamp", [(covers, glow), (cables, wire)])


def ceiling_lamp(rng: Random, *, on: bool) -> Prop:
    """Make a lamp flat on the ceiling: disc, panel, tubes or spots; its foot is the lowest point."""
    style = pick(rng, ("disc", "panel", "tubes", "spots"))
    glow = shade_material(rng, on)
    if style == "disc":
        radius = between(rng, 0.12, 0.3)
        dome = lathe([[0, 0], [radius * 0.6, 0.02], [radius, 0.08]], sectors=18)
        return make_prop("lamp", [(dome, glow)])
    if style == "panel":
        side = pick(rng, (0.3, 0.6, 1.2))
        parts: Parts = [(box([0, -0.01, 0], [side, 0.02, 0.6]), glow)]
        return make_prop(
            "lamp", [*parts, (box([0, -0.018, 0], [side + 0.04, 0.02, 0.64]), white(rng))]
        )
    if style == "tubes":
        bars = rods(
            [[-0.6, -0.03, -0.08], [-0.6, -0.03, 0.08]],
            [[0.6, -0.03, -0.08], [0.6, -0.03, 0.08]],
            0.016,
        )
        return make_prop(
            "lamp", [(bars, glow), (box([0, -0.08, 0], [1.3, 0.05, 0.26]), white(rng))]
        )
    x = np.linspace(-0.5, 0.5, randint(rng, 2, 5))
    at = np.stack([x, np.full(len(x), -0.03), 0 * x], -1)
    spots = boxes(at, [0.07, 0.06, 0.07], yaw=rng.uniform(0, 90, len(x)))
    return make_prop("lamp", [(spots, glow), (box([0, -0.07, 0], [1.1, 0.02, 0.03]), metal(rng))])


def _picture_frame(wide: float, high: float, edge: float, deep: float) -> TriangleMesh:
    """Make four bars around a rectangle that stands on the origin."""
    y = -high / 2
    return boxes(
        [
            [0, -edge / 2, 0], [0, -high + edge / 2, 0], [-(wide - edge) / 2, y, 0],
            [(wide - edge) / 2, y, 0],
        ],
        [[wide, edge, deep], [wide, edge, deep], [edge, high, deep], [edge, high, deep]],
    )  # fmt: skip


@prop_maker(0x8D3792BE)
def picture(rng: Random) -> Prop:
    """Make a framed picture, a canvas or a poster."""
    wide, high = between(rng, 0.15, 1.2), between(rng, 0.15, 0.9)
    edge, deep = between(rng, 0.01, 0.06), between(rng, 0.01, 0.04)
    sheet = box([0, -high / 2, 0.0], [wide - edge, high - edge, deep * 0.4])
    parts: Parts = [(sheet, printed(rng, wide))]
    if chance(rng, 0.8):
        parts.append(
            (_picture_frame(wide, high, edge, deep), pick(rng, (timber, dark, white, metal))(rng))
        )
    return make_prop("picture", parts)


@prop_maker(0xD3B89C8A)
def mirror(rng: Random) -> Prop:
    """Make a mirror, rectangular with a frame or round."""
    wide, high = between(rng, 0.3, 1.2), between(rng, 0.4, 1.6)
    rim = pick(rng, (timber, metal, white, dark))(rng)
    if chance(rng, 0.3):
        radius = wide / 2
        disc = cylinder([0, 0, 0], radius, 0.01, sectors=24).moved([0, -radius, 0], pitch=90)
        around = ring([0, 0, 0], radius, 0.015, sectors=24, sides=5).moved(
            [0, -radius, 0], pitch=90
        )
        return make_prop("mirror", [(disc, mirror_glass(rng)), (around, rim)])
    sheet = box([0, -high / 2, 0], [wide, high, 0.01])
    parts: Parts = [(sheet, mirror_glass(rng))]
    if chance(rng, 0.7):
        parts.append((_picture_frame(wide, high, between(rng, 0.015, 0.07), 0.03), rim))
    return make_prop("mirror", parts)


@prop_maker(0xA9A6984A)
def clock(rng: Random) -> Prop:
    """Make a round wall clock with two hands."""
    radius = between(rng, 0.1, 0.22)
    disc = cylinder([0, 0, 0], radius, 0.02, sectors=24).moved([0, -radius, 0.01], pitch=90)
    around = ring([0, 0, 0], radius, 0.012, sectors=24, sides=5).moved([0, -radius, 0], pitch=90)
    angle = rng.uniform(0, 2 * np.pi, 2)
    length = radius * np.array([0.85, 0.55])
    tip = np.stack(
        [length * np.sin(angle), -radius - length * np.cos(angle), np.full(2, -0.015)], -1
    )
    hands = rods(np.tile([[0.0, -radius, -0.015]], (2, 1)), tip, 0.005, sectors=4)
    return make_prop("clock", [(disc, white(rng)), (around, painted(rng)), (hands, dark(rng))])


@prop_maker(0xD7A2864C)
def television(rng: Random, *, stand: bool = False) -> Prop:
    """Make a flat screen, to hang or on a foot."""
    wide = between(rng, 0.6, 1.5)
    high, up = wide * 0.57, (0.08 if stand else 0.0)
    body = box([0, -high / 2 - up, 0.01], [wide, high, 0.03])
    face = box([0, -high / 2 - up, -0.01], [wide * 0.97, high * 0.95, 0.012])
    parts: Parts = [(body, dark(rng)), (face, screen(rng, wide))]
    if stand:
        foot = boxes(
            [[0, -0.01, 0], [0, -0.06, 0.01]], [[wide * 0.4, 0.015, 0.2], [0.08, 0.12, 0.03]]
        )
        parts.append((foot, dark(rng)))
    return make_prop("screen", parts)


@prop_maker(0x4F8B0D9F)
def board(rng: Random) -> Prop:
    """Make a whiteboard, blackboard or notice board with papers."""
    wide, high = between(rng, 0.8, 3.0), between(rng, 0.6, 1.2)
    tint = pick(rng, ((0.85, 0.85, 0.85), (0.02, 0.08, 0.05), (0.5, 0.33, 0.18)))
    pattern: Pattern = pick(rng, ("plain", "print", "noise"))
    face = Material(pattern, tint, (0.3, 0.3, 0.4), 1.2, seed(rng))
    parts: Parts = [
        (box([0, -high / 2, 0.005], [wide, high, 0.01]), face),
        (_picture_frame(wide, high, 0.03, 0.03), metal(rng) if chance(rng, 0.6) else timber(rng)),
    ]
    for _ in range(randint(rng, 0, 4)):
        x, y = between(rng, -0.42, 0.42) * wide, between(rng, 0.25, 0.8) * high
        sheet = box([0, 0, 0], [0.21, 0.297, 0.003]).moved(
            [x, -y, -0.008], roll=between(rng, -9, 9)
        )
        parts.append((sheet, printed(rng)))
    return make_prop("board", parts)


@prop_maker(0xA762066E)
def coats(rng: Random) -> Prop:
    """Make a row of hooks with coats and bags; its foot is the lowest hem."""
    count, fall = randint(rng, 1, 5), between(rng, 0.7, 1.1)
    wide = 0.3 * count
    rail = box([0, -fall - 0.12, 0.04], [wide + 0.1, 0.08, 0.02])
    x = (np.arange(count) - (count - 1) / 2) * 0.3
    top = np.stack([x, np.full(count, -fall - 0.12), np.full(count, 0.03)], -1)
    hooks = rods(top, top + np.array([0, -0.03, -0.06]), 0.006, sectors=5)
    parts: Parts = [(rail, timber(rng)), (hooks, metal(rng))]
    for k in range(count):
        if chance(rng, 0.8):
            long = fall * between(rng, 0.55, 1.0)
            coat = drape(rng, between(rng, 0.22, 0.34), long, folds=2.5, deep=0.05)
            parts.append((coat.moved([x[k], -fall - 0.1 + long, 0]), fabric(rng)))
            body = cushion([x[k], -fall - 0.1 + long * 0.5, 0.0], [0.2, long, 0.09], hard=4)
            parts.append((body, fabric(rng)))
    return make_prop("coat", parts)


@prop_maker(0x01117075)
def rug(rng: Random) -> Prop:
    """Make a rug, rectangular or round."""
    wide, deep, thick = between(rng, 0.8, 2.8), between(rng, 0.6, 2.0), between(rng, 0.004, 0.015)
    tint, second = color(rng), color(rng)
    pattern: Pattern = pick(
        rng, ("cloth", "stripes", "checker", "noise", "leaves", "photo", "marble")
    )
    weave = Material(pattern, tint, second, between(rng, 0.05, 0.6), seed(rng), photo=seed(rng))
    if chance(rng, 0.25):
        disc = lathe([[deep / 2, 0], [deep / 2, thick], [0, thick]], sectors=28)
        return make_prop("rug", [(disc, weave)])
    parts: Parts = [(box([0, -thick / 2, 0], [wide, thick, deep]), weave)]
    if chance(rng, 0.4):
        rim = boxes(
            [[0, -thick / 2 - 0.001, side * (deep / 2 - 0.04)] for side in (-1, 1)],
            [wide, thick, 0.06],
        )
        parts.append((rim, fabric(rng)))
    return make_prop("rug", parts)
