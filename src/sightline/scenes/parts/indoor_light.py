"""Light indoors: daylight through windows, lamps on the ceiling or about the room, or both."""

from __future__ import annotations

import math

import numpy as np

from sightline.scenes.parts.draw import between, chance, pick
from sightline.scenes.parts.finishes import colour, seed, shaded
from sightline.scenes.world import Colour, Light, Sky


def warm(rng: np.random.Generator, strength: float) -> Colour:
    """Draw the colour of a lamp, from candle to cold tube, times its strength."""
    tint = colour(rng, hue=(0.06, 0.14), saturation=(0.0, 0.45), value=(1.0, 1.0))
    if chance(rng, 0.15):
        tint = colour(rng, hue=(0.5, 0.65), saturation=(0.0, 0.25), value=(1.0, 1.0))
    return tint[0] * strength, tint[1] * strength, tint[2] * strength


def indoor_light(
    rng: np.random.Generator,
    width: float,
    depth: float,
    height: float,
    *,
    sun: bool,
    lamps: list[tuple[float, float, float]],
) -> Light:
    """Light a room.

    Args:
        rng: draws the mood.
        width: of the room along x, [m].
        depth: along z.
        height: of the ceiling.
        sun: whether the sun may shine in.
        lamps: places of lamps that are on; without any one hangs unseen below the ceiling.
    """
    day = sun and chance(rng, 0.5)
    places = list(lamps)
    if not places:
        x, z = between(rng, -0.35, 0.35) * width, between(rng, -0.35, 0.35) * depth
        places = [(x, -height + between(rng, 0.05, 0.4), z)]
    size = math.sqrt(width * depth)
    power = [warm(rng, between(rng, 0.15, 0.6) * size * pick(rng, (0.6, 1.0, 1.5))) for _ in places]
    ambient = between(rng, 0.1, 0.55)
    above = warm(rng, ambient)
    below = shaded(warm(rng, ambient), between(rng, 0.4, 0.9))
    if not day:
        return Light(lamps=np.array(places), lamp_power=np.array(power), above=above, below=below)
    angle, rise = between(rng, 0, 2 * math.pi), math.radians(between(rng, 12, 50))
    to_sun = np.array(
        [math.cos(angle) * math.cos(rise), -math.sin(rise), math.sin(angle) * math.cos(rise)]
    )
    if chance(rng, 0.5):
        places, power = places[:0], power[:0]
    return Light(
        to_sun=to_sun,
        sun=warm(rng, between(rng, 1.0, 3.0)),
        lamps=np.array(places).reshape(-1, 3),
        lamp_power=np.array(power).reshape(-1, 3),
        above=above,
        below=below,
    )


def sky_outside(rng: np.random.Generator) -> Sky:
    """Draw the sky seen through windows: blue, grey, or at dusk."""
    zenith = colour(rng, hue=(0.55, 0.62), saturation=(0.1, 0.8), value=(0.3, 0.95))
    horizon = colour(rng, hue=(0.05, 0.6), saturation=(0.0, 0.3), value=(0.6, 1.0))
    return Sky(zenith, horizon, between(rng, 0.0, 0.9), seed(rng))
