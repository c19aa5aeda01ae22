"""Shadow maps of the sun, or else of the first lamp.

* The sun's map is a height map along its rays in two cascades: a fine one over nearby visible points, a
  coarse one over the rest (Engel, "Cascaded shadow maps", ShaderX5, 2006).
* The lamp's map is a cube of z-buffers; only sides that hold visible points are drawn.
* A queried point is lifted off its surface by a little more than a texel, so no surface shades itself;
  the four texels around it are weighted (percentage-closer filtering), so edges are soft.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.rasterize import nearest_faces, turned
from sightline.types import Camera

NONE, SUN, LAMP = 0, 1, 2

#: Texels across a cascade of the sun's map and a side of the lamp's cube.
SUN_TEXELS = 448
LAMP_TEXELS = 192

#: Nothing nearer to a lamp than this casts a shadow, [m]: the lamp's own shade and stand.
LAMP_RADIUS = 0.25

#: Shares of the visible points, from the nearest, that the two cascades cover.
CASCADES = (0.6, 0.97)

#: (6, 3, 3) rotations from the world to each side of a cube map: rows are right, down, forward.
CUBE = np.array(
    [
        [[0, 0, -1], [0, 1, 0], [1, 0, 0]], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]],
        [[1, 0, 0], [0, 0, -1], [0, 1, 0]], [[1, 0, 0], [0, 0, 1], [0, -1, 0]],
        [[1, 0, 0], [0, 1, 0], [0, 0, 1]], [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
    ],
    np.float64,
)  # fmt: skip


class ShadowMaps(NamedTuple):
    """Shadow maps for the kernels.

    Attributes:
        kind: `NONE`, `SUN` or `LAMP`.
        maps: (M, R, R) float32. Sun: height toward the sun of the highest surface, [m]. Lamp: inverse
            depth of the nearest surface, [1/m], 0 where there is none.
        frames: (M, 3, 4) world to (column, row, height) of a cascade; for a lamp the sides of its cube.
        texel: (M,) size of a texel, [m]; for a lamp at a distance of 1 m.
    """

    kind: int
    maps: Any
    frames: Any
    texel: Any


def no_shadows() -> ShadowMaps:
    """Return shadow maps that let light through everywhere."""
    return ShadowMaps(NONE, np.zeros((1, 1, 1), np.float32), np.zeros((1, 3, 4)), np.ones(1))


def sun_shadows(
    vertices: NDArray[np.float64],
    casters: NDArray[np.int32],
    to_sun: NDArray[np.float64],
    receivers: NDArray[np.float64],
    distance: NDArray[np.float64],
) -> ShadowMaps:
    """Render the sun's shadow map, fitted to the visible points.

    Args:
        vertices: (V, 3) of the world, [m].
        casters: (F, 3) faces that cast shadows.
        to_sun: (3,) unit vector.
        receivers: (N, 3) visible points, [m].
        distance: (N,) their distances from the camera, [m].
    """
    if len(receivers) == 0:
        return no_shadows()
    # Orthonormal frame of the light: right, down, toward the sun.
    helper = np.eye(3)[int(np.argmin(np.abs(to_sun)))]
    right = np.cross(helper, to_sun)
    right /= np.linalg.norm(right)
    axes = np.stack([right, np.cross(to_sun, right), to_sun])
    seen = turned(receivers, axes)
    frames, texel = [], []
    for share in CASCADES:
        # Fit the cascade around its points, with a margin of four texels.
        part = seen[distance <= np.quantile(distance, share)]
        low, high = part.min(0), part.max(0)
        size = max(float((high - low)[:2].max()), 0.1) / (SUN_TEXELS - 8)
        scale = np.array([1 / size, 1 / size, 1.0])
        shift = np.array([4.0, 4.0, 0.0]) - low * np.array([1 / size, 1 / size, 0.0])
        frames.append(np.column_stack([axes * scale[:, None], shift]))
        texel.append(size)
    if texel[0] > 0.5 * texel[1]:  # hardly finer: one cascade suffices
        frames, texel = frames[1:], texel[1:]
    maps = np.full((len(frames), SUN_TEXELS, SUN_TEXELS), -np.inf, np.float32)
    for sheet, frame in zip(maps, frames, strict=True):
        _fill_height_map(turned(vertices, frame[:, :3], frame[:, 3]), casters, sheet)
    return ShadowMaps(SUN, maps, np.stack(frames), np.array(texel))


def lamp_shadows(
    vertices: NDArray[np.float64],
    casters: NDArray[np.int32],
    lamp: NDArray[np.float64],
    receivers: NDArray[np.float64],
) -> ShadowMaps:
    """Render the shadow map of a lamp: a cube of z-buffers; sides without receivers are left out.

    Args:
        vertices: (V, 3) of the world, [m].
        casters: (F, 3) faces that cast shadows.
        lamp: (3,) position of the lamp, [m].
        receivers: (N, 3) visible points, [m].
    """
    focal = LAMP_TEXELS / 2 - 2  # a margin of two texels, so that filtering finds its neighbors
    camera = Camera.from_focal(focal, LAMP_TEXELS, LAMP_TEXELS)
    maps = np.zeros((6, LAMP_TEXELS, LAMP_TEXELS), np.float32)
    for side in cube_sides(receivers - lamp):
        seen_from = turned(vertices, CUBE[side], -CUBE[side] @ lamp)
        maps[side] = nearest_faces(seen_from, casters, camera, near=LAMP_RADIUS)[0]
    frames = np.concatenate([CUBE, -(CUBE @ lamp)[:, :, None]], axis=2)
    return ShadowMaps(LAMP, maps, frames, np.full(6, 1 / focal))


def cube_sides(directions: NDArray[np.float64]) -> list[int]:
    """Return the sides of `CUBE` that hold any of (N, 3) directions."""
    axis = np.abs(directions).argmax(1) if len(directions) else np.zeros(0, np.int64)
    behind = np.take_along_axis(directions, axis[:, None], 1)[:, 0] < 0
    return [int(side) for side in np.unique(2 * axis + behind)]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill_height_map(points: Any, faces: Any, sheet: Any) -> None:
    """Rasterize triangles orthographically and keep the greatest height over each texel.

    Args:
        points: (V, 3) vertices as (column, row, height).
        faces: (F, 3).
        sheet: (R, R) float32, updated in place.
    """
    rows, columns = sheet.shape
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        ax, ay, az = points[i, 0], points[i, 1], points[i, 2]
        bx, by, bz = points[j, 0] - ax, points[j, 1] - ay, points[j, 2] - az
        cx, cy, cz = points[k, 0] - ax, points[k, 1] - ay, points[k, 2] - az
        left = int(np.ceil(max(ax + min(bx, cx, 0.0), 0.0)))
        right = int(np.floor(min(ax + max(bx, cx, 0.0), columns - 1.0)))
        top = int(np.ceil(max(ay + min(by, cy, 0.0), 0.0)))
        bottom = int(np.floor(min(ay + max(by, cy, 0.0), rows - 1.0)))
        area = bx * cy - by * cx
        if left > right or top > bottom or abs(area) < 1e-12:
            continue
        # Barycentric weights of the second and third corner, and the height, are linear over the map.
        b_x, b_y, c_x, c_y = cy / area, -cx / area, -by / area, bx / area
        z_x, z_y = b_x * bz + c_x * cz, b_y * bz + c_y * cz
        for row in range(top, bottom + 1):
            b_row, c_row = b_y * (row - ay) - b_x * ax, c_y * (row - ay) - c_x * ax
            first, last = _clip_run(b_row, b_x, left, right)
            first, last = _clip_run(c_row, c_x, first, last)
            first, last = _clip_run(1.0 - b_row - c_row, -b_x - c_x, first, last)
            height = az + z_y * (row - ay) - z_x * ax
            for column in range(first, last + 1):
                sheet[row, column] = max(sheet[row, column], height + z_x * column)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _clip_run(value: float, step: float, first: int, last: int) -> Any:
    """Clip the run of texels first–last to where value + step · texel is not negative."""
    if step > 0.0:
        first = max(first, int(np.ceil(max(-value / step, -1.0))))
    elif step < 0.0:
        last = min(last, int(np.floor(min(-value / step, 1e6))))
    elif value < 0.0:
        last = first - 1
    return first, last


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def shadow_factor(shadows: ShadowMaps, place: Any, normal: Any) -> float:
    """Return the share of the shadow-casting light that arrives, 0 to 1.

    `place` is (x, y, z) in the world, [m]; `normal` that of the face, not the interpolated one.
    """
    if shadows.kind == SUN:
        return _sun_factor(shadows, place, normal)
    if shadows.kind == LAMP:
        return _lamp_factor(shadows, place, normal)
    return 1.0


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _sun_factor(shadows: ShadowMaps, place: Any, normal: Any) -> float:
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
            return _filtered(shadows.maps, m, column, row, height + 0.5 * texel)
    return 1.0


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _lamp_factor(shadows: ShadowMaps, place: Any, normal: Any) -> float:
    t = (
        shadows.frames
    )  # the last column of side 4, which looks along +z, is minus the lamp position
    x, y, z = place[0] + t[4, 0, 3], place[1] + t[4, 1, 3], place[2] + t[4, 2, 3]
    facing = x * normal[0] + y * normal[1] + z * normal[2] < 0
    lift = (2.0 if facing else -2.0) * max(abs(x), abs(y), abs(z)) * shadows.texel[0]
    x, y, z = x + lift * normal[0], y + lift * normal[1], z + lift * normal[2]
    side, right, down, far = cube_side(x, y, z)
    if far <= LAMP_RADIUS:
        return 1.0
    focal, middle = 1 / shadows.texel[0], (LAMP_TEXELS - 1) / 2
    return _filtered(shadows.maps, side, middle + focal * right, middle + focal * down, 1.01 / far)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def cube_side(x: float, y: float, z: float) -> Any:
    """Return the side of `CUBE` that a direction hits, (right, down) in −1 to 1, and its depth."""
    far = max(abs(x), abs(y), abs(z), 1e-9)
    if abs(x) == far:
        side, right, down = (0, -z, y) if x > 0 else (1, z, y)
    elif abs(y) == far:
        side, right, down = (2, x, -z) if y > 0 else (3, x, z)
    else:
        side, right, down = (4, x, y) if z > 0 else (5, -x, y)
    return side, right / far, down / far, far


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _filtered(maps: Any, m: int, column: float, row: float, key: float) -> float:
    """Return the weighted share of the four nearest texels that are not in shadow."""
    i, j = int(column), int(row)
    fx, fy = column - i, row - j
    open00 = 1.0 if maps[m, j, i] <= key else 0.0
    open01 = 1.0 if maps[m, j, i + 1] <= key else 0.0
    open10 = 1.0 if maps[m, j + 1, i] <= key else 0.0
    open11 = 1.0 if maps[m, j + 1, i + 1] <= key else 0.0
    upper = open00 + fx * (open01 - open00)
    lower = open10 + fx * (open11 - open10)
    return upper + fy * (lower - upper)
