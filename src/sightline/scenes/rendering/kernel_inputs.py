"""Pack a world into named tuples of arrays: numba kernels do not accept dataclasses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.rendering.photo_textures import PhotoAtlas
from sightline.scenes.rendering.shadow_maps import ShadowMaps
from sightline.scenes.rendering.textures import pattern_code
from sightline.scenes.world import Light, SceneWorld, Sky
from sightline.types import Camera

# Columns of the table of materials.
TINT, SECOND, UNITS, GLOSS, GLOW, MIRROR, CLEAR = 0, 3, 6, 7, 8, 9, 10


class KernelMesh(NamedTuple):
    """Faces and materials of a world for the kernels.

    Attributes:
        points: (V, 3) vertices in the camera frame, [m].
        vertices: (V, 3) in the world, [m].
        normals: (V, 3).
        uv: (V, 2), [m].
        faces: (F, 3).
        material: (F,).
        codes: (M, 3) int64: pattern, seed, photo.
        table: (M, 11): tint, second, units per meter, gloss, glow, mirror, clear.
    """

    points: Any
    vertices: Any
    normals: Any
    uv: Any
    faces: Any
    material: Any
    codes: Any
    table: Any


class KernelLights(NamedTuple):
    """A `Light` for the kernels; a missing sun has color 0; `fog` is the extinction in [1/m]."""

    to_sun: Any
    sun: Any
    lamps: Any
    power: Any
    above: Any
    below: Any
    fog: float
    haze: Any


class KernelCamera(NamedTuple):
    """A camera for the kernels: (fx, fy, cx, cy) in [px] and the camera-to-world rotation."""

    lens: Any
    rotation: Any


class KernelSky(NamedTuple):
    """A `Sky` and its sun for the kernels: colors (3,), cloud cover, seed, and the sun."""

    zenith: Any
    horizon: Any
    clouds: float
    seed: int
    to_sun: Any
    sun: Any


class RenderScene(NamedTuple):
    """Everything that the color of a pixel depends on.

    Attributes:
        mesh: faces and materials.
        lights: sun, lamps, ambient light and fog.
        shadows: shadow maps of the sun or the first lamp.
        occlusion: (H, W) float32 share of ambient light that arrives; (0, 0) for all of it.
        sky: gradient, clouds and sun.
        photos: photo textures.
        reflections: (6, R, R, 3) float32 environment cube, negative on sides that were not rendered;
            (0, 0, 0, 3) for none.
    """

    mesh: KernelMesh
    lights: KernelLights
    shadows: ShadowMaps
    occlusion: Any
    sky: KernelSky
    photos: PhotoAtlas
    reflections: Any


def pack_mesh(world: SceneWorld, points: NDArray[np.float64], pictures: int) -> KernelMesh:
    """Pack a world; `points` are its (V, 3) vertices in the camera frame."""
    codes = np.array(
        [
            (pattern_code(m.pattern, m.photo, pictures), m.seed, m.photo % max(pictures, 1))
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
    return KernelMesh(
        points, world.vertices, world.normals, world.uv, world.faces, world.material, codes, table
    )


def pack_lights(light: Light) -> KernelLights:
    """Pack a light; the fog share f lost per meter becomes the extinction coefficient −ln(1 − f)."""
    return KernelLights(
        np.zeros(3) if light.to_sun is None else np.asarray(light.to_sun, np.float64),
        np.zeros(3) if light.to_sun is None else np.asarray(light.sun, np.float64),
        np.asarray(light.lamps, np.float64).reshape(-1, 3),
        np.asarray(light.lamp_power, np.float64).reshape(-1, 3),
        np.asarray(light.above, np.float64),
        np.asarray(light.below, np.float64),
        float(-np.log1p(-min(light.fog, 0.99))),
        np.asarray(light.fog_color, np.float64),
    )


def pack_sky(sky: Sky | None, light: Light) -> KernelSky:
    """Pack a sky; indoors, ambient light from above and below replaces it."""
    to_sun = np.zeros(3) if light.to_sun is None else np.asarray(light.to_sun, np.float64)
    sun = np.asarray(light.sun, np.float64)
    if sky is None:
        above, below = np.asarray(light.above, np.float64), np.asarray(light.below, np.float64)
        return KernelSky(above, 0.5 * (above + below), 0.0, 0, to_sun, 0.0 * sun)
    zenith, horizon = np.asarray(sky.zenith, np.float64), np.asarray(sky.horizon, np.float64)
    return KernelSky(zenith, horizon, float(sky.clouds), int(sky.seed), to_sun, sun)


def pack_camera(camera: Camera, rotation: NDArray[np.float64]) -> KernelCamera:
    """Pack a camera; `rotation` is (3, 3), camera to world."""
    lens = (camera.K[0, 0], camera.K[1, 1], camera.K[0, 2], camera.K[1, 2])
    return KernelCamera(lens, np.ascontiguousarray(rotation))
