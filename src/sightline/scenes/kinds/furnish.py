"""How rooms of each type are furnished; each function fills a `Room` that is already built."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sightline.scenes.parts import (
    arrangements,
    bath,
    clutter,
    decor,
    fixtures,
    kitchen,
    seats,
    shelves,
    storage,
    tables,
    toys,
)
from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.pieces import Piece, Placed, Stage
from sightline.scenes.parts.shell import Room, against
from sightline.scenes.parts.stock import Maker, take

Set = tuple[tuple[Maker, float], ...]


def at_walls(
    stage: Stage,
    rng: np.random.Generator,
    room: Room,
    makers: tuple[Maker, ...],
    count: int,
    set_: Set,
) -> None:
    """Stand up to `count` pieces along the walls, with things on them."""
    for _ in range(count):
        put = against(stage, rng, pick(rng, room.walls), take(rng, pick(rng, makers)))
        if put is not None:
            clutter.dress(stage, put, rng, set_, some(rng, 1, 6))


def on_walls(stage: Stage, rng: np.random.Generator, room: Room, count: int) -> None:
    """Hang up to `count` pictures, mirrors, clocks, screens, shelves and coats."""
    makers = (
        *(decor.picture,) * 5,
        decor.mirror,
        decor.clock,
        decor.television,
        shelves.wall_shelf,
        decor.coats,
    )
    for _ in range(count):
        piece = take(rng, pick(rng, makers))
        low = {"coat": 0.5, "mirror": 0.6}.get(piece.kind, 1.0)
        height = between(rng, low, max(low + 0.05, min(1.9, room.height - piece.size[1] - 0.2)))
        if height + piece.size[1] < room.height:
            against(stage, rng, pick(rng, room.walls), piece, height=height, tries=3)


def _middle(rng: np.random.Generator, room: Room) -> tuple[float, float]:
    """Draw a place around the middle of the floor."""
    return between(rng, -0.22, 0.22) * room.width, between(rng, -0.22, 0.22) * room.depth


def _turn(rng: np.random.Generator) -> float:
    """Draw a yaw: mostly along the walls."""
    return pick(rng, (0.0, 90.0, 180.0, 270.0)) + (
        between(rng, -30, 30) if chance(rng, 0.3) else 0.0
    )


def living(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Sofas around a low table, shelves and cabinets along the walls, perhaps a dining table."""
    arrangements.lounge(stage, rng, *_middle(rng, room), _turn(rng))
    if room.width * room.depth > 18:
        arrangements.dining(stage, rng, *_middle(rng, room), _turn(rng))
    makers = (shelves.bookcase, shelves.bookcase, storage.cabinet, seats.sofa, storage.chest)
    at_walls(stage, rng, room, makers, some(rng, 4, 9), clutter.LIVING)
    at_walls(stage, rng, room, (fixtures.radiator,), 1, clutter.LIVING)


def bedroom(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Bed with bedside tables, wardrobe, chest, clothes on the floor."""
    for _ in range(2 if chance(rng, 0.2) else 1):
        bed = against(stage, rng, pick(rng, room.walls), take(rng, storage.bed), tries=8)
        if bed is None:
            continue
        if chance(rng, 0.4):
            clutter.dress(stage, bed, rng, clutter.FLOOR[:9], 2)
        for side in (-1, 1):
            small = take(rng, tables.bedside)
            across = side * (bed.piece.size[0] / 2 + small.size[0] / 2 + 0.05)
            x, _, z = bed.point(across, 0.0, bed.piece.size[2] / 2 - small.size[2] / 2)
            put = stage.try_put(small, x, z, yaw=bed.yaw) if chance(rng, 0.75) else None
            if put is not None:
                clutter.dress(stage, put, rng, ((clutter.lamp_on, 2.0), *clutter.LIVING), 3)
    makers = (
        storage.wardrobe,
        storage.chest,
        storage.wardrobe,
        shelves.bookcase,
        tables.desk,
        seats.chair,
    )
    at_walls(stage, rng, room, makers, some(rng, 3, 7), clutter.LIVING)
    if chance(rng, 0.5):
        stage.put(take(rng, decor.rug), *_middle(rng, room), yaw=_turn(rng))


def cook(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Line one to three walls with kitchen units; fridge, cooker, a table."""
    start = some(rng, 0, 3)
    for k in range(some(rng, 1, 3)):
        wall = room.walls[(start + k) % 4]
        put = against(stage, rng, wall, take(rng, kitchen.counter), tries=8)
        if put is not None:
            clutter.dress(stage, put, rng, clutter.KITCHEN, some(rng, 3, 12))
    makers = (kitchen.fridge, kitchen.cooker, storage.cabinet, shelves.rack)
    at_walls(stage, rng, room, makers, some(rng, 2, 5), clutter.KITCHEN)
    if room.width * room.depth > 9:
        set_ = clutter.DINING if chance(rng, 0.6) else clutter.KITCHEN
        arrangements.dining(stage, rng, *_middle(rng, room), _turn(rng), set_)


def office(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Desks with screens and chairs, along walls and in the middle; shelves, boards."""
    for _ in range(some(rng, 2, 6)):
        desk: Placed | None
        if chance(rng, 0.6):
            desk = against(stage, rng, pick(rng, room.walls), take(rng, tables.desk))
        else:
            desk = stage.try_put(take(rng, tables.desk), *_middle(rng, room), yaw=_turn(rng))
        if desk is not None:
            arrangements.workplace(stage, rng, desk)
    makers: tuple[Maker, ...] = (shelves.bookcase, storage.cabinet, shelves.rack, storage.chest)
    at_walls(stage, rng, room, makers, some(rng, 2, 6), clutter.DESK[4:])
    _hang(stage, rng, room, take(rng, decor.board), 0.9)


def washroom(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Tub or shower, toilet, basin with a mirror, towels."""
    for maker in (bath.bathtub, bath.shower, bath.toilet):
        if chance(rng, 0.7):
            put = against(stage, rng, pick(rng, room.walls), take(rng, maker), tries=8)
            if put is not None and put.piece.tops:
                clutter.dress(stage, put, rng, clutter.BATH, 2)
    for _ in range(some(rng, 1, 2)):
        wall = pick(rng, room.walls)
        basin = against(stage, rng, wall, take(rng, bath.washbasin), tries=8)
        if basin is not None:
            clutter.dress(stage, basin, rng, clutter.BATH, 4)
            mirror = take(rng, decor.mirror)
            x, _, z = basin.point(0.0, 0.0, basin.piece.size[2] / 2 - 0.02)
            if 1.15 + mirror.size[1] < room.height:
                stage.put(mirror, x, z, height=1.15, yaw=basin.yaw)
    makers = (kitchen.cooker, storage.cabinet, bath.basket, shelves.rack)
    at_walls(stage, rng, room, makers, some(rng, 0, 3), clutter.BATH)
    for _ in range(2):
        _hang(stage, rng, room, take(rng, bath.towel_rail), between(rng, 0.3, 1.0))


def corridor(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Low cabinets, shoes, coats, a bench, perhaps stairs."""
    if chance(rng, 0.35):
        against(stage, rng, pick(rng, room.walls), fixtures.stairs(rng, room.height))
    makers = (
        storage.cabinet,
        seats.bench,
        shelves.bookcase,
        seats.chair,
        storage.wardrobe,
        fixtures.radiator,
    )
    at_walls(stage, rng, room, makers, some(rng, 2, 6), clutter.LIVING)
    _hang(stage, rng, room, take(rng, decor.coats), 0.6)
    if chance(rng, 0.5):
        stage.put(take(rng, decor.rug), *_middle(rng, room), yaw=_turn(rng))


def classroom(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Rows of tables and chairs before a board, or one long table for a meeting."""
    if chance(rng, 0.55):
        yaw = pick(rng, (0.0, 90.0, 180.0, 270.0))
        x0, x1, z0, z1 = room.area
        arrangements.rows(stage, rng, (x0 + 0.5, x1 - 0.5, z0 + 0.8, z1 - 0.8), yaw)
    else:
        arrangements.dining(stage, rng, 0.0, 0.0, 0.0, clutter.DESK[1:])
    for _ in range(2):
        _hang(stage, rng, room, take(rng, decor.board), 0.9)
    makers = (storage.cabinet, shelves.bookcase, shelves.rack, storage.wardrobe, fixtures.radiator)
    at_walls(stage, rng, room, makers, some(rng, 3, 7), clutter.DESK[4:])


def store(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Shelves and racks, workbenches with tools, ladders, boxes: a store, shop or workshop."""
    makers = (
        shelves.rack,
        shelves.rack,
        shelves.bookcase,
        tables.desk,
        storage.cabinet,
        toys.ladder,
    )
    at_walls(stage, rng, room, makers, some(rng, 4, 9), clutter.WORKSHOP)
    for _ in range(some(rng, 1, 3)):
        middle: Piece = take(rng, pick(rng, (shelves.rack, tables.table, shelves.bookcase)))
        put = stage.try_put(middle, *_middle(rng, room), yaw=_turn(rng))
        if put is not None:
            clutter.dress(stage, put, rng, clutter.WORKSHOP, some(rng, 3, 12))


def nursery(stage: Stage, rng: np.random.Generator, room: Room) -> None:
    """Furnish a bedroom and strew toys all over its floor."""
    bedroom(stage, rng, room)
    clutter.litter(stage, rng, room.area, some(rng, 4, 14), clutter.PLAY)


def _hang(stage: Stage, rng: np.random.Generator, room: Room, piece: Piece, height: float) -> None:
    """Hang a piece on some wall, its lower edge at a height."""
    if height + piece.size[1] < room.height:
        against(stage, rng, pick(rng, room.walls), piece, height=height, tries=4)


Furnish = Callable[[Stage, np.random.Generator, Room], None]
