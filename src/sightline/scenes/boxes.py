"""Flat-sided geometry: parallelograms and boxes, one or many at once.

Up is −y; lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.shape import Shape, Vector, cross, merge


def quad(origin: Vector, along_u: Vector, along_v: Vector) -> Shape:
    """Make a parallelogram from a corner and two sides, each (3,)."""
    start, u, v = (np.asarray(x, np.float64) for x in (origin, along_u, along_v))
    normal = cross(u[None], v[None])
    long, high, area = (math.sqrt(float(a @ a)) for a in (u, v, normal[0]))
    return Shape(
        np.stack([start, start + u, start + u + v, start + v]),
        np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        np.repeat(normal / area, 4, 0),
        np.array([[0.0, 0.0], [long, 0.0], [long, high], [0.0, high]]),
    )


def box(centre: Vector, size: Vector, *, yaw: float = 0.0) -> Shape:
    """Make a box around `centre`; `size` (x, y, z). On upright sides u runs level: bricks lie level."""
    return boxes(np.asarray(centre)[None], size, yaw=yaw)


def boxes(centres: Vector, sizes: Vector, *, yaw: float | Vector = 0.0) -> Shape:
    """Make many boxes as one shape: slats, books, bars, windows.

    Args:
        centres: (N, 3).
        sizes: (3,) for all or (N, 3), in (x, y, z) of each box.
        yaw: one for all or (N,).
    """
    corners, facing, uv = _cube()
    middle = np.asarray(centres, np.float64)
    size = np.broadcast_to(np.asarray(sizes, np.float64), middle.shape)
    count = len(middle)
    vertices = corners * size[:, None]
    normals = np.broadcast_to(facing, vertices.shape)
    angle = np.broadcast_to(np.radians(yaw), (count,))
    if angle.any():
        turns = np.zeros((count, 3, 3))
        turns[:, 0, 0] = turns[:, 2, 2] = np.cos(angle)
        turns[:, 2, 0] = np.sin(angle)
        turns[:, 0, 2] = -turns[:, 2, 0]
        turns[:, 1, 1] = 1.0
        vertices, normals = vertices @ turns, normals @ turns
    vertices = vertices + middle[:, None]
    start = 24 * np.arange(count, dtype=np.int32)[:, None]
    first = 4 * np.arange(6, dtype=np.int32)[:, None, None]
    corner = (first + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(12, 3)
    return Shape(
        vertices.reshape(-1, 3),
        (start[:, :, None] + corner).reshape(-1, 3).astype(np.int32),
        normals.reshape(-1, 3).copy(),
        np.einsum("kcx,nx->nkc", uv, size).reshape(-1, 2),
    )


@cache
def _cube() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Corners (24, 3) and normals (24, 3) of the unit cube; uv (24, 2, 3) as a function of its size."""
    axes, sheets, lengths = np.eye(3), [], []
    for axis in range(3):
        # u runs level on the upright sides.
        across, along = ((axis + 2) % 3, (axis + 1) % 3)[:: 1 if axis == 0 else -1]
        for sign in (-0.5, 0.5):
            corner = sign * axes[axis] - (axes[across] + axes[along]) / 2
            sheets.append(quad(corner, axes[across], axes[along]))
            lengths.append(
                np.stack(
                    [
                        [0 * axes[0]] * 2,
                        [axes[across], 0 * axes[0]],
                        [axes[across], axes[along]],
                        [0 * axes[0], axes[along]],
                    ]
                )
            )
    cube = merge(sheets)
    return cube.vertices, cube.normals, np.concatenate(lengths)
