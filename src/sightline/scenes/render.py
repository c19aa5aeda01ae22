"""A world and a camera to a picture with exact depth: rasterise, then shade only what is seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.rasterise import nearest_faces
from sightline.scenes.light import Shadows, lamp_shadows, no_shadows, sun_shadows
from sightline.scenes.occlusion import ambient_occlusion
from sightline.scenes.photos import PhotoTextures, no_photos
from sightline.scenes.shade import Eye, Scene, lights, shade, surfaces
from sightline.scenes.sky import dome
from sightline.scenes.world import World
from sightline.types import BoolArray, Camera, DepthMap, FloatArray, Kind

#: Nothing nearer than this is seen, [m].
NEAR = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A rendered picture and the truth about it.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        depth: metres along the optical axis, exact at pixel centres; not valid where nothing is seen.
            Of glass and mirrors it is the surface's own.
        pose: (4, 4) camera to world.
        instance: (H, W) int32; 0 for background and sky, else 1 + place in `kinds`.
        kinds: name of each instance, seen or not.
        sky: (H, W) bool; True where the sky is seen: known to be infinitely far.
    """

    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]
    instance: NDArray[np.int32]
    kinds: tuple[str, ...]
    sky: BoolArray

    @property
    def camera(self) -> Camera:
        """The lens that saw it."""
        if self.depth.camera is None:
            raise ValueError("a rendered frame always has a camera")
        return self.depth.camera

    @property
    def disparity(self) -> FloatArray:
        """(H, W) float32 one over depth in [1/m]: 0 in the sky, and where nothing is known."""
        safe = np.where(self.depth.valid, self.depth.values, np.float32(1))
        return np.where(self.depth.valid, 1 / safe, np.float32(0)).astype(np.float32)


def render(
    world: World,
    camera: Camera,
    pose: NDArray[np.float64],
    *,
    supersample: int = 2,
    shadows: bool = True,
    textures: PhotoTextures | None = None,
    exposure: float | None = None,
) -> Frame:
    """Render one picture.

    Args:
        world: what there is to see.
        camera: lens and picture size.
        pose: (4, 4) camera to world, rotation and translation in [m].
        supersample: edges are smoothed over this many samples squared per pixel; depth and instances
            are never averaged, since a mean of front and back lies on neither.
        shadows: cast shadows from the sun or the first lamp.
        textures: pictures for materials with the pattern `photo`; without them these get another.
        exposure: factor on the light before it becomes 8 bits; None measures it as a camera does.
    """
    if supersample < 1:
        raise InputError(f"a picture needs at least one sample per pixel, got {supersample}")
    points = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(points, world.faces, camera, near=NEAR)
    filled = face >= 0
    depth = np.zeros(face.shape, np.float32)
    np.divide(1.0, nearness, out=depth, where=filled, casting="same_kind")
    light = np.zeros((*face.shape, 3), np.float32)
    scene = Scene(
        surfaces(world, points, len(textures) if textures else 0),
        lights(world.light),
        _shadows(world, camera, pose, depth) if shadows else no_shadows(),
        ambient_occlusion(nearness, face, points, world.faces, camera),
        dome(world.sky, world.light),
        textures.sheets if textures else no_photos(),
        np.zeros((0, 0, 0, 3), np.float32),
    )
    lens = (camera.K[0, 0], camera.K[1, 1], camera.K[0, 2], camera.K[1, 2])
    eye = Eye(lens, np.ascontiguousarray(pose[:3, :3]), np.ascontiguousarray(pose[:3, 3]))
    seen, glass = _samples(world, points, camera, supersample, scene.surfaces.table[:, -1] > 0)
    shade(seen, glass, eye, scene, light)
    instance = np.where(filled, world.instance[face], np.int32(0))
    return Frame(
        to_srgb(light * np.float32(metered(light) if exposure is None else exposure)),
        DepthMap(depth, Kind.METRIC_DEPTH, filled, camera, source="sightline.scenes"),
        pose,
        instance,
        world.kinds,
        ~filled & (world.sky is not None),
    )


def _samples(
    world: World, points: NDArray[np.float64], camera: Camera, supersample: int, clear: BoolArray
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Face seen at each of supersample² places per pixel: opaque ones, and clear ones before them."""
    fine = camera.resized(camera.width * supersample, camera.height * supersample)
    see_through = clear[world.material]
    if not see_through.any():
        return nearest_faces(points, world.faces, fine, near=NEAR)[1], np.zeros((0, 0), np.int32)
    opaque, panes = (np.flatnonzero(x).astype(np.int32) for x in (~see_through, see_through))
    nearness, seen = nearest_faces(points, world.faces[opaque], fine, near=NEAR)
    _, glass = nearest_faces(points, world.faces[panes], fine, near=NEAR, behind=nearness)
    return (
        np.where(seen >= 0, np.append(opaque, -1)[seen], -1).astype(np.int32),
        np.where(glass >= 0, np.append(panes, -1)[glass], -1).astype(np.int32),
    )


def _shadows(world: World, camera: Camera, pose: NDArray[np.float64], depth: FloatArray) -> Shadows:
    """Shadow map of the sun, else of the first lamp, over what is seen."""
    light = world.light
    if light.to_sun is None and len(light.lamps) == 0:
        return no_shadows()
    stops = np.array([m.clear < 0.3 and m.glow <= 0 for m in world.materials])
    casters = world.faces[stops[world.material]]
    rows, columns = np.nonzero(depth[1::3, 1::3] > 0)
    rows, columns = 3 * rows + 1, 3 * columns + 1
    z = depth[rows, columns].astype(np.float64)
    inverse = np.linalg.inv(camera.K)
    rays = np.stack([columns, rows, np.ones(len(rows))], -1) @ inverse.T
    receivers = (rays * z[:, None]) @ pose[:3, :3].T + pose[:3, 3]
    if light.to_sun is not None:
        return sun_shadows(world.vertices, casters, light.to_sun, receivers, z)
    return lamp_shadows(world.vertices, casters, light.lamps[0], receivers)


def metered(light: FloatArray) -> float:
    """Exposure a camera would choose for (H, W, 3) linear light: most of the way to a mid grey.

    Bright pictures stay brighter and dark ones darker than grey, and highlights are held.
    """
    luminance = light.reshape(-1, 3) @ np.array([0.2126, 0.7152, 0.0722], np.float32)
    level = float(np.exp(np.log(luminance + 1e-3).mean()))
    bright = float(np.quantile(luminance, 0.92))
    return float(np.clip(min((0.3 / level) ** 0.75, 1.1 / max(bright, 1e-3)), 0.05, 6.0))


def to_srgb(linear: FloatArray) -> NDArray[np.uint8]:
    """Linear light to 8-bit sRGB, highlights rolled off rather than cut."""
    over = np.maximum(linear - np.float32(0.7), 0)
    soft = np.minimum(linear - over + over / (1 + over / np.float32(0.3)), 1)
    codes = _TO_SRGB[(soft * np.float32(4095) + np.float32(0.5)).astype(np.int32)]
    return np.asarray(codes, np.uint8)


_TONE = np.linspace(0.0, 1.0, 4096)
_TO_SRGB = (
    np.where(_TONE <= 0.0031308, 12.92 * _TONE, 1.055 * _TONE ** (1 / 2.4) - 0.055) * 255 + 0.5
).astype(np.uint8)
