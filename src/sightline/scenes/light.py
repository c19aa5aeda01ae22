"""What the light reaches: shadow maps of the sun and of the first lamp, and corners that stay dim.

* The sun's map is a z-buffer seen along its rays, in two sheets: a fine one over what is seen near by,
  a coarse one over the rest (cascades, as in Engel's "Cascaded shadow maps", ShaderX5, 2006).
* The lamp's map is a cube around it; only sides that hold something seen are drawn.
* Glass and lamps themselves cast no shadow.
* Ambient occlusion looks at the depth around each pixel: what rises above the surface near by hides
  part of the sky or ceiling.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.rasterise import nearest_faces
from sightline.types import Camera

NONE, SUN, LAMP = 0, 1, 2

#: Texels across a sheet of the sun's map and a side of the lamp's cube.
SUN_TEXELS = 512
LAMP_TEXELS = 256

#: Nothing nearer to a lamp than this casts a shadow, [m]: its own shade and stand.
LAMP_RADIUS = 0.25

#: Shares of what is seen, from the nearest, that the two sheets of the sun's map cover.
SHEETS = (0.6, 0.97)

#: World to each side of the lamp's cube: rows are right, down, forward.
CUBE = np.array(
    [
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]],
        [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]],
        [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
        [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
    ],
    np.float64,
)


class Shadows(NamedTuple):
    """Shadow maps for the kernels.

    Attributes:
        kind: `NONE`, `SUN` or `LAMP`.
        maps: (M, R, R) float32; the sun's: height towards the sun of the highest surface in [m]; the
            lamp's: one over depth in [1/m] of the nearest, 0 where none.
        frames: (M, 3, 4) world to (column, row, height) of a sheet; for a lamp the sides of its cube.
        texel: (M,) size of a texel in [m]; for a lamp one metre away.
    """

    kind: int
    maps: Any
    frames: Any
    texel: Any


def no_shadows() -> Shadows:
    """Let light through everywhere."""
    return Shadows(NONE, np.zeros((1, 1, 1), np.float32), np.zeros((1, 3, 4)), np.ones(1))


def sun_shadows(
    vertices: NDArray[np.float64],
    casters: NDArray[np.int32],
    to_sun: NDArray[np.float64],
    receivers: NDArray[np.float64],
    distance: NDArray[np.float64],
) -> Shadows:
    """Draw the sun's shadow map, fitted to what is seen.

    Args:
        vertices: (V, 3) of the world, [m].
        casters: (F, 3) faces that cast shadows.
        to_sun: (3,) unit vector.
        receivers: (N, 3) seen places, [m].
        distance: (N,) of each from the camera, [m].
    """
    if len(receivers) == 0:
        return no_shadows()
    helper = np.eye(3)[int(np.argmin(np.abs(to_sun)))]
    right = np.cross(helper, to_sun)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(to_sun, right), to_sun])
    seen = receivers @ axes.T
    frames, texel = [], []
    for share in SHEETS:
        part = seen[distance <= np.quantile(distance, share)]
        low, high = part.min(0), part.max(0)
        size = max(float((high - low)[:2].max()), 0.1) / (SUN_TEXELS - 8)
        scale = np.array([1 / size, 1 / size, 1.0])
        shift = np.array([4.0, 4.0, 0.0]) - low * np.array([1 / size, 1 / size, 0.0])
        frames.append(np.column_stack([axes * scale[:, None], shift]))
        texel.append(size)
    if texel[0] > 0.5 * texel[1]:  # hardly finer: one sheet does
        frames, texel = frames[1:], texel[1:]
    maps = np.full((len(frames), SUN_TEXELS, SUN_TEXELS), -np.inf, np.float32)
    for sheet, frame in zip(maps, frames, strict=True):
        _fill_sheet(vertices @ frame[:, :3].T + frame[:, 3], casters, sheet)
    return Shadows(SUN, maps, np.stack(frames), np.array(texel))


def lamp_shadows(
    vertices: NDArray[np.float64],
    casters: NDArray[np.int32],
    lamp: NDArray[np.float64],
    receivers: NDArray[np.float64],
) -> Shadows:
    """Draw the shadow map of a lamp at (3,): a cube of z-buffers, sides without `receivers` left out."""
    focal = LAMP_TEXELS / 2 - 2  # a margin of two texels, so that filtering finds its neighbours
    camera = Camera.from_focal(focal, LAMP_TEXELS, LAMP_TEXELS)
    away = receivers - lamp
    axis = np.abs(away).argmax(1) if len(away) else np.zeros(0, np.int64)
    behind = np.take_along_axis(away, axis[:, None], 1)[:, 0] < 0
    maps = np.zeros((6, LAMP_TEXELS, LAMP_TEXELS), np.float32)
    for side in np.unique(2 * axis + behind):
        seen_from = (vertices - lamp) @ CUBE[side].T
        maps[side] = nearest_faces(seen_from, casters, camera, near=LAMP_RADIUS)[0]
    frames = np.concatenate([CUBE, -(CUBE @ lamp)[:, :, None]], axis=2)
    return Shadows(LAMP, maps, frames, np.full(6, 1 / focal))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill_sheet(points: Any, faces: Any, sheet: Any) -> None:
    """Keep the greatest height over each texel; points (V, 3) are (column, row, height)."""
    rows, columns = sheet.shape
    for f in range(len(faces)):
        a, b, c = points[faces[f, 0]], points[faces[f, 1]], points[faces[f, 2]]
        left = max(0, int(np.ceil(max(min(a[0], b[0], c[0]), -1.0))))
        right = min(columns - 1, int(np.floor(min(max(a[0], b[0], c[0]), columns + 1.0))))
        top = max(0, int(np.ceil(max(min(a[1], b[1], c[1]), -1.0))))
        bottom = min(rows - 1, int(np.floor(min(max(a[1], b[1], c[1]), rows + 1.0))))
        if left > right or top > bottom:
            continue
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(area) < 1e-12:
            continue
        # Weights of b and c, linear over the sheet: their value at (left, top) and their steps.
        to_x, to_y = left - a[0], top - a[1]
        wb_x, wb_y = (c[1] - a[1]) / area, (a[0] - c[0]) / area
        wc_x, wc_y = (a[1] - b[1]) / area, (b[0] - a[0]) / area
        wb_row, wc_row = wb_x * to_x + wb_y * to_y, wc_x * to_x + wc_y * to_y
        for row in range(top, bottom + 1):
            wb, wc = wb_row, wc_row
            for column in range(left, right + 1):
                if wb >= 0.0 and wc >= 0.0 and wb + wc <= 1.0:
                    height = a[2] + wb * (b[2] - a[2]) + wc * (c[2] - a[2])
                    if height > sheet[row, column]:
                        sheet[row, column] = height
                wb += wb_x
                wc += wc_x
            wb_row += wb_y
            wc_row += wc_y


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def lit(shadows: Shadows, place: Any, normal: Any) -> float:
    """Share of the shadowing light that arrives, 0 to 1.

    `place` (x, y, z) in the world in [m], `normal` the surface's own (not the smoothed one) towards the
    camera; the place is lifted along it by a little more than a texel, so that no surface shades itself.
    """
    if shadows.kind == SUN:
        return _lit_by_sun(shadows, place, normal)
    if shadows.kind == LAMP:
        return _lit_by_lamp(shadows, place, normal)
    return 1.0


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _lit_by_sun(shadows: Shadows, place: Any, normal: Any) -> float:
    for m in range(len(shadows.maps)):
        texel, t = shadows.texel[m], shadows.frames
        lift = 1.5 * texel
        x, y, z = place[0], place[1], place[2]
        toward = t[m, 2, 0] * normal[0] + t[m, 2, 1] * normal[1] + t[m, 2, 2] * normal[2]
        lift = lift if toward >= 0 else -lift
        x, y, z = x + lift * normal[0], y + lift * normal[1], z + lift * normal[2]
        column = t[m, 0, 0] * x + t[m, 0, 1] * y + t[m, 0, 2] * z + t[m, 0, 3]
        row = t[m, 1, 0] * x + t[m, 1, 1] * y + t[m, 1, 2] * z + t[m, 1, 3]
        if 1.0 <= column < SUN_TEXELS - 2 and 1.0 <= row < SUN_TEXELS - 2:
            height = t[m, 2, 0] * x + t[m, 2, 1] * y + t[m, 2, 2] * z + t[m, 2, 3]
            return _softly(shadows.maps, m, column, row, height + 0.5 * texel)
    return 1.0


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _lit_by_lamp(shadows: Shadows, place: Any, normal: Any) -> float:
    t = shadows.frames  # the last column of side 4, which looks along +z, is minus the lamp's place
    x, y, z = place[0] + t[4, 0, 3], place[1] + t[4, 1, 3], place[2] + t[4, 2, 3]
    far = max(abs(x), abs(y), abs(z))
    facing = x * normal[0] + y * normal[1] + z * normal[2] < 0
    lift = (2.0 if facing else -2.0) * far * shadows.texel[0]
    x, y, z = x + lift * normal[0], y + lift * normal[1], z + lift * normal[2]
    far = max(abs(x), abs(y), abs(z))
    if far == abs(x):
        side = 0 if x > 0 else 1
    elif far == abs(y):
        side = 2 if y > 0 else 3
    else:
        side = 4 if z > 0 else 5
    if far <= LAMP_RADIUS:
        return 1.0
    focal, middle = 1 / shadows.texel[0], (LAMP_TEXELS - 1) / 2
    column = middle + focal * (t[side, 0, 0] * x + t[side, 0, 1] * y + t[side, 0, 2] * z) / far
    row = middle + focal * (t[side, 1, 0] * x + t[side, 1, 1] * y + t[side, 1, 2] * z) / far
    return _softly(shadows.maps, side, column, row, 1.01 / far)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _softly(maps: Any, m: int, column: float, row: float, key: float) -> float:
    """Share of the four texels around a place that nothing nearer to the light covers, weighted."""
    i, j = int(column), int(row)
    fx, fy = column - i, row - j
    open00 = 1.0 if maps[m, j, i] <= key else 0.0
    open01 = 1.0 if maps[m, j, i + 1] <= key else 0.0
    open10 = 1.0 if maps[m, j + 1, i] <= key else 0.0
    open11 = 1.0 if maps[m, j + 1, i + 1] <= key else 0.0
    upper = open00 + fx * (open01 - open00)
    lower = open10 + fx * (open11 - open10)
    return upper + fy * (lower - upper)
