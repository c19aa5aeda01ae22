"""Light outdoors: the sun by time of day, dull days, dusk, night with lamps, haze and fog."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sightline.scenes.parts.many import Floats
from sightline.scenes.world import Colour, Light, Sky

#: Lamps that light a scene at most: each costs a look at every pixel.
MOST_LAMPS = 5


@dataclass(frozen=True, slots=True)
class Weather:
    """Light and sky that belong together.

    Attributes:
        light: sun, sky light and haze.
        sky: what is seen where nothing is.
        dark: True at dusk and at night: windows and lamps are lit.
        lamp: colour of the street lamps, orange or white.
    """

    light: Light
    sky: Sky
    dark: bool = False
    lamp: Colour = (1.0, 0.72, 0.42)

    def with_lamps(self, places: Floats, eye: tuple[float, float, float]) -> Weather:
        """Switch on lamps at (L, 3) places if it is dark; those nearest to the camera count."""
        if not self.dark or not len(places):
            return self
        nearest = np.argsort(np.linalg.norm(places - np.asarray(eye), axis=1))[:MOST_LAMPS]
        at = places[nearest]
        # Twice the height, a quarter of the light: high lamps are made stronger, as they are in towns.
        power = np.asarray(self.lamp) * np.clip(at[:, 1:2] ** 2 * 0.9, 2.0, 40.0)
        return replace(self, light=replace(self.light, lamps=at, lamp_power=power))


def weather(rng: np.random.Generator, *, night: float = 0.1, fog: float = 1.0) -> Weather:
    """Choose the time of day and the weather.

    Args:
        rng: where chance comes from.
        night: chance of dusk or night.
        fog: factor on the haze; less where the view is far from above.
    """
    if rng.random() < night:
        return _dark(rng, fog)
    sort = rng.choice(4, p=[0.48, 0.2, 0.25, 0.07])
    return (_clear, _low_sun, _overcast, _misty)[sort](rng, fog)


def _clear(rng: np.random.Generator, fog: float) -> Weather:
    """Sun high or half high, blue sky with more or fewer clouds."""
    strength = rng.uniform(0.8, 1.35)
    blue = rng.uniform(0.6, 1.1)
    light = Light(
        to_sun=_towards(rng, rng.uniform(22, 75)),
        sun=_times((1.0, 0.95, 0.86), strength),
        above=_times((0.26, 0.32, 0.42), rng.uniform(0.7, 1.2)),
        below=_times((0.15, 0.14, 0.11), rng.uniform(0.6, 1.3)),
        fog=float(fog * rng.uniform(0.0, 0.0012)),
        fog_colour=(0.66, 0.74, 0.84),
    )
    sky = Sky(
        zenith=_times((0.16, 0.36, 0.78), blue),
        horizon=_times((0.66, 0.78, 0.92), rng.uniform(0.8, 1.05)),
        clouds=float(rng.choice([0.0, 0.25, 0.5, 0.7])),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _low_sun(rng: np.random.Generator, fog: float) -> Weather:
    """Morning or evening: long warm shadows."""
    warm = rng.uniform(0.3, 1.0)
    light = Light(
        to_sun=_towards(rng, rng.uniform(5, 22)),
        sun=_times((1.0, 0.86 - 0.25 * warm, 0.66 - 0.4 * warm), rng.uniform(0.7, 1.2)),
        above=_times((0.24, 0.26, 0.36), rng.uniform(0.6, 1.1)),
        below=(0.13, 0.10, 0.08),
        fog=float(fog * rng.uniform(0.0, 0.003)),
        fog_colour=(0.72, 0.66 - 0.1 * warm, 0.6 - 0.2 * warm),
    )
    sky = Sky(
        zenith=_times((0.22, 0.33, 0.6), rng.uniform(0.6, 1.1)),
        horizon=(0.95, 0.75 - 0.2 * warm, 0.55 - 0.25 * warm),
        clouds=float(rng.uniform(0.0, 0.8)),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _overcast(rng: np.random.Generator, fog: float) -> Weather:
    """No sun, light from all over; no sharp shadows."""
    grey = rng.uniform(0.5, 1.0)
    light = Light(
        above=_times((0.85, 0.9, 0.96), grey * rng.uniform(0.8, 1.1)),
        below=_times((0.22, 0.22, 0.2), grey),
        fog=float(fog * rng.uniform(0.0, 0.004)),
        fog_colour=_times((0.75, 0.78, 0.8), grey),
    )
    tone = rng.uniform(0.85, 1.1)
    sky = Sky(
        zenith=_times((0.62, 0.66, 0.72), grey * tone),
        horizon=_times((0.8, 0.83, 0.86), grey),
        clouds=float(rng.uniform(0.4, 1.0)),
        seed=int(rng.integers(1 << 16)),
    )
    return Weather(light, sky)


def _misty(rng: np.random.Generator, fog: float) -> Weather:
    """Fog or thick haze that swallows what is far."""
    base = _overcast(rng, fog) if rng.random() < 0.6 else _low_sun(rng, fog)
    thick = float(fog * rng.choice([0.005, 0.01, 0.02]) * rng.uniform(0.7, 1.3))
    light, sky = base.light, base.sky
    return replace(
        base, light=replace(light, fog=thick), sky=replace(sky, horizon=light.fog_colour)
    )


def _dark(rng: np.random.Generator, fog: float) -> Weather:
    """Dusk, or night under street lamps; the camera's exposure is that of a night picture."""
    late = rng.uniform(0.0, 1.0)
    glow = 0.3 * (1 - late) + 0.07
    dusk = rng.uniform(0.3, 1.0)
    light = Light(
        above=_times((0.7, 0.8, 1.1), glow),
        below=_times((0.3, 0.26, 0.22), glow),
        fog=float(fog * rng.uniform(0.0, 0.003)),
        fog_colour=_times((0.45, 0.45, 0.5), glow),
    )
    sky = Sky(
        zenith=_times((0.08, 0.12, 0.28), 2.2 * glow),
        horizon=_times((0.5 + 0.5 * dusk, 0.42, 0.55 - 0.2 * dusk), 2.0 * glow),
        clouds=float(rng.uniform(0.0, 0.7)),
        seed=int(rng.integers(1 << 16)),
    )
    lamp: Colour = (1.0, 0.7, 0.4) if rng.random() < 0.6 else (0.9, 0.95, 1.0)
    return Weather(light, sky, dark=True, lamp=lamp)


def _towards(rng: np.random.Generator, elevation: float) -> Floats:
    """(3,) unit vector to a sun `elevation` degrees high, anywhere around."""
    up, around = np.radians(elevation), rng.uniform(0, 2 * np.pi)
    return np.array([np.cos(up) * np.sin(around), -np.sin(up), np.cos(up) * np.cos(around)])


def _times(colour: Colour, strength: float) -> Colour:
    """Make a colour made lighter or darker."""
    r, g, b = (float(c * strength) for c in colour)
    return r, g, b
