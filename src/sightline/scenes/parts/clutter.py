"""Clutter: which small things lie about where, and how they are strewn over table tops and floors."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import (
    bath,
    crockery,
    decor,
    foods,
    gadgets,
    kitchen,
    pot_plants,
    stationery,
    toys,
)
from sightline.scenes.parts.draw import between, chance, pick, weighted
from sightline.scenes.parts.lamps import table_lamp
from sightline.scenes.parts.pieces import Piece, Placed, Stage, Top
from sightline.scenes.parts.stock import Maker, resized, take


def small_plant(rng: np.random.Generator) -> Piece:
    """Make a plant that fits on a table."""
    return pot_plants.plant(rng, between(rng, 0.12, 0.45))


def lamp_on(rng: np.random.Generator) -> Piece:
    """Make a table lamp that is on, or in one case of three off."""
    return table_lamp(rng, on=chance(rng, 0.65))


def small_screen(rng: np.random.Generator) -> Piece:
    """Make a television on its foot."""
    return decor.television(rng, stand=True)


#: Food keeps its colours; everything else may be of any.
NATURAL = {foods.fruit, foods.fruit_bowl, foods.bread, foods.vegetable, foods.cake, small_plant}

LIVING: tuple[tuple[Maker, float], ...] = (
    (stationery.books, 3),
    (crockery.cup, 2),
    (crockery.vase, 2),
    (small_plant, 2),
    (pot_plants.flowers, 1),
    (crockery.drinking_glass, 1),
    (crockery.bottle, 1),
    (gadgets.remote, 1),
    (stationery.candle, 1),
    (foods.fruit_bowl, 1),
    (stationery.sheets, 1),
    (lamp_on, 1.5),
    (toys.teddy, 0.5),
    (gadgets.speaker, 0.5),
    (stationery.carton, 0.7),
    (gadgets.phone, 0.7),
    (stationery.tissue_box, 0.5),
    (stationery.open_book, 0.6),
    (gadgets.camera, 0.3),
)
DESK: tuple[tuple[Maker, float], ...] = (
    (gadgets.monitor, 2),
    (gadgets.laptop, 2),
    (gadgets.keyboard, 2),
    (gadgets.mouse, 1.5),
    (stationery.books, 2),
    (stationery.sheets, 2),
    (stationery.pens, 2),
    (crockery.cup, 1.5),
    (lamp_on, 1.2),
    (gadgets.phone, 1),
    (gadgets.headphones, 1),
    (stationery.open_book, 1),
    (small_plant, 0.8),
    (stationery.carton, 0.8),
    (gadgets.speaker, 0.7),
    (gadgets.fan, 0.3),
    (stationery.tool, 0.5),
    (crockery.bottle, 0.5),
)
KITCHEN: tuple[tuple[Maker, float], ...] = (
    (crockery.bottle, 2),
    (crockery.jar, 2),
    (crockery.plate, 2),
    (crockery.bowl, 2),
    (crockery.cup, 2),
    (kitchen.pot, 1.5),
    (crockery.teapot, 1.2),
    (kitchen.microwave, 0.7),
    (foods.fruit_bowl, 1),
    (foods.fruit, 1.5),
    (foods.bread, 1),
    (foods.vegetable, 1),
    (stationery.pens, 1),
    (crockery.can, 1.2),
    (stationery.carton, 1),
    (stationery.tissue_box, 0.6),
    (stationery.cutlery, 1),
    (crockery.drinking_glass, 1.2),
    (small_plant, 0.5),
)
DINING: tuple[tuple[Maker, float], ...] = (
    (crockery.plate, 3),
    (crockery.drinking_glass, 3),
    (stationery.cutlery, 2),
    (crockery.bowl, 1.5),
    (crockery.bottle, 1.5),
    (crockery.cup, 2),
    (crockery.teapot, 0.8),
    (pot_plants.flowers, 0.8),
    (foods.fruit_bowl, 0.8),
    (foods.bread, 0.8),
    (foods.cake, 0.6),
    (foods.fruit, 1),
    (stationery.candle, 0.7),
    (crockery.jar, 0.5),
)
BATH: tuple[tuple[Maker, float], ...] = (
    (crockery.bottle, 3),
    (crockery.can, 1),
    (crockery.cup, 1),
    (crockery.jar, 1),
    (stationery.tissue_box, 1),
    (small_plant, 0.5),
    (stationery.candle, 0.5),
    (toys.clothes, 0.5),
)
WORKSHOP: tuple[tuple[Maker, float], ...] = (
    (stationery.tool, 5),
    (crockery.can, 2),
    (stationery.carton, 2),
    (crockery.bottle, 1),
    (crockery.jar, 2),
    (stationery.pens, 1),
    (gadgets.fan, 0.5),
    (gadgets.speaker, 0.5),
    (toys.wheel, 0.5),
)
PLAY: tuple[tuple[Maker, float], ...] = (
    (toys.blocks, 2),
    (toys.toy_car, 2.5),
    (toys.teddy, 2),
    (toys.stacking_rings, 1),
    (toys.ball, 1),
    (stationery.books, 1),
    (stationery.pens, 0.8),
    (stationery.sheets, 0.8),
)
#: All that may stand on a table.
ANY: tuple[tuple[Maker, float], ...] = (*LIVING, *DESK, *KITCHEN, *DINING, *WORKSHOP, *PLAY)

FLOOR: tuple[tuple[Maker, float], ...] = (
    (toys.shoes, 2),
    (toys.bag, 2),
    (toys.clothes, 2),
    (bath.basket, 2),
    (toys.ball, 1),
    (toys.toy_car, 1),
    (toys.blocks, 1),
    (toys.teddy, 1),
    (stationery.carton, 2),
    (stationery.books, 1),
    (stationery.sheets, 0.7),
    (pot_plants.plant, 2.5),
    (crockery.vase, 0.7),
    (toys.broom, 0.5),
    (toys.ladder, 0.4),
    (gadgets.fan, 0.4),
)


def small(rng: np.random.Generator, set_: tuple[tuple[Maker, float], ...]) -> Piece:
    """Take one small thing of a set from the stock."""
    maker = weighted(rng, set_)
    return take(rng, maker, recolour=maker not in NATURAL)


def dress(
    stage: Stage,
    placed: Placed,
    rng: np.random.Generator,
    set_: tuple[tuple[Maker, float], ...],
    count: int,
) -> None:
    """Strew up to `count` things of a set over the tops of a piece, none into another."""
    for top in placed.piece.tops:
        taken: list[tuple[float, float, float]] = []
        for _ in range(count):
            thing = small(rng, set_)
            spot = _spot(rng, top, thing, taken)
            if spot is None:
                continue
            x, _, z = placed.point(spot[0], 0.0, spot[1])
            # Most things face the way the furniture does.
            own = placed.yaw + (between(rng, -25, 25) if chance(rng, 0.6) else between(rng, 0, 360))
            put = stage.put(thing, x, z, height=top.height - placed.at[1], yaw=own)
            if thing.tops and thing.kind in ("book", "box") and chance(rng, 0.35):
                _stack(stage, put, rng, set_)


def _spot(
    rng: np.random.Generator, top: Top, thing: Piece, taken: list[tuple[float, float, float]]
) -> tuple[float, float] | None:
    """Find (x, z) on a top where a thing fits; notes it in `taken` as (x, z, radius)."""
    radius = max(thing.size[0], thing.size[2]) * 0.5
    wide, deep = top.x[1] - top.x[0], top.z[1] - top.z[0]
    if thing.size[1] > top.room or radius > max(wide, deep) * 0.5 + 0.05 or deep < 0.02:
        return None
    for _ in range(4):
        x, z = between(rng, *top.x), between(rng, *top.z)
        if all((x - a) ** 2 + (z - b) ** 2 > (0.9 * (radius + r)) ** 2 for a, b, r in taken):
            taken.append((x, z, radius))
            return x, z
    return None


def _stack(
    stage: Stage, under: Placed, rng: np.random.Generator, set_: tuple[tuple[Maker, float], ...]
) -> None:
    """Put one more thing on top of another, if it is smaller."""
    thing = small(rng, set_)
    top = under.piece.tops[0]
    room = max(under.piece.size[0], under.piece.size[2])
    if max(thing.size[0], thing.size[2]) > room or thing.size[1] > top.room:
        return
    x, _, z = under.point(0.0, 0.0, 0.0)
    stage.put(thing, x, z, height=top.height - under.at[1], yaw=between(rng, 0, 360))


def litter(
    stage: Stage,
    rng: np.random.Generator,
    area: tuple[float, float, float, float],
    count: int,
    set_: tuple[tuple[Maker, float], ...] = FLOOR,
) -> None:
    """Strew up to `count` things over the free floor of an area (x from, x to, z from, z to)."""
    for _ in range(count):
        thing = small(rng, set_)
        if chance(rng, 0.1):
            factor = pick(rng, (0.7, 1.3))
            thing = resized(thing, factor, factor, factor)
        x, z = between(rng, *area[:2]), between(rng, *area[2:])
        stage.try_put(thing, x, z, yaw=between(rng, 0, 360))
