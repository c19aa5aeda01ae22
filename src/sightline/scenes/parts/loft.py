"""Skins over cross-sections: car bodies, hulls, roofs; smooth unless an edge is asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts.many import Floats, unit_rows
from sightline.scenes.shapes import Shape


def skin(grid: Floats) -> Shape:
    """Stretch a smooth surface over a grid of points (S, P, 3): S cross-sections of P points."""
    rows, columns = grid.shape[:2]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.stack(
        [np.stack([a, a + 1, a + columns], -1), np.stack([a + 1, a + columns + 1, a + columns], -1)]
    )
    points = grid.reshape(-1, 3).astype(np.float64)
    triangles = faces.reshape(-1, 3).astype(np.int32)
    u = _lengths(grid.mean(1))
    v = _lengths(grid[rows // 2])
    uv = np.stack(np.broadcast_arrays(u[:, None], v), -1)
    return Shape(
        points,
        triangles,
        vertex_normals(points, triangles),
        uv.reshape(-1, 2).astype(np.float64),
    )


def vertex_normals(points: Floats, faces: NDArray[np.int32]) -> Floats:
    """(V, 3) mean of the normals of the faces around each vertex, by area; up where there is none."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    flat = np.cross(b - a, c - a)
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, faces[:, k], flat)
    return unit_rows(normals)


def _lengths(line: Floats) -> Floats:
    """Way along (P, 3) points up to each of them, [m]."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def polygon(outline: Floats) -> Shape:
    """Make a flat convex sheet of (P, 3) corners in order."""
    count = len(outline)
    normal = np.cross(outline[1] - outline[0], outline[count // 2 + 1] - outline[0])
    normal = normal / np.linalg.norm(normal)
    u = outline[1] - outline[0]
    u = u / np.linalg.norm(u)
    v = np.cross(normal, u)
    k = np.arange(1, count - 1)
    relative = outline - outline[0]
    return Shape(
        np.asarray(outline, np.float64),
        np.stack([0 * k, k, k + 1], -1).astype(np.int32),
        np.repeat(normal[None], count, 0),
        np.stack([relative @ u, relative @ v], -1),
    )
