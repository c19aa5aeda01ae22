"""Ambient occlusion from the depth of a picture: corners and places beneath things get less light.

Screen-space ambient occlusion in the "normal-oriented" form (after Mittring, "Finding next gen", 2007):
a few places around each pixel are looked at; those that rise above the pixel's surface within reach
hide part of the light from all round. The few places turn from pixel to pixel in a 4 × 4 pattern, and a
4 × 4 mean takes the pattern away.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.types import Camera, FloatArray

#: How far things reach, [m]: at most this, and no more than the share of the depth.
REACH = 0.7
REACH_SHARE = 0.25

#: Places looked at around each pixel; their angle grows by the golden angle, their distance outward.
TAPS = 8
_SPIRAL = np.stack(
    [
        np.sqrt((np.arange(TAPS) + 0.7) / TAPS) * np.cos(2.399963 * np.arange(TAPS)),
        np.sqrt((np.arange(TAPS) + 0.7) / TAPS) * np.sin(2.399963 * np.arange(TAPS)),
    ],
    -1,
)
_TURNS = np.stack(
    [f(np.pi / 8 * np.array([0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5]))
     for f in (np.cos, np.sin)], -1
)


def ambient_occlusion(
    nearness: NDArray[np.float64],
    face: NDArray[np.int32],
    points: NDArray[np.float64],
    faces: NDArray[np.int32],
    camera: Camera,
) -> FloatArray:
    """Share of the light from all round that reaches each pixel.

    Args:
        nearness: (H, W) one over depth, 0 where nothing is.
        face: (H, W) face seen, −1 where nothing is.
        points: (V, 3) vertices in the camera frame, [m].
        faces: (F, 3).
        camera: of the picture.

    Returns:
        (H, W) float32, 0 to 1; 1 where nothing is.
    """
    raw = np.ones(nearness.shape, np.float32)
    lens = (camera.K[0, 0], camera.K[1, 1], camera.K[0, 2], camera.K[1, 2])
    _occlude(nearness, face, points, faces, lens, raw)
    smooth = np.ones_like(raw)
    _average(nearness, raw, smooth)
    return smooth


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _occlude(nearness: Any, face: Any, points: Any, faces: Any, lens: Any, raw: Any) -> None:
    height, width = nearness.shape
    fx, fy, cx, cy = lens
    last, nx, ny, nz = -1, 0.0, 0.0, 0.0
    for row in range(height):
        for column in range(width):
            f = face[row, column]
            if f < 0:
                continue
            if f != last:
                nx, ny, nz = _normal(points, faces, f)
                last = f
            z = 1.0 / nearness[row, column]
            x, y = (column - cx) / fx * z, (row - cy) / fy * z
            side = -1.0 if nx * x + ny * y + nz * z > 0 else 1.0  # turn the normal to the camera
            reach = min(REACH, REACH_SHARE * z)
            radius = min(max(reach * fx / z, 2.5), 0.2 * width)
            turn = 4 * (row & 3) + (column & 3)
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
                    rise = side * (dx * nx + dy * ny + dz * nz) / np.sqrt(square + 1e-12)
                    hidden += max(rise - 0.08, 0.0) * near
            raw[row, column] = max(1.0 - 2.2 * hidden / TAPS, 0.15)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _normal(points: Any, faces: Any, f: int) -> Any:
    """Unit normal of a face, either way."""
    a, b, c = points[faces[f, 0]], points[faces[f, 1]], points[faces[f, 2]]
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    length = max(np.sqrt(x * x + y * y + z * z), 1e-30)
    return x / length, y / length, z / length


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _average(nearness: Any, raw: Any, smooth: Any) -> None:
    """Mean over 4 × 4 pixels of about the same depth."""
    height, width = raw.shape
    for row in range(height):
        for column in range(width):
            own = nearness[row, column]
            if own == 0.0:
                continue
            total, count = 0.0, 0
            for j in range(max(row - 2, 0), min(row + 2, height)):
                for i in range(max(column - 2, 0), min(column + 2, width)):
                    if abs(nearness[j, i] - own) < 0.1 * own:
                        total += raw[j, i]
                        count += 1
            smooth[row, column] = total / count
