"""Light on a surface: sun, lamps and light from all round; highlights, ripples and reflections.

Kernels of plain numbers. Those that take a whole `Scene` are inlined by hand: handing so many arrays to
a function costs more than what it works out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sightline.scenes.noise import value_noise
from sightline.scenes.shadows import LAMP, lit, on_cube
from sightline.scenes.sky import sky_colour
from sightline.scenes.tables import Scene


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def ripple(normal: Any, u: float, v: float, width: float, seed: Any) -> Any:
    """Tilt the normal of level water by waves, less where they are finer than a pixel."""
    keep = 0.12 / (1.0 + 4.0 * width)
    x = normal[0] + keep * (value_noise(u, v, seed) + value_noise(2.7 * u, 2.7 * v, seed + 1) - 1)
    z = normal[2] + keep * (
        value_noise(u, v, seed + 2) + value_noise(2.7 * u, 2.7 * v, seed + 3) - 1
    )
    y = normal[1]
    size = np.sqrt(x * x + y * y + z * z)
    return x / size, y / size, z / size


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def received(
    place: Any,
    flat: Any,
    normal: Any,
    away: Any,
    gloss: float,
    leafy: float,
    occlusion: float,
    scene: Scene,
) -> Any:
    """Light on a surface, and its highlight, both linear RGB."""
    lights, shadows = scene.lights, scene.shadows
    nx, ny, nz = normal
    upper = 0.5 - 0.5 * ny
    r = occlusion * (lights.below[0] + upper * (lights.above[0] - lights.below[0]))
    g = occlusion * (lights.below[1] + upper * (lights.above[1] - lights.below[1]))
    b = occlusion * (lights.below[2] + upper * (lights.above[2] - lights.below[2]))
    hr = hg = hb = 0.0
    sun = lights.to_sun
    if lights.sun[0] + lights.sun[1] + lights.sun[2] > 0.0:
        slope = nx * sun[0] + ny * sun[1] + nz * sun[2]
        bright = max(slope, 0.0) + leafy * max(-slope, 0.0)
        if leafy == 0.0:
            bright *= _face_lit(flat, sun[0], sun[1], sun[2])
        if bright > 0.0:
            bright *= lit(shadows, place, flat)
            r, g, b = (
                r + bright * lights.sun[0],
                g + bright * lights.sun[1],
                b + bright * lights.sun[2],
            )
            if gloss > 0.0 and slope > 0.0 and bright > 0.0:
                shine = _highlight(sun[0], sun[1], sun[2], normal, away, gloss) * bright / slope
                hr, hg, hb = shine * lights.sun[0], shine * lights.sun[1], shine * lights.sun[2]
    for lamp in range(len(lights.lamps)):
        tx = lights.lamps[lamp, 0] - place[0]
        ty = lights.lamps[lamp, 1] - place[1]
        tz = lights.lamps[lamp, 2] - place[2]
        square = tx * tx + ty * ty + tz * tz + 1e-9
        length = np.sqrt(square)
        slope = (nx * tx + ny * ty + nz * tz) / length
        bright = max(slope, 0.0) + leafy * max(-slope, 0.0)
        if leafy == 0.0:
            bright *= _face_lit(flat, tx / length, ty / length, tz / length)
        if bright <= 0.0:
            continue
        # A lamp of some size: a wall right beside it does not burn out; at one metre it is exact.
        bright *= 1.2 / (square + 0.2)
        if lamp == 0 and shadows.kind == LAMP:
            bright *= lit(shadows, place, flat)
        power = lights.power[lamp, 0], lights.power[lamp, 1], lights.power[lamp, 2]
        r, g, b = r + bright * power[0], g + bright * power[1], b + bright * power[2]
        if gloss > 0.0 and slope > 0.0 and bright > 0.0:
            shine = _highlight(tx / length, ty / length, tz / length, normal, away, gloss)
            shine *= bright / slope
            hr, hg, hb = hr + shine * power[0], hg + shine * power[1], hb + shine * power[2]
    return (r, g, b), (hr, hg, hb)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _face_lit(flat: Any, x: float, y: float, z: float) -> float:
    """0 where the face itself, not its smoothed normal, looks away from the light, rising to 1 quickly.

    Else the edge of a round body's dark side would show the jagged shadow that its own faces cast.
    """
    return min(max(8.0 * (flat[0] * x + flat[1] * y + flat[2] * z), 0.0), 1.0)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _highlight(x: float, y: float, z: float, normal: Any, away: Any, gloss: float) -> float:
    """Blinn's highlight for light from the unit vector (x, y, z): the glossier the smaller."""
    hx, hy, hz = x - away[0], y - away[1], z - away[2]
    size = np.sqrt(hx * hx + hy * hy + hz * hz)
    if size < 1e-6:
        return 0.0
    match = (hx * normal[0] + hy * normal[1] + hz * normal[2]) / size
    if match < 0.5:
        return 0.0
    return 0.7 * gloss * match ** (10.0 + 180.0 * gloss * gloss)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def environment(scene: Scene, x: float, y: float, z: float) -> Any:
    """Look along a unit vector as a mirror does: at the cube of surroundings, else at the sky."""
    cube = scene.reflections
    if cube.size:
        side, right, down, _ = on_cube(x, y, z)
        if cube[side, 0, 0, 0] >= 0.0:
            half = 0.5 * cube.shape[1]
            column = min(max(half + (half - 1.0) * right - 0.5, 0.0), cube.shape[1] - 1.001)
            row = min(max(half + (half - 1.0) * down - 0.5, 0.0), cube.shape[1] - 1.001)
            return _sampled(cube, side, column, row)
    if y < 0.0:
        return sky_colour(scene.dome, x, y, z, 0.05)
    near = 0.35 + 0.3 * value_noise(3.0 * x + 9.0, 3.0 * z, 5)
    below = scene.lights.below
    return near * below[0], near * below[1], near * below[2]


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _sampled(cube: Any, side: int, column: float, row: float) -> Any:
    """Bilinear colour of a side of the cube."""
    i, j = int(column), int(row)
    r = g = b = 0.0
    for v in range(2):
        for u in range(2):
            share = abs(1.0 - u - (column - i)) * abs(1.0 - v - (row - j))
            r += share * cube[side, j + v, i + u, 0]
            g += share * cube[side, j + v, i + u, 1]
            b += share * cube[side, j + v, i + u, 2]
    return r, g, b
