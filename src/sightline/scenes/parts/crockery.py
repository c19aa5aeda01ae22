"""Turned ware: cups, glasses, bottles, bowls, plates, cans, jars, vases, teapots."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    ceramic,
    colour,
    dark,
    glass,
    metal,
    painted,
    plastic,
    printed,
    stone,
    white,
)
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.shapes import Shape, cylinder, lathe, merge, tube
from sightline.scenes.world import Material


def vessel(outline: list[tuple[float, float]], wall: float, *, sectors: int = 16) -> Shape:
    """Make an open vessel of a wall from its outer outline (radius, height), from foot to rim."""
    rim = outline[-1]
    inside = [(max(r - wall, 0.002), max(h, wall)) for r, h in reversed(outline[1:])]
    return lathe(
        [(0.0, 0.0), *outline, (rim[0] - wall, rim[1]), *inside[1:], (0.0, wall)], sectors=sectors
    )


def handle(x: float, low: float, high: float, out: float, thick: float = 0.006) -> Shape:
    """Make an ear from (x, low) to (x, high) that stands out by `out`."""
    turn = np.linspace(-np.pi / 2, np.pi / 2, 7)
    middle, half = (low + high) / 2, (high - low) / 2
    path = np.stack([x - 0.003 + out * np.cos(turn), -middle + half * np.sin(turn), 0 * turn], -1)
    return tube(path, thick, sectors=6)


def _drink(rng: np.random.Generator, radius: float, height: float) -> tuple[Shape, Material]:
    """Make the surface of a drink."""
    tint = pick(rng, ((0.05, 0.02, 0.01), (0.35, 0.15, 0.03), (0.8, 0.75, 0.65), (0.6, 0.3, 0.05)))
    return cylinder([0, -height, 0], radius, 0.001, sectors=12), Material("plain", tint, gloss=0.8)


def cup(rng: np.random.Generator) -> Piece:
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
    return made("cup", parts)


def drinking_glass(rng: np.random.Generator) -> Piece:
    """Make a tumbler or a stemmed glass."""
    radius, high = between(rng, 0.028, 0.045), between(rng, 0.09, 0.16)
    clear = glass(rng)
    if chance(rng, 0.5):
        line = [(radius * between(rng, 0.7, 1.0), 0.0), (radius, high)]
        parts: Parts = [(vessel(line, 0.003), clear)]
        if chance(rng, 0.6):
            parts.append(_drink(rng, radius * 0.85, high * between(rng, 0.3, 0.8)))
        return made("glass", parts)
    stem = high * between(rng, 0.4, 0.6)
    outline = [(radius * 0.9, 0.0), (0.006, 0.006), (0.004, stem), (radius, stem + high * 0.3)]
    body = lathe([(0.0, 0.0), *outline, (radius * 0.8, stem + high * 0.75)], sectors=14)
    parts = [(body, clear)]
    if chance(rng, 0.5):
        parts.append(_drink(rng, radius * 0.9, stem + high * 0.35))
    return made("glass", parts)


def bottle(rng: np.random.Generator) -> Piece:
    """Make a bottle with neck, cap and label: wine, water, oil, detergent, shampoo."""
    radius, high = between(rng, 0.025, 0.05), between(rng, 0.14, 0.33)
    neck, shoulder = radius * between(rng, 0.25, 0.6), between(rng, 0.5, 0.85)
    line = [
        [0, 0],
        [radius, 0],
        [radius, high * shoulder],
        [radius * 0.8, high * (shoulder + 0.07)],
    ]
    line += [[neck, high * (shoulder * 0.4 + 0.6)], [neck, high * 0.97], [0, high * 0.97]]
    stuff = pick(rng, (glass, glass, plastic, painted, white, dark))(rng)
    cap = cylinder([0, -high * 0.95, 0], neck * 1.15, high * 0.06, sectors=12)
    label = lathe(
        [[radius * 1.015, high * 0.15], [radius * 1.015, high * shoulder * 0.85]], sectors=16
    )
    parts: Parts = [(lathe(line, sectors=16), stuff), (cap, plastic(rng))]
    if chance(rng, 0.7):
        parts.append((label, printed(rng, radius * 3)))
    return made("bottle", parts)


def bowl(rng: np.random.Generator) -> Piece:
    """Make an open bowl, empty or filled."""
    radius, high = between(rng, 0.06, 0.16), between(rng, 0.04, 0.1)
    line = [(radius * 0.45, 0.0), (radius * 0.85, high * 0.45), (radius, high)]
    parts: Parts = [(vessel(line, 0.005, sectors=20), ceramic(rng))]
    if chance(rng, 0.4):
        food = lathe(
            [[radius * 0.85, high * 0.6], [radius * 0.5, high * 0.75], [0, high * 0.8]], sectors=14
        )
        tint = colour(rng, hue=(0.0, 0.35), saturation=(0.3, 0.9), value=(0.3, 0.9))
        parts.append((food, Material("noise", tint, (0.3, 0.2, 0.1), 0.02)))
    return made("bowl", parts)


def plate(rng: np.random.Generator) -> Piece:
    """Make a plate, or a pile of them."""
    radius, ware = between(rng, 0.08, 0.15), ceramic(rng)
    flat = radius * between(rng, 0.55, 0.8)
    one = lathe([[0, 0], [flat, 0], [radius, 0.018], [flat, 0.005], [0, 0.005]], sectors=24)
    count = some(rng, 2, 7) if chance(rng, 0.2) else 1
    return made("plate", [(merge([one.moved([0, -0.008 * k, 0]) for k in range(count)]), ware)])


def can(rng: np.random.Generator) -> Piece:
    """Make a tin or drink can with a printed side, or a spray can."""
    radius, high = between(rng, 0.025, 0.05), between(rng, 0.06, 0.2)
    side = lathe([[radius, 0.004], [radius, high - 0.006]], sectors=16)
    edge = [
        [0, 0],
        [radius * 0.93, 0],
        [radius * 0.93, high],
        [radius * 0.8, high - 0.004],
        [0, high - 0.004],
    ]
    return made("can", [(side, printed(rng, radius * 6)), (lathe(edge, sectors=16), metal(rng))])


def jar(rng: np.random.Generator) -> Piece:
    """Make a jar with a lid: jam, spices, sweets."""
    radius, high = between(rng, 0.03, 0.07), between(rng, 0.07, 0.18)
    body = lathe(
        [[0, 0], [radius, 0], [radius, high * 0.85], [radius * 0.85, high * 0.9]], sectors=14
    )
    lid = cylinder([0, -high * 0.9, 0], radius * 0.9, high * 0.12, sectors=14)
    inside = cylinder([0, -0.004, 0], radius * 0.9, high * between(rng, 0.3, 0.8), sectors=12)
    cover = glass(rng) if chance(rng, 0.7) else ceramic(rng)
    return made(
        "jar", [(body, cover), (lid, pick(rng, (metal, plastic))(rng)), (inside, stone(rng))]
    )


def vase(rng: np.random.Generator, *, size: float = 1.0) -> Piece:
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
    return made("vase", parts)


def teapot(rng: np.random.Generator) -> Piece:
    """Make a teapot, kettle or watering can: belly, lid, spout and ear."""
    radius, high = between(rng, 0.06, 0.11), between(rng, 0.1, 0.2)
    ware = pick(rng, (ceramic, metal, plastic))(rng)
    line = [
        [0, 0],
        [radius * 0.7, 0],
        [radius, high * 0.35],
        [radius * 0.8, high * 0.75],
        [radius * 0.4, high * 0.9],
    ]
    belly = lathe([*line, [0.012, high * 0.95], [0.015, high * 1.05], [0, high * 1.08]], sectors=18)
    out = radius * between(rng, 1.6, 2.1)
    spout = tube(
        [[radius * 0.8, -high * 0.3, 0], [radius * 1.3, -high * 0.45, 0], [out, -high * 0.85, 0]],
        [0.02, 0.014, 0.01],
    )
    ear = handle(radius * 0.85, high * 0.25, high * 0.8, radius * 0.6, 0.008).moved(yaw=180)
    return made("teapot", [(merge([belly, spout, ear]), ware)])
