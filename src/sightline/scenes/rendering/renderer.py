"""Render a world: rasterize, shade the visible faces, and map linear light to an 8-bit picture.

Mirrors and water reflect one environment cube around the middle of all visible mirrors (Blinn and
Newell, 1976): distant objects appear in the right place, near ones are shifted. The depth of mirrors
and glass is that of their own surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.pixels import linear_to_srgb
from sightline.rasterize import nearest_faces, turned
from sightline.scenes.rendering.ambient_occlusion import ambient_occlusion
from sightline.scenes.rendering.kernel_inputs import (
    CLEAR,
    MIRROR,
    RenderScene,
    pack_camera,
    pack_lights,
    pack_mesh,
    pack_sky,
)
from sightline.scenes.rendering.photo_textures import PhotoTextures, empty_photo_atlas
from sightline.scenes.rendering.shading import shade_pixels
from sightline.scenes.rendering.shadow_maps import (
    CUBE,
    ShadowMaps,
    cube_sides,
    lamp_shadows,
    no_shadows,
    sun_shadows,
)
from sightline.scenes.world import SceneWorld
from sightline.types import BoolArray, Camera, DepthMap, FloatArray, Kind

#: 8-bit sRGB code of each of 4096 even steps of linear light.
_CODES = (linear_to_srgb(np.linspace(0, 1, 4096)) * 255 + 0.5).astype(np.uint8)

#: Linear light above this is rolled off toward white instead of clipped.
SHOULDER = 0.7


def tone_map(light: FloatArray, exposure: float | None = None) -> NDArray[np.uint8]:
    """Map linear light to 8-bit sRGB.

    Args:
        light: (H, W, 3) linear RGB, not negative.
        exposure: factor on the light; None chooses it by `auto_exposure`.

    Returns:
        (H, W, 3) uint8 sRGB.
    """
    picture = np.empty(light.shape, np.uint8)
    _apply_tone_curve(
        light, auto_exposure(light) if exposure is None else exposure, _CODES, picture
    )
    return picture


def auto_exposure(light: FloatArray) -> float:
    """Choose the exposure of (H, W, 3) linear light: three quarters of the way to mid gray.

    Bright scenes stay brighter and dark ones darker than gray; highlights are kept below white.
    """
    some = light[::2, ::2]
    luminance = 0.2126 * some[..., 0] + 0.7152 * some[..., 1] + 0.0722 * some[..., 2]
    # Log-average luminance (Reinhard et al., 2002).
    level = float(np.exp(np.log(luminance + np.float32(1e-3)).mean()))
    bright = float(np.quantile(luminance, 0.92))
    return float(np.clip(min((0.3 / level) ** 0.75, 1.2 / max(bright, 1e-3)), 0.05, 6.0))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _apply_tone_curve(light: Any, exposure: float, codes: Any, picture: Any) -> None:
    height, width = light.shape[:2]
    for row in range(height):
        for column in range(width):
            for c in range(3):
                x = exposure * light[row, column, c]
                over = max(x - SHOULDER, 0.0)
                x += over / (1.0 + over / (1.0 - SHOULDER)) - over
                picture[row, column, c] = codes[int(min(max(x, 0.0), 1.0) * 4095.0 + 0.5)]


#: Texels across a side of the environment cube, for large mirrors and for small ones.
CUBE_TEXELS = (64, 32)

#: Share of the picture above which mirrors are large, and below which they reflect the sky only.
LARGE_MIRROR_SHARE = 0.04
MIN_MIRROR_SHARE = 0.004


def empty_environment_cube() -> FloatArray:
    """Return an empty cube: mirrors reflect the sky only."""
    return np.zeros((0, 0, 0, 3), np.float32)


def environment_cube(
    world: SceneWorld,
    scene: RenderScene,
    face: NDArray[np.int32],
    places: NDArray[np.float64],
    camera_at: NDArray[np.float64],
) -> FloatArray:
    """Render the surroundings of the visible mirrors.

    Args:
        world: the scene; other mirrors are left out of the reflection.
        scene: the same, packed for the kernels.
        face: (N,) visible faces of a subset of the pixels, −1 for none.
        places: (N, 3) their points in the world, [m].
        camera_at: (3,) position of the camera, [m].

    Returns:
        (6, R, R, 3) linear colors, −1 on sides that no mirror shows; (0, 0, 0, 3) without mirrors.
    """
    shiny = scene.mesh.table[:, MIRROR] > 0.1
    on_mirror = (face >= 0) & shiny[world.material[face]]
    share = float(on_mirror.mean()) if shiny.any() and len(face) else 0.0
    if share < MIN_MIRROR_SHARE:
        return empty_environment_cube()
    texels = CUBE_TEXELS[0] if share > LARGE_MIRROR_SHARE else CUBE_TEXELS[1]
    normals = _face_normals(world, face[on_mirror])
    away = places[on_mirror] - camera_at
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    toward = away - 2 * (away * normals).sum(1, keepdims=True) * normals
    middle = np.median(places[on_mirror], axis=0) + 0.05 * np.median(toward, axis=0)
    others = np.flatnonzero(~shiny[world.material]).astype(np.int32)
    cube = np.full((6, texels, texels, 3), -1, np.float32)
    camera = Camera.from_focal(texels / 2 - 1, texels, texels)
    for side in cube_sides(toward):
        points = turned(world.vertices, CUBE[side], -CUBE[side] @ middle)
        _, seen = nearest_faces(points, world.faces[others], camera, near=0.05)
        numbers = np.where(seen >= 0, np.append(others, -1)[seen], -1).astype(np.int32)
        around = scene._replace(
            mesh=scene.mesh._replace(points=points),
            occlusion=np.zeros((0, 0), np.float32),
            reflections=empty_environment_cube(),
        )
        shade_pixels(
            numbers,
            np.zeros((0, 0), np.int32),
            pack_camera(camera, CUBE[side].T),
            around,
            cube[side],
        )
    return cube


def _face_normals(world: SceneWorld, face: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return (N, 3) unit normals of faces, on either side."""
    a, b, c = (world.vertices[world.faces[face, corner]] for corner in range(3))
    normal = np.cross(b - a, c - a)
    return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30))


#: Near clipping plane, [m].
NEAR_PLANE = 0.02


@dataclass(frozen=True, slots=True, eq=False)
class RenderedFrame:
    """A rendered picture with its ground truth.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        depth: depth along the optical axis, [m], exact at pixel centers; invalid where nothing is seen.
            Glass and mirrors have the depth of their own surface.
        pose: (4, 4) camera to world, translation in [m].
        instance: (H, W) int32; 0 for background and sky, else 1 + index into `kinds`.
        kinds: name of each instance, visible or not.
        sky: (H, W) bool; True where the sky is visible, known to be infinitely far.
    """

    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]
    instance: NDArray[np.int32]
    kinds: tuple[str, ...]
    sky: BoolArray

    @property
    def camera(self) -> Camera:
        """Camera of the picture."""
        if self.depth.camera is None:
            raise ValueError("a rendered frame always has a camera")
        return self.depth.camera

    @property
    def disparity(self) -> FloatArray:
        """(H, W) float32 inverse depth, [1/m]; 0 in the sky and where depth is invalid."""
        safe = np.where(self.depth.valid, self.depth.values, np.float32(1))
        return np.where(self.depth.valid, 1 / safe, np.float32(0)).astype(np.float32)


def render(
    world: SceneWorld,
    camera: Camera,
    pose: NDArray[np.float64],
    *,
    supersample: int = 2,
    shadows: bool = True,
    textures: PhotoTextures | None = None,
    exposure: float | None = None,
) -> RenderedFrame:
    """Render one picture.

    Args:
        world: geometry, materials, light and sky.
        camera: intrinsics and picture size.
        pose: (4, 4) camera to world, translation in [m].
        supersample: samples per pixel side for anti-aliasing of colors. Depth and instances are never
            averaged: a mean of foreground and background lies on neither.
        shadows: cast shadows from the sun or the first lamp.
        textures: pictures for materials with the pattern `photo`; None replaces the pattern.
        exposure: factor on linear light before 8-bit quantization; None chooses it automatically.
    """
    if supersample < 1:
        raise InputError(f"supersample must be at least 1, got {supersample}")
    to_camera = pose[:3, :3].T
    points = turned(world.vertices, to_camera, -to_camera @ pose[:3, 3])
    nearness, face = nearest_faces(points, world.faces, camera, near=NEAR_PLANE)
    filled = face >= 0
    depth = np.zeros(face.shape, np.float32)
    np.divide(1.0, nearness, out=depth, where=filled, casting="same_kind")
    coarse_face, places, distance = _visible_points(face, nearness, camera, pose)
    scene = RenderScene(
        pack_mesh(world, points, len(textures) if textures else 0),
        pack_lights(world.light),
        _shadow_maps(world, places, distance) if shadows else no_shadows(),
        ambient_occlusion(nearness, face, points, world.faces, camera),
        pack_sky(world.sky, world.light),
        textures.sheets if textures else empty_photo_atlas(),
        empty_environment_cube(),
    )
    scene = scene._replace(
        reflections=environment_cube(world, scene, coarse_face, places, pose[:3, 3])
    )
    light = np.empty((*face.shape, 3), np.float32)
    seen, glass = _sample_faces(world, points, camera, supersample, scene.mesh.table[:, CLEAR] > 0)
    shade_pixels(seen, glass, pack_camera(camera, pose[:3, :3]), scene, light)
    return RenderedFrame(
        tone_map(light, exposure),
        DepthMap(depth, Kind.METRIC_DEPTH, filled, camera, source="sightline.scenes"),
        pose,
        np.where(filled, world.instance[face], np.int32(0)),
        world.kinds,
        ~filled & (world.sky is not None),
    )


def _visible_points(
    face: NDArray[np.int32],
    nearness: NDArray[np.float64],
    camera: Camera,
    pose: NDArray[np.float64],
) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
    """Back-project every third pixel that sees something.

    Returns:
        (N,) face, (N, 3) point in the world, [m], and (N,) depth, [m].
    """
    rows, columns = np.nonzero(face[1::3, 1::3] >= 0)
    rows, columns = 3 * rows + 1, 3 * columns + 1
    z = 1 / nearness[rows, columns]
    pixels = np.stack([columns * z, rows * z, z], -1)
    to_world = pose[:3, :3] @ np.linalg.inv(camera.K)
    return face[rows, columns], turned(pixels, to_world, pose[:3, 3]), z


def _sample_faces(
    world: SceneWorld,
    points: NDArray[np.float64],
    camera: Camera,
    supersample: int,
    clear: BoolArray,
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the opaque face seen at each of supersample² samples per pixel, and glass before it."""
    fine = camera.resized(camera.width * supersample, camera.height * supersample)
    see_through = clear[world.material]
    if not see_through.any():
        return nearest_faces(points, world.faces, fine, near=NEAR_PLANE)[1], np.zeros(
            (0, 0), np.int32
        )
    opaque, panes = (np.flatnonzero(x).astype(np.int32) for x in (~see_through, see_through))
    nearness, seen = nearest_faces(points, world.faces[opaque], fine, near=NEAR_PLANE)
    _, glass = nearest_faces(points, world.faces[panes], fine, near=NEAR_PLANE, behind=nearness)
    return (
        np.where(seen >= 0, np.append(opaque, -1)[seen], -1).astype(np.int32),
        np.where(glass >= 0, np.append(panes, -1)[glass], -1).astype(np.int32),
    )


def _shadow_maps(
    world: SceneWorld, places: NDArray[np.float64], distance: NDArray[np.float64]
) -> ShadowMaps:
    """Render shadow maps of the sun, else of the first lamp; glass and glowing faces cast no shadow."""
    light = world.light
    if light.to_sun is None and len(light.lamps) == 0:
        return no_shadows()
    stops = np.array([m.clear < 0.3 and m.glow <= 0 for m in world.materials])
    casters = world.faces[stops[world.material]]
    if light.to_sun is not None:
        return sun_shadows(world.vertices, casters, light.to_sun, places, distance)
    return lamp_shadows(world.vertices, casters, light.lamps[0], places)
