"""Rooms: living rooms, bedrooms, kitchens, offices, bathrooms, corridors, classrooms, stores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.scenes.kinds import furnish
from sightline.scenes.parts import clutter
from sightline.scenes.parts.draw import between, chance, pick, some, weighted
from sightline.scenes.parts.indoor_light import indoor_light, sky_outside
from sightline.scenes.parts.lamps import ceiling_lamp, hanging_lamp, standing_lamp
from sightline.scenes.parts.pieces import Stage
from sightline.scenes.parts.shell import Room, against, build_room
from sightline.scenes.parts.viewing import as_point, best_view
from sightline.scenes.world import View, World

Place = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Type:
    """A type of room: how it is furnished, ranges of its sides in [m], whether it gets wet."""

    furnish: furnish.Furnish
    width: tuple[float, float] = (2.8, 7.0)
    depth: tuple[float, float] = (3.0, 8.0)
    wet: bool = False
    windows: int = 3


#: Types with how often each is drawn.
TYPES: tuple[tuple[Type, float], ...] = (
    (Type(furnish.living), 0.24),
    (Type(furnish.bedroom, (2.6, 5.0), (3.0, 5.5)), 0.15),
    (Type(furnish.cook, (2.4, 5.0), (2.6, 6.0), wet=True), 0.16),
    (Type(furnish.office, (2.8, 9.0), (3.0, 10.0)), 0.14),
    (Type(furnish.washroom, (1.8, 3.5), (2.0, 4.0), wet=True, windows=1), 0.08),
    (Type(furnish.corridor, (1.3, 2.4), (4.0, 14.0), windows=2), 0.06),
    (Type(furnish.classroom, (4.0, 10.0), (5.0, 12.0)), 0.07),
    (Type(furnish.store, (3.0, 9.0), (3.0, 12.0), windows=1), 0.06),
    (Type(furnish.nursery, (2.6, 4.5), (3.0, 5.0)), 0.04),
)


def build(rng: np.random.Generator) -> tuple[World, View]:
    """Build a furnished room and a camera in it."""
    type_ = weighted(rng, TYPES)
    width, depth = between(rng, *type_.width), between(rng, *type_.depth)
    if chance(rng, 0.5):
        width, depth = depth, width
    height = between(rng, 2.25, 3.0) if chance(rng, 0.85) else between(rng, 3.0, 4.5)
    stage = Stage((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        stage,
        rng,
        width,
        depth,
        height,
        wet=type_.wet,
        windows=some(rng, 0, type_.windows),
        doors=some(rng, 0, 2),
    )
    # Reserved space before doors and windows holds for furniture only.
    type_.furnish(stage, rng, room)
    furnish.on_walls(stage, rng, room, some(rng, 3, 10))
    lamps = _lamps(stage, rng, room)
    clutter.litter(stage, rng, room.area, some(rng, 2, 12))
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=lamps)
    view = choose_view(stage, rng, room)
    return stage.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _lamps(stage: Stage, rng: np.random.Generator, room: Room) -> list[Place]:
    """Hang and stand lamps; gives where light comes from: places of lamps that are on."""
    lights: list[Place] = []
    if chance(rng, 0.75):
        on, hangs = chance(rng, 0.7), chance(rng, 0.5) and room.height > 2.4
        lamp = hanging_lamp(rng, on=on) if hangs else ceiling_lamp(rng, on=on)
        for _ in range(1 if hangs else some(rng, 1, 3)):
            x, z = between(rng, -0.4, 0.4) * room.width, between(rng, -0.4, 0.4) * room.depth
            low = max(room.height - lamp.size[1], 1.3)
            stage.put(lamp, x, z, height=low, yaw=pick(rng, (0.0, 90.0)))
            if on:
                lights.append((x, -low + 0.06, z))
    if chance(rng, 0.4):
        on = chance(rng, 0.6)
        lamp = standing_lamp(rng, on=on)
        put = against(stage, rng, pick(rng, room.walls), lamp)
        if put is not None and on:
            lights.append(put.point(0.0, lamp.size[1] * 0.92, 0.0))
    return lights[:3]


def choose_view(stage: Stage, rng: np.random.Generator, room: Room) -> View:
    """Stand a camera in a room: by hand, low, high in a corner, or close to something."""
    boxes = stage.boxes()
    style = weighted(rng, (("hand", 0.55), ("close", 0.25), ("corner", 0.1), ("low", 0.1)))
    fov = between(rng, 38, 78) if chance(rng, 0.75) else between(rng, 78, 100)
    roll = float(rng.normal(0, 2)) if chance(rng, 0.9) else float(rng.normal(0, 8))
    views = [_view(rng, room, boxes, style, fov, roll) for _ in range(14)]
    return best_view(rng, views, boxes, room=room.box, near=0.28)


def _view(
    rng: np.random.Generator, room: Room, boxes: np.ndarray, style: str, fov: float, roll: float
) -> View:
    """Draw one view of a style."""
    x_reach, z_reach = room.width / 2 - 0.25, room.depth / 2 - 0.25
    height = {"low": (0.15, 0.7), "corner": (1.7, room.height - 0.2)}.get(style, (0.8, 1.8))
    up = min(between(rng, *height), room.height - 0.15)
    if style == "corner":
        x, z = pick(rng, (-1.0, 1.0)) * x_reach, pick(rng, (-1.0, 1.0)) * z_reach
    else:
        x, z = between(rng, -x_reach, x_reach), between(rng, -z_reach, z_reach)
    low = boxes[boxes[:, 1, 1] > -1.9]
    if style == "close" and len(low):
        middle = low[int(rng.integers(len(low)))].mean(0)
        angle, away = between(rng, 0, 2 * math.pi), between(rng, 0.35, 1.5)
        x = float(np.clip(middle[0] + away * math.cos(angle), -x_reach, x_reach))
        z = float(np.clip(middle[2] + away * math.sin(angle), -z_reach, z_reach))
        up = float(np.clip(-middle[1] + away * between(rng, -0.1, 0.7), 0.15, room.height - 0.15))
        return View((x, -up, z), as_point(middle + rng.normal(0, 0.1, 3)), roll, fov)
    # Mostly towards the far side, so that there is something to see.
    heading = math.atan2(-x, -z) + float(rng.normal(0, 0.7))
    pitch = math.radians(between(rng, -35, 10) if style != "low" else between(rng, -12, 15))
    if style == "corner":
        pitch = math.radians(between(rng, -40, -8))
    target = (x + math.sin(heading), -up - math.tan(pitch), z + math.cos(heading))
    return View((x, -up, z), target, roll, fov)
