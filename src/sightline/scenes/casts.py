"""Who is in a picture of people, and where: alone, in groups, at tables, on seats, in crowds.

Each cast gathers around a place (x, z) on the ground and knows where the camera will come from, as the
yaw of a person who looks straight into it. Lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sightline.scenes.bodies import Detail
from sightline.scenes.figures import Figure, by
from sightline.scenes.parts import clutter, seats, tables
from sightline.scenes.parts.draw import between, chance, pick, some, weighted
from sightline.scenes.parts.pieces import Piece, Placed, Stage, turned
from sightline.scenes.people import FREE_POSES, Person, draw_figure, place_person, seat_height

Random = np.random.Generator

#: Puts people on a stage: (stage, rng, x, z, yaw towards the camera, detail).
Cast = Callable[[Stage, Random, float, float, float, Detail], list[Person]]


def stand(
    stage: Stage, rng: Random, figure: Figure, x: float, z: float, yaw: float, detail: Detail,
    *, height: float = 0.0,
) -> Person:  # fmt: skip
    """Put one figure `height` above the ground, and let the stage know that the place is taken."""
    person = place_person(stage.builder, rng, figure, (x, -height, z), yaw, detail=detail)
    low, high = figure.vertices.min(0), figure.vertices.max(0)
    reach = np.maximum(np.abs(low), np.abs(high))
    wide = float(max(reach[0], reach[2])) * 2
    piece = Piece("person", [], (wide, -float(low[1]), wide))
    middle = np.array([x, -height, z])
    bounds = np.stack(
        [middle - by(wide / 2, -low[1], wide / 2), middle + by(wide / 2, 0, wide / 2)]
    )
    stage.placed.append(Placed(piece, (x, -height, z), yaw, bounds))
    return person


def alone(
    stage: Stage, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[Person]:
    """One person, turned to the camera more or less."""
    turn = rng.normal(0, 30) if chance(rng, 0.8) else between(rng, -180, 180)
    pose = weighted(rng, [*FREE_POSES, ("kneeling", 0.3), ("lying", 0.4)])
    return [stand(stage, rng, draw_figure(rng, pose), x, z, yaw + turn, detail)]


def group(
    stage: Stage, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[Person]:
    """Two to seven people side by side, in one or two rows, or in a circle talking."""
    count = pick(rng, (2, 2, 2, 3, 3, 4, 5, 6, 7))
    gap, circle = between(rng, 0.5, 0.85), chance(rng, 0.3)
    found = []
    for k in range(count):
        if circle:
            angle, radius = 360 * k / count, 0.35 + gap * count / 6
            across, ahead = turned(0.0, radius, angle)
            turn = 180 + angle + rng.normal(0, 15)
        else:
            row, rows = k % 2 if count > 4 else 0, 2 if count > 4 else 1
            across = (k // rows - (count / rows - 1) / 2) * gap + row * gap / 2
            ahead, turn = row * -0.6 + rng.normal(0, 0.08), rng.normal(0, 15)
        dx, dz = turned(across, ahead, yaw)
        pose = pick(
            rng, ("standing", "standing", "hips", "crossed", "holding", "raised", "walking")
        )
        figure = draw_figure(rng, pose)
        found.append(stand(stage, rng, figure, x + dx, z + dz, yaw + turn, detail))
    return found


def crowd(
    stage: Stage, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[Person]:
    """Five to ten people who come and go, over a wide place."""
    del detail  # most of them are far from the camera
    wide = between(rng, 2.0, 6.0)
    headings = (yaw, yaw + 180, yaw + 90, yaw - 90)
    found: list[Person] = []
    for _ in range(some(rng, 5, 10)):
        dx, dz = turned(between(rng, -wide, wide), between(rng, -1.3 * wide, 1.0), yaw)
        free = all(math.hypot(x + dx - p.foot[0], z + dz - p.foot[2]) > 0.7 for p in found)
        if free and _inside(stage, x + dx, z + dz):
            turn = pick(rng, headings) + rng.normal(0, 20)
            found.append(stand(stage, rng, draw_figure(rng), x + dx, z + dz, turn, "far"))
    return found or alone(stage, rng, x, z, yaw, "far")


def _inside(stage: Stage, x: float, z: float) -> bool:
    """Tell whether a place lies well within the stage's floor."""
    if stage.area is None:
        return True
    x0, x1, z0, z1 = stage.area
    return x0 + 0.5 < x < x1 - 0.5 and z0 + 0.5 < z < z1 - 0.5


def seated(
    stage: Stage, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[Person]:
    """One to three people on a chair, a sofa, a bench or a stool."""
    maker = pick(rng, (seats.chair, seats.sofa, seats.sofa, seats.bench, seats.bench, seats.stool))
    turn = yaw + rng.normal(0, 25)
    piece = maker(rng)
    top = piece.tops[0] if piece.tops else None
    wide = 0.0 if top is None else top.x[1] - top.x[0]
    count = min(3, max(1, int(wide / 0.6) - chance(rng, 0.4)))
    places = [(k - (count - 1) / 2) * min(0.75, max(wide, 0.5) / count) for k in range(count)]
    return _sit(stage, rng, piece, x, z, turn, detail, places)


def _sit(
    stage: Stage, rng: Random, piece: Piece, x: float, z: float, turn: float, detail: Detail,
    places: list[float],
) -> list[Person]:  # fmt: skip
    """Put a seat down and people on it, who look where `turn` points; seats are made to fit adults."""
    figures = [draw_figure(rng, "sitting") for _ in places]
    own = piece.tops[0].height if piece.tops else piece.size[1]
    knees = max(seat_height(figure) for figure in figures)
    high = float(np.clip(knees, 0.34, 0.5))
    grow = high / own
    tops = tuple(replace(top, height=top.height * grow) for top in piece.tops)
    size = (piece.size[0], piece.size[1] * grow, piece.size[2])
    fitted = Piece(piece.kind, piece.parts, size, tops, (1.0, grow, 1.0))
    seat = stage.put(fitted, x, z, yaw=turn + 180)
    found = []
    for figure, across in zip(figures, places, strict=True):
        # A little to the back of the seat, which is at +z in a seat's own frame.
        px, _, pz = seat.point(across, 0.0, between(rng, -0.02, 0.06))
        lift = max(0.0, high - seat_height(figure))
        facing = turn + rng.normal(0, 6)
        found.append(stand(stage, rng, figure, px, pz, facing, detail, height=lift))
    return found


def at_table(
    stage: Stage, rng: Random, x: float, z: float, yaw: float, detail: Detail
) -> list[Person]:
    """One to four people on chairs around a table with things on it."""
    piece = tables.table(rng, width=(0.8, 1.8), depth=(0.7, 1.0), height=(0.7, 0.78))
    turn = yaw + pick(rng, (0.0, 90.0, 30.0, -40.0)) + rng.normal(0, 8)
    table = stage.put(piece, x, z, yaw=turn)
    clutter.dress(stage, table, rng, clutter.KITCHEN, some(rng, 2, 7))
    sides = [(0.0, 1.0), (0.0, -1.0), (1.0, 0.0), (-1.0, 0.0)]
    found = []
    for k in range(some(rng, 1, 4)):
        sx, sz = sides[k]
        cx, _, cz = table.point(
            sx * (piece.size[0] / 2 + 0.3), 0.0, sz * (piece.size[2] / 2 + between(rng, 0.22, 0.35))
        )
        inward = math.degrees(math.atan2(x - cx, z - cz))
        maker = pick(rng, (seats.chair, seats.chair, seats.stool))
        found += _sit(stage, rng, maker(rng), cx, cz, inward, detail, [0.0])
    return found


#: Casts with how often each is drawn.
CASTS: tuple[tuple[Cast, float], ...] = (
    (alone, 0.34),
    (group, 0.26),
    (seated, 0.16),
    (at_table, 0.14),
    (crowd, 0.10),
)
