"""Meshes to build scenes from: boxes, columns, quadrilaterals, each with texture coordinates.

World frame as the camera's: x right, y down, z forward, in [m]; so "up" is −y and the floor is y = 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = Sequence[float] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Triangles with texture coordinates and a material each.

    Attributes:
        vertices: (V, 3) float64 in [m]; corners are not shared between faces that differ in normal.
        faces: (F, 3) int32.
        uv: (V, 2) float64 texture coordinates in [m] on the surface, so bricks keep their size.
        material: (F,) int32 number of the material.
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    uv: NDArray[np.float64]
    material: NDArray[np.int32]

    def normals(self) -> NDArray[np.float64]:
        """(F, 3) unit normals by the right-hand rule; shading turns them to the camera."""
        a, b, c = (self.vertices[self.faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def quad(origin: Vector, along_u: Vector, along_v: Vector, material: int) -> Mesh:
    """Make a parallelogram from a corner and two sides, each (3,) in [m]."""
    start, u, v = (np.asarray(x, np.float64) for x in (origin, along_u, along_v))
    vertices = np.stack([start, start + u, start + u + v, start + v])
    long, high = float(np.linalg.norm(u)), float(np.linalg.norm(v))
    uv = np.array([[0.0, 0.0], [long, 0.0], [long, high], [0.0, high]])
    faces = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    return Mesh(vertices, faces, uv, np.full(2, material, np.int32))


def box(centre: Vector, size: Vector, material: int, *, yaw: float = 0.0) -> Mesh:
    """Make a box; `size` (x, y, z) in [m], `yaw` about the vertical in [degrees]."""
    turn = np.radians(yaw)
    axes = np.array(
        [[np.cos(turn), 0.0, np.sin(turn)], [0.0, 1.0, 0.0], [-np.sin(turn), 0.0, np.cos(turn)]]
    )
    sides = axes * np.asarray(size, np.float64)[:, None]
    middle = np.asarray(centre, np.float64)
    sheets = []
    for axis in range(3):
        # u runs level on the upright sides, so that courses of bricks lie level.
        u, v = sides[(axis + 1) % 3], sides[(axis + 2) % 3]
        if axis == 0:
            u, v = v, u
        for sign in (-0.5, 0.5):
            sheets.append(quad(middle + sign * sides[axis] - (u + v) / 2, u, v, material))
    return merge(sheets)


def column(foot: Vector, radius: float, height: float, material: int, *, sectors: int = 48) -> Mesh:
    """Make a round column standing on `foot` (3,), all in [m]; open at both ends."""
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    ring = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], -1) * radius
    base = np.asarray(foot, np.float64) + ring
    vertices = np.concatenate([base, base - [0.0, height, 0.0]])
    around = angle * radius
    uv = np.concatenate(
        [np.stack([around, 0 * around], -1), np.stack([around, 0 * around + height], -1)]
    )
    a = np.arange(sectors, dtype=np.int32)
    b, c, d = a + 1, a + sectors + 1, a + sectors + 2
    faces = np.concatenate([np.stack([a, b, c], -1), np.stack([b, d, c], -1)])
    return Mesh(vertices, faces, uv, np.full(len(faces), material, np.int32))


def merge(meshes: Sequence[Mesh]) -> Mesh:
    """Put meshes side by side into one."""
    starts = np.cumsum([0] + [len(m.vertices) for m in meshes[:-1]])
    return Mesh(
        np.concatenate([m.vertices for m in meshes]),
        np.concatenate([m.faces + start for m, start in zip(meshes, starts, strict=True)]).astype(
            np.int32
        ),
        np.concatenate([m.uv for m in meshes]),
        np.concatenate([m.material for m in meshes]),
    )
