"""Table tops: cups, books, tools, food and toys on a table, seen from a hand's or an arm's length."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.kinds import furnish
from sightline.scenes.parts import arrangements, clutter, kitchen, seats, shelves, storage, tables
from sightline.scenes.parts.draw import between, chance, pick, some, weighted
from sightline.scenes.parts.finishes import printed
from sightline.scenes.parts.indoor_light import indoor_light, sky_outside
from sightline.scenes.parts.pieces import Piece, Placed, Stage, Top, made
from sightline.scenes.parts.shell import Room, build_room
from sightline.scenes.parts.stock import Maker, take
from sightline.scenes.parts.viewing import as_point, best_view
from sightline.scenes.shapes import box
from sightline.scenes.world import View, World

SETS = (
    clutter.DINING,
    clutter.DINING,
    clutter.KITCHEN,
    clutter.DESK[1:],
    clutter.LIVING,
    clutter.WORKSHOP,
    clutter.PLAY,
    clutter.ANY,
    clutter.ANY,
)


#: What things stand on, with how often.
STANDS: tuple[tuple[Maker, float], ...] = (
    (tables.table, 0.5),
    (tables.desk, 0.15),
    (tables.coffee_table, 0.15),
    (kitchen.counter, 0.08),
    (storage.cabinet, 0.07),
    (seats.bench, 0.05),
)


def build(rng: np.random.Generator) -> tuple[World, View]:
    """Build a table with things on it in the corner of a room, and a camera above it."""
    width, depth, height = between(rng, 2.4, 6.0), between(rng, 2.4, 6.0), between(rng, 2.3, 3.0)
    stage = Stage((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        stage, rng, width, depth, height, windows=some(rng, 0, 2), doors=some(rng, 0, 1)
    )
    x, z = between(rng, -0.2, 0.2) * width, between(rng, -0.2, 0.2) * depth
    stand = stage.put(take(rng, weighted(rng, STANDS)), x, z, yaw=between(rng, 0, 360))
    makers = (
        shelves.bookcase,
        storage.cabinet,
        seats.sofa,
        shelves.rack,
        seats.chair,
        storage.chest,
    )
    furnish.at_walls(stage, rng, room, makers, some(rng, 1, 4), clutter.LIVING)
    furnish.on_walls(stage, rng, room, some(rng, 0, 3))
    if chance(rng, 0.4):
        arrangements.around(stage, rng, stand, take(rng, seats.chair), [(0.0, 0.75), (0.0, -0.75)])
    top = stand.piece.tops[0]
    focus = (between(rng, *top.x) * 0.7, between(rng, *top.z) * 0.5)
    reach = between(rng, 0.12, 0.6)
    base = len(stage.placed)
    _lay_cloth(stage, rng, stand, focus)
    cluster(stage, rng, stand, focus, reach, pick(rng, SETS), some(rng, 2, 22))
    things = stage.placed[base:] or [stand]
    lamp = (x + between(rng, -1, 1), -between(rng, 1.6, height - 0.1), z + between(rng, -1, 1))
    light = indoor_light(rng, 2.0, 2.0, height, sun=room.sky, lamps=[lamp])
    view = _choose_view(stage, rng, room, stand, focus, things)
    return stage.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _lay_cloth(
    stage: Stage, rng: np.random.Generator, stand: Placed, focus: tuple[float, float]
) -> None:
    """Sometimes lay a tray, a place mat or a cutting board below the things."""
    if not chance(rng, 0.35):
        return
    wide, deep, thick = between(rng, 0.25, 0.6), between(rng, 0.2, 0.45), between(rng, 0.002, 0.02)
    mat = made("mat", [(box([0, -thick / 2, 0], [wide, thick, deep]), printed(rng, wide))])
    x, _, z = stand.point(focus[0], 0.0, focus[1])
    height = stand.piece.tops[0].height - stand.at[1]
    stage.put(mat, x, z, height=height, yaw=stand.yaw + between(rng, -20, 20))


def cluster(
    stage: Stage,
    rng: np.random.Generator,
    stand: Placed,
    focus: tuple[float, float],
    reach: float,
    set_: furnish.Set,
    count: int,
) -> None:
    """Gather up to `count` things on a top within about `reach` [m] of a point (x, z) of its frame."""
    top = stand.piece.tops[0]
    near = Top(
        top.height,
        (max(top.x[0], focus[0] - reach), min(top.x[1], focus[0] + reach)),
        (max(top.z[0], focus[1] - reach), min(top.z[1], focus[1] + reach)),
        top.room,
    )
    local = Piece(stand.piece.kind, [], stand.piece.size, (near,))
    clutter.dress(stage, Placed(local, stand.at, stand.yaw, stand.bounds), rng, set_, count)
    # A few more all over the table.
    clutter.dress(stage, stand, rng, set_, some(rng, 0, 5))


def _choose_view(
    stage: Stage,
    rng: np.random.Generator,
    room: Room,
    stand: Placed,
    focus: tuple[float, float],
    things: list[Placed],
) -> View:
    """Look at the things from 0.3 to 1.5 m, from level with the table to straight down."""
    middle = np.mean([t.bounds.mean(0) for t in things], 0)
    x, _, z = stand.point(focus[0], 0.0, focus[1])
    target = 0.5 * (middle + np.array([x, middle[1], z]))
    steep = weighted(rng, (("slanted", 0.7), ("down", 0.12), ("level", 0.18)))
    fov = between(rng, 38, 75)
    walls, views = room.box, []
    for _ in range(8):
        pitch = {"slanted": between(rng, 15, 60), "down": between(rng, 75, 90)}.get(
            steep, between(rng, 2, 14)
        )
        away, around = between(rng, 0.35, 1.4), between(rng, 0, 2 * math.pi)
        level, up = away * math.cos(math.radians(pitch)), away * math.sin(math.radians(pitch))
        eye = target + np.array([level * math.sin(around), -up, level * math.cos(around)])
        eye = np.clip(eye, walls[0] + 0.1, walls[1] - 0.1)
        aim = target + rng.normal(0, 0.05, 3)
        roll = float(rng.normal(0, 3)) if steep != "down" else between(rng, -180, 180)
        views.append(View(as_point(eye), as_point(aim), roll, fov))
    return best_view(rng, views, stage.boxes(), room=walls, near=0.2)
