"""Furnish rooms by type: living room, bedroom, kitchen, office, bathroom, corridor, classroom."""

from __future__ import annotations

from collections.abc import Callable

from sightline.scenes.indoor import (
    arrangements,
    cabinets,
    floor_items,
    furniture,
    kitchen_bathroom,
    lamps_decor,
    windows_doors,
)
from sightline.scenes.indoor.arrangements import ItemSet
from sightline.scenes.indoor.room_shell import Room, place_at_wall
from sightline.scenes.layout import PlacedProp, Prop, PropLayout, PropMaker, sample_prop
from sightline.scenes.sampling import Random, between, chance, pick, randint


def at_walls(
    layout: PropLayout,
    rng: Random,
    room: Room,
    makers: tuple[PropMaker, ...],
    count: int,
    set_: ItemSet,
) -> None:
    """Place up to `count` props along the walls, with items on them."""
    for _ in range(count):
        put = place_at_wall(layout, rng, pick(rng, room.walls), sample_prop(rng, pick(rng, makers)))
        if put is not None:
            arrangements.place_on(layout, put, rng, set_, randint(rng, 1, 6))


def on_walls(layout: PropLayout, rng: Random, room: Room, count: int) -> None:
    """Hang up to `count` pictures, mirrors, clocks, screens, shelves and coats."""
    makers = (
        *(lamps_decor.picture,) * 5, lamps_decor.mirror, lamps_decor.clock,
        lamps_decor.television, cabinets.wall_shelf, lamps_decor.coats,
    )  # fmt: skip
    for _ in range(count):
        prop = sample_prop(rng, pick(rng, makers))
        low = {"coat": 0.5, "mirror": 0.6}.get(prop.kind, 1.0)
        height = between(rng, low, max(low + 0.05, min(1.9, room.height - prop.size[1] - 0.2)))
        if height + prop.size[1] < room.height:
            place_at_wall(layout, rng, pick(rng, room.walls), prop, height=height, tries=3)


def _near_center(rng: Random, room: Room) -> tuple[float, float]:
    """Sample (x, z) around the middle of the floor."""
    return between(rng, -0.22, 0.22) * room.width, between(rng, -0.22, 0.22) * room.depth


def _random_yaw(rng: Random) -> float:
    """Draw a yaw: mostly along the walls."""
    return pick(rng, (0.0, 90.0, 180.0, 270.0)) + (
        between(rng, -30, 30) if chance(rng, 0.3) else 0.0
    )


def living(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a living room: sofas, low table, shelves, cabinets, perhaps a dining table."""
    arrangements.lounge(layout, rng, *_near_center(rng, room), _random_yaw(rng))
    if room.width * room.depth > 18:
        arrangements.dining(layout, rng, *_near_center(rng, room), _random_yaw(rng))
    makers = (
        cabinets.bookcase, cabinets.bookcase, cabinets.cabinet, furniture.sofa, cabinets.chest,
    )  # fmt: skip
    at_walls(layout, rng, room, makers, randint(rng, 4, 9), arrangements.LIVING)
    at_walls(layout, rng, room, (windows_doors.radiator,), 1, arrangements.LIVING)


def bedroom(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a bedroom: bed, bedside tables, wardrobe, chest."""
    for _ in range(2 if chance(rng, 0.2) else 1):
        bed = place_at_wall(
            layout, rng, pick(rng, room.walls), sample_prop(rng, cabinets.bed), tries=8
        )
        if bed is None:
            continue
        if chance(rng, 0.4):
            arrangements.place_on(layout, bed, rng, arrangements.FLOOR[:9], 2)
        for side in (-1, 1):
            small = sample_prop(rng, furniture.bedside)
            across = side * (bed.prop.size[0] / 2 + small.size[0] / 2 + 0.05)
            x, _, z = bed.point(across, 0.0, bed.prop.size[2] / 2 - small.size[2] / 2)
            put = layout.try_put(small, x, z, yaw=bed.yaw) if chance(rng, 0.75) else None
            if put is not None:
                arrangements.place_on(
                    layout, put, rng, ((arrangements.lamp_on, 2.0), *arrangements.LIVING), 3
                )
    makers = (
        cabinets.wardrobe, cabinets.chest, cabinets.wardrobe, cabinets.bookcase, furniture.desk,
        furniture.chair,
    )  # fmt: skip
    at_walls(layout, rng, room, makers, randint(rng, 3, 7), arrangements.LIVING)
    if chance(rng, 0.5):
        layout.put(
            sample_prop(rng, lamps_decor.rug), *_near_center(rng, room), yaw=_random_yaw(rng)
        )


def kitchen(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a kitchen: units along one to three walls, fridge, cooker, table."""
    start = randint(rng, 0, 3)
    for k in range(randint(rng, 1, 3)):
        wall = room.walls[(start + k) % 4]
        put = place_at_wall(layout, rng, wall, sample_prop(rng, kitchen_bathroom.counter), tries=8)
        if put is not None:
            arrangements.place_on(layout, put, rng, arrangements.KITCHEN, randint(rng, 3, 12))
    makers = (kitchen_bathroom.fridge, kitchen_bathroom.cooker, cabinets.cabinet, cabinets.rack)
    at_walls(layout, rng, room, makers, randint(rng, 2, 5), arrangements.KITCHEN)
    if room.width * room.depth > 9:
        set_ = arrangements.DINING if chance(rng, 0.6) else arrangements.KITCHEN
        arrangements.dining(layout, rng, *_near_center(rng, room), _random_yaw(rng), set_)


def office(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish an office: desks with screens and chairs, shelves, boards."""
    for _ in range(randint(rng, 2, 6)):
        desk: PlacedProp | None
        if chance(rng, 0.6):
            desk = place_at_wall(
                layout, rng, pick(rng, room.walls), sample_prop(rng, furniture.desk)
            )
        else:
            desk = layout.try_put(
                sample_prop(rng, furniture.desk), *_near_center(rng, room), yaw=_random_yaw(rng)
            )
        if desk is not None:
            arrangements.workplace(layout, rng, desk)
    makers: tuple[PropMaker, ...] = (
        cabinets.bookcase,
        cabinets.cabinet,
        cabinets.rack,
        cabinets.chest,
    )
    at_walls(layout, rng, room, makers, randint(rng, 2, 6), arrangements.DESK[4:])
    _hang(layout, rng, room, sample_prop(rng, lamps_decor.board), 0.9)


def washroom(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a bathroom: tub or shower, toilet, basin with a mirror, towels."""
    for maker in (kitchen_bathroom.bathtub, kitchen_bathroom.shower, kitchen_bathroom.toilet):
        if chance(rng, 0.7):
            put = place_at_wall(
                layout, rng, pick(rng, room.walls), sample_prop(rng, maker), tries=8
            )
            if put is not None and put.prop.tops:
                arrangements.place_on(layout, put, rng, arrangements.BATH, 2)
    for _ in range(randint(rng, 1, 2)):
        wall = pick(rng, room.walls)
        basin = place_at_wall(
            layout, rng, wall, sample_prop(rng, kitchen_bathroom.washbasin), tries=8
        )
        if basin is not None:
            arrangements.place_on(layout, basin, rng, arrangements.BATH, 4)
            mirror = sample_prop(rng, lamps_decor.mirror)
            x, _, z = basin.point(0.0, 0.0, basin.prop.size[2] / 2 - 0.02)
            if 1.15 + mirror.size[1] < room.height:
                layout.put(mirror, x, z, height=1.15, yaw=basin.yaw)
    makers = (kitchen_bathroom.cooker, cabinets.cabinet, kitchen_bathroom.basket, cabinets.rack)
    at_walls(layout, rng, room, makers, randint(rng, 0, 3), arrangements.BATH)
    for _ in range(2):
        _hang(
            layout, rng, room, sample_prop(rng, kitchen_bathroom.towel_rail), between(rng, 0.3, 1.0)
        )


def corridor(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a corridor: low cabinets, coats, a bench, perhaps stairs."""
    if chance(rng, 0.35):
        place_at_wall(layout, rng, pick(rng, room.walls), windows_doors.stairs(rng, room.height))
    makers = (
        cabinets.cabinet, furniture.bench, cabinets.bookcase, furniture.chair, cabinets.wardrobe,
        windows_doors.radiator,
    )  # fmt: skip
    at_walls(layout, rng, room, makers, randint(rng, 2, 6), arrangements.LIVING)
    _hang(layout, rng, room, sample_prop(rng, lamps_decor.coats), 0.6)
    if chance(rng, 0.5):
        layout.put(
            sample_prop(rng, lamps_decor.rug), *_near_center(rng, room), yaw=_random_yaw(rng)
        )


def classroom(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a classroom with rows of tables, or a meeting room with one long table."""
    if chance(rng, 0.55):
        yaw = pick(rng, (0.0, 90.0, 180.0, 270.0))
        x0, x1, z0, z1 = room.area
        arrangements.rows(layout, rng, (x0 + 0.5, x1 - 0.5, z0 + 0.8, z1 - 0.8), yaw)
    else:
        arrangements.dining(layout, rng, 0.0, 0.0, 0.0, arrangements.DESK[1:])
    for _ in range(2):
        _hang(layout, rng, room, sample_prop(rng, lamps_decor.board), 0.9)
    makers = (
        cabinets.cabinet, cabinets.bookcase, cabinets.rack, cabinets.wardrobe,
        windows_doors.radiator,
    )  # fmt: skip
    at_walls(layout, rng, room, makers, randint(rng, 3, 7), arrangements.DESK[4:])


def store(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a store or workshop: shelves, racks, workbenches with tools, ladders, boxes."""
    makers = (
        cabinets.rack, cabinets.rack, cabinets.bookcase, furniture.desk, cabinets.cabinet,
        floor_items.ladder,
    )  # fmt: skip
    at_walls(layout, rng, room, makers, randint(rng, 4, 9), arrangements.WORKSHOP)
    for _ in range(randint(rng, 1, 3)):
        middle: Prop = sample_prop(
            rng, pick(rng, (cabinets.rack, furniture.table, cabinets.bookcase))
        )
        put = layout.try_put(middle, *_near_center(rng, room), yaw=_random_yaw(rng))
        if put is not None:
            arrangements.place_on(layout, put, rng, arrangements.WORKSHOP, randint(rng, 3, 12))


def nursery(layout: PropLayout, rng: Random, room: Room) -> None:
    """Furnish a bedroom and strew toys all over its floor."""
    bedroom(layout, rng, room)
    arrangements.scatter_on_floor(layout, rng, room.area, randint(rng, 4, 14), arrangements.PLAY)


def _hang(layout: PropLayout, rng: Random, room: Room, prop: Prop, height: float) -> None:
    """Hang a prop on a random wall, its lower edge at a height."""
    if height + prop.size[1] < room.height:
        place_at_wall(layout, rng, pick(rng, room.walls), prop, height=height, tries=4)


Furnish = Callable[[PropLayout, Random, Room], None]
