"""Seats: chairs, stools, office chairs, armchairs, sofas, benches."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import (
    dark,
    fabric,
    metal,
    painted,
    plastic,
    timber,
    upholstery,
)
from sightline.scenes.parts.legs import foot_ring, four_legs, pedestal, sled, star_foot
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Parts, Piece, Top, made
from sightline.scenes.parts.soft import cushion, spread
from sightline.scenes.shapes import Shape, box, boxes, cylinder, lathe, merge, sphere, tube


def chair(rng: np.random.Generator) -> Piece:
    """Make a dining or kitchen chair: legs or a sled, a seat, and a back of slats, rods or a panel."""
    width, depth = between(rng, 0.36, 0.5), between(rng, 0.36, 0.48)
    seat, back = between(rng, 0.42, 0.48), between(rng, 0.3, 0.58)
    frame = pick(rng, (timber, timber, painted, metal))(rng)
    cover = pick(rng, (timber, painted, upholstery, plastic))(rng) if chance(rng, 0.5) else frame
    parts: Parts = []
    if chance(rng, 0.2):
        parts.append((sled(width * 0.9, depth * 0.9, seat), metal(rng)))
    else:
        thick = between(rng, 0.018, 0.045)
        parts.append((four_legs(rng, width, depth, seat, thick=thick), frame))
    if chance(rng, 0.4):
        parts.append((cushion([0, -seat, 0], [width, 0.07, depth], hard=6), cover))
    else:
        parts.append((box([0, -seat - 0.01, 0], [width, 0.025, depth]), cover))
    lean = between(rng, -0.09, -0.01)
    rest = _backrest(rng, width, back).moved([0, -seat, depth / 2 - 0.015], pitch=lean * 100)
    parts.append((rest, frame if chance(rng, 0.7) else cover))
    if chance(rng, 0.2):
        parts.append((_armrests(width, depth, seat), frame))
    return made("chair", parts, (Top(seat + 0.02, (-0.12, 0.12), (-0.12, 0.1), 0.4),))


def _backrest(rng: np.random.Generator, width: float, height: float) -> Shape:
    """Make a back that stands on y = 0 in the plane z = 0."""
    thick = between(rng, 0.015, 0.03)
    posts = boxes(
        [[side * (width - thick) / 2, -height / 2, 0.0] for side in (-1, 1)],
        [thick, height, thick],
    )
    style = pick(rng, ("slats", "rails", "panel", "pad", "rods", "shell"))
    inner = width - 2 * thick
    if style == "shell":
        return cushion([0, -height * 0.55, 0.01], [width, height * 0.9, 0.035], hard=4)
    if style == "panel":
        return merge([posts, box([0, -height * 0.7, 0], [inner, height * 0.5, 0.012])])
    if style == "pad":
        return merge([posts, cushion([0, -height * 0.65, 0], [inner, height * 0.6, 0.05], hard=6)])
    top = box([0, -height + thick / 2, 0], [width, thick * 1.6, thick])
    if style == "rails":
        count = some(rng, 2, 4)
        y = -height * np.linspace(0.35, 0.85, count)
        rails = boxes(np.stack([0 * y, y, 0 * y], -1), [inner, height * 0.09, thick * 0.6])
        return merge([posts, top, rails])
    count = some(rng, 3, 8)
    x = np.linspace(-inner / 2, inner / 2, count + 2)[1:-1]
    if style == "slats":
        centres = np.stack([x, np.full(count, -height / 2), 0 * x], -1)
        slats = boxes(centres, [inner / count * between(rng, 0.2, 0.6), height, thick * 0.5])
        return merge([posts, top, slats])
    start, end = (
        np.stack([x * f, np.full(count, y), 0 * x], -1) for f, y in ((0.8, 0), (1, -height))
    )
    return merge([posts, top, rods(start, end, 0.006, sectors=5)])


def _armrests(width: float, depth: float, seat: float) -> Shape:
    """Make two armrests on posts."""
    parts = []
    for side in (-1, 1):
        x = side * width / 2
        parts.append(box([x, -seat - 0.22, 0], [0.035, 0.02, depth * 0.9]))
        parts.append(box([x, -seat - 0.11, -depth * 0.35], [0.02, 0.22, 0.02]))
    return merge(parts)


def stool(rng: np.random.Generator) -> Piece:
    """Make a stool, low or as high as a bar."""
    height, radius = between(rng, 0.42, 0.8), between(rng, 0.14, 0.2)
    frame = pick(rng, (timber, metal, painted))(rng)
    parts: Parts = []
    if chance(rng, 0.3):
        parts.append((pedestal(rng, height, radius * 1.2), frame))
    else:
        legs = four_legs(rng, radius * 1.9, radius * 1.9, height, thick=0.03, rails=0.5)
        parts.append((legs, frame))
        if height > 0.6:
            parts.append((foot_ring(height * 0.4, radius * 0.85), frame))
    seat = pick(rng, (timber, upholstery, plastic))(rng)
    top = lathe(
        [[0, 0], [radius, 0], [radius, 0.03], [radius * 0.9, 0.045], [0, 0.045]], sectors=18
    )
    parts.append((top.moved([0, -height, 0]), seat))
    return made("stool", parts, (Top(height + 0.045, (-0.1, 0.1), (-0.1, 0.1)),))


def office_chair(rng: np.random.Generator) -> Piece:
    """Make a swivel chair: star foot on castors, gas spring, padded seat and back, armrests."""
    seat, width = between(rng, 0.42, 0.55), between(rng, 0.44, 0.54)
    frame = dark(rng) if chance(rng, 0.6) else metal(rng)
    cover = upholstery(rng) if chance(rng, 0.7) else dark(rng)
    turn = np.arange(5) * 2 * np.pi / 5
    castors = np.stack([0.3 * np.cos(turn), np.full(5, -0.03), 0.3 * np.sin(turn)], -1)
    star = star_foot(0.3, 0.018, np.random.default_rng(0), arms=5)
    parts: Parts = [
        (star.moved([0, -0.05, 0]), frame),
        (spread(sphere([0, 0, 0], 0.03, sectors=8), castors), dark(rng)),
        (tube([[0, -0.08, 0], [0, -seat, 0]], 0.025), frame),
        (cushion([0, -seat - 0.03, 0], [width, 0.09, width], hard=6), cover),
    ]
    back = between(rng, 0.4, 0.75)
    rest = cushion([0, -back / 2, 0], [width * 0.9, back, 0.07], hard=5)
    parts.append((rest.moved([0, -seat - 0.12, width / 2], pitch=-8), cover))
    parts.append((tube([[0, -seat, 0.1], [0, -seat, 0.27], [0, -seat - 0.3, 0.29]], 0.02), frame))
    if chance(rng, 0.6):
        for side in (-1, 1):
            x = side * (width / 2 + 0.03)
            path = [[x * 0.7, -seat, 0], [x, -seat, 0], [x, -seat - 0.2, 0.02]]
            parts.append((tube(path, 0.014, sectors=6), frame))
            parts.append((cushion([x, -seat - 0.21, 0], [0.07, 0.03, 0.25]), frame))
    return made("chair", parts)


def sofa(rng: np.random.Generator, seats: int = 0) -> Piece:
    """Make an armchair (one seat) or sofa with cushions; as many seats as given, else one to four."""
    count = seats or some(rng, 1, 4)
    seat, depth = between(rng, 0.38, 0.48), between(rng, 0.75, 1.0)
    each, arm = between(rng, 0.55, 0.75), between(rng, 0.08, 0.26)
    inner = count * each
    width = inner + 2 * arm
    cover, hard = upholstery(rng), pick(rng, (4, 6, 8))
    leg = between(rng, 0.03, 0.16)
    front, back = -depth / 2, depth / 2
    thick = between(rng, 0.14, 0.26)
    parts: Parts = [
        (four_legs(rng, width * 0.94, depth * 0.9, leg, thick=0.05, rails=0.0), timber(rng)),
        (
            cushion(
                [0, -(leg + seat - 0.12) / 2 - leg / 2, 0], [width, seat - 0.1 - leg, depth], hard=8
            ),
            cover,
        ),
    ]
    high = seat + between(rng, 0.25, 0.5)
    spine = cushion([0, -(leg + high) / 2, back - thick / 2], [width, high - leg, thick], hard=hard)
    parts.append((spine, cover))
    arm_high = seat + between(rng, 0.08, 0.25)
    for side in (-1, 1):
        x = side * (width - arm) / 2
        size = [arm, arm_high - leg, depth]
        parts.append((cushion([x, -(leg + arm_high) / 2, 0], size, hard=hard), cover))
    places = (np.arange(count) - (count - 1) / 2) * each
    deep = depth - thick * 0.8
    for k in range(count):
        pad = [each * 0.99, 0.16, deep]
        parts.append((cushion([places[k], -seat + 0.04, front + deep / 2], pad, hard=hard), cover))
        rest = cushion([0, -0.2, 0], [each * 0.97, 0.42, 0.16], hard=4)
        at = [places[k], -seat, back - thick - 0.05]
        parts.append((rest.moved(at, pitch=-between(rng, 5, 18)), cover))
    for _ in range(some(rng, 0, count + 1)):
        edge = between(rng, 0.3, 0.5)
        pillow = cushion([0, -edge / 2, 0], [edge, edge, 0.14], hard=4)
        at = [
            between(rng, -0.4, 0.4) * inner,
            -seat - 0.03,
            back - thick - between(rng, 0.16, 0.24),
        ]
        turn = between(rng, -30, 30)
        parts.append(
            (pillow.moved(at, pitch=-20, roll=between(rng, -20, 20), yaw=turn), fabric(rng))
        )
    if chance(rng, 0.25):
        parts.append((_throw(width * 0.4, arm_high, depth).moved([places[0], 0, 0]), fabric(rng)))
    kind = "armchair" if count == 1 else "sofa"
    top = Top(seat + 0.04, (-inner / 2, inner / 2), (front + 0.1, back - thick - 0.2), 0.4)
    return made(kind, parts, (top,))


def _throw(width: float, height: float, depth: float) -> Shape:
    """Make a blanket over the front edge of the seat."""
    front = -depth / 2 - 0.012
    return merge(
        [
            cushion([0, -height * 0.45, front], [width * 0.8, height * 0.6, 0.02], hard=8),
            cushion([0, -height * 0.72, front + 0.18], [width * 0.8, 0.05, 0.4], hard=6),
        ]
    )


def bench(rng: np.random.Generator) -> Piece:
    """Make a bench of planks, with or without a back."""
    width, depth, seat = between(rng, 0.9, 2.0), between(rng, 0.28, 0.45), between(rng, 0.4, 0.48)
    wood = timber(rng)
    count = some(rng, 1, 5)
    z = (np.arange(count) - (count - 1) / 2) * depth / count
    planks = boxes(
        np.stack([0 * z, np.full(count, -seat), z], -1), [width, 0.03, depth / count * 0.85]
    )
    frame = metal(rng) if chance(rng, 0.4) else wood
    parts: Parts = [(planks, wood), (four_legs(rng, width * 0.9, depth, seat, thick=0.05), frame)]
    if chance(rng, 0.5):
        y = -seat - np.array([0.18, 0.3, 0.42])
        rails = boxes(np.stack([0 * y, y, np.full(3, depth / 2)], -1), [width, 0.08, 0.02])
        posts = boxes(
            [[side * width * 0.42, -seat - 0.23, depth / 2 + 0.02] for side in (-1, 1)],
            [0.04, 0.48, 0.03],
        )
        parts += [(rails, wood), (posts, frame)]
    return made("bench", parts, (Top(seat + 0.02, (-width / 2, width / 2), (-0.1, 0.1)),))


def pouf(rng: np.random.Generator) -> Piece:
    """Make a round or square upholstered footstool."""
    size, height = between(rng, 0.35, 0.6), between(rng, 0.25, 0.45)
    if chance(rng, 0.5):
        body = cushion([0, -height / 2, 0], [size, height, size], hard=pick(rng, (4, 6)))
    else:
        body = cylinder([0, 0, 0], size / 2, height, sectors=20)
    return made("stool", [(body, upholstery(rng))], (Top(height, (-0.1, 0.1), (-0.1, 0.1)),))
