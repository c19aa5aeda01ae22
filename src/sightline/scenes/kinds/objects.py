"""Single things: one or a few vases, chairs, animals, statues, plants, machines before a backdrop."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.kinds import furnish
from sightline.scenes.parts import (
    animals,
    backdrops,
    birds,
    clutter,
    contraptions,
    crockery,
    pot_plants,
    seats,
    shelves,
    statues,
    storage,
    tables,
    toys,
)
from sightline.scenes.parts.draw import between, chance, some, weighted
from sightline.scenes.parts.indoor_light import indoor_light, sky_outside
from sightline.scenes.parts.lamps import standing_lamp
from sightline.scenes.parts.pieces import Piece, Placed, Stage
from sightline.scenes.parts.shell import build_room
from sightline.scenes.parts.stock import Maker, take
from sightline.scenes.parts.viewing import as_point, best_view
from sightline.scenes.world import Light, Sky, View, World


def big_vase(rng: np.random.Generator) -> Piece:
    """Make a vase that stands on the floor."""
    return crockery.vase(rng, size=between(rng, 1.0, 3.5))


def lamp(rng: np.random.Generator) -> Piece:
    """Make a standing lamp, on or off."""
    return standing_lamp(rng, on=chance(rng, 0.5))


#: What may be looked at, with how often.
SUBJECTS: tuple[tuple[Maker, float], ...] = (
    (animals.animal, 5.0),
    (birds.bird, 1.5),
    (contraptions.tangle, 3.0),
    (contraptions.machine, 2.5),
    (contraptions.tower, 1.5),
    (contraptions.stacked_boxes, 1.0),
    (statues.statue, 1.5),
    (pot_plants.plant, 2.5),
    (pot_plants.flowers, 1.0),
    (big_vase, 1.5),
    (seats.chair, 1.5),
    (seats.office_chair, 0.8),
    (seats.sofa, 0.8),
    (seats.bench, 0.6),
    (lamp, 0.8),
    (tables.table, 0.6),
    (storage.chest, 0.5),
    (shelves.rack, 0.6),
    (toys.teddy, 1.0),
    (toys.toy_car, 0.8),
    (toys.wheel, 0.7),
    (toys.ladder, 0.6),
    (toys.bag, 0.7),
    (toys.shoes, 0.5),
    (toys.ball, 0.4),
    (crockery.teapot, 0.6),
)

LIVING_THINGS = {animals.animal, birds.bird, pot_plants.plant, pot_plants.flowers, statues.statue}


def subject(rng: np.random.Generator) -> Piece:
    """Take something to look at from the stock, in any size."""
    maker = weighted(rng, SUBJECTS)
    return take(rng, maker, stretch=0.2, recolour=maker not in LIVING_THINGS)


def build(rng: np.random.Generator) -> tuple[World, View]:
    """Build one to a few things before a backdrop, and a camera that looks at them."""
    place = weighted(rng, (("outdoors", 0.42), ("room", 0.35), ("studio", 0.23)))
    main = subject(rng)
    size = max(main.size)
    stage = Stage()
    light: Light
    sky: Sky | None
    if place == "outdoors":
        light, sky = backdrops.outdoors(stage, rng)
    elif place == "studio":
        light, sky = backdrops.studio(stage, rng)
    else:
        light, sky = _room(stage, rng, size)
    shown = [
        stage.put(main, between(rng, -0.2, 0.2), between(rng, -0.2, 0.2), yaw=between(rng, 0, 360))
    ]
    for _ in range(some(rng, 0, 4) if chance(rng, 0.6) else 0):
        other = subject(rng)
        if max(other.size) > 3 * size:
            continue
        away, angle = size * between(rng, 0.7, 3.0), between(rng, 0, 2 * math.pi)
        put = stage.try_put(
            other, away * math.cos(angle), away * math.sin(angle), yaw=between(rng, 0, 360)
        )
        if put is not None:
            shown.append(put)
    clutter.litter(stage, rng, (-2.5, 2.5, -2.5, 2.5), some(rng, 0, 4))
    return stage.builder.finish(light, sky), _choose_view(stage, rng, shown, place)


def _room(stage: Stage, rng: np.random.Generator, size: float) -> tuple[Light, Sky | None]:
    """Build a sparsely furnished room large enough for something of this size [m]."""
    width, depth = (max(between(rng, 3.0, 7.0), 2.2 * size) for _ in range(2))
    height = max(between(rng, 2.4, 3.2), size + 0.6)
    room = build_room(
        stage, rng, width, depth, height, windows=some(rng, 0, 2), doors=some(rng, 0, 1)
    )
    stage.area = room.area
    makers = (
        shelves.bookcase,
        storage.cabinet,
        seats.sofa,
        storage.chest,
        seats.chair,
        tables.desk,
    )
    furnish.at_walls(stage, rng, room, makers, some(rng, 0, 4), clutter.LIVING)
    furnish.on_walls(stage, rng, room, some(rng, 0, 4))
    at = (between(rng, -0.4, 0.4) * width, -height + 0.2, between(rng, -0.4, 0.4) * depth)
    light = indoor_light(rng, width, depth, height, sun=room.sky, lamps=[at])
    return light, sky_outside(rng) if room.sky else None


def _choose_view(stage: Stage, rng: np.random.Generator, shown: list[Placed], place: str) -> View:
    """Look at the first thing from about one to four times its size."""
    main = shown[0]
    low, high = main.bounds
    size = float((high - low).max())
    limit = 1e9 if stage.area is None else min(stage.area[1], stage.area[3]) - 0.15
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
        views.append(View(eye, as_point(target), float(rng.normal(0, 3)), fov))
    return best_view(rng, views, stage.boxes(), near=0.2)
