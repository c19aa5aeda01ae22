"""Arrange items: sets of small items by place, scattering over surfaces, furniture groups."""

from __future__ import annotations

import numpy as np

from sightline.scenes.indoor import (
    desk_items,
    floor_items,
    furniture,
    houseplants,
    kitchen_bathroom,
    lamps_decor,
    tableware,
)
from sightline.scenes.indoor.lamps_decor import table_lamp
from sightline.scenes.layout import (
    PlacedProp,
    Prop,
    PropLayout,
    PropMaker,
    SupportSurface,
    prop_maker,
    resize_prop,
    rotate_xz,
    sample_prop,
    yaw_towards,
)
from sightline.scenes.sampling import Random, between, chance, pick, randint, weighted
from sightline.scenes.world import Point


@prop_maker(0xE09CEF24)
def small_plant(rng: Random) -> Prop:
    """Make a plant that fits on a table."""
    return houseplants.plant(rng, between(rng, 0.12, 0.45))


@prop_maker(0xC4B95727)
def lamp_on(rng: Random) -> Prop:
    """Make a table lamp that is on, or in one case of three off."""
    return table_lamp(rng, on=chance(rng, 0.65))


#: Makers of (item, weight) pairs.
ItemSet = tuple[tuple[PropMaker, float], ...]

#: Items that keep their colors; all others may be recolored.
NATURAL = {
    tableware.fruit,
    tableware.fruit_bowl,
    tableware.bread,
    tableware.vegetable,
    tableware.cake,
    small_plant,
}

#: Small items by place, each with its relative frequency.
LIVING: ItemSet = (
    (desk_items.books, 3), (tableware.cup, 2), (tableware.vase, 2), (small_plant, 2),
    (houseplants.flowers, 1), (tableware.drinking_glass, 1), (tableware.bottle, 1),
    (desk_items.remote, 1), (desk_items.candle, 1), (tableware.fruit_bowl, 1),
    (desk_items.sheets, 1), (lamp_on, 1.5), (floor_items.teddy, 0.5), (desk_items.speaker, 0.5),
    (desk_items.carton, 0.7), (desk_items.phone, 0.7), (desk_items.tissue_box, 0.5),
    (desk_items.open_book, 0.6), (desk_items.camera, 0.3),
)  # fmt: skip
DESK: ItemSet = (
    (desk_items.monitor, 2), (desk_items.laptop, 2), (desk_items.keyboard, 2),
    (desk_items.mouse, 1.5), (desk_items.books, 2), (desk_items.sheets, 2), (desk_items.pens, 2),
    (tableware.cup, 1.5), (lamp_on, 1.2), (desk_items.phone, 1), (desk_items.headphones, 1),
    (desk_items.open_book, 1), (small_plant, 0.8), (desk_items.carton, 0.8),
    (desk_items.speaker, 0.7), (desk_items.fan, 0.3), (desk_items.tool, 0.5),
    (tableware.bottle, 0.5),
)  # fmt: skip
KITCHEN: ItemSet = (
    (tableware.bottle, 2), (tableware.jar, 2), (tableware.plate, 2), (tableware.bowl, 2),
    (tableware.cup, 2), (kitchen_bathroom.pot, 1.5), (tableware.teapot, 1.2),
    (kitchen_bathroom.microwave, 0.7), (tableware.fruit_bowl, 1), (tableware.fruit, 1.5),
    (tableware.bread, 1), (tableware.vegetable, 1), (desk_items.pens, 1), (tableware.can, 1.2),
    (desk_items.carton, 1), (desk_items.tissue_box, 0.6), (desk_items.cutlery, 1),
    (tableware.drinking_glass, 1.2), (small_plant, 0.5),
)  # fmt: skip
DINING: ItemSet = (
    (tableware.plate, 3), (tableware.drinking_glass, 3), (desk_items.cutlery, 2),
    (tableware.bowl, 1.5), (tableware.bottle, 1.5), (tableware.cup, 2), (tableware.teapot, 0.8),
    (houseplants.flowers, 0.8), (tableware.fruit_bowl, 0.8), (tableware.bread, 0.8),
    (tableware.cake, 0.6), (tableware.fruit, 1), (desk_items.candle, 0.7), (tableware.jar, 0.5),
)  # fmt: skip
BATH: ItemSet = (
    (tableware.bottle, 3), (tableware.can, 1), (tableware.cup, 1), (tableware.jar, 1),
    (desk_items.tissue_box, 1), (small_plant, 0.5), (desk_items.candle, 0.5),
    (floor_items.clothes, 0.5),
)  # fmt: skip
WORKSHOP: ItemSet = (
    (desk_items.tool, 5), (tableware.can, 2), (desk_items.carton, 2), (tableware.bottle, 1),
    (tableware.jar, 2), (desk_items.pens, 1), (desk_items.fan, 0.5), (desk_items.speaker, 0.5),
    (floor_items.wheel, 0.5),
)  # fmt: skip
PLAY: ItemSet = (
    (floor_items.blocks, 2), (floor_items.toy_car, 2.5), (floor_items.teddy, 2),
    (floor_items.stacking_rings, 1), (floor_items.ball, 1), (desk_items.books, 1),
    (desk_items.pens, 0.8), (desk_items.sheets, 0.8),
)  # fmt: skip
#: All that may stand on a table.
ANY: ItemSet = (*LIVING, *DESK, *KITCHEN, *DINING, *WORKSHOP, *PLAY)

FLOOR: ItemSet = (
    (floor_items.shoes, 2), (floor_items.bag, 2), (floor_items.clothes, 2),
    (kitchen_bathroom.basket, 2), (floor_items.ball, 1), (floor_items.toy_car, 1),
    (floor_items.blocks, 1), (floor_items.teddy, 1), (desk_items.carton, 2),
    (desk_items.books, 1), (desk_items.sheets, 0.7), (houseplants.plant, 2.5),
    (tableware.vase, 0.7), (floor_items.broom, 0.5), (floor_items.ladder, 0.4),
    (desk_items.fan, 0.4),
)  # fmt: skip


def sample_item(rng: Random, set_: ItemSet) -> Prop:
    """Sample one item of a set."""
    maker = weighted(rng, set_)
    return sample_prop(rng, maker, recolor=maker not in NATURAL)


def place_on(
    layout: PropLayout, placed: PlacedProp, rng: Random, set_: ItemSet, count: int
) -> None:
    """Place up to `count` items of a set on the surfaces of a prop without overlap."""
    for top in placed.prop.tops:
        taken: list[Point] = []
        for _ in range(count):
            thing = sample_item(rng, set_)
            spot = _free_spot(rng, top, thing, taken)
            if spot is None:
                continue
            x, _, z = placed.point(spot[0], 0.0, spot[1])
            # Most items face the way the furniture does.
            own = placed.yaw + (between(rng, -25, 25) if chance(rng, 0.6) else between(rng, 0, 360))
            put = layout.put(thing, x, z, height=top.height - placed.at[1], yaw=own)
            if thing.tops and thing.kind in ("book", "box") and chance(rng, 0.35):
                _stack_item(layout, put, rng, set_)


def _free_spot(
    rng: Random, top: SupportSurface, thing: Prop, taken: list[Point]
) -> tuple[float, float] | None:
    """Find (x, z) on a surface where an item fits, and add (x, z, radius) to `taken`."""
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


def _stack_item(layout: PropLayout, under: PlacedProp, rng: Random, set_: ItemSet) -> None:
    """Stack a smaller item on top of another."""
    thing = sample_item(rng, set_)
    top = under.prop.tops[0]
    room = max(under.prop.size[0], under.prop.size[2])
    if max(thing.size[0], thing.size[2]) > room or thing.size[1] > top.room:
        return
    x, _, z = under.point(0.0, 0.0, 0.0)
    layout.put(thing, x, z, height=top.height - under.at[1], yaw=between(rng, 0, 360))


def scatter_on_floor(
    layout: PropLayout,
    rng: Random,
    area: tuple[float, float, float, float],
    count: int,
    set_: ItemSet = FLOOR,
) -> None:
    """Scatter up to `count` items over the free floor of an area (x0, x1, z0, z1)."""
    for _ in range(count):
        thing = sample_item(rng, set_)
        if chance(rng, 0.1):
            factor = pick(rng, (0.7, 1.3))
            thing = resize_prop(thing, factor, factor, factor)
        x, z = between(rng, *area[:2]), between(rng, *area[2:])
        layout.try_put(thing, x, z, yaw=between(rng, 0, 360))


def around(
    layout: PropLayout,
    rng: Random,
    center: PlacedProp,
    seat: Prop,
    places: list[tuple[float, float]],
) -> None:
    """Place a seat at each (x, z) of a prop's own frame, facing the middle, slightly rotated."""
    for px, pz in places:
        x, _, z = center.point(px, 0.0, pz)
        toward_x, toward_z = center.at[0] - x, center.at[2] - z
        yaw = yaw_towards(toward_x, toward_z) + between(rng, -20, 20)
        layout.try_put(seat, x, z, yaw=yaw, under=center)


def dining(
    layout: PropLayout, rng: Random, x: float, z: float, yaw: float, set_: ItemSet = DINING
) -> None:
    """Place a table with chairs or stools around and items on it."""
    table = layout.try_put(sample_prop(rng, furniture.table), x, z, yaw=yaw)
    if table is None:
        return
    seat = sample_prop(
        rng, pick(rng, (furniture.chair, furniture.chair, furniture.chair, furniture.stool))
    )
    wide, _, deep = table.prop.size
    out = between(rng, 0.0, 0.35)
    count = max(1, int(wide / 0.65))
    xs = (np.arange(count) - (count - 1) / 2) * wide / count
    places = [(float(px), side * (deep / 2 + out + 0.1)) for px in xs for side in (-1, 1)]
    if chance(rng, 0.5):
        places += [(side * (wide / 2 + out + 0.15), 0.0) for side in (-1, 1)]
    around(layout, rng, table, seat, [p for p in places if chance(rng, 0.85)])
    place_on(layout, table, rng, set_, randint(rng, 2, 14))


def lounge(layout: PropLayout, rng: Random, x: float, z: float, yaw: float) -> None:
    """Put a rug, a low table, and sofas and armchairs on two or three sides of it."""
    if chance(rng, 0.6):
        layout.put(sample_prop(rng, lamps_decor.rug), x, z, yaw=yaw)
    low = layout.try_put(sample_prop(rng, furniture.coffee_table), x, z, yaw=yaw)
    if low is not None:
        place_on(layout, low, rng, LIVING, randint(rng, 1, 7))
    for side, maker in (
        (0.0, furniture.sofa),
        (90.0, furniture.sofa),
        (-90.0, furniture.chair),
        (180.0, furniture.pouf),
    ):
        if chance(rng, 0.65 if side == 0.0 else 0.4):
            prop = sample_prop(rng, maker)
            away = prop.size[2] / 2 + between(rng, 0.55, 0.9)
            dx, dz = rotate_xz(0.0, away, yaw + side)
            put = layout.try_put(prop, x + dx, z + dz, yaw=yaw + side + between(rng, -8, 8))
            if put is not None and chance(rng, 0.4):
                place_on(layout, put, rng, FLOOR[2:9], 1)


def workplace(layout: PropLayout, rng: Random, desk: PlacedProp) -> None:
    """Furnish a desk: screen, keyboard, clutter, and a chair before it."""
    top = desk.prop.tops[0]
    yaw, height = desk.yaw, top.height - desk.at[1]
    if chance(rng, 0.75):
        shown = sample_prop(
            rng, pick(rng, (desk_items.monitor, desk_items.monitor, desk_items.laptop))
        )
        x, _, z = desk.point(between(rng, -0.2, 0.2), 0.0, top.z[1] - shown.size[2] * 0.3)
        layout.put(shown, x, z, height=height, yaw=yaw + between(rng, -15, 15))
        if shown.kind == "screen":
            x, _, z = desk.point(between(rng, -0.1, 0.1), 0.0, top.z[0] + 0.1)
            layout.put(
                sample_prop(rng, desk_items.keyboard),
                x,
                z,
                height=height,
                yaw=yaw + between(rng, -8, 8),
            )
    seat = sample_prop(
        rng, pick(rng, (furniture.office_chair, furniture.office_chair, furniture.chair))
    )
    x, _, z = desk.point(
        between(rng, -0.25, 0.25), 0.0, -desk.prop.size[2] / 2 - between(rng, 0.15, 0.6)
    )
    back_x, back_z = desk.at[0] - x, desk.at[2] - z
    layout.try_put(seat, x, z, yaw=yaw_towards(back_x, back_z) + between(rng, -40, 40), under=desk)
    place_on(layout, desk, rng, DESK[4:], randint(rng, 1, 8))


def rows(
    layout: PropLayout, rng: Random, area: tuple[float, float, float, float], yaw: float
) -> None:
    """Fill an area (x from, x to, z from, z to) with rows of tables and chairs, as in a classroom."""
    table, seat = sample_prop(rng, furniture.desk), sample_prop(rng, furniture.chair)
    pace_x, pace_z = table.size[0] + between(rng, 0.2, 0.7), table.size[2] + between(rng, 0.7, 1.1)
    across, along = (pace_x, pace_z) if abs(np.cos(np.radians(yaw))) > 0.5 else (pace_z, pace_x)
    xs = np.arange(area[0] + across / 2 + 0.2, area[1] - across / 2, across)[:5]
    zs = np.arange(area[2] + along / 2 + 0.2, area[3] - along / 2, along)[:5]
    for x in xs:
        for z in zs:
            desk = layout.try_put(table, float(x), float(z), yaw=yaw)
            if desk is None:
                continue
            if chance(rng, 0.5):
                place_on(layout, desk, rng, DESK[4:], 2)
            px, _, pz = desk.point(0.0, 0.0, -table.size[2] / 2 - 0.12)
            layout.put(seat, px, pz, yaw=yaw + 180 + between(rng, -12, 12))
