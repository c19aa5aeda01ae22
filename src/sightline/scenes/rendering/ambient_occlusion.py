"""Compute screen-space ambient occlusion from a depth map.

Normal-oriented form (after Mittring, "Finding next gen", 2007): of a few samples around each pixel,
those that rise above the pixel's surface within reach hide part of the ambient light. It is computed at
every other pixel, since it varies slowly; the sample pattern rotates in 3 × 3 blocks, and a mean over
3 × 3 pixels of about the same depth removes the pattern and fills in the rest without crossing edges.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.types import Camera, FloatArray

#: Radius of occlusion: at most this in [m], and at most this share of the depth.
OCCLUSION_REACH = 0.7
OCCLUSION_REACH_SHARE = 0.25

#: Samples around each pixel, on a spiral with steps of the golden angle.
TAPS = 8
_SPIRAL = np.stack(
    [
        np.sqrt((np.arange(TAPS) + 0.7) / TAPS) * np.cos(2.399963 * np.arange(TAPS)),
        np.sqrt((np.arange(TAPS) + 0.7) / TAPS) * np.sin(2.399963 * np.arange(TAPS)),
    ],
    -1,
)
_ANGLES = 2 * np.pi / 9 * np.array([0, 5, 2, 7, 3, 8, 4, 1, 6])
_TURNS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], -1)


def ambient_occlusion(
    nearness: NDArray[np.float64],
    face: NDArray[np.int32],
    points: NDArray[np.float64],
    faces: NDArray[np.int32],
    camera: Camera,
) -> FloatArray:
    """Return the share of ambient light that reaches each pixel.

    Args:
        nearness: (H, W) inverse depth, [1/m], 0 where nothing is seen.
        face: (H, W) visible face, −1 where nothing is seen.
        points: (V, 3) vertices in the camera frame, [m].
        faces: (F, 3).
        camera: camera of the picture.

    Returns:
        (H, W) float32, 0 to 1; 1 where nothing is seen.
    """
    rows, columns = (nearness.shape[0] + 1) // 2, (nearness.shape[1] + 1) // 2
    sparse = np.ones((rows, columns), np.float32)
    lens = (camera.K[0, 0], camera.K[1, 1], camera.K[0, 2], camera.K[1, 2])
    _occlude(nearness, face, points, faces, lens, sparse)
    dense = np.ones(nearness.shape, np.float32)
    _spread(nearness, sparse, dense)
    return dense


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _occlude(nearness: Any, face: Any, points: Any, faces: Any, lens: Any, sparse: Any) -> None:
    """Compute occlusion at every other pixel of every other row."""
    height, width = nearness.shape
    fx, fy, cx, cy = lens
    last, nx, ny, nz = -1, 0.0, 0.0, 0.0
    for row in range(0, height, 2):
        for column in range(0, width, 2):
            f = face[row, column]
            if f < 0:
                continue
            if f != last:
                nx, ny, nz = _normal(points, faces, f)
                last = f
            z = 1.0 / nearness[row, column]
            x, y = (column - cx) / fx * z, (row - cy) / fy * z
            side = -1.0 if nx * x + ny * y + nz * z > 0 else 1.0  # turn the normal to the camera
            reach = min(OCCLUSION_REACH, OCCLUSION_REACH_SHARE * z)
            radius = min(max(reach * fx / z, 2.5), 0.2 * width)
            turn = 3 * ((row >> 1) % 3) + (column >> 1) % 3
            cos, sin = radius * _TURNS[turn, 0], radius * _TURNS[turn, 1]
            hidden = 0.0
            for tap in range(TAPS):
                i = int(column + 0.5 + cos * _SPIRAL[tap, 0] - sin * _SPIRAL[tap, 1])
                j = int(row + 0.5 + sin * _SPIRAL[tap, 0] + cos * _SPIRAL[tap, 1])
                if i < 0 or j < 0 or i >= width or j >= height or nearness[j, i] == 0.0:
                    continue
                other = 1.0 / nearness[j, i]
                dx, dy, dz = (i - cx) / fx * other - x, (j - cy) / fy * other - y, other - z
                square = dx * dx + dy * dy + dz * dz
                near = 1.0 - square / (2.0 * reach * reach)
                if near > 0.0:
                    # Sine of the elevation above the surface, with a bias against self-occlusion.
                    rise = side * (dx * nx + dy * ny + dz * nz) / np.sqrt(square + 1e-12)
                    hidden += max(rise - 0.08, 0.0) * near
            sparse[row >> 1, column >> 1] = max(1.0 - 2.4 * hidden / TAPS, 0.12)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _normal(points: Any, faces: Any, f: int) -> Any:
    """Return the unit normal of a face, on either side."""
    i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    ux, uy, uz = points[j, 0] - x, points[j, 1] - y, points[j, 2] - z
    vx, vy, vz = points[k, 0] - x, points[k, 1] - y, points[k, 2] - z
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = max(np.sqrt(x * x + y * y + z * z), 1e-30)
    return x / length, y / length, z / length


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _spread(nearness: Any, sparse: Any, dense: Any) -> None:
    """Upsample: average the 3 × 3 neighbors whose depth is within 10 % of the pixel's."""
    rows, columns = sparse.shape
    for row in range(dense.shape[0]):
        for column in range(dense.shape[1]):
            own = nearness[row, column]
            if own == 0.0:
                continue
            total, count, slack = 0.0, 0, 0.1 * own
            for j in range(max((row >> 1) - 1, 0), min((row >> 1) + 2, rows)):
                for i in range(max((column >> 1) - 1, 0), min((column >> 1) + 2, columns)):
                    if abs(nearness[2 * j, 2 * i] - own) < slack:
                        total += sparse[j, i]
                        count += 1
            if count:
                dense[row, column] = total / count
