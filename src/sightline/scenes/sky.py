"""The sky in any direction: gradient, clouds, the sun and its glow. Also what mirrors reflect."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from sightline.scenes.noise import fractal_noise, smooth
from sightline.scenes.world import Light, Sky


class Dome(NamedTuple):
    """A `Sky` and its sun for the kernels: colours (3,), share of clouds, seed, and the sun."""

    zenith: Any
    horizon: Any
    clouds: float
    seed: int
    to_sun: Any
    sun: Any


def dome(sky: Sky | None, light: Light) -> Dome:
    """Gather what the kernel needs; indoors, the light from above and below stands for the sky."""
    to_sun = np.zeros(3) if light.to_sun is None else np.asarray(light.to_sun, np.float64)
    sun = np.asarray(light.sun, np.float64)
    if sky is None:
        above, below = np.asarray(light.above, np.float64), np.asarray(light.below, np.float64)
        return Dome(above, 0.5 * (above + below), 0.0, 0, to_sun, 0.0 * sun)
    zenith, horizon = np.asarray(sky.zenith, np.float64), np.asarray(sky.horizon, np.float64)
    return Dome(zenith, horizon, float(sky.clouds), int(sky.seed), to_sun, sun)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def sky_colour(dome: Dome, x: float, y: float, z: float, width: float) -> tuple[Any, Any, Any]:
    """Linear RGB of the sky along a unit vector of the world; `width` is the pixel's angle [rad]."""
    up = max(-y, 0.0)
    high = np.sqrt(up)
    r = dome.horizon[0] + high * (dome.zenith[0] - dome.horizon[0])
    g = dome.horizon[1] + high * (dome.zenith[1] - dome.horizon[1])
    b = dome.horizon[2] + high * (dome.zenith[2] - dome.horizon[2])
    cover = 0.0
    if dome.clouds > 0.0 and up > 0.01:
        # A layer overhead, curved down towards the horizon so that it does not end in a blur.
        far = 1.6 / (up + 0.12)
        thick = fractal_noise(far * x + 31.0, far * z, dome.seed, 6, far * far * width)
        low = 0.78 - 0.6 * dome.clouds
        cover = smooth(low, low + 0.22, thick) * min(up / 0.08, 1.0)
        white = 1.15 * max(dome.horizon[0], dome.horizon[1], dome.horizon[2])
        white *= 1.0 - 0.5 * smooth(low + 0.1, low + 0.45, thick)
        r += cover * (0.25 * dome.horizon[0] + 0.75 * white - r)
        g += cover * (0.25 * dome.horizon[1] + 0.75 * white - g)
        b += cover * (0.25 * dome.horizon[2] + 0.75 * white - b)
    near = x * dome.to_sun[0] + y * dome.to_sun[1] + z * dome.to_sun[2]
    if near > 0.7:
        glow = 0.25 * np.exp(-25.0 * (1.0 - near)) + 0.5 * np.exp(-400.0 * (1.0 - near))
        glow += 6.0 * smooth(0.99985, 0.99995, near)
        glow *= 1.0 - 0.85 * cover
        r += glow * dome.sun[0]
        g += glow * dome.sun[1]
        b += glow * dome.sun[2]
    return r, g, b
