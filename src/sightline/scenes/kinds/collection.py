"""Things to count: none to ten of each of a few kinds, spread over open ground or a plain floor.

Seen from above so that hardly anything is hidden, all of about one size: how many there are of a kind
can be told from the picture alone.
"""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.parts import (
    backdrops,
    crockery,
    gadgets,
    pot_plants,
    seats,
    stationery,
    toys,
)
from sightline.scenes.parts.draw import between, chance
from sightline.scenes.parts.lamps import table_lamp
from sightline.scenes.parts.pieces import Piece, Stage
from sightline.scenes.parts.stock import Maker, resized, take
from sightline.scenes.world import View, World


def lamp(rng: np.random.Generator) -> Piece:
    """Make a lamp, on or off."""
    return table_lamp(rng, on=chance(rng, 0.5))


#: What there is to count: kinds that look different from each other.
COUNTED: tuple[Maker, ...] = (
    *(toys.ball, toys.wheel, toys.teddy, toys.bag, seats.chair, crockery.bottle, crockery.cup),
    *(crockery.vase, crockery.teapot, stationery.carton, gadgets.laptop, pot_plants.plant, lamp),
)
#: Of one kind, and of all together, at most.
MOST, ALTOGETHER = 10, 18
#: Half of the ground that things are spread over, across and forward, [m].
REACH = (1.5, 1.2)
#: Longest side of a thing, [m].
SIZES = (0.34, 0.5)
#: Places that are tried before a thing is left out.
_TRIES = 12


def build(rng: np.random.Generator) -> tuple[World, View]:
    """Build a few kinds of things, and a camera that sees all of them."""
    stage = Stage()
    light, sky = (
        backdrops.outdoors(stage, rng) if chance(rng, 0.5) else backdrops.studio(stage, rng)
    )
    # What stands at the border of open ground must not stand among the things.
    stage.area = (-REACH[0], REACH[0], -REACH[1], REACH[1])
    left = ALTOGETHER
    kinds = [COUNTED[int(k)] for k in rng.permutation(len(COUNTED))[: int(rng.integers(2, 6))]]
    for maker in kinds:
        for _ in range(min(left, int(rng.integers(0, MOST + 1)))):
            left -= _put(stage, rng, maker)
    return stage.builder.finish(light, sky), _view(rng)


def _put(stage: Stage, rng: np.random.Generator, maker: Maker) -> int:
    """Stand a thing somewhere free; return how many were put."""
    piece = take(rng, maker, recolour=maker is not pot_plants.plant)
    factor = between(rng, *SIZES) / max(piece.size)
    piece = resized(piece, factor, factor, factor)
    for _ in range(_TRIES):
        x, z = (between(rng, -reach, reach) for reach in REACH)
        if stage.try_put(piece, x, z, yaw=between(rng, 0, 360)) is not None:
            return 1
    return 0


def _view(rng: np.random.Generator) -> View:
    """Look down at the middle from where everything is in the picture."""
    pitch, turn = math.radians(between(rng, 38, 62)), between(rng, -0.25, 0.25)
    away = between(rng, 2.9, 3.3)
    eye = (
        away * math.cos(pitch) * math.sin(turn),
        -away * math.sin(pitch),
        -away * math.cos(pitch) * math.cos(turn),
    )
    return View(eye, (0.0, -0.1, 0.0), float(rng.normal(0, 2)), between(rng, 58, 64))
