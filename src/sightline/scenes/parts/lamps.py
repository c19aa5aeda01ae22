"""Lamps: standing, hanging, on tables, on ceilings."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    ceramic,
    dark,
    fabric,
    lit,
    metal,
    painted,
    timber,
    white,
)
from sightline.scenes.parts.legs import pedestal, star_foot
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.parts.soft import spread
from sightline.scenes.shapes import Shape, box, boxes, cylinder, lathe, merge, sphere, tube
from sightline.scenes.world import Material


def shade(rng: np.random.Generator, radius: float) -> tuple[Shape, float]:
    """Make a lampshade standing on the origin, and give its height."""
    style = pick(rng, ("drum", "cone", "bell", "ball", "dish"))
    high = radius * between(rng, 0.9, 1.7)
    if style == "ball":
        return sphere([0, -radius, 0], radius, sectors=14), 2 * radius
    if style == "dish":
        high = radius * 0.5
        return lathe([[radius, 0], [radius * 0.8, high * 0.5], [0.02, high]], sectors=18), high
    if style == "bell":
        line = [
            [radius, 0],
            [radius * 0.8, high * 0.25],
            [radius * 0.6, high * 0.7],
            [radius * 0.3, high],
        ]
        return lathe(line, sectors=18), high
    upper = radius * (between(rng, 0.8, 1.0) if style == "drum" else between(rng, 0.2, 0.7))
    return lathe([[radius, 0], [upper, high]], sectors=pick(rng, (6, 18, 18))), high


def shade_material(rng: np.random.Generator, on: bool) -> Material:
    """Draw what the shade is made of; glowing if the lamp is on."""
    if on:
        return lit(rng)
    return pick(rng, (fabric, white, metal, painted))(rng)


def standing_lamp(rng: np.random.Generator, *, on: bool) -> Piece:
    """Make a floor lamp: a thin post, straight, bowed or on three legs, with a shade."""
    high, radius = between(rng, 1.2, 1.8), between(rng, 0.1, 0.26)
    steel = metal(rng) if chance(rng, 0.7) else timber(rng)
    cover, tall = shade(rng, radius)
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
    return made("lamp", [(stand, steel), (cover.moved(at), shade_material(rng, on))])


def table_lamp(rng: np.random.Generator, *, on: bool) -> Piece:
    """Make a table lamp: a turned foot with a shade, or a jointed desk lamp."""
    if chance(rng, 0.35):
        a, b = between(rng, 0.18, 0.3), between(rng, 0.15, 0.3)
        elbow, tip = [0.1, -a, 0.0], [-b * 0.8, -a - b * 0.4, 0.0]
        arms = tube([[0, -0.02, 0], elbow, tip], 0.007, sectors=6)
        head = lathe([[0.07, 0], [0.03, 0.09], [0, 0.1]], sectors=12).moved(tip, roll=20)
        steel = pick(rng, (metal, dark, painted))(rng)
        foot = cylinder([0, 0, 0], 0.08, 0.02, sectors=14)
        bulb = sphere([tip[0], tip[1] - 0.01, 0], 0.025, sectors=8)
        return made(
            "lamp", [(merge([arms, foot, head]), steel), (bulb, lit(rng) if on else white(rng))]
        )
    high, radius = between(rng, 0.15, 0.35), between(rng, 0.08, 0.17)
    w = radius * between(rng, 0.3, 0.7)
    line = [
        [0, 0],
        [w, 0],
        [w * between(rng, 0.3, 1.3), high * 0.4],
        [w * 0.3, high * 0.8],
        [0.01, high * 1.1],
    ]
    foot = lathe(line, sectors=14) if chance(rng, 0.7) else pedestal(rng, high, w)
    cover, _ = shade(rng, radius)
    stuff = pick(rng, (ceramic, metal, timber))(rng)
    return made("lamp", [(foot, stuff), (cover.moved([0, -high, 0]), shade_material(rng, on))])


def hanging_lamp(rng: np.random.Generator, *, on: bool) -> Piece:
    """Make a pendant, a row of them or a chandelier; its foot is the lowest point, a cable goes up."""
    drop = between(rng, 0.3, 1.1)
    style = pick(rng, ("one", "one", "row", "chandelier"))
    cover, tall = shade(
        rng, between(rng, 0.08, 0.3) if style == "one" else between(rng, 0.06, 0.13)
    )
    glow, wire = shade_material(rng, on), dark(rng)
    if style == "chandelier":
        count, reach = some(rng, 4, 8), between(rng, 0.2, 0.4)
        angle = np.arange(count) * 2 * np.pi / count
        end = np.stack([reach * np.cos(angle), np.full(count, -0.12), reach * np.sin(angle)], -1)
        arms = rods(np.tile([[0.0, -0.05, 0.0]], (count, 1)), end, 0.008, sectors=5)
        bulbs = spread(sphere([0, 0, 0], 0.035, sectors=8), end - [0, 0.03, 0], scale=[1.0])
        rod = tube([[0, 0, 0], [0, -drop, 0]], 0.01, sectors=5)
        return made("lamp", [(merge([arms, rod]), metal(rng)), (bulbs, glow)])
    places = [0.0] if style == "one" else list(np.linspace(-0.5, 0.5, some(rng, 2, 4)))
    covers = merge([cover.moved([x, 0, 0]) for x in places])
    top = np.array([[x, -tall, 0.0] for x in places])
    cables = rods(top, top * [1, 0, 1] - [0, tall + drop, 0], 0.004, sectors=4)
    return made("lamp", [(covers, glow), (cables, wire)])


def ceiling_lamp(rng: np.random.Generator, *, on: bool) -> Piece:
    """Make a lamp flat on the ceiling: disc, panel, tubes or spots; its foot is the lowest point."""
    style = pick(rng, ("disc", "panel", "tubes", "spots"))
    glow = shade_material(rng, on)
    if style == "disc":
        radius = between(rng, 0.12, 0.3)
        dome = lathe([[0, 0], [radius * 0.6, 0.02], [radius, 0.08]], sectors=18)
        return made("lamp", [(dome, glow)])
    if style == "panel":
        side = pick(rng, (0.3, 0.6, 1.2))
        parts: Parts = [(box([0, -0.01, 0], [side, 0.02, 0.6]), glow)]
        return made("lamp", [*parts, (box([0, -0.018, 0], [side + 0.04, 0.02, 0.64]), white(rng))])
    if style == "tubes":
        bars = rods(
            [[-0.6, -0.03, -0.08], [-0.6, -0.03, 0.08]],
            [[0.6, -0.03, -0.08], [0.6, -0.03, 0.08]],
            0.016,
        )
        return made("lamp", [(bars, glow), (box([0, -0.08, 0], [1.3, 0.05, 0.26]), white(rng))])
    x = np.linspace(-0.5, 0.5, some(rng, 2, 5))
    at = np.stack([x, np.full(len(x), -0.03), 0 * x], -1)
    spots = boxes(at, [0.07, 0.06, 0.07], yaw=rng.uniform(0, 90, len(x)))
    return made("lamp", [(spots, glow), (box([0, -0.07, 0], [1.1, 0.02, 0.03]), metal(rng))])
