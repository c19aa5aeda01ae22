"""Where in a finished world somebody could stand in sight, and putting them there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sightline.rasterise import nearest_faces
from sightline.scenes.camera import place
from sightline.scenes.world import View, World
from sightline.types import BoolArray, Camera

#: Size of the picture in which places are looked for, [px].
_WIDTH, _HEIGHT = 128, 96
#: How near and how far from the camera somebody may stand, along the ground, [m].
NEAREST, FARTHEST = 1.0, 40.0
#: Steepest ground that people stand on: metres of height over metres of way.
_STEEP = 0.3


def standing_places(world: World, view: View) -> NDArray[np.float64]:
    """Return (N, 3) points of the ground that the camera sees, [m] in the world; there may be none."""
    camera, pose = place(view, _WIDTH, _HEIGHT)
    points = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(points, world.faces, camera, near=0.05)
    seen = face >= 0
    depth = np.zeros(face.shape, np.float32)
    np.divide(1.0, nearness, out=depth, where=seen, casting="same_kind")
    found = in_world(depth, camera, pose)
    ground = level(found) & seen & (np.where(seen, world.instance[face], 1) == 0)
    away = np.linalg.norm((found - pose[:3, 3])[..., [0, 2]], axis=-1)
    return np.asarray(found[ground & (away > NEAREST) & (away < FARTHEST)])


def in_world(
    depth: NDArray[np.float32], camera: Camera, pose: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(H, W) depth along the axis → (H, W, 3) points, [m] in the world."""
    rows, columns = np.indices(depth.shape)
    rays = np.stack([columns, rows, np.ones_like(rows)], -1) @ np.linalg.inv(camera.K).T
    return np.asarray((rays * depth[..., None]) @ pose[:3, :3].T + pose[:3, 3])


def level(points: NDArray[np.float64]) -> BoolArray:
    """(H, W, 3) points → (H, W) where the surface is about horizontal; up is -y."""
    along_x, along_y = np.gradient(points, axis=1), np.gradient(points, axis=0)
    normal = np.cross(along_x, along_y)
    length = np.linalg.norm(normal, axis=-1)
    upright = np.abs(normal[..., 1]) > length / np.hypot(1, _STEEP)
    return np.asarray(upright & (length > 0))


def merged(world: World, more: World) -> World:
    """Put the things of another world into a world, whose light and sky stay."""
    known = np.where(more.instance > 0, more.instance + len(world.kinds), 0)
    return replace(
        world,
        vertices=np.concatenate([world.vertices, more.vertices]),
        faces=np.concatenate([world.faces, more.faces + len(world.vertices)]).astype(np.int32),
        normals=np.concatenate([world.normals, more.normals]),
        uv=np.concatenate([world.uv, more.uv]),
        material=np.concatenate(
            [world.material, more.material + len(world.materials)], dtype=np.int32
        ),
        instance=np.concatenate([world.instance, known], dtype=np.int32),
        materials=world.materials + more.materials,
        kinds=world.kinds + more.kinds,
    )
