"""Groups of furniture: a table with chairs around it, sofas around a low table, rows of desks."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import clutter, decor, gadgets, seats, tables
from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.pieces import Piece, Placed, Stage, facing, turned
from sightline.scenes.parts.stock import Maker, take


def around(
    stage: Stage,
    rng: np.random.Generator,
    centre: Placed,
    seat: Piece,
    places: list[tuple[float, float]],
) -> None:
    """Put a seat at each (x, z) of a piece's own frame, its front to the middle, a little askew."""
    for px, pz in places:
        x, _, z = centre.point(px, 0.0, pz)
        toward_x, toward_z = centre.at[0] - x, centre.at[2] - z
        yaw = facing(toward_x, toward_z) + between(rng, -20, 20)
        stage.try_put(seat, x, z, yaw=yaw, under=centre)


def dining(
    stage: Stage,
    rng: np.random.Generator,
    x: float,
    z: float,
    yaw: float,
    set_: tuple[tuple[Maker, float], ...] = clutter.DINING,
) -> None:
    """Put a table with chairs, benches or stools around, and things on it."""
    table = stage.try_put(take(rng, tables.table), x, z, yaw=yaw)
    if table is None:
        return
    seat = take(rng, pick(rng, (seats.chair, seats.chair, seats.chair, seats.stool)))
    wide, _, deep = table.piece.size
    out = between(rng, 0.0, 0.35)
    count = max(1, int(wide / 0.65))
    xs = (np.arange(count) - (count - 1) / 2) * wide / count
    places = [(float(px), side * (deep / 2 + out + 0.1)) for px in xs for side in (-1, 1)]
    if chance(rng, 0.5):
        places += [(side * (wide / 2 + out + 0.15), 0.0) for side in (-1, 1)]
    around(stage, rng, table, seat, [p for p in places if chance(rng, 0.85)])
    clutter.dress(stage, table, rng, set_, some(rng, 2, 14))


def lounge(stage: Stage, rng: np.random.Generator, x: float, z: float, yaw: float) -> None:
    """Put a rug, a low table, and sofas and armchairs on two or three sides of it."""
    if chance(rng, 0.6):
        stage.put(take(rng, decor.rug), x, z, yaw=yaw)
    low = stage.try_put(take(rng, tables.coffee_table), x, z, yaw=yaw)
    if low is not None:
        clutter.dress(stage, low, rng, clutter.LIVING, some(rng, 1, 7))
    for side, maker in (
        (0.0, seats.sofa),
        (90.0, seats.sofa),
        (-90.0, seats.chair),
        (180.0, seats.pouf),
    ):
        if chance(rng, 0.65 if side == 0.0 else 0.4):
            piece = take(rng, maker)
            away = piece.size[2] / 2 + between(rng, 0.55, 0.9)
            dx, dz = turned(0.0, away, yaw + side)
            put = stage.try_put(piece, x + dx, z + dz, yaw=yaw + side + between(rng, -8, 8))
            if put is not None and chance(rng, 0.4):
                clutter.dress(stage, put, rng, clutter.FLOOR[2:9], 1)


def workplace(stage: Stage, rng: np.random.Generator, desk: Placed) -> None:
    """Furnish a desk: screen, keyboard, clutter, and a chair before it."""
    top = desk.piece.tops[0]
    yaw, height = desk.yaw, top.height - desk.at[1]
    if chance(rng, 0.75):
        shown = take(rng, pick(rng, (gadgets.monitor, gadgets.monitor, gadgets.laptop)))
        x, _, z = desk.point(between(rng, -0.2, 0.2), 0.0, top.z[1] - shown.size[2] * 0.3)
        stage.put(shown, x, z, height=height, yaw=yaw + between(rng, -15, 15))
        if shown.kind == "screen":
            x, _, z = desk.point(between(rng, -0.1, 0.1), 0.0, top.z[0] + 0.1)
            stage.put(
                take(rng, gadgets.keyboard), x, z, height=height, yaw=yaw + between(rng, -8, 8)
            )
    seat = take(rng, pick(rng, (seats.office_chair, seats.office_chair, seats.chair)))
    x, _, z = desk.point(
        between(rng, -0.25, 0.25), 0.0, -desk.piece.size[2] / 2 - between(rng, 0.15, 0.6)
    )
    back_x, back_z = desk.at[0] - x, desk.at[2] - z
    stage.try_put(seat, x, z, yaw=facing(back_x, back_z) + between(rng, -40, 40), under=desk)
    clutter.dress(stage, desk, rng, clutter.DESK[4:], some(rng, 1, 8))


def rows(
    stage: Stage, rng: np.random.Generator, area: tuple[float, float, float, float], yaw: float
) -> None:
    """Fill an area (x from, x to, z from, z to) with rows of tables and chairs, as in a classroom."""
    table, seat = take(rng, tables.desk), take(rng, seats.chair)
    pace_x, pace_z = table.size[0] + between(rng, 0.2, 0.7), table.size[2] + between(rng, 0.7, 1.1)
    across, along = (pace_x, pace_z) if abs(np.cos(np.radians(yaw))) > 0.5 else (pace_z, pace_x)
    xs = np.arange(area[0] + across / 2 + 0.2, area[1] - across / 2, across)[:5]
    zs = np.arange(area[2] + along / 2 + 0.2, area[3] - along / 2, along)[:5]
    for x in xs:
        for z in zs:
            desk = stage.try_put(table, float(x), float(z), yaw=yaw)
            if desk is None:
                continue
            if chance(rng, 0.5):
                clutter.dress(stage, desk, rng, clutter.DESK[4:], 2)
            px, _, pz = desk.point(0.0, 0.0, -table.size[2] / 2 - 0.12)
            stage.put(seat, px, pz, yaw=yaw + 180 + between(rng, -12, 12))
