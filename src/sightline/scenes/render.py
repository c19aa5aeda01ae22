"""A scene and a camera to a picture with exact depth: rasterise, then shade only what is seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.meshes import Mesh
from sightline.scenes.textures import Name, texture
from sightline.types import Camera, DepthMap, FloatArray, Kind

if TYPE_CHECKING:
    from sightline.rasterise import Raster

#: Light that comes from everywhere, as a share of a lamp's at one metre.
AMBIENT = 0.32


@dataclass(frozen=True, slots=True)
class Material:
    """A texture with its own seed and colour (linear RGB, 0 to 1)."""

    texture: Name
    tint: tuple[float, float, float]
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What there is to see.

    Attributes:
        mesh: in the world frame (x right, y down, z forward), [m].
        materials: named by number in `mesh.material`.
        lamps: (L, 3) positions of the lamps in the world, [m].
        lamp_power: (L,) brightness of a white surface one metre away.
    """

    mesh: Mesh
    materials: tuple[Material, ...]
    lamps: NDArray[np.float64]
    lamp_power: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A rendered picture and the truth about it.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        depth: metres along the optical axis, exact at pixel centres; not valid where nothing is seen.
        pose: (4, 4) camera to world.
    """

    pixels: NDArray[np.uint8]
    depth: DepthMap
    pose: NDArray[np.float64]

    @property
    def camera(self) -> Camera:
        """The lens that saw it."""
        if self.depth.camera is None:
            raise ValueError("a rendered frame always has a camera")
        return self.depth.camera


def render(
    scene: Scene, camera: Camera, pose: NDArray[np.float64], *, supersample: int = 2
) -> Frame:
    """Render one picture.

    Args:
        scene: the world.
        camera: lens and picture size.
        pose: (4, 4) camera to world, rotation and translation in [m].
        supersample: colour is the mean of this many samples squared per pixel; depth is never
            averaged, since a mean of front and back lies on neither.
    """
    from sightline.rasterise import rasterise

    mesh = scene.mesh
    seen_from = (mesh.vertices - pose[:3, 3]) @ pose[:3, :3]
    exact = rasterise(seen_from, mesh.faces, camera, near=0.02)
    depth = DepthMap(
        exact.depth, Kind.METRIC_DEPTH, exact.filled, camera, source="sightline.scenes"
    )
    width, height = camera.width * supersample, camera.height * supersample
    fine = exact
    if supersample > 1:
        fine = rasterise(seen_from, mesh.faces, camera.resized(width, height), near=0.02)
    light = np.zeros((height, width, 3), np.float32)
    light[fine.filled] = _shade(scene, fine, pose[:3, 3])
    blocks = light.reshape(camera.height, supersample, camera.width, supersample, 3)
    return Frame(_to_srgb(blocks.mean((1, 3))), depth, pose)


def _shade(scene: Scene, raster: Raster, eye: NDArray[np.float64]) -> FloatArray:
    """(N, 3) linear light of the N filled pixels: albedo × (ambient + Lambert of every lamp)."""
    from sightline.rasterise import interpolate

    mesh, filled = scene.mesh, raster.filled
    attributes = np.concatenate([mesh.vertices, mesh.uv], axis=1)
    spread = interpolate(raster, mesh.faces, attributes)[filled]
    place, uv = spread[:, :3], spread[:, 3:]
    face = raster.face[filled]
    normal = mesh.normals().astype(np.float32)[face]
    away = ((eye.astype(np.float32) - place) * normal).sum(1) < 0
    normal[away] *= -1
    material = mesh.material[face]
    albedo = np.zeros_like(place)
    for number in np.unique(material):
        own, at = scene.materials[number], material == number
        albedo[at] = texture(
            own.texture, uv[at, 0], uv[at, 1], seed=own.seed, tint=np.array(own.tint, np.float32)
        )
    received = np.full(len(place), AMBIENT, np.float32)
    for lamp, power in zip(scene.lamps, scene.lamp_power, strict=True):
        to_lamp = lamp.astype(np.float32) - place
        squared = (to_lamp * to_lamp).sum(1)
        slant = np.clip((to_lamp * normal).sum(1), 0, None) / np.sqrt(squared)
        # A lamp of some size: without the 0.5 m² a wall right beside it would burn out.
        received += np.float32(power) * slant / (squared + np.float32(0.5))
    return np.asarray(albedo * received[:, None], np.float32)


def _to_srgb(linear: FloatArray) -> NDArray[np.uint8]:
    """Linear light to 8-bit sRGB, highlights rolled off rather than cut."""
    soft = linear / (1 + np.clip(linear - 0.7, 0, None))
    curve = np.where(
        soft <= 0.0031308, 12.92 * soft, 1.055 * np.power(np.maximum(soft, 1e-8), 1 / 2.4) - 0.055
    )
    return np.asarray(np.clip(curve * 255 + 0.5, 0, 255), np.uint8)
