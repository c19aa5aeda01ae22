"""Sample light: indoors (daylight, lamps) and outdoors (sun, overcast, fog, dusk, night)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sightline.scenes.materials import color, seed, shaded
from sightline.scenes.mesh_arrays import Floats
from sightline.scenes.sampling import Random, between, chance, pick
from sightline.scenes.world import Color, Light, Point, Sky


def lamp_color(rng: Random, strength: float) -> Color:
    """Draw the color of a lamp, from candle to cold tube, times its strength."""
    tint = color(rng, hue=(0.06, 0.14), saturation=(0.0, 0.45), value=(1.0, 1.0))
    if chance(rng, 0.15):
        tint = color(rng, hue=(0.5, 0.65), saturation=(0.0, 0.25), value=(1.0, 1.0))
    return tint[0] * strength, tint[1] * strength, tint[2] * strength


def indoor_light(
    rng: Random, width: float, depth: float, height: float, *, sun: bool, lamps: list[Point]
) -> Light:
    """Sample the light of a room.

    Args:
        rng: random generator.
        width: width of the room along x, [m].
        depth: along z.
        height: height of the ceiling.
        sun: whether the sun may shine in.
        lamps: places of lamps that are on; without any one hangs unseen below the ceiling.
    """
    day = sun and chance(rng, 0.5)
    places = list(lamps)
    if not places:
        x, z = between(rng, -0.35, 0.35) * width, between(rng, -0.35, 0.35) * depth
        places = [(x, -height + between(rng, 0.05, 0.4), z)]
    size = math.sqrt(width * depth)
    power = [
        lamp_color(rng, between(rng, 0.15, 0.6) * size * pick(rng, (0.6, 1.0, 1.5))) for _ in places
    ]
    ambient = between(rng, 0.1, 0.55)
    above = lamp_color(rng, ambient)
    below = shaded(lamp_color(rng, ambient), between(rng, 0.4, 0.9))
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
        sun=lamp_color(rng, between(rng, 1.0, 3.0)),
        lamps=np.array(places).reshape(-1, 3),
        lamp_power=np.array(power).reshape(-1, 3),
        above=above,
        below=below,
    )


def sky_outside(rng: Random) -> Sky:
    """Draw the sky seen through windows: blue, gray, or at dusk."""
    zenith = color(rng, hue=(0.55, 0.62), saturation=(0.1, 0.8), value=(0.3, 0.95))
    horizon = color(rng, hue=(0.05, 0.6), saturation=(0.0, 0.3), value=(0.6, 1.0))
    return Sky(zenith, horizon, between(rng, 0.0, 0.9), seed(rng))


#: Lamps that light a scene at most: each costs a look at every pixel.
MOST_LAMPS = 5


@dataclass(frozen=True, slots=True)
class Weather:
    """Light and sky of one weather.

    Attributes:
        light: sun, sky light and haze.
        sky: what is seen where nothing is.
        dark: True at dusk and at night: windows and lamps are lit.
        lamp: color of the street lamps, orange or white.
    """

    light: Light
    sky: Sky
    dark: bool = False
    lamp: Color = (1.0, 0.72, 0.42)

    def with_lamps(self, places: Floats, eye: Point) -> Weather:
        """Add the lamps nearest to the camera out of (L, 3) positions if it is dark."""
        if not self.dark or not len(places):
            return self
        nearest = np.argsort(np.linalg.norm(places - np.asarray(eye), axis=1))[:MOST_LAMPS]
        at = places[nearest]
        # Twice the height, a quarter of the light: high lamps are made stronger, as they are in towns.
        power = np.asarray(self.lamp) * np.clip(at[:, 1:2] ** 2 * 0.9, 2.0, 40.0)
        return replace(self, light=replace(self.light, lamps=at, lamp_power=power))


def sample_weather(rng: Random, *, night: float = 0.1, fog: float = 1.0) -> Weather:
    """Choose the time of day and the weather.

    Args:
        rng: random generator.
        night: chance of dusk or night.
        fog: factor on the haze; less where the view is far from above.
    """
    if rng.random() < night:
        return _dark(rng, fog)
    sort = rng.choice(4, p=[0.48, 0.2, 0.25, 0.07])
    return (_clear, _low_sun, _overcast, _misty)[sort](rng, fog)


def _clear(rng: Random, fog: float) -> Weather:
    """Sample a sunny day with some clouds."""
    strength = rng.uniform(0.8, 1.35)
    blue = rng.uniform(0.6, 1.1)
    light = Light(
        to_sun=_sun_direction(rng, rng.uniform(22, 75)),
        sun=_scaled((1.0, 0.95, 0.86), strength),
        above=_scaled((0.26, 0.32, 0.42), rng.uniform(0.7, 1.2)),
        below=_scaled((0.15, 0.14, 0.11), rng.uniform(0.6, 1.3)),
        fog=float(fog * rng.uniform(0.0, 0.0012)),
        fog_color=(0.66, 0.74, 0.84),
    )
    sky = Sky(
        zenith=_scaled((0.16, 0.36, 0.78), blue),
        horizon=_scaled((0.66, 0.78, 0.92), rng.uniform(0.8, 1.05)),
        clouds=float(rng.choice([0.0, 0.25, 0.5, 0.7])),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _low_sun(rng: Random, fog: float) -> Weather:
    """Sample morning or evening light with long warm shadows."""
    warm = rng.uniform(0.3, 1.0)
    light = Light(
        to_sun=_sun_direction(rng, rng.uniform(5, 22)),
        sun=_scaled((1.0, 0.86 - 0.25 * warm, 0.66 - 0.4 * warm), rng.uniform(0.7, 1.2)),
        above=_scaled((0.24, 0.26, 0.36), rng.uniform(0.6, 1.1)),
        below=(0.13, 0.10, 0.08),
        fog=float(fog * rng.uniform(0.0, 0.003)),
        fog_color=(0.72, 0.66 - 0.1 * warm, 0.6 - 0.2 * warm),
    )
    sky = Sky(
        zenith=_scaled((0.22, 0.33, 0.6), rng.uniform(0.6, 1.1)),
        horizon=(0.95, 0.75 - 0.2 * warm, 0.55 - 0.25 * warm),
        clouds=between(rng, 0.0, 0.8),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _overcast(rng: Random, fog: float) -> Weather:
    """Sample an overcast day without sharp shadows."""
    gray = rng.uniform(0.5, 1.0)
    light = Light(
        above=_scaled((0.85, 0.9, 0.96), gray * rng.uniform(0.8, 1.1)),
        below=_scaled((0.22, 0.22, 0.2), gray),
        fog=float(fog * rng.uniform(0.0, 0.004)),
        fog_color=_scaled((0.75, 0.78, 0.8), gray),
    )
    tone = rng.uniform(0.85, 1.1)
    sky = Sky(
        zenith=_scaled((0.62, 0.66, 0.72), gray * tone),
        horizon=_scaled((0.8, 0.83, 0.86), gray),
        clouds=between(rng, 0.4, 1.0),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _misty(rng: Random, fog: float) -> Weather:
    """Sample fog or thick haze."""
    base = _overcast(rng, fog) if rng.random() < 0.6 else _low_sun(rng, fog)
    thick = float(fog * rng.choice([0.005, 0.01, 0.02]) * rng.uniform(0.7, 1.3))
    light, sky = base.light, base.sky
    return replace(base, light=replace(light, fog=thick), sky=replace(sky, horizon=light.fog_color))


def _dark(rng: Random, fog: float) -> Weather:
    """Sample dusk, or night under street lamps."""
    late = rng.uniform(0.0, 1.0)
    glow = 0.3 * (1 - late) + 0.07
    dusk = rng.uniform(0.3, 1.0)
    light = Light(
        above=_scaled((0.7, 0.8, 1.1), glow),
        below=_scaled((0.3, 0.26, 0.22), glow),
        fog=float(fog * rng.uniform(0.0, 0.003)),
        fog_color=_scaled((0.45, 0.45, 0.5), glow),
    )
    sky = Sky(
        zenith=_scaled((0.08, 0.12, 0.28), 2.2 * glow),
        horizon=_scaled((0.5 + 0.5 * dusk, 0.42, 0.55 - 0.2 * dusk), 2.0 * glow),
        clouds=between(rng, 0.0, 0.7),
        seed=int(rng.integers(1 << 16)),
    )
    lamp: Color = (1.0, 0.7, 0.4) if rng.random() < 0.6 else (0.9, 0.95, 1.0)
    return Weather(light, sky, dark=True, lamp=lamp)


def _sun_direction(rng: Random, elevation: float) -> Floats:
    """Return a (3,) unit vector to a sun `elevation` degrees high at a random azimuth."""
    up, around = np.radians(elevation), rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(up) * np.sin(around), -np.sin(up), np.cos(up) * np.cos(around)])


def _scaled(color: Color, strength: float) -> Color:
    """Scale a color."""
    r, g, b = (float(c * strength) for c in color)
    return r, g, b
