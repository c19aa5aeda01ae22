"""Stones and boulders: balls of triangles pushed in and out by smooth noise."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts.loft import vertex_normals
from sightline.scenes.parts.many import Floats
from sightline.scenes.shapes import Shape

#: Different stones there are; size, proportions and direction vary on top.
VARIANTS = 10


@cache
def rock(variant: int, fine: int = 2) -> Shape:
    """Give a stone of about 1 m radius around the origin; 20·4^fine triangles."""
    rng = np.random.default_rng([73, variant % VARIANTS])
    points, faces = _icosphere(fine)
    waves = rng.normal(size=(7, 3)) * np.geomspace(0.9, 5.0, 7)[:, None]
    phase = rng.uniform(0, 2 * np.pi, 7)
    heights = (np.sin(points @ waves.T + phase) * np.geomspace(0.16, 0.03, 7)).sum(1)
    # A few flat cuts make it broken stone rather than dough.
    radius = 1.0 + heights
    for _ in range(rng.integers(2, 7)):
        cut = rng.normal(size=3)
        cut /= np.linalg.norm(cut)
        reach = points @ cut
        radius = np.where(reach > 0.2, np.minimum(radius, rng.uniform(0.65, 0.95) / reach), radius)
    vertices = points * radius[:, None]
    return Shape(
        vertices,
        faces,
        vertex_normals(vertices, faces),
        np.stack([vertices @ [1, 0, 0.7], vertices @ [0, 1, 0.7]], -1),
    )


@cache
def _icosphere(fine: int) -> tuple[Floats, NDArray[np.int32]]:
    """Make the unit ball of 20·4^fine triangles."""
    t = (1 + 5**0.5) / 2
    points = np.array([
        [-1, t, 0], [1, t, 0], [-1, -t, 0], [1, -t, 0], [0, -1, t], [0, 1, t],
        [0, -1, -t], [0, 1, -t], [t, 0, -1], [t, 0, 1], [-t, 0, -1], [-t, 0, 1],
    ], np.float64)  # fmt: skip
    faces = np.array([
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4],
        [11, 10, 2], [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8],
        [3, 8, 9], [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ], np.int64)  # fmt: skip
    for _ in range(fine):
        edges = np.sort(
            np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1
        )
        unique, number = np.unique(edges, axis=0, return_inverse=True)
        middle = number.reshape(3, -1).T + len(points)
        points = np.concatenate([points, points[unique].mean(1)])
        (a, b, c), (ab, bc, ca) = faces.T, middle.T
        faces = np.concatenate(
            [np.stack(f, -1) for f in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
        )
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, faces.astype(np.int32)
