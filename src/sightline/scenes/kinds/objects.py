"""Single objects: one or a few vases, chairs, animals, statues, plants before a backdrop."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.camera import as_point, best_view
from sightline.scenes.indoor import (
    animals,
    arrangements,
    backdrops,
    cabinets,
    floor_items,
    furniture,
    houseplants,
    room_types,
    sculptures,
    tableware,
)
from sightline.scenes.indoor.arrangements import ItemSet
from sightline.scenes.indoor.lamps_decor import standing_lamp
from sightline.scenes.indoor.room_shell import build_room
from sightline.scenes.layout import PlacedProp, Prop, PropLayout, prop_maker, sample_prop
from sightline.scenes.lighting import indoor_light, sky_outside
from sightline.scenes.sampling import Random, between, chance, randint, weighted
from sightline.scenes.world import CameraView, Light, SceneKind, SceneWorld, Sky


@prop_maker(0x61E33DAF)
def big_vase(rng: Random) -> Prop:
    """Make a vase that stands on the floor."""
    return tableware.vase(rng, size=between(rng, 1.0, 3.5))


@prop_maker(0x440CC077)
def floor_lamp(rng: Random) -> Prop:
    """Make a standing lamp, on or off."""
    return standing_lamp(rng, on=chance(rng, 0.5))


#: What may be looked at, with how often.
SUBJECTS: ItemSet = (
    (animals.animal, 5.0), (animals.bird, 1.5), (sculptures.tangle, 3.0),
    (sculptures.machine, 2.5), (sculptures.tower, 1.5), (sculptures.stacked_boxes, 1.0),
    (sculptures.statue, 1.5), (houseplants.plant, 2.5), (houseplants.flowers, 1.0),
    (big_vase, 1.5), (furniture.chair, 1.5), (furniture.office_chair, 0.8), (furniture.sofa, 0.8),
    (furniture.bench, 0.6), (floor_lamp, 0.8), (furniture.table, 0.6), (cabinets.chest, 0.5),
    (cabinets.rack, 0.6), (floor_items.teddy, 1.0), (floor_items.toy_car, 0.8),
    (floor_items.wheel, 0.7), (floor_items.ladder, 0.6), (floor_items.bag, 0.7),
    (floor_items.shoes, 0.5), (floor_items.ball, 0.4), (tableware.teapot, 0.6),
)  # fmt: skip

LIVING_THINGS = {
    animals.animal,
    animals.bird,
    houseplants.plant,
    houseplants.flowers,
    sculptures.statue,
}


@prop_maker(0x8F3234EC)
def subject(rng: Random) -> Prop:
    """Sample the main object of a picture."""
    maker = weighted(rng, SUBJECTS)
    return sample_prop(rng, maker, stretch=0.2, recolor=maker not in LIVING_THINGS)


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build one to a few objects before a backdrop, and a camera that looks at them."""
    place = weighted(rng, (("outdoors", 0.42), ("room", 0.35), ("studio", 0.23)))
    main = subject(rng)
    size = max(main.size)
    layout = PropLayout()
    light: Light
    sky: Sky | None
    if place == "outdoors":
        light, sky = backdrops.outdoor_backdrop(layout, rng)
    elif place == "studio":
        light, sky = backdrops.studio_backdrop(layout, rng)
    else:
        light, sky = _room(layout, rng, size)
    shown = [
        layout.put(main, between(rng, -0.2, 0.2), between(rng, -0.2, 0.2), yaw=between(rng, 0, 360))
    ]
    for _ in range(randint(rng, 0, 4) if chance(rng, 0.6) else 0):
        other = subject(rng)
        if max(other.size) > 3 * size:
            continue
        away, angle = size * between(rng, 0.7, 3.0), between(rng, 0, 2 * math.pi)
        put = layout.try_put(
            other, away * math.cos(angle), away * math.sin(angle), yaw=between(rng, 0, 360)
        )
        if put is not None:
            shown.append(put)
    arrangements.scatter_on_floor(layout, rng, (-2.5, 2.5, -2.5, 2.5), randint(rng, 0, 4))
    return layout.builder.finish(light, sky), _choose_view(layout, rng, shown, place)


def _room(layout: PropLayout, rng: Random, size: float) -> tuple[Light, Sky | None]:
    """Build a sparsely furnished room large enough for something of this size [m]."""
    width, depth = (max(between(rng, 3.0, 7.0), 2.2 * size) for _ in range(2))
    height = max(between(rng, 2.4, 3.2), size + 0.6)
    room = build_room(
        layout, rng, width, depth, height, windows=randint(rng, 0, 2), doors=randint(rng, 0, 1)
    )
    layout.area = room.area
    makers = (
        cabinets.bookcase, cabinets.cabinet, furniture.sofa, cabinets.chest, furniture.chair,
        furniture.desk,
    )  # fmt: skip
    room_types.at_walls(layout, rng, room, makers, randint(rng, 0, 4), arrangements.LIVING)
    room_types.on_walls(layout, rng, room, randint(rng, 0, 4))
    at = (between(rng, -0.4, 0.4) * width, -height + 0.2, between(rng, -0.4, 0.4) * depth)
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=[at])
    return light, sky_outside(rng) if room.sky else None


def _choose_view(
    layout: PropLayout, rng: Random, shown: list[PlacedProp], place: str
) -> CameraView:
    """Choose a view of the first object from about one to four times its size."""
    main = shown[0]
    low, high = main.bounds
    size = float((high - low).max())
    limit = 1e9 if layout.area is None else min(layout.area[1], layout.area[3]) - 0.15
    if place == "studio":
        limit = 4.0
    fov = between(rng, 38, 80)
    views = []
    for _ in range(8):
        target = low + (high - low) * rng.uniform(0.25, 0.75, 3)
        away = max(0.3, size * between(rng, 0.55, 1.6) / math.tan(math.radians(fov) / 2) / 1.4)
        angle = between(rng, 0, 2 * math.pi)
        pitch = math.radians(between(rng, -5, 35) if chance(rng, 0.85) else between(rng, 35, 80))
        x = float(np.clip(target[0] + away * math.sin(angle) * math.cos(pitch), -limit, limit))
        z = float(np.clip(target[2] + away * math.cos(angle) * math.cos(pitch), -limit, limit))
        up = max(0.06, -float(target[1]) + away * math.sin(pitch))
        eye = (x, -min(up, 2.3 if place == "room" else 60.0), z)
        views.append(CameraView(eye, as_point(target), float(rng.normal(0, 3)), fov))
    return best_view(rng, views, layout.boxes(), near=0.2)


KIND = SceneKind("objects", build, weight=0.1, rank=2, default=True)
