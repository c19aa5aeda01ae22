"""Objects to count: up to ten of each of a few kinds, on open ground or a plain floor.

Seen from above so that hardly anything is hidden, all of about one size: how many there are of a kind
can be told from the picture alone.
"""

from __future__ import annotations

import math

from sightline.scenes.indoor import (
    backdrops,
    desk_items,
    floor_items,
    furniture,
    houseplants,
    tableware,
)
from sightline.scenes.indoor.lamps_decor import table_lamp
from sightline.scenes.layout import (
    Prop,
    PropLayout,
    PropMaker,
    prop_maker,
    resize_prop,
    sample_prop,
)
from sightline.scenes.sampling import Random, between, chance
from sightline.scenes.world import CameraView, SceneKind, SceneWorld


@prop_maker(0xC56F51CD)
def table_lamp_prop(rng: Random) -> Prop:
    """Make a lamp, on or off."""
    return table_lamp(rng, on=chance(rng, 0.5))


#: Makers of the objects to count: kinds that look different from each other.
COUNTED: tuple[PropMaker, ...] = (
    floor_items.ball, floor_items.wheel, floor_items.teddy, floor_items.bag, furniture.chair,
    tableware.bottle, tableware.cup, tableware.vase, tableware.teapot, desk_items.carton,
    desk_items.laptop, houseplants.plant, table_lamp_prop,
)  # fmt: skip
#: Largest number of objects of one kind, and in total.
MAX_PER_KIND, MAX_TOTAL = 10, 18
#: Half extent of the ground that objects are spread over, across and forward, [m].
AREA = (1.5, 1.2)
#: Longest side of an object, [m].
SIZES = (0.34, 0.5)
#: Positions tried before an object is left out.
_TRIES = 12


def build(rng: Random) -> tuple[SceneWorld, CameraView]:
    """Build a few kinds of objects, and a camera that sees all of them."""
    layout = PropLayout()
    light, sky = (
        backdrops.outdoor_backdrop(layout, rng)
        if chance(rng, 0.5)
        else backdrops.studio_backdrop(layout, rng)
    )
    # Boundaries of the open ground are placed already; objects stay within this area.
    layout.area = (-AREA[0], AREA[0], -AREA[1], AREA[1])
    left = MAX_TOTAL
    kinds = [COUNTED[int(k)] for k in rng.permutation(len(COUNTED))[: int(rng.integers(2, 6))]]
    for maker in kinds:
        for _ in range(min(left, int(rng.integers(0, MAX_PER_KIND + 1)))):
            left -= _place(layout, rng, maker)
    return layout.builder.finish(light, sky), _sample_view(rng)


def _place(layout: PropLayout, rng: Random, maker: PropMaker) -> int:
    """Place an object somewhere free; return how many were placed."""
    prop = sample_prop(rng, maker, recolor=maker is not houseplants.plant)
    factor = between(rng, *SIZES) / max(prop.size)
    prop = resize_prop(prop, factor, factor, factor)
    for _ in range(_TRIES):
        x, z = (between(rng, -reach, reach) for reach in AREA)
        if layout.try_put(prop, x, z, yaw=between(rng, 0, 360)) is not None:
            return 1
    return 0


def _sample_view(rng: Random) -> CameraView:
    """Look down at the middle from where everything is in the picture."""
    pitch, turn = math.radians(between(rng, 38, 62)), between(rng, -0.25, 0.25)
    away = between(rng, 2.9, 3.3)
    eye = (
        away * math.cos(pitch) * math.sin(turn),
        -away * math.sin(pitch),
        -away * math.cos(pitch) * math.cos(turn),
    )
    return CameraView(eye, (0.0, -0.1, 0.0), float(rng.normal(0, 2)), between(rng, 58, 64))


KIND = SceneKind("collection", build, weight=0.3, rank=8)
