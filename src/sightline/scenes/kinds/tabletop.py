"""Table tops: cups, books, tools, food and toys on a table, seen from 0.3 to 1.5 m."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from sightline.scenes.camera import as_point, best_view
from sightline.scenes.indoor import arrangements, cabinets, furniture, kitchen_bathroom, room_types
from sightline.scenes.indoor.arrangements import ItemSet
from sightline.scenes.indoor.room_shell import Room, build_room
from sightline.scenes.layout import (
    PlacedProp,
    Prop,
    PropLayout,
    SupportSurface,
    make_prop,
    sample_prop,
)
from sightline.scenes.lighting import indoor_light, sky_outside
from sightline.scenes.materials import printed
from sightline.scenes.meshes import box
from sightline.scenes.sampling import Random, between, chance, pick, randint, weighted
from sightline.scenes.world import CameraView, SceneKind, SceneWorld

SETS = (
    arrangements.DINING, arrangements.DINING, arrangements.KITCHEN, arrangements.DESK[1:],
    arrangements.LIVING, arrangements.WORKSHOP, arrangements.PLAY, arrangements.ANY,
    arrangements.ANY,
)  # fmt: skip


#: Props that items stand on, with weights.
STANDS: ItemSet = (
    (furniture.table, 0.5),
    (furniture.desk, 0.15),
    (furniture.coffee_table, 0.15),
    (kitchen_bathroom.counter, 0.08),
    (cabinets.cabinet, 0.07),
    (furniture.bench, 0.05),
)


#: How steeply the camera looks at a table, with weights.
Steepness = Literal["slanted", "down", "level"]
STEEPNESS: tuple[tuple[Steepness, float], ...] = (("slanted", 0.7), ("down", 0.12), ("level", 0.18))


def build(rng: Random, steepness: Steepness | None = None) -> tuple[SceneWorld, CameraView]:
    """Build a table with items in the corner of a room, and a camera above it.

    Args:
        rng: random generator.
        steepness: how steeply the camera looks at the table; None to sample it.
    """
    width, depth, height = between(rng, 2.4, 6.0), between(rng, 2.4, 6.0), between(rng, 2.3, 3.0)
    layout = PropLayout((-width / 2, width / 2, -depth / 2, depth / 2))
    room = build_room(
        layout, rng, width, depth, height, windows=randint(rng, 0, 2), doors=randint(rng, 0, 1)
    )
    x, z = between(rng, -0.2, 0.2) * width, between(rng, -0.2, 0.2) * depth
    stand = layout.put(sample_prop(rng, weighted(rng, STANDS)), x, z, yaw=between(rng, 0, 360))
    makers = (
        cabinets.bookcase, cabinets.cabinet, furniture.sofa, cabinets.rack, furniture.chair,
        cabinets.chest,
    )  # fmt: skip
    room_types.at_walls(layout, rng, room, makers, randint(rng, 1, 4), arrangements.LIVING)
    room_types.on_walls(layout, rng, room, randint(rng, 0, 3))
    if chance(rng, 0.4):
        arrangements.around(
            layout, rng, stand, sample_prop(rng, furniture.chair), [(0.0, 0.75), (0.0, -0.75)]
        )
    top = stand.prop.tops[0]
    focus = (between(rng, *top.x) * 0.7, between(rng, *top.z) * 0.5)
    reach = between(rng, 0.12, 0.6)
    base = len(layout.placed)
    _lay_cloth(layout, rng, stand, focus)
    cluster(layout, rng, stand, focus, reach, pick(rng, SETS), randint(rng, 2, 22))
    things = layout.placed[base:] or [stand]
    lamp = (x + between(rng, -1, 1), -between(rng, 1.6, height - 0.1), z + between(rng, -1, 1))
    light = indoor_light(rng, 2.0, 2.0, height, sun=room.sky, lamps=[lamp])
    view = _choose_view(layout, rng, room, stand, focus, things, steepness)
    return layout.builder.finish(light, sky_outside(rng) if room.sky else None), view


def _lay_cloth(
    layout: PropLayout, rng: Random, stand: PlacedProp, focus: tuple[float, float]
) -> None:
    """Add a tray, place mat or cutting board in about a third of the scenes."""
    if not chance(rng, 0.35):
        return
    wide, deep, thick = between(rng, 0.25, 0.6), between(rng, 0.2, 0.45), between(rng, 0.002, 0.02)
    mat = make_prop("mat", [(box([0, -thick / 2, 0], [wide, thick, deep]), printed(rng, wide))])
    x, _, z = stand.point(focus[0], 0.0, focus[1])
    height = stand.prop.tops[0].height - stand.at[1]
    layout.put(mat, x, z, height=height, yaw=stand.yaw + between(rng, -20, 20))


def cluster(
    layout: PropLayout,
    rng: Random,
    stand: PlacedProp,
    focus: tuple[float, float],
    reach: float,
    set_: arrangements.ItemSet,
    count: int,
) -> None:
    """Place up to `count` items on a prop within about `reach` [m] of a point (x, z) of its frame."""
    top = stand.prop.tops[0]
    near = SupportSurface(
        top.height,
        (max(top.x[0], focus[0] - reach), min(top.x[1], focus[0] + reach)),
        (max(top.z[0], focus[1] - reach), min(top.z[1], focus[1] + reach)),
        top.room,
    )
    local = Prop(stand.prop.kind, [], stand.prop.size, (near,))
    arrangements.place_on(
        layout, PlacedProp(local, stand.at, stand.yaw, stand.bounds), rng, set_, count
    )
    # A few more all over the table.
    arrangements.place_on(layout, stand, rng, set_, randint(rng, 0, 5))


def _choose_view(
    layout: PropLayout,
    rng: Random,
    room: Room,
    stand: PlacedProp,
    focus: tuple[float, float],
    things: list[PlacedProp],
    steepness: Steepness | None,
) -> CameraView:
    """Choose a view of the items from 0.35 to 1.4 m, from level with the table to straight down."""
    middle = np.mean([t.bounds.mean(0) for t in things], 0)
    x, _, z = stand.point(focus[0], 0.0, focus[1])
    target = 0.5 * (middle + np.array([x, middle[1], z]))
    steep = weighted(rng, STEEPNESS) if steepness is None else steepness
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
        views.append(CameraView(as_point(eye), as_point(aim), roll, fov))
    return best_view(rng, views, layout.boxes(), room=walls, near=0.2)


KIND = SceneKind("tabletop", build, weight=0.14, rank=1, default=True)
