"""A world as plain arrays, for kernels: compiled code knows no dataclasses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.photos import Sheets
from sightline.scenes.shadows import Shadows
from sightline.scenes.sky import Dome
from sightline.scenes.textures import effective
from sightline.scenes.world import Light, World
from sightline.types import Camera

# Columns of the table of materials.
TINT, SECOND, UNITS, GLOSS, GLOW, MIRROR, CLEAR = 0, 3, 6, 7, 8, 9, 10


class Surfaces(NamedTuple):
    """The world's faces and materials for the kernels.

    Attributes:
        points: (V, 3) vertices in the camera frame, [m].
        vertices: (V, 3) in the world, [m].
        normals: (V, 3).
        uv: (V, 2), [m].
        faces: (F, 3).
        material: (F,).
        codes: (M, 3) int64: pattern, seed, photo.
        table: (M, 11): tint, second, units per metre, gloss, glow, mirror, clear.
    """

    points: Any
    vertices: Any
    normals: Any
    uv: Any
    faces: Any
    material: Any
    codes: Any
    table: Any


class Lights(NamedTuple):
    """A `Light` for the kernels: no sun is a sun without strength; `fog` is per metre, logarithmic."""

    to_sun: Any
    sun: Any
    lamps: Any
    power: Any
    above: Any
    below: Any
    fog: float
    haze: Any


class Eye(NamedTuple):
    """Camera for the kernels: focal lengths and middle (x, y) in [px], camera-to-world rotation."""

    lens: Any
    rotation: Any


class Scene(NamedTuple):
    """Everything the colour of a pixel depends on.

    Attributes:
        surfaces: faces and materials.
        lights: sun, lamps, light from all round, fog.
        shadows: what the sun or the first lamp reaches.
        occlusion: (H, W) float32 share of the light from all round; (0, 0) for all of it.
        dome: the sky.
        photos: textures.
        reflections: (6, R, R, 3) float32 surroundings on the sides of a cube, negative where a side was
            not drawn; (0, 0, 0, 3) for none.
    """

    surfaces: Surfaces
    lights: Lights
    shadows: Shadows
    occlusion: Any
    dome: Dome
    photos: Sheets
    reflections: Any


def surfaces(world: World, points: NDArray[np.float64], pictures: int) -> Surfaces:
    """Gather a world for the kernels; `points` are its vertices in the camera frame."""
    codes = np.array(
        [
            (effective(m.pattern, m.photo, pictures), m.seed, m.photo % max(pictures, 1))
            for m in world.materials
        ],
        np.int64,
    )
    table = np.array(
        [
            (*m.tint, *m.second, 1.0 / m.scale, m.gloss, m.glow, m.mirror, m.clear)
            for m in world.materials
        ],
        np.float64,
    )
    return Surfaces(
        points,
        world.vertices,
        world.normals,
        world.uv,
        world.faces,
        world.material,
        codes,
        table,
    )


def lights(light: Light) -> Lights:
    """Gather a light for the kernels."""
    return Lights(
        np.zeros(3) if light.to_sun is None else np.asarray(light.to_sun, np.float64),
        np.zeros(3) if light.to_sun is None else np.asarray(light.sun, np.float64),
        np.asarray(light.lamps, np.float64).reshape(-1, 3),
        np.asarray(light.lamp_power, np.float64).reshape(-1, 3),
        np.asarray(light.above, np.float64),
        np.asarray(light.below, np.float64),
        float(-np.log1p(-min(light.fog, 0.99))),
        np.asarray(light.fog_colour, np.float64),
    )


def eye(camera: Camera, rotation: NDArray[np.float64]) -> Eye:
    """Gather a camera for the kernels; `rotation` is (3, 3), camera to world."""
    lens = (camera.K[0, 0], camera.K[1, 1], camera.K[0, 2], camera.K[1, 2])
    return Eye(lens, np.ascontiguousarray(rotation))
