"""Pose a camera, choose the best of several random views, and find ground that a camera sees."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.rasterize import nearest_faces
from sightline.scenes.meshes import Vector
from sightline.scenes.sampling import Random
from sightline.scenes.world import CameraView, Point, SceneWorld
from sightline.types import BoolArray, Camera


def look_at(eye: Vector, target: Vector, roll: float = 0.0) -> NDArray[np.float64]:
    """Return the pose of a camera that looks at a point.

    Args:
        eye: (3,) position of the camera, [m].
        target: (3,) point in the middle of the picture, [m].
        roll: roll about the optical axis, [degrees]; 0 is upright. Looking straight up or down, x of
            the picture is x of the world.

    Returns:
        (4, 4) camera-to-world pose.
    """
    forward = np.asarray(target, np.float64) - np.asarray(eye, np.float64)
    distance = float(np.linalg.norm(forward))
    if not distance > 0:
        raise InputError("eye and target of a camera must differ")
    forward /= distance
    right = np.cross([0.0, 1.0, 0.0], forward)
    length = float(np.linalg.norm(right))
    right = right / length if length > 1e-9 else np.array([1.0, 0.0, 0.0])
    down = np.cross(forward, right)
    turn = np.radians(roll)
    pose = np.eye(4)
    pose[:3, 0] = np.cos(turn) * right + np.sin(turn) * down
    pose[:3, 1] = np.cos(turn) * down - np.sin(turn) * right
    pose[:3, 2] = forward
    pose[:3, 3] = np.asarray(eye, np.float64)
    return pose


def place_camera(view: CameraView, width: int, height: int) -> tuple[Camera, NDArray[np.float64]]:
    """Return the camera and pose of a view for a picture size.

    `CameraView.fov` is the horizontal field of view at 4:3. Other aspect ratios keep the diagonal field
    of view, so that an upright picture is not narrower than a wide one.

    Args:
        view: position and direction of the camera.
        width: picture width, [px].
        height: picture height, [px].

    Returns:
        The camera, and its (4, 4) camera-to-world pose.
    """
    # At 4:3 the half diagonal is 5/4 of the half width.
    half_diagonal = 1.25 * math.tan(math.radians(view.fov) / 2)
    focal = math.hypot(width, height) / 2 / half_diagonal
    return Camera.from_focal(focal, width, height), look_at(view.eye, view.target, view.roll)


Floats = NDArray[np.float64]

#: Rays across and down the picture for rating a view.
RAY_COLUMNS, RAY_ROWS = 7, 5


def as_point(place: Floats) -> Point:
    """Convert (3,) to a tuple of floats."""
    return float(place[0]), float(place[1]), float(place[2])


def best_view(
    rng: Random,
    candidates: list[CameraView],
    boxes: Floats,
    *,
    room: Floats | None = None,
    near: float = 0.3,
) -> CameraView:
    """Choose the best view: not inside an object, little closer than `near`, rich in depth.

    Args:
        rng: random generator; breaks ties between similar views.
        candidates: candidates, at least one.
        boxes: (N, 2, 3) bounding boxes of the objects, [m].
        room: (2, 3) lowest and highest corner of the walls around; None outdoors.
        near: closer than this nothing should fill much of the picture, [m].
    """
    eyes = np.array([view.eye for view in candidates], np.float64)
    clear = _clearance(eyes, boxes)
    away, thing = ray_box_hits(eyes, _rays(candidates), boxes, room)
    crowded = (away < near).mean(1)
    spread = np.log(np.clip(away, 0.1, 50.0)).std(1)
    kinds = np.array([len(set(row)) for row in thing.tolist()])
    full = (thing >= 0).mean(1)
    # Reward depth range, different objects and coverage; penalize crowding and cameras inside of boxes.
    score = spread + np.minimum(kinds, 12) / 6 + np.minimum(full, 0.6) + 0.6 * rng.random(len(eyes))
    score -= (
        3.0 * np.maximum(crowded - 0.15, 0) + 100.0 * (clear < 0.08) - 5.0 * np.maximum(-clear, 0)
    )
    return candidates[int(score.argmax())]


def _clearance(eyes: Floats, boxes: Floats) -> Floats:
    """Return (K,) signed distances of the eyes to the nearest box, negative inside."""
    if not len(boxes):
        return np.full(len(eyes), np.inf)
    outside = np.maximum(boxes[None, :, 0] - eyes[:, None], eyes[:, None] - boxes[None, :, 1])
    far = np.linalg.norm(np.maximum(outside, 0), axis=-1)
    return np.asarray((far + np.minimum(outside.max(-1), 0)).min(1))


def _rays(views: list[CameraView]) -> Floats:
    """Return (K, R, 3) unit ray directions over each 4:3 picture, without roll."""
    eyes = np.array([view.eye for view in views], np.float64)
    forward = np.array([view.target for view in views], np.float64) - eyes
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    right = np.stack([forward[:, 2], 0 * forward[:, 0], -forward[:, 0]], -1)
    length = np.linalg.norm(right, axis=1, keepdims=True)
    right = np.where(length > 1e-6, right / np.maximum(length, 1e-6), [[1.0, 0.0, 0.0]])
    down = np.cross(forward, right)
    half = np.tan(np.radians([view.fov for view in views]) / 2)[:, None, None]
    u, v = np.meshgrid(np.linspace(-0.9, 0.9, RAY_COLUMNS), np.linspace(-0.68, 0.68, RAY_ROWS))
    across, along = u.reshape(1, -1, 1) * half, v.reshape(1, -1, 1) * half
    rays = forward[:, None] + across * right[:, None] + along * down[:, None]
    return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))


def ray_box_hits(
    eyes: Floats, rays: Floats, boxes: Floats, room: Floats | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Return the distance to the first box along each ray, and its index.

    Args:
        eyes: (K, 3).
        rays: (K, R, 3) unit directions.
        boxes: (N, 2, 3).
        room: (2, 3) box around everything, or None.

    Returns:
        (K, R) distance in [m], at most 100, and (K, R) number of the box, −1 for the walls or nothing.
    """
    inverse = 1.0 / np.where(np.abs(rays) < 1e-9, 1e-9, rays)
    limit = np.full(rays.shape[:2], 100.0)
    if room is not None:
        ends = (room[None, :, None] - eyes[:, None, None]) * inverse[:, None]
        limit = ends.max(1).min(-1)
    if not len(boxes):
        return limit, np.full(limit.shape, -1)
    low = (boxes[None, None, :, 0] - eyes[:, None, None]) * inverse[:, :, None]
    high = (boxes[None, None, :, 1] - eyes[:, None, None]) * inverse[:, :, None]
    # Slab method (Kay and Kajiya, 1986): a ray is inside a box between its last entry and first exit.
    enter, leave = np.minimum(low, high).max(-1), np.maximum(low, high).min(-1)
    enter = np.where((enter < leave) & (leave > 0), np.maximum(enter, 0), np.inf)
    first = enter.argmin(-1)
    away = np.take_along_axis(enter, first[..., None], -1)[..., 0]
    return np.minimum(away, limit), np.where(away < limit, first, -1)


#: Size of the picture in which places are looked for, [px].
_WIDTH, _HEIGHT = 128, 96
#: Smallest and largest distance of a person from the camera along the ground, [m].
NEAREST_PERSON, FARTHEST_PERSON = 1.0, 40.0
#: Steepest ground that people stand on: meters of height over meters of way.
_STEEP = 0.3


def find_standing_positions(world: SceneWorld, view: CameraView) -> NDArray[np.float64]:
    """Return (N, 3) points of the ground that the camera sees, [m] in the world; there may be none."""
    camera, pose = place_camera(view, _WIDTH, _HEIGHT)
    points = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(points, world.faces, camera, near=0.05)
    seen = face >= 0
    depth = np.zeros(face.shape, np.float32)
    np.divide(1.0, nearness, out=depth, where=seen, casting="same_kind")
    found = depth_to_world(depth, camera, pose)
    ground = is_horizontal(found) & seen & (np.where(seen, world.instance[face], 1) == 0)
    away = np.linalg.norm((found - pose[:3, 3])[..., [0, 2]], axis=-1)
    return np.asarray(found[ground & (away > NEAREST_PERSON) & (away < FARTHEST_PERSON)])


def depth_to_world(
    depth: NDArray[np.float32], camera: Camera, pose: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Back-project (H, W) depth to (H, W, 3) points in the world, [m]."""
    rows, columns = np.indices(depth.shape)
    rays = np.stack([columns, rows, np.ones_like(rows)], -1) @ np.linalg.inv(camera.K).T
    return np.asarray((rays * depth[..., None]) @ pose[:3, :3].T + pose[:3, 3])


def is_horizontal(points: NDArray[np.float64]) -> BoolArray:
    """Return (H, W) True where the surface of (H, W, 3) points is about horizontal."""
    along_x, along_y = np.gradient(points, axis=1), np.gradient(points, axis=0)
    normal = np.cross(along_x, along_y)
    length = np.linalg.norm(normal, axis=-1)
    upright = np.abs(normal[..., 1]) > length / np.hypot(1, _STEEP)
    return np.asarray(upright & (length > 0))


def merge_worlds(world: SceneWorld, more: SceneWorld) -> SceneWorld:
    """Add the contents of another world to a world; keep the light and sky of the first."""
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
