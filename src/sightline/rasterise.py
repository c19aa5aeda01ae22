"""Triangles to pixels: a z-buffer that gives depth, face and barycentric coordinates per pixel.

* Coverage and depth are exact in the sense of `sightline.scan`, which holds the kernel: no cracks
  between faces, no pixel twice, faces across the near plane clipped.
* One thread, faces in order, the lower face number wins a tie: the same bytes whatever the machine.
  The interpreter's lock is released, so pictures can be rendered in threads side by side.

Shading is deferred: `interpolate` turns face and barycentrics into any vertex attribute per pixel.

numba is imported here at the top; import this module where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.scan import GUARD, Buffers, Lens, fill
from sightline.types import BoolArray, Camera, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """What is seen in every pixel.

    Attributes:
        depth: (H, W) float32 distance along the optical axis in the vertices' unit; 0 if empty.
        face: (H, W) int32 index of the face seen; −1 if empty.
        barycentric: (H, W, 3) float32 weights of the face's corners, perspective-correct, adding up
            to 1; 0 if empty.
    """

    depth: FloatArray
    face: NDArray[np.int32]
    barycentric: FloatArray

    @property
    def filled(self) -> BoolArray:
        """(H, W) bool; True where a face is seen."""
        seen: BoolArray = self.face >= 0
        return seen


def rasterise(
    vertices: NDArray[Any],
    faces: NDArray[Any],
    camera: Camera,
    *,
    near: float = 1e-3,
    cull: bool = False,
) -> Raster:
    """Render triangles with a z-buffer.

    Args:
        vertices: (V, 3) in the camera frame: x right, y down, z forward.
        faces: (F, 3) indices of vertices; both sides are seen unless `cull`.
        camera: its matrix and picture size; a pixel is sampled at its centre (whole coordinates).
        near: nothing nearer than this along the optical axis is seen; in the unit of the vertices.
        cull: leave out faces whose corners run clockwise as seen from the camera.

    Returns:
        Depth, face and barycentrics, each (H, W, …).
    """
    points, triangles = _checked(vertices, faces, camera, near)
    size = (camera.height, camera.width)
    buffers = Buffers(np.zeros(size), np.full(size, -1, np.int32), np.zeros((*size, 3), np.float32))
    lens = Lens(np.ascontiguousarray(camera.K), np.linalg.inv(camera.K), near, cull)
    fill(points, triangles, lens, buffers)
    depth = np.zeros(size, np.float32)
    _normalise(buffers, depth)
    return Raster(depth, buffers.face, buffers.weights)


def nearest_faces(
    vertices: NDArray[Any],
    faces: NDArray[Any],
    camera: Camera,
    *,
    near: float = 1e-3,
    behind: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Render triangles with a z-buffer, without barycentrics: half the work where those are not needed.

    Args:
        vertices: (V, 3) in the camera frame.
        faces: (F, 3) indices of vertices; both sides are seen.
        camera: its matrix and picture size.
        near: nothing nearer than this along the optical axis is seen.
        behind: (H, W) one over depth of what is there already: only what lies before it is seen.

    Returns:
        (H, W) one over depth, 0 where nothing is; and (H, W) the face seen, −1 if none.
    """
    points, triangles = _checked(vertices, faces, camera, near)
    size = (camera.height, camera.width)
    nearness = np.zeros(size) if behind is None else np.array(behind, np.float64)
    buffers = Buffers(nearness, np.full(size, -1, np.int32), np.zeros((0, 0, 3), np.float32))
    lens = Lens(np.ascontiguousarray(camera.K), np.linalg.inv(camera.K), near, False)
    fill(points, triangles, lens, buffers)
    return buffers.nearness, buffers.face


def _checked(
    vertices: NDArray[Any], faces: NDArray[Any], camera: Camera, near: float
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Vertices and faces in the kernels' types, or the caller's mistake in one line."""
    points = np.ascontiguousarray(vertices, dtype=np.float64)
    triangles = np.ascontiguousarray(faces, dtype=np.int32)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise InputError(f"vertices must be V×3 and finite, got shape {points.shape}")
    if triangles.ndim != 2 or triangles.shape[1] != 3:
        raise InputError(f"faces must be F×3, got shape {triangles.shape}")
    if triangles.size and not (triangles.min() >= 0 and triangles.max() < len(points)):
        raise InputError(f"faces name vertices outside 0–{len(points) - 1}")
    if not near > 0:
        raise InputError(f"the near plane must lie in front of the camera, got {near:g}")
    if max(camera.width, camera.height) > GUARD / 2:
        raise InputError(f"picture of {camera.width}×{camera.height} is too large to rasterise")
    return points, triangles


def turned(
    points: NDArray[np.float64],
    matrix: NDArray[np.float64],
    shift: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """Apply a (3, 3) matrix, then a (3,) shift, to (N, 3) points.

    Not by matrix product: how a linear-algebra library rounds may depend on its number of threads.
    """
    result = np.empty((len(points), 3))
    offset = np.zeros(3) if shift is None else np.asarray(shift, np.float64)
    _turn(np.ascontiguousarray(points, np.float64), np.ascontiguousarray(matrix), offset, result)
    return result


def interpolate(raster: Raster, faces: NDArray[Any], attribute: NDArray[Any]) -> FloatArray:
    """Spread a vertex attribute over the pixels.

    Args:
        raster: what is seen.
        faces: (F, 3), as given to `rasterise`.
        attribute: (V, C) value per vertex, such as texture coordinates or world positions.

    Returns:
        (H, W, C) float32; 0 where empty.
    """
    result = np.zeros((*raster.face.shape, attribute.shape[1]), np.float32)
    _gather(
        raster.face,
        raster.barycentric,
        np.ascontiguousarray(faces, dtype=np.int32),
        np.ascontiguousarray(attribute, dtype=np.float64),
        result,
    )
    return result


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _turn(points: Any, matrix: Any, shift: Any, result: Any) -> None:
    for n in range(len(points)):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        for k in range(3):
            result[n, k] = matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z + shift[k]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _normalise(buffers: Buffers, depth: Any) -> None:
    """Turn 1/z into z, and weights over depth into barycentrics, where something is seen."""
    nearness, _, weights = buffers
    height, width = nearness.shape
    for row in range(height):
        for column in range(width):
            if nearness[row, column] > 0:
                depth[row, column] = 1.0 / nearness[row, column]
                total = 0.0
                for n in range(3):
                    total += weights[row, column, n]
                for n in range(3):
                    share = weights[row, column, n] / total if total > 0 else 1.0 / 3.0
                    weights[row, column, n] = share


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gather(ids: Any, barycentric: Any, faces: Any, attribute: Any, result: Any) -> None:
    """Weighted sum of the corners' attributes per pixel."""
    height, width = ids.shape
    for row in range(height):
        for column in range(width):
            f = ids[row, column]
            if f < 0:
                continue
            for k in range(attribute.shape[1]):
                total = 0.0
                for c in range(3):
                    total += barycentric[row, column, c] * attribute[faces[f, c], k]
                result[row, column, k] = total
