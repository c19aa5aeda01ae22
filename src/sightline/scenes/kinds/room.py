"""Rooms: living rooms, bedrooms, kitchens, offices, bathrooms, corridors, classrooms, stores."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.scenes.camera import as_point, best_view
from sightline.scenes.indoor import arrangements, room_types
from sightline.scenes.indoor.lamps_decor import ceiling_lamp, hanging_lamp, standing_lamp
from sightline.scenes.indoor.room_shell import Room, build_room, place_at_wall
from sightline.scenes.layout import PropLayout
from sightline.scenes.lighting import indoor_light, sky_outside
from sightline.scenes.sampling import Random, between, chance, pick, randint, weighted
from sightline.scenes.world import CameraView, Point, SceneKind, SceneWorld


@dataclass(frozen=True, slots=True)
class RoomType:
    """A type of room: how it is furnished, ranges of its sides in [m], whether it gets wet."""

    furnish: room_types.Furnish
    width: tuple[float, float] = (2.8, 7.0)
    depth: tuple[float, float] = (3.0, 8.0)
    wet: bool = False
    windows: int = 3


#: Types with how often each is drawn.
ROOM_TYPES: tuple[tuple[RoomType, float], ...] = (
    (RoomType(room_types.living), 0.24),
    (RoomType(room_types.bedroom, (2.6, 5.0), (3.0, 5.5)), 0.15),
    (RoomType(room_types.kitchen, (2.4, 5.0), (2.6, 6.0), wet=True), 0.16),
    (RoomType(room_types.office, (2.8, 9.0), (3.0, 10.0)), 0.14),
    (RoomType(room_types.washroom, (1.8, 3.5), (2.0, 4.0), wet=True, windows=1), 0.08),
    (RoomType(room_types.corridor, (1.3, 2.4), (4.0, 14.0), windows=2), 0.06),
    (RoomType(room_types.classroom, (4.0, 10.0), (5.0, 12.0)), 0.07),
    (RoomType(room_types.store, (3.0, 9.0), (3.0, 12.0), windows=1), 0.06),
    (RoomType(room_types.nursery, (2.6, 4.5), (3.0, 5.0)), 0.04),
)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a furnished room and a camera in it."""
    type_ = weighted(rng, ROOM_TYPES)
    width, depth = between(rng, *type_.width), between(rng, *type_.depth)
    if chance(rng, 0.5):
        width, depth = depth, width
    height = between(rng, 2.25, 3.0) if chance(rng, 0.85) else between(rng, 3.0, 4.5)
    layout = PropLayout((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        layout,
        rng,
        width,
        depth,
        height,
        wet=type_.wet,
        windows=randint(rng, 0, type_.windows),
        doors=randint(rng, 0, 2),
    )
    # Reserved space before doors and windows holds for furniture only.
    type_.furnish(layout, rng, room)
    room_types.on_walls(layout, rng, room, randint(rng, 3, 10))
    lamps = _lamps(layout, rng, room)
    arrangements.scatter_on_floor(layout, rng, room.area, randint(rng, 2, 12))
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=lamps)
    view = choose_view(layout, rng, room)
    return layout.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _lamps(layout: PropLayout, rng: Random, room: Room) -> list[Point]:
    """Hang and stand lamps; gives where light comes from: places of lamps that are on."""
    lights: list[Point] = []
    if chance(rng, 0.75):
        on, hangs = chance(rng, 0.7), chance(rng, 0.5) and room.height > 2.4
        lamp = hanging_lamp(rng, on=on) if hangs else ceiling_lamp(rng, on=on)
        for _ in range(1 if hangs else randint(rng, 1, 3)):
            x, z = between(rng, -0.4, 0.4) * room.width, between(rng, -0.4, 0.4) * room.depth
            low = max(room.height - lamp.size[1], 1.3)
            layout.put(lamp, x, z, height=low, yaw=pick(rng, (0.0, 90.0)))
            if on:
                lights.append((x, -low + 0.06, z))
    if chance(rng, 0.4):
        on = chance(rng, 0.6)
        lamp = standing_lamp(rng, on=on)
        put = place_at_wall(layout, rng, pick(rng, room.walls), lamp)
        if put is not None and on:
            lights.append(put.point(0.0, lamp.size[1] * 0.92, 0.0))
    return lights[:3]


def choose_view(layout: PropLayout, rng: Random, room: Room) -> CameraView:
    """Stand a camera in a room: by hand, low, high in a corner, or close to something."""
    boxes = layout.boxes()
    style = weighted(rng, (("hand", 0.55), ("close", 0.25), ("corner", 0.1), ("low", 0.1)))
    fov = between(rng, 38, 78) if chance(rng, 0.75) else between(rng, 78, 100)
    roll = float(rng.normal(0, 2)) if chance(rng, 0.9) else float(rng.normal(0, 8))
    views = [_sample_view(rng, room, boxes, style, fov, roll) for _ in range(14)]
    return best_view(rng, views, boxes, room=room.box, near=0.28)


def _sample_view(
    rng: Random, room: Room, boxes: np.ndarray, style: str, fov: float, roll: float
) -> CameraView:
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
        return CameraView((x, -up, z), as_point(middle + rng.normal(0, 0.1, 3)), roll, fov)
    # Mostly toward the far side, so that there is something to see.
    heading = math.atan2(-x, -z) + float(rng.normal(0, 0.7))
    pitch = math.radians(between(rng, -35, 10) if style != "low" else between(rng, -12, 15))
    if style == "corner":
        pitch = math.radians(between(rng, -40, -8))
    target = (x + math.sin(heading), -up - math.tan(pitch), z + math.cos(heading))
    return CameraView((x, -up, z), target, roll, fov)


KIND = SceneKind("room", build, weight=0.34, rank=0, default=True)
