"""Scan conversion: the kernel behind `sightline.rasterise`.

* Coverage is decided on whole numbers: screen positions are snapped to 1/4096 px and the edge
  functions are exact in 64-bit integers, with the top-left rule. Faces that share an edge therefore
  leave no crack and claim no pixel twice, also where many meet in a vertex.
* Depth and barycentrics come from the unsnapped triangle (Olano and Greer, "Triangle scan
  conversion using 2D homogeneous coordinates", 1997): the snapping costs no accuracy in depth.
* Faces that cross the near plane are clipped, not dropped; so are those that reach so far outside
  the picture that the integers could overflow.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

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
    """Visit every face: clip it if need be, then fill its pieces into the z-buffer of 1/z."""
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
        known = False  # the planes are worked out late: many small faces miss every pixel centre
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
                # Snapping may claim a pixel a hair outside the true face: stay within its depths.
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
            # Snapping may claim a pixel a hair outside the true face: stay within its depths.
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
    Returns False when the plane of the face holds the camera centre: then it is seen edge on.
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
