"""What every piece of geometry is: `Shape`, triangles with normals and texture coordinates.

Up is −y; lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: (3,) or (N, 2 or 3) numbers, as nested lists or an array.
Vector = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Triangles.

    Attributes:
        vertices: (V, 3) float64, [m].
        faces: (F, 3) int32.
        normals: (V, 3) float64, unit length; which of the two sides does not matter.
        uv: (V, 2) float64 along the surface, [m].
    """

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    normals: NDArray[np.float64]
    uv: NDArray[np.float64]

    def moved(
        self,
        to: Vector = (0.0, 0.0, 0.0),
        *,
        yaw: float = 0.0,
        pitch: float = 0.0,
        roll: float = 0.0,
        scale: float | Vector = 1.0,
    ) -> Shape:
        """Scale, turn about the origin (roll about z, pitch about x, yaw about y), then shift.

        A positive yaw turns +z towards +x; a positive pitch turns +z upwards (towards −y).
        """
        vertices, normals, uv = self.vertices, self.normals, self.uv
        if not isinstance(scale, float) or scale != 1.0:
            factors = np.broadcast_to(np.asarray(scale, np.float64), (3,))
            vertices, normals = vertices * factors, normals / factors
            normals = normals / np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
            uv = uv * float(np.cbrt(np.abs(factors).prod()))
        if yaw or pitch or roll:
            turn = rotation(yaw, pitch, roll).T
            vertices, normals = vertices @ turn, normals @ turn
        return Shape(vertices + np.asarray(to, np.float64), self.faces, normals, uv)


def rotation(yaw: float, pitch: float = 0.0, roll: float = 0.0) -> NDArray[np.float64]:
    """(3, 3) rotation: roll about z, then pitch about x, then yaw about y."""
    angles = [math.radians(angle) for angle in (yaw, pitch, roll)]
    (cy, cp, cr), (sy, sp, sr) = ([f(angle) for angle in angles] for f in (math.cos, math.sin))
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)


def merge(shapes: Sequence[Shape]) -> Shape:
    """Put shapes side by side into one."""
    starts = np.cumsum([0] + [len(s.vertices) for s in shapes[:-1]])
    return Shape(
        np.concatenate([s.vertices for s in shapes]),
        np.concatenate([s.faces + k for s, k in zip(shapes, starts, strict=True)]).astype(np.int32),
        np.concatenate([s.normals for s in shapes]),
        np.concatenate([s.uv for s in shapes]),
    )


def lengths(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 1) lengths of (N, 3) vectors."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None])


def cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """(N, 3) cross products; several times as fast as numpy's on a handful of rows."""
    after, before = [1, 2, 0], [2, 0, 1]
    return np.asarray(a[:, after] * b[:, before] - a[:, before] * b[:, after])
