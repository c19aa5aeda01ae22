"""Things with buttons and screens: laptops, monitors, keyboards, mice, phones, headphones, cameras."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import dark, metal, painted, plastic, screen, white
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.parts.soft import cushion, ring
from sightline.scenes.shapes import Shape, box, boxes, cylinder, merge, sphere, tube


def keys(wide: float, deep: float, rows: int, columns: int) -> Shape:
    """Make a field of keys centred on the origin, standing on y = 0."""
    x = (np.arange(columns) - (columns - 1) / 2) * wide / columns
    z = (np.arange(rows) - (rows - 1) / 2) * deep / rows
    gx, gz = (g.reshape(-1) for g in np.meshgrid(x, z))
    size = [wide / columns * 0.8, 0.006, deep / rows * 0.8]
    return boxes(np.stack([gx, np.full(len(gx), -0.003), gz], -1), size)


def laptop(rng: np.random.Generator) -> Piece:
    """Make a laptop, open at some angle."""
    wide, deep = between(rng, 0.28, 0.38), between(rng, 0.2, 0.26)
    case = pick(rng, (metal, dark, white))(rng)
    field = keys(wide * 0.85, deep * 0.42, 4, 12).moved([0, -0.018, deep * 0.12])
    lid = box([0, -deep / 2, 0.004], [wide, deep, 0.007])
    face = box([0, -deep / 2, -0.001], [wide * 0.94, deep * 0.9, 0.006])
    at, tilt = [0.0, -0.018, deep / 2], -between(rng, 2, 45)
    parts: Parts = [
        (box([0, -0.009, 0], [wide, 0.018, deep]), case),
        (field, dark(rng)),
        (lid.moved(at, pitch=tilt), case),
        (face.moved(at, pitch=tilt), screen(rng, wide)),
    ]
    return made("laptop", parts)


def monitor(rng: np.random.Generator) -> Piece:
    """Make a computer screen on a foot, one or two."""
    wide = between(rng, 0.42, 0.8)
    high, up = wide * between(rng, 0.55, 0.7), between(rng, 0.1, 0.18)
    case = dark(rng) if chance(rng, 0.7) else pick(rng, (white, metal))(rng)
    parts: Parts = [
        (box([0, -up - high / 2, 0.02], [wide, high, 0.035]), case),
        (box([0, -up - high / 2, 0.0], [wide * 0.96, high * 0.94, 0.008]), screen(rng, wide)),
        (box([0, -0.008, 0.04], [wide * 0.4, 0.016, 0.18]), case),
        (tube([[0, -0.01, 0.07], [0, -up - high * 0.4, 0.05]], 0.018, sectors=6), case),
    ]
    return made("screen", parts)


def keyboard(rng: np.random.Generator) -> Piece:
    """Make a keyboard, of a computer or with piano keys."""
    wide, deep = between(rng, 0.28, 0.46), between(rng, 0.11, 0.16)
    case = pick(rng, (dark, white, metal))(rng)
    field = keys(wide * 0.95, deep * 0.88, 5, 15).moved([0, -0.014, 0])
    caps = pick(rng, (dark, white))(rng)
    return made("keyboard", [(box([0, -0.007, 0], [wide, 0.014, deep]), case), (field, caps)])


def mouse(rng: np.random.Generator) -> Piece:
    """Make a computer mouse with its cable."""
    body = cushion([0, -0.012, 0], [0.06, 0.036, 0.11], hard=3)
    parts: Parts = [(body, pick(rng, (dark, white, plastic))(rng))]
    if chance(rng, 0.6):
        parts.append((cable(rng, 0.25).moved([0, 0, 0.05]), dark(rng)))
    return made("mouse", parts)


def cable(rng: np.random.Generator, length: float) -> Shape:
    """Make a cable that wanders over the ground from the origin along +z."""
    count = 12
    t = np.linspace(0, 1, count)
    wave = np.cumsum(rng.normal(0, 0.35, count))
    path = np.stack(
        [np.cumsum(np.sin(wave)) * length / count, np.full(count, -0.004), t * length], -1
    )
    path[0] = [0, -0.004, 0]
    return tube(path, 0.003, sectors=4)


def phone(rng: np.random.Generator) -> Piece:
    """Make a phone or tablet lying on its back."""
    wide = between(rng, 0.065, 0.18)
    long = wide * between(rng, 1.4, 2.1)
    body = box([0, -0.004, 0], [wide, 0.008, long])
    face = box([0, -0.0085, 0], [wide * 0.93, 0.001, long * 0.93])
    return made("phone", [(body, dark(rng)), (face, screen(rng, wide))])


def headphones(rng: np.random.Generator) -> Piece:
    """Make headphones lying on a side: a bow and two pads."""
    turn = np.linspace(0, np.pi, 12)
    bow = tube(
        np.stack([0.08 * np.cos(turn), np.full(12, -0.03), 0.09 * np.sin(turn)], -1),
        0.007,
        sectors=6,
    )
    pads = [cushion([side * 0.08, -0.035, -0.01], [0.03, 0.07, 0.07]) for side in (-1, 1)]
    return made(
        "headphones", [(bow, metal(rng)), (merge(pads), pick(rng, (dark, white, plastic))(rng))]
    )


def camera(rng: np.random.Generator) -> Piece:
    """Make a photo camera with a lens."""
    body = box([0, -0.045, 0], [0.13, 0.08, 0.05])
    hump = box([0, -0.092, 0], [0.05, 0.025, 0.04])
    lens = cylinder([0, 0, 0], 0.034, between(rng, 0.04, 0.12), sectors=16).moved(
        [0, -0.045, -0.02], pitch=90
    )
    rim = ring([0, 0, 0], 0.034, 0.004, sectors=16, sides=5).moved([0, -0.045, -0.06], pitch=90)
    coat = dark(rng)
    return made("camera", [(merge([body, hump, lens]), coat), (rim, metal(rng))])


def remote(rng: np.random.Generator) -> Piece:
    """Make a remote control or pocket calculator."""
    wide, long = between(rng, 0.04, 0.08), between(rng, 0.12, 0.2)
    field = keys(wide * 0.8, long * 0.7, some(rng, 4, 7), 3).moved([0, -0.016, 0])
    body = box([0, -0.008, 0], [wide, 0.016, long])
    return made("remote", [(body, dark(rng)), (field, pick(rng, (plastic, white))(rng))])


def speaker(rng: np.random.Generator) -> Piece:
    """Make a loudspeaker: a box with round membranes."""
    wide, high = between(rng, 0.09, 0.25), between(rng, 0.15, 0.45)
    front = -wide / 2
    cones = [
        sphere([0, -high * y, front], [wide * r, wide * r, 0.012], sectors=12)
        for y, r in ((0.3, 0.36), (0.75, 0.18))
    ]
    body = box([0, -high / 2, 0], [wide, high, wide])
    return made(
        "speaker", [(body, pick(rng, (dark, painted, white))(rng)), (merge(cones), dark(rng))]
    )


def fan(rng: np.random.Generator) -> Piece:
    """Make a table fan: a cage of thin wires around blades, on a foot."""
    radius, up = between(rng, 0.12, 0.22), between(rng, 0.15, 0.35)
    angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], -1)
    wires = rods(np.tile([[0.0, 0.0, -0.05]], (20, 1)), rim, 0.002, sectors=4)
    hoop = ring([0, 0, 0], radius, 0.006, sectors=24, sides=5).moved(pitch=90)
    blades = merge(
        [
            box([radius * 0.45, 0, 0], [radius * 0.8, 0.07, 0.004]).moved(roll=a, pitch=0)
            for a in (0, 120, 240)
        ]
    )
    at = [0, -up - radius, 0]
    foot = merge(
        [cylinder([0, 0, 0], 0.1, 0.02, sectors=14), tube([[0, 0, 0], at], 0.015, sectors=6)]
    )
    steel = pick(rng, (metal, white, dark))(rng)
    return made(
        "fan",
        [(merge([wires, hoop]).moved(at), steel), (blades.moved(at), plastic(rng)), (foot, steel)],
    )
