"""Rasterize triangles: a z-buffer that gives depth, face and barycentric coordinates per pixel.

* Coverage is decided on integers: screen positions are snapped to 1/4096 px and the edge functions
  are exact in 64-bit integers, with the top-left rule. Faces that share an edge therefore leave no
  crack and claim no pixel twice, also where many meet in a vertex.
* Depth and barycentrics come from the unsnapped triangle (Olano and Greer, "Triangle scan
  conversion using 2D homogeneous coordinates", 1997): the snapping costs no accuracy in depth.
* Faces that cross the near plane are clipped, not dropped; so are those that reach so far outside
  the image that the integers could overflow.
* One thread, faces in order, the lower face number wins a tie: the same bytes on every machine. The
  interpreter lock is released, so images can be rendered in threads side by side.

Shading is deferred: `interpolate` turns face and barycentrics into any vertex attribute per pixel.

numba is imported at the top; import this module where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import BoolArray, Camera, FloatArray

#: Steps per pixel of the grid that screen positions are snapped to.
SUBPIXELS = 4096

#: Screen positions are clipped to this many pixels around the origin: with 12 bits below the point,
#: a product of two differences stays under 2^60.
GUARD = 65536.0


class Buffers(NamedTuple):
    """Per pixel: 1/z (float64), the face seen, and its corners' weights over depth (float32).

    The weights may be of size (0, 0, 3): then they are not kept.
    """

    nearness: Any
    face: Any
    weights: Any


class Lens(NamedTuple):
    """Camera matrix, its inverse, the near plane, and whether clockwise faces are left out."""

    K: Any
    inverse: Any
    near: float
    cull: bool


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill(points: Any, faces: Any, lens: Lens, buffers: Buffers) -> None:
    """Clip every face if necessary, then fill its pieces into the z-buffer of 1/z."""
    homogeneous, screen, safe = _project(points, lens.K, lens.near)
    polygon, spare = np.empty((12, 3)), np.empty((12, 3))
    corners = np.empty((12, 2), np.int64)
    planes = np.empty(11)
    for f in range(len(faces)):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        count = 3
        if safe[i] and safe[j] and safe[k]:
            for axis in range(2):
                corners[0, axis] = screen[i, axis]
                corners[1, axis] = screen[j, axis]
                corners[2, axis] = screen[k, axis]
        else:
            for axis in range(3):
                polygon[0, axis] = homogeneous[i, axis]
                polygon[1, axis] = homogeneous[j, axis]
                polygon[2, axis] = homogeneous[k, axis]
            count, polygon, spare = _clip(polygon, spare, lens.near)
            for c in range(count):
                corners[c, 0] = _snap(polygon[c, 0] / polygon[c, 2])
                corners[c, 1] = _snap(polygon[c, 1] / polygon[c, 2])
        known = False  # the planes are worked out late: many small faces miss every pixel center
        for c in range(1, count - 1):
            piece = _piece(corners, c, lens.cull, buffers.face.shape)
            if piece[-1] == 0:
                continue
            if not known and not _planes(points, (i, j, k), lens, planes):
                break
            known = True
            if buffers.weights.shape[0] > 0:
                _fill_piece(piece, planes, f, buffers)
            else:
                _fill_nearest(piece, planes, f, buffers.nearness, buffers.face)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _project(points: Any, K: Any, near: float) -> tuple[Any, Any, Any]:
    """Homogeneous pixels (x·z, y·z, z), snapped screen positions, and whether those can be used."""
    count = len(points)
    homogeneous = np.empty((count, 3))
    screen = np.zeros((count, 2), np.int64)
    safe = np.zeros(count, np.bool_)
    for i in range(count):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        u = K[0, 0] * x + K[0, 1] * y + K[0, 2] * z
        v = K[1, 1] * y + K[1, 2] * z
        homogeneous[i, 0], homogeneous[i, 1], homogeneous[i, 2] = u, v, z
        if z >= near and abs(u) <= GUARD * z and abs(v) <= GUARD * z:
            safe[i] = True
            screen[i, 0], screen[i, 1] = _snap(u / z), _snap(v / z)
    return homogeneous, screen, safe


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _snap(pixel: float) -> Any:
    """Pixel coordinate to the nearest point of the grid."""
    return np.int64(np.floor(pixel * SUBPIXELS + 0.5))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _clip(polygon: Any, spare: Any, near: float) -> tuple[int, Any, Any]:
    """Cut a triangle of homogeneous pixels by the near plane and the guard band, after Sutherland.

    A cut is always reckoned from the end inside, so two faces that share the edge get one point.
    """
    count = 3
    for plane in range(5):
        kept = 0
        for c in range(count):
            p, q = polygon[c], polygon[(c + 1) % count]
            d, e = _distance(p, plane, near), _distance(q, plane, near)
            if d >= 0:
                spare[kept] = p
                kept += 1
            if (d >= 0) != (e >= 0):
                if d >= 0:
                    spare[kept] = p + (q - p) * (d / (d - e))
                else:
                    spare[kept] = q + (p - q) * (e / (e - d))
                if plane == 0:
                    spare[kept, 2] = near
                kept += 1
        polygon, spare = spare, polygon
        count = kept
        if count < 3:
            break
    return count, polygon, spare


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _distance(p: Any, plane: int, near: float) -> float:
    """Signed distance inside a plane: 0 near, 1–4 left, right, top, bottom of the guard band."""
    if plane == 0:
        return float(p[2] - near)
    axis = (plane - 1) // 2
    if plane % 2 == 1:
        return float(GUARD * p[2] + p[axis])
    return float(GUARD * p[2] - p[axis])


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _piece(corners: Any, c: int, cull: bool, size: Any) -> Any:
    """Corners 0, c, c+1 of a snapped polygon, turned clockwise; box of pixels; 1 if it holds any.

    Returns (x0, y0, x1, y1, x2, y2, left, right, top, bottom, 1 or 0), the box with both ends.
    """
    x0, y0 = corners[0, 0], corners[0, 1]
    x1, y1 = corners[c, 0], corners[c, 1]
    x2, y2 = corners[c + 1, 0], corners[c + 1, 1]
    area = (x1 - x0) * (y2 - y0) - (y1 - y0) * (x2 - x0)
    if area < 0:  # counter-clockwise on the screen (y down)
        x1, y1, x2, y2 = x2, y2, x1, y1
    # An arithmetic shift by 12 bits divides by the 4096 steps of a pixel and rounds down.
    left = max(0, (min(x0, x1, x2) + SUBPIXELS - 1) >> 12)
    right = min(size[1] - 1, max(x0, x1, x2) >> 12)
    top = max(0, (min(y0, y1, y2) + SUBPIXELS - 1) >> 12)
    bottom = min(size[0] - 1, max(y0, y1, y2) >> 12)
    seen = area != 0 and not (cull and area > 0) and left <= right and top <= bottom
    return x0, y0, x1, y1, x2, y2, left, right, top, bottom, 1 if seen else 0


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _edge(start: Any, end: Any, at: Any) -> Any:
    """Edge function at a point of the grid, and its change for one pixel right and one down.

    Not negative inside a clockwise triangle. A pixel right on an edge belongs to the face that has
    it as its top or left edge; for the others one step is taken off.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    off = 0 if dy < 0 or (dy == 0 and dx > 0) else 1
    value = dx * (at[1] - start[1]) - dy * (at[0] - start[0]) - off
    return value, -dy * SUBPIXELS, dx * SUBPIXELS


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill_piece(piece: Any, planes: Any, f: int, buffers: Buffers) -> None:
    """Fill one snapped triangle of face f into the z-buffer."""
    nearness, face, weights = buffers.nearness, buffers.face, buffers.weights
    x0, y0, x1, y1, x2, y2, left, right, top, bottom, _ = piece
    corner = (left * SUBPIXELS, top * SUBPIXELS)
    e0, right0, down0 = _edge((x0, y0), (x1, y1), corner)
    e1, right1, down1 = _edge((x1, y1), (x2, y2), corner)
    e2, right2, down2 = _edge((x2, y2), (x0, y0), corner)
    for row in range(top, bottom + 1):
        w0, w1, w2 = e0, e1, e2
        for column in range(left, right + 1):
            if (w0 | w1 | w2) >= 0:
                a = planes[0] * column + planes[1] * row + planes[2]
                b = planes[3] * column + planes[4] * row + planes[5]
                c = planes[6] * column + planes[7] * row + planes[8]
                # Snapping may cover a pixel just outside the true face: clamp to its depth range.
                inverse_z = min(max(a + b + c, planes[9]), planes[10])
                if inverse_z > nearness[row, column]:
                    nearness[row, column] = inverse_z
                    face[row, column] = f
                    weights[row, column, 0] = max(a, 0.0)
                    weights[row, column, 1] = max(b, 0.0)
                    weights[row, column, 2] = max(c, 0.0)
            w0 += right0
            w1 += right1
            w2 += right2
        e0 += down0
        e1 += down1
        e2 += down2


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fill_nearest(piece: Any, planes: Any, f: int, nearness: Any, face: Any) -> None:
    """Fill one snapped triangle without weights: row by row, only between its edges."""
    x0, y0, x1, y1, x2, y2, left, right, top, bottom, _ = piece
    corner = (left * SUBPIXELS, top * SUBPIXELS)
    e0, right0, down0 = _edge((x0, y0), (x1, y1), corner)
    e1, right1, down1 = _edge((x1, y1), (x2, y2), corner)
    e2, right2, down2 = _edge((x2, y2), (x0, y0), corner)
    slope_x = planes[0] + planes[3] + planes[6]
    slope_y = planes[1] + planes[4] + planes[7]
    base = planes[2] + planes[5] + planes[8]
    farthest, nearest = planes[9], planes[10]
    for row in range(top, bottom + 1):
        first, last = _span(e0, right0, 0, right - left)
        first, last = _span(e1, right1, first, last)
        first, last = _span(e2, right2, first, last)
        start = base + slope_y * row
        for column in range(left + first, left + last + 1):
            # Snapping may cover a pixel just outside the true face: clamp to its depth range.
            inverse_z = min(max(start + slope_x * column, farthest), nearest)
            if inverse_z > nearness[row, column]:
                nearness[row, column] = inverse_z
                face[row, column] = f
        e0 += down0
        e1 += down1
        e2 += down2


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _span(edge: Any, step: Any, first: Any, last: Any) -> Any:
    """Cut the run of pixels first–last to where edge + step · pixel is not negative."""
    if edge + step * first < 0:
        # Enters later, if ever: the smallest pixel that is inside, rounded up.
        first = (step - 1 - edge) // step if step > 0 else last + 1
    elif edge + step * last < 0:
        last = edge // -step
    return first, last


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _planes(points: Any, corners: Any, lens: Lens, planes: Any) -> bool:
    """Write each corner's weight over depth as a linear function of the pixel; the limits of 1/z.

    For a pixel with ray r the seen point is z·r = Σ bᵢ vᵢ, so bᵢ/z = (vⱼ × vₖ)·r / det(v₀, v₁, v₂),
    and the sum over i is 1/z. No division by a corner's own z: corners may lie behind the camera.
    Returns False when the plane of the face holds the camera center: then it is seen edge on.
    """
    i, j, k = corners
    inverse = lens.inverse
    share = 0.0
    for n in range(3):
        x = points[j, 1] * points[k, 2] - points[j, 2] * points[k, 1]
        y = points[j, 2] * points[k, 0] - points[j, 0] * points[k, 2]
        z = points[j, 0] * points[k, 1] - points[j, 1] * points[k, 0]
        if n == 0:
            volume = x * points[i, 0] + y * points[i, 1] + z * points[i, 2]
            if volume == 0.0:
                return False
            share = 1.0 / volume
        for column in range(3):
            planes[3 * n + column] = share * (
                x * inverse[0, column] + y * inverse[1, column] + z * inverse[2, column]
            )
        i, j, k = j, k, i
    planes[9] = 1.0 / max(points[i, 2], points[j, 2], points[k, 2])
    planes[10] = 1.0 / max(min(points[i, 2], points[j, 2], points[k, 2]), lens.near)
    return True


@dataclass(frozen=True, slots=True, eq=False)
class Raster:
    """Visible surface per pixel.

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


def rasterize(
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
        camera: its matrix and picture size; a pixel is sampled at its center (whole coordinates).
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
    _normalize(buffers, depth)
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
    """Convert vertices and faces to the types of the kernels; raise `InputError` if invalid."""
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
        raise InputError(f"picture of {camera.width}×{camera.height} is too large to rasterize")
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
    """Interpolate a vertex attribute per pixel.

    Args:
        raster: what is seen.
        faces: (F, 3), as given to `rasterize`.
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
def _normalize(buffers: Buffers, depth: Any) -> None:
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
    """Sum the corners' attributes by weight, per pixel."""
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
