"""What mirrors and water reflect: the surroundings, drawn small on the sides of a cube around them.

One cube for all mirrors seen, from the middle of them (environment mapping, Blinn and Newell 1976):
things far from the mirror are in the right place, near ones are shifted. The depth of a mirror is that
of its own surface in any case.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.rasterise import nearest_faces, turned
from sightline.scenes.shade import shade
from sightline.scenes.shadows import CUBE, cube_sides
from sightline.scenes.tables import MIRROR, Scene, eye
from sightline.scenes.world import World
from sightline.types import Camera, FloatArray

#: Texels across a side of the cube, for mirrors that fill much of the picture and for small ones.
TEXELS = (64, 32)

#: What much of the picture is, as a share; and below which mirrors reflect the sky alone.
MUCH = 0.04
LEAST = 0.004


def no_reflections() -> FloatArray:
    """Let mirrors reflect the sky alone."""
    return np.zeros((0, 0, 0, 3), np.float32)


def reflections(
    world: World,
    scene: Scene,
    face: NDArray[np.int32],
    places: NDArray[np.float64],
    camera_at: NDArray[np.float64],
) -> FloatArray:
    """Draw the surroundings of the mirrors seen.

    Args:
        world: what there is to reflect; other mirrors are left out.
        scene: the same for the kernels.
        face: (N,) faces seen in some of the pixels, −1 for none.
        places: (N, 3) where, in the world, [m].
        camera_at: (3,) place of the camera, [m].

    Returns:
        (6, R, R, 3) linear colours, −1 on sides that no mirror shows; (0, 0, 0, 3) without mirrors.
    """
    shiny = scene.surfaces.table[:, MIRROR] > 0.1
    on_mirror = (face >= 0) & shiny[world.material[face]]
    share = float(on_mirror.mean()) if shiny.any() and len(face) else 0.0
    if share < LEAST:
        return no_reflections()
    texels = TEXELS[0] if share > MUCH else TEXELS[1]
    normals = _normals(world, face[on_mirror])
    away = places[on_mirror] - camera_at
    away /= np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-9)
    towards = away - 2 * (away * normals).sum(1, keepdims=True) * normals
    middle = np.median(places[on_mirror], axis=0) + 0.05 * np.median(towards, axis=0)
    others = np.flatnonzero(~shiny[world.material]).astype(np.int32)
    cube = np.full((6, texels, texels, 3), -1, np.float32)
    camera = Camera.from_focal(texels / 2 - 1, texels, texels)
    for side in cube_sides(towards):
        points = turned(world.vertices, CUBE[side], -CUBE[side] @ middle)
        _, seen = nearest_faces(points, world.faces[others], camera, near=0.05)
        numbers = np.where(seen >= 0, np.append(others, -1)[seen], -1).astype(np.int32)
        around = scene._replace(
            surfaces=scene.surfaces._replace(points=points),
            occlusion=np.zeros((0, 0), np.float32),
            reflections=no_reflections(),
        )
        shade(numbers, np.zeros((0, 0), np.int32), eye(camera, CUBE[side].T), around, cube[side])
    return cube


def _normals(world: World, face: NDArray[np.int32]) -> NDArray[np.float64]:
    """(N, 3) unit normals of faces, either way."""
    a, b, c = (world.vertices[world.faces[face, corner]] for corner in range(3))
    normal = np.cross(b - a, c - a)
    return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30))
