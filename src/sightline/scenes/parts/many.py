"""Many small shapes at once: boxes, cards, rods, leaves and copies as one `Shape`, without a loop.

A street holds thousands of slats, leaves and window frames. Made one by one they would cost more than
the picture; here each function takes arrays of N places and gives one merged shape.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.shapes import Shape, Vector, rotation

Floats = NDArray[np.float64]


def boxes(
    centres: Vector, sizes: Vector | float, *, yaw: float | Floats = 0.0, sides: str = "xXyYzZ"
) -> Shape:
    """Make N boxes.

    Args:
        centres: (N, 3) middles, [m].
        sizes: (N, 3) or (3,) as (x, y, z), or one for cubes, [m].
        yaw: turn about the vertical, one or (N,), [degrees].
        sides: which sides to make: x for the one at −x, X for the one at +x, and so on. Leave out
            those that nobody will see.
    """
    corner, normal, pick = _unit_box(sides)
    count = len(corner)
    middle = np.atleast_2d(np.asarray(centres, np.float64))
    size = np.broadcast_to(np.asarray(sizes, np.float64), middle.shape)
    local = corner * size[:, None]
    uv = (local + size[:, None] / 2)[:, np.arange(count)[:, None], pick]
    normals = np.broadcast_to(normal, local.shape)
    if np.any(yaw):
        turn = np.radians(np.broadcast_to(yaw, (len(middle),)))[:, None]
        local, normals = _turn(local, turn), _turn(normals, turn)
    return Shape(
        (local + middle[:, None]).reshape(-1, 3),
        _repeat_faces(_card_faces(len(sides)), count, len(middle)),
        np.ascontiguousarray(normals).reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def cards(corners: Vector, along_u: Vector, along_v: Vector) -> Shape:
    """Make N parallelograms from a corner and two sides, each (N, 3) or (3,)."""
    start, u, v = (np.atleast_2d(np.asarray(a, np.float64)) for a in (corners, along_u, along_v))
    count = max(len(start), len(u), len(v))
    start, u, v = (np.broadcast_to(a, (count, 3)) for a in (start, u, v))
    long, high = np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1)
    zero = np.zeros(count)
    uv = np.stack([zero, zero, long, zero, long, high, zero, high], -1)
    return Shape(
        np.stack([start, start + u, start + u + v, start + v], 1).reshape(-1, 3),
        _repeat_faces(_CARD_FACES, 4, count),
        np.repeat(unit_rows(np.cross(u, v)), 4, 0),
        uv.reshape(-1, 2),
    )


def rods(starts: Vector, ends: Vector, radius: Any, top: Any = None, *, sectors: int = 4) -> Shape:
    """Make N straight open rods from (N, 3) to (N, 3); `radius` at the start, `top` at the end."""
    a, b = (np.atleast_2d(np.asarray(p, np.float64)) for p in (starts, ends))
    a, b = np.broadcast_arrays(a, b)
    low = np.broadcast_to(np.asarray(radius, np.float64), (len(a),))
    high = low if top is None else np.broadcast_to(np.asarray(top, np.float64), (len(a),))
    along = b - a
    length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
    forward = along / length
    helper = np.where(np.abs(forward[:, 1:2]) < 0.9, [[0.0, 1.0, 0.0]], [[1.0, 0.0, 0.0]])
    side = unit_rows(np.cross(forward, helper))
    other = np.cross(forward, side)
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    ring = side[:, None] * np.cos(angle)[:, None] + other[:, None] * np.sin(angle)[:, None]
    ends_at = np.stack(
        [a[:, None] + ring * low[:, None, None], b[:, None] + ring * high[:, None, None]], 1
    )
    uv = np.empty((len(a), 2, sectors + 1, 2))
    uv[..., 0] = angle * low[:, None, None]
    uv[:, 0, :, 1] = 0.0
    uv[:, 1, :, 1] = length
    return Shape(
        ends_at.reshape(-1, 3),
        _repeat_faces(_rod_faces(sectors), 2 * (sectors + 1), len(a)),
        np.repeat(ring[:, None], 2, 1).reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def leaves(
    base: Floats, along: Floats, width: Any, rng: np.random.Generator, middle: Floats | None = None
) -> Shape:
    """Make N leaves, each a rhombus from `base` (N, 3) to `base + along`, turned at random.

    With `middle` (3,) the normals lean away from that point, as light falls on a crown as a whole.
    """
    side = unit_rows(np.cross(along, rng.normal(size=along.shape)))
    half = side * np.broadcast_to(np.asarray(width, np.float64), (len(base),))[:, None] / 2
    waist = base + along * 0.45
    normals = unit_rows(np.cross(along, side))
    if middle is not None:
        outward = unit_rows(waist - middle + 1e-6)
        normals *= np.sign((normals * outward).sum(1, keepdims=True) + 1e-9)
        normals = unit_rows(0.6 * normals + outward)
    uv = waist[:, None, :2] + np.array([[0.0, 0.0], [0.1, 0.1], [0.0, 0.2], [-0.1, 0.1]])
    return Shape(
        np.stack([base, waist + half, base + along, waist - half], 1).reshape(-1, 3),
        _repeat_faces(_CARD_FACES, 4, len(base)),
        np.repeat(normals, 4, 0),
        uv.reshape(-1, 2),
    )


def copies(shape: Shape, to: Vector, *, yaw: Any = 0.0, scale: Any = 1.0) -> Shape:
    """Make N copies at `to` (N, 3), each with a `yaw` [degrees] and a `scale`, (N,) or (N, 3)."""
    places = np.atleast_2d(np.asarray(to, np.float64))
    count = len(places)
    factor = np.asarray(scale, np.float64)
    factor = np.broadcast_to(factor[:, None] if factor.ndim == 1 else factor, (count, 3))
    turn = np.radians(np.broadcast_to(yaw, (count,)))[:, None]
    local = _turn(shape.vertices * factor[:, None], turn)
    normals = _turn(shape.normals / factor[:, None], turn)
    uv = shape.uv * np.cbrt(np.abs(np.prod(factor, 1)))[:, None, None]
    return Shape(
        (local + places[:, None]).reshape(-1, 3),
        _repeat_faces(shape.faces, len(shape.vertices), count),
        unit_rows(normals.reshape(-1, 3)),
        uv.reshape(-1, 2),
    )


def part_of(shape: Shape, keep: NDArray[np.bool_]) -> Shape:
    """Those faces of a shape where `keep` (F,) is True, without the vertices they do not need."""
    used, faces = np.unique(shape.faces[keep], return_inverse=True)
    return Shape(
        shape.vertices[used],
        faces.reshape(-1, 3).astype(np.int32),
        shape.normals[used],
        shape.uv[used],
    )


_CARD_FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


@cache
def _card_faces(count: int) -> NDArray[np.int32]:
    """Triangles of `count` separate cards."""
    return _repeat_faces(_CARD_FACES, 4, count)


@cache
def _unit_box(sides: str) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Corners (4·S, 3) of the unit box, normals, and which two axes u and v run along (4·S, 2)."""
    corners, normals, axes = [], [], []
    for axis, (u, v) in enumerate(((2, 1), (2, 0), (0, 1))):
        for name, sign in (("xyz"[axis], -0.5), ("XYZ"[axis], 0.5)):
            if name not in sides:
                continue
            for a, b in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)):
                point, normal = np.zeros(3), np.zeros(3)
                point[axis], point[u], point[v] = sign, a, b
                normal[axis] = 2 * sign
                corners.append(point)
                normals.append(normal)
                axes.append((u, v))
    return np.array(corners), np.array(normals), np.array(axes)


@cache
def _rod_faces(sectors: int) -> NDArray[np.int32]:
    """Triangles of one open rod: two rings of `sectors + 1` vertices."""
    a = np.arange(sectors)
    b = a + sectors + 1
    return np.stack([a, a + 1, b, a + 1, b + 1, b], -1).reshape(-1, 3).astype(np.int32)


def _repeat_faces(faces: NDArray[np.int32], stride: int, count: int) -> NDArray[np.int32]:
    """(count·F, 3): the same faces over and over, each time `stride` vertices further on."""
    shift = np.arange(count, dtype=np.int32)[:, None, None] * np.int32(stride)
    return (faces[None] + shift).reshape(-1, 3)


def _turn(points: Floats, yaw: Floats) -> Floats:
    """Turn (N, P, 3) about the vertical by (N, 1) radians, +z towards +x."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    x, z = points[..., 0], points[..., 2]
    return np.stack([x * cos + z * sin, points[..., 1] + 0 * cos, z * cos - x * sin], -1)


def unit_rows(vectors: Floats) -> Floats:
    """Scale (N, 3) to length one; a vector of no length becomes 'up'."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 1e-12, vectors / np.maximum(length, 1e-12), [0.0, -1.0, 0.0])


def heading(yaw: float) -> Floats:
    """(3,) level unit vector at `yaw` [degrees] from +z towards +x."""
    return rotation(yaw)[:, 2]
