"""Build triangle meshes: quads, boxes, lathed, extruded and swept shapes, height fields.

Every mesh has unit normals (corners are repeated at sharp edges, shared on round surfaces) and texture
coordinates in [m] along the surface. Up is −y; lengths in [m], angles in [degrees].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: (3,) or (N, 2 or 3) numbers, as nested lists or an array.
Vector = Sequence[Any] | NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class TriangleMesh:
    """A triangle mesh.

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
    ) -> TriangleMesh:
        """Scale, rotate about the origin (roll, pitch, yaw about z, x, y), then translate.

        A positive yaw turns +z toward +x; a positive pitch turns +z upwards (toward −y).
        """
        vertices, normals, uv = self.vertices, self.normals, self.uv
        if not isinstance(scale, float) or scale != 1.0:
            factors = np.broadcast_to(np.asarray(scale, np.float64), (3,))
            # Normals transform by the inverse transpose.
            vertices, normals = vertices * factors, normals / factors
            normals = normals / np.sqrt(np.einsum("ij,ij->i", normals, normals))[:, None]
            uv = uv * float(np.cbrt(np.abs(factors).prod()))
        if yaw or pitch or roll:
            turn = rotation(yaw, pitch, roll).T
            vertices, normals = vertices @ turn, normals @ turn
        return TriangleMesh(vertices + np.asarray(to, np.float64), self.faces, normals, uv)


def rotation(yaw: float, pitch: float = 0.0, roll: float = 0.0) -> NDArray[np.float64]:
    """Return the (3, 3) rotation: roll about z, then pitch about x, then yaw about y."""
    angles = [math.radians(angle) for angle in (yaw, pitch, roll)]
    (cy, cp, cr), (sy, sp, sr) = ([f(angle) for angle in angles] for f in (math.cos, math.sin))
    about_y = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    about_x = np.array([[1, 0, 0], [0, cp, -sp], [0, sp, cp]])
    about_z = np.array([[cr, -sr, 0], [sr, cr, 0], [0, 0, 1]])
    return np.asarray(about_y @ about_x @ about_z)


def merge(shapes: Sequence[TriangleMesh]) -> TriangleMesh:
    """Merge meshes into one."""
    starts = np.cumsum([0] + [len(s.vertices) for s in shapes[:-1]])
    return TriangleMesh(
        np.concatenate([s.vertices for s in shapes]),
        np.concatenate([s.faces + k for s, k in zip(shapes, starts, strict=True)]).astype(np.int32),
        np.concatenate([s.normals for s in shapes]),
        np.concatenate([s.uv for s in shapes]),
    )


def lengths(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (N, 1) lengths of (N, 3) vectors."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None])


def cross(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (N, 3) cross products; several times as fast as numpy's for few rows."""
    after, before = [1, 2, 0], [2, 0, 1]
    return np.asarray(a[:, after] * b[:, before] - a[:, before] * b[:, after])


def quad(origin: Vector, along_u: Vector, along_v: Vector) -> TriangleMesh:
    """Make a parallelogram from a corner and two sides, each (3,)."""
    start, u, v = (np.asarray(x, np.float64) for x in (origin, along_u, along_v))
    normal = cross(u[None], v[None])
    long, high, area = (math.sqrt(float(a @ a)) for a in (u, v, normal[0]))
    return TriangleMesh(
        np.stack([start, start + u, start + u + v, start + v]),
        np.array([[0, 1, 2], [0, 2, 3]], np.int32),
        np.repeat(normal / area, 4, 0),
        np.array([[0.0, 0.0], [long, 0.0], [long, high], [0.0, high]]),
    )


def box(center: Vector, size: Vector, *, yaw: float = 0.0) -> TriangleMesh:
    """Make a box around `center`; `size` (x, y, z). On upright sides u runs level: bricks lie level."""
    return boxes(np.asarray(center)[None], size, yaw=yaw)


def boxes(centers: Vector, sizes: Vector, *, yaw: float | Vector = 0.0) -> TriangleMesh:
    """Make many boxes as one shape: slats, books, bars, windows.

    Args:
        centers: (N, 3).
        sizes: (3,) for all or (N, 3), in (x, y, z) of each box.
        yaw: one for all or (N,).
    """
    corners, facing, uv = _cube()
    middle = np.asarray(centers, np.float64)
    size = np.broadcast_to(np.asarray(sizes, np.float64), middle.shape)
    count = len(middle)
    vertices = corners * size[:, None]
    normals = np.broadcast_to(facing, vertices.shape)
    angle = np.broadcast_to(np.radians(yaw), (count,))
    if angle.any():
        turns = np.zeros((count, 3, 3))
        turns[:, 0, 0] = turns[:, 2, 2] = np.cos(angle)
        turns[:, 2, 0] = np.sin(angle)
        turns[:, 0, 2] = -turns[:, 2, 0]
        turns[:, 1, 1] = 1.0
        vertices, normals = vertices @ turns, normals @ turns
    vertices = vertices + middle[:, None]
    start = 24 * np.arange(count, dtype=np.int32)[:, None]
    first = 4 * np.arange(6, dtype=np.int32)[:, None, None]
    corner = (first + np.array([[0, 1, 2], [0, 2, 3]], np.int32)).reshape(12, 3)
    return TriangleMesh(
        vertices.reshape(-1, 3),
        (start[:, :, None] + corner).reshape(-1, 3).astype(np.int32),
        normals.reshape(-1, 3).copy(),
        np.einsum("kcx,nx->nkc", uv, size).reshape(-1, 2),
    )


@cache
def _cube() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return corners (24, 3), normals (24, 3) and uv (24, 2, 3) per size of the unit cube."""
    axes, sheets, lengths = np.eye(3), [], []
    for axis in range(3):
        # u runs level on the upright sides.
        across, along = ((axis + 2) % 3, (axis + 1) % 3)[:: 1 if axis == 0 else -1]
        for sign in (-0.5, 0.5):
            corner = sign * axes[axis] - (axes[across] + axes[along]) / 2
            sheets.append(quad(corner, axes[across], axes[along]))
            lengths.append(
                np.stack(
                    [
                        [0 * axes[0]] * 2,
                        [axes[across], 0 * axes[0]],
                        [axes[across], axes[along]],
                        [0 * axes[0], axes[along]],
                    ]
                )
            )
    cube = merge(sheets)
    return cube.vertices, cube.normals, np.concatenate(lengths)


def lathe(profile: Vector, *, sectors: int = 20) -> TriangleMesh:
    """Revolve a profile about the vertical: (P, 2) of (radius, height above the origin).

    Smooth around, and smooth along the profile except where neighboring pieces meet at more than
    about 40 degrees: there the corner stays sharp.
    """
    line = np.asarray(profile, np.float64)
    # A point given twice, such as the tip of a cone, has no direction.
    line = line[np.append(True, np.abs(line[1:] - line[:-1]).max(1) > 1e-12)]
    rings, normals, along = _profile_rings(line)
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    cos, sin = np.cos(angle), np.sin(angle)
    radius, height = rings[:, 0, None], rings[:, 1, None]
    vertices = np.stack([radius * cos, -height + 0 * cos, radius * sin], -1)
    outward, upward = normals[:, 0, None], normals[:, 1, None]
    turned = np.stack([outward * cos, -upward + 0 * cos, outward * sin], -1)
    around = angle * float(np.abs(line[:, 0]).max())
    uv = np.stack([np.repeat(around[None], len(rings), 0), along[:, None] + 0 * angle], -1)
    return TriangleMesh(
        vertices.reshape(-1, 3),
        _strips(len(rings), sectors + 1, 2),
        turned.reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def _profile_rings(
    line: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return both ends of each profile segment, with normals (shared at small bends) and arc length."""
    step = line[1:] - line[:-1]
    length = np.maximum(np.hypot(step[:, 0], step[:, 1]), 1e-9)
    flat = np.stack([step[:, 1], -step[:, 0]], -1) / length[:, None]
    start, end = flat.copy(), flat.copy()
    smooth = np.einsum("ij,ij->i", flat[:-1], flat[1:]) > 0.77
    shared = (flat[:-1] + flat[1:])[smooth]
    shared /= np.hypot(shared[:, 0], shared[:, 1])[:, None]
    end[:-1][smooth] = start[1:][smooth] = shared
    rings = np.stack([line[:-1], line[1:]], 1).reshape(-1, 2)
    along = np.concatenate([[0.0], np.cumsum(length)])
    ends = np.stack([along[:-1], along[1:]], 1).reshape(-1)
    return rings, np.stack([start, end], 1).reshape(-1, 2), ends


@lru_cache(maxsize=512)
def _strips(rings: int, count: int, step: int) -> NDArray[np.int32]:
    """Return triangles between rings k and k + 1 of `count` vertices, for every `step`-th k."""
    low = count * np.arange(0, rings - 1, step)[:, None] + np.arange(count - 1)
    high = low + count
    first = np.stack([low, low + 1, high], -1)
    second = np.stack([low + 1, high + 1, high], -1)
    return np.concatenate([first, second], 1).reshape(-1, 3).astype(np.int32)


def cylinder(
    foot: Vector, radius: float, height: float, *, top: float | None = None, sectors: int = 16
) -> TriangleMesh:
    """Make a closed round column standing on `foot`; `top` is the upper radius, 0 for a cone."""
    upper = radius if top is None else top
    body = lathe([[0.0, 0.0], [radius, 0.0], [upper, height], [0.0, height]], sectors=sectors)
    return body.moved(foot)


def sphere(center: Vector, radius: float | Vector, *, sectors: int = 20) -> TriangleMesh:
    """Make a ball or, with (3,) radii, an ellipsoid."""
    return _ball(sectors).moved(center, scale=radius)


@cache
def _ball(sectors: int) -> TriangleMesh:
    """Make the unit ball, whose normals are its places."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, max(6, sectors // 2) + 1)
    turned = lathe(np.stack([np.cos(angle), np.sin(angle)], -1), sectors=sectors)
    return TriangleMesh(turned.vertices, turned.faces, turned.vertices, turned.uv)


def tube(path: Vector, radius: float | Vector, *, sectors: int = 8) -> TriangleMesh:
    """Make a round tube along (P, 3) points: pipes, legs, branches, cables, handles.

    Args:
        path: places it goes through, at least two.
        radius: one, or one for each point.
        sectors: corners of its cross-section.
    """
    points = np.asarray(path, np.float64)
    radii = np.broadcast_to(np.asarray(radius, np.float64), (len(points),))
    steps = points[1:] - points[:-1]
    # Along the tube at each point: the mean of the steps before and after it.
    forward = np.concatenate([steps[:1], steps[:-1] + steps[1:], steps[-1:]])
    forward = forward / np.maximum(lengths(forward), 1e-9)
    helper = np.eye(3)[np.abs(forward).max(0).argmin()]
    side = cross(forward, helper[None])
    side = side / np.maximum(lengths(side), 1e-9)
    other = cross(forward, side)
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    ring = side[:, None] * np.cos(angle)[:, None] + other[:, None] * np.sin(angle)[:, None]
    vertices = points[:, None] + ring * radii[:, None, None]
    along = np.concatenate([[0.0], lengths(steps)[:, 0].cumsum()])
    uv = np.stack(
        [np.repeat((angle * radii.mean())[None], len(points), 0), along[:, None] + 0 * angle], -1
    )
    return TriangleMesh(
        vertices.reshape(-1, 3),
        _strips(len(points), sectors + 1, 1),
        ring.reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def extrude(outline: Vector, depth: float) -> TriangleMesh:
    """Extrude a convex (P, 2) outline of (x, height) along z by `depth`, centered on z = 0."""
    line = np.asarray(outline, np.float64)
    flat = np.stack([line[:, 0], -line[:, 1], np.zeros(len(line))], -1)
    fan = np.stack([np.zeros(len(line) - 2), np.arange(1, len(line) - 1), np.arange(2, len(line))])
    ends = [
        TriangleMesh(
            flat + np.array([0, 0, side * depth / 2]),
            fan.T.astype(np.int32),
            np.repeat([[0.0, 0.0, side]], len(line), 0),
            line.copy(),
        )
        for side in (-1.0, 1.0)
    ]
    back = flat - np.array([0, 0, depth / 2])
    walls = [
        quad(a, b - a, [0.0, 0.0, depth])
        for a, b in zip(back, np.roll(back, -1, 0), strict=True)
        if np.linalg.norm(b - a) > 1e-9
    ]
    return merge([*ends, *walls])


def ground(
    heights: NDArray[np.float64], x: NDArray[np.float64], z: NDArray[np.float64]
) -> TriangleMesh:
    """Make a landscape over a grid.

    Args:
        heights: (Z, X) height above y = 0.
        x: (X,) increasing places across; spacing may vary.
        z: (Z,) increasing places forward.
    """
    gx, gz = np.meshgrid(x, z)
    down_z, down_x = np.gradient(heights, z, x)
    normals = np.stack([-down_x, -np.ones_like(heights), -down_z], -1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return TriangleMesh(
        np.stack([gx, -heights, gz], -1).reshape(-1, 3),
        _strips(len(z), len(x), 1),
        normals.reshape(-1, 3),
        np.stack([gx, gz], -1).reshape(-1, 2),
    )
