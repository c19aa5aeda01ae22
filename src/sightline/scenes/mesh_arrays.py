"""Build many meshes at once, and curved ones: box and rod arrays, repeated shapes, cushions, cloth.

A street holds thousands of slats, leaves and window frames. Built one by one they would cost more than
rendering, so these functions take arrays of N positions and return one merged mesh.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.meshes import TriangleMesh, Vector, cross, ground, tube
from sightline.scenes.sampling import Random

Floats = NDArray[np.float64]


def box_array(
    centers: Vector, sizes: Vector | float, *, yaw: float | Floats = 0.0, sides: str = "xXyYzZ"
) -> TriangleMesh:
    """Make N boxes.

    Args:
        centers: (N, 3) middles, [m].
        sizes: (N, 3) or (3,) as (x, y, z), or one for cubes, [m].
        yaw: turn about the vertical, one or (N,), [degrees].
        sides: which sides to make: x for the one at −x, X for the one at +x, and so on. Leave out
            those that are never visible.
    """
    corner, normal, pick = _unit_box(sides)
    count = len(corner)
    middle = np.atleast_2d(np.asarray(centers, np.float64))
    size = np.broadcast_to(np.asarray(sizes, np.float64), middle.shape)
    local = corner * size[:, None]
    uv = (local + size[:, None] / 2)[:, np.arange(count)[:, None], pick]
    normals = np.broadcast_to(normal, local.shape)
    if np.any(yaw):
        turn = np.radians(np.broadcast_to(yaw, (len(middle),)))[:, None]
        local, normals = _rotate_y(local, turn), _rotate_y(normals, turn)
    return TriangleMesh(
        (local + middle[:, None]).reshape(-1, 3),
        _repeat_faces(_quad_faces(len(sides)), count, len(middle)),
        np.ascontiguousarray(normals).reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def quads(corners: Vector, along_u: Vector, along_v: Vector) -> TriangleMesh:
    """Make N parallelograms from a corner and two sides, each (N, 3) or (3,)."""
    start, u, v = (np.atleast_2d(np.asarray(a, np.float64)) for a in (corners, along_u, along_v))
    count = max(len(start), len(u), len(v))
    start, u, v = (np.broadcast_to(a, (count, 3)) for a in (start, u, v))
    long, high = np.linalg.norm(u, axis=1), np.linalg.norm(v, axis=1)
    zero = np.zeros(count)
    uv = np.stack([zero, zero, long, zero, long, high, zero, high], -1)
    return TriangleMesh(
        np.stack([start, start + u, start + u + v, start + v], 1).reshape(-1, 3),
        _repeat_faces(_QUAD_FACES, 4, count),
        np.repeat(unit_rows(np.cross(u, v)), 4, 0),
        uv.reshape(-1, 2),
    )


def rods(
    starts: Vector, ends: Vector, radius: Any, top: Any = None, *, sectors: int = 4
) -> TriangleMesh:
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
    return TriangleMesh(
        ends_at.reshape(-1, 3),
        _repeat_faces(_rod_faces(sectors), 2 * (sectors + 1), len(a)),
        np.repeat(ring[:, None], 2, 1).reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def leaf_quads(
    base: Floats, along: Floats, width: Any, rng: Random, middle: Floats | None = None
) -> TriangleMesh:
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
    return TriangleMesh(
        np.stack([base, waist + half, base + along, waist - half], 1).reshape(-1, 3),
        _repeat_faces(_QUAD_FACES, 4, len(base)),
        np.repeat(normals, 4, 0),
        uv.reshape(-1, 2),
    )


def repeat_upright(
    shape: TriangleMesh, to: Vector, *, yaw: Any = 0.0, scale: Any = 1.0
) -> TriangleMesh:
    """Make N copies at `to` (N, 3), each with a `yaw` [degrees] and a `scale`, (N,) or (N, 3)."""
    places = np.atleast_2d(np.asarray(to, np.float64))
    count = len(places)
    factor = np.asarray(scale, np.float64)
    factor = np.broadcast_to(factor[:, None] if factor.ndim == 1 else factor, (count, 3))
    turn = np.radians(np.broadcast_to(yaw, (count,)))[:, None]
    local = _rotate_y(shape.vertices * factor[:, None], turn)
    normals = _rotate_y(shape.normals / factor[:, None], turn)
    uv = shape.uv * np.cbrt(np.abs(np.prod(factor, 1)))[:, None, None]
    return TriangleMesh(
        (local + places[:, None]).reshape(-1, 3),
        _repeat_faces(shape.faces, len(shape.vertices), count),
        unit_rows(normals.reshape(-1, 3)),
        uv.reshape(-1, 2),
    )


def select_faces(shape: TriangleMesh, keep: NDArray[np.bool_]) -> TriangleMesh:
    """Return the faces of a mesh where `keep` (F,) is True, without unused vertices."""
    used, faces = np.unique(shape.faces[keep], return_inverse=True)
    return TriangleMesh(
        shape.vertices[used],
        faces.reshape(-1, 3).astype(np.int32),
        shape.normals[used],
        shape.uv[used],
    )


_QUAD_FACES = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


@cache
def _quad_faces(count: int) -> NDArray[np.int32]:
    """Return triangles of `count` separate quads."""
    return _repeat_faces(_QUAD_FACES, 4, count)


@cache
def _unit_box(sides: str) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return corners (4·S, 3) and normals of the unit box, and the (4·S, 2) axes of u and v."""
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
    """Return triangles of one open rod: two rings of `sectors + 1` vertices."""
    a = np.arange(sectors)
    b = a + sectors + 1
    return np.stack([a, a + 1, b, a + 1, b + 1, b], -1).reshape(-1, 3).astype(np.int32)


def _repeat_faces(faces: NDArray[np.int32], stride: int, count: int) -> NDArray[np.int32]:
    """Return (count·F, 3) repeated faces, each copy offset by `stride` vertices."""
    shift = np.arange(count, dtype=np.int32)[:, None, None] * np.int32(stride)
    return (faces[None] + shift).reshape(-1, 3)


def _rotate_y(points: Floats, yaw: Floats) -> Floats:
    """Rotate (N, P, 3) about the vertical by (N, 1) radians, +z toward +x."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    x, z = points[..., 0], points[..., 2]
    return np.stack([x * cos + z * sin, points[..., 1] + 0 * cos, z * cos - x * sin], -1)


def unit_rows(vectors: Floats) -> Floats:
    """Normalize (N, 3) vectors; zero vectors become up (−y)."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 1e-12, vectors / np.maximum(length, 1e-12), [0.0, -1.0, 0.0])


def surface_from_grid(grid: Floats) -> TriangleMesh:
    """Build a smooth surface over a grid (S, P, 3) of S cross-sections with P points."""
    rows, columns = grid.shape[:2]
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).reshape(-1)
    faces = np.stack(
        [np.stack([a, a + 1, a + columns], -1), np.stack([a + 1, a + columns + 1, a + columns], -1)]
    )
    points = grid.reshape(-1, 3).astype(np.float64)
    triangles = faces.reshape(-1, 3).astype(np.int32)
    u = _arc_lengths(grid.mean(1))
    v = _arc_lengths(grid[rows // 2])
    uv = np.stack(np.broadcast_arrays(u[:, None], v), -1)
    return TriangleMesh(
        points, triangles, vertex_normals(points, triangles), uv.reshape(-1, 2).astype(np.float64)
    )


def vertex_normals(points: Floats, faces: NDArray[np.int32]) -> Floats:
    """Return (V, 3) area-weighted vertex normals; up for vertices without faces."""
    a, b, c = (points[faces[:, k]] for k in range(3))
    flat = cross(b - a, c - a)  # twice the area long, so the sum is weighted by area
    corners = faces.T.reshape(-1)
    total = [np.bincount(corners, np.tile(flat[:, k], 3), len(points)) for k in range(3)]
    return unit_rows(np.stack(total, -1))


def _arc_lengths(line: Floats) -> Floats:
    """Return (P,) arc lengths along (P, 3) points, [m]."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def polygon(outline: Floats) -> TriangleMesh:
    """Make a flat convex sheet of (P, 3) corners in order."""
    count = len(outline)
    normal = np.cross(outline[1] - outline[0], outline[count // 2 + 1] - outline[0])
    normal = normal / np.linalg.norm(normal)
    u = outline[1] - outline[0]
    u = u / np.linalg.norm(u)
    v = np.cross(normal, u)
    k = np.arange(1, count - 1)
    relative = outline - outline[0]
    return TriangleMesh(
        np.asarray(outline, np.float64),
        np.stack([0 * k, k, k + 1], -1).astype(np.int32),
        np.repeat(normal[None], count, 0),
        np.stack([relative @ u, relative @ v], -1),
    )


def repeat_shape(
    shape: TriangleMesh,
    places: Vector,
    *,
    yaw: Vector | float = 0.0,
    pitch: Vector | float = 0.0,
    roll: Vector | float = 0.0,
    scale: Vector | float = 1.0,
) -> TriangleMesh:
    """Repeat a mesh at (N, 3) positions, each rotated and scaled as by `TriangleMesh.moved`.

    Angles are one for all or (N,); `scale` is one for all, (N,) or (N, 3).
    """
    to = np.asarray(places, np.float64)
    count = len(to)
    factors = np.asarray(scale, np.float64)
    factors = np.broadcast_to(factors[:, None] if factors.ndim == 1 else factors, (count, 3))
    angles = [np.broadcast_to(np.radians(a), (count,)) for a in (yaw, pitch, roll)]
    turns = _rotations(*angles).transpose(0, 2, 1)
    vertices = (shape.vertices * factors[:, None]) @ turns + to[:, None]
    normals = (shape.normals / factors[:, None]) @ turns
    normals /= np.sqrt(np.einsum("nij,nij->ni", normals, normals))[..., None]
    start = len(shape.vertices) * np.arange(count, dtype=np.int32)[:, None, None]
    size = np.cbrt(np.abs(factors).prod(1))[:, None, None]
    return TriangleMesh(
        vertices.reshape(-1, 3),
        (shape.faces + start).reshape(-1, 3),
        normals.reshape(-1, 3),
        (shape.uv * size).reshape(-1, 2),
    )


def _rotations(
    yaw: NDArray[np.float64], pitch: NDArray[np.float64], roll: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (N, 3, 3) rotations of (N,) angles in radians, in the order of `meshes.rotation`."""
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)

    def about(rows: list[list[NDArray[np.float64]]]) -> NDArray[np.float64]:
        return np.stack([np.stack(row, -1) for row in rows], -2)

    (cy, cp, cr), (sy, sp, sr) = ([f(a) for a in (yaw, pitch, roll)] for f in (np.cos, np.sin))
    about_y = about([[cy, zero, sy], [zero, one, zero], [-sy, zero, cy]])
    about_x = about([[one, zero, zero], [zero, cp, -sp], [zero, sp, cp]])
    about_z = about([[cr, -sr, zero], [sr, cr, zero], [zero, zero, one]])
    return np.asarray(about_y @ about_x @ about_z)


def cushion(center: Vector, size: Vector, *, hard: int = 4) -> TriangleMesh:
    """Make a padded box around `center`; `hard` is 2 for an ellipsoid, 4 for a pillow, 8 for a box."""
    return _unit_cushion(hard).moved(center, scale=np.asarray(size, np.float64) / 2)


@cache
def _unit_cushion(hard: int) -> TriangleMesh:
    """Make |x|^hard + |y|^hard + |z|^hard = 1."""
    points, faces = _cube_sphere(4)
    radius = (np.abs(points) ** hard).sum(1) ** (-1.0 / hard)
    vertices = points * radius[:, None]
    normals = np.sign(vertices) * np.abs(vertices) ** (hard - 1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return TriangleMesh(vertices, faces, normals, vertices[:, :2] + vertices[:, 2:] * [0.6, 0.5])


@cache
def _cube_sphere(cells: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return unit directions (V, 3) in a grid on the faces of a cube, and triangles (F, 3)."""
    # Closer toward the edges, where a padded box bends.
    line = np.sin(np.linspace(-np.pi / 2, np.pi / 2, cells + 1))
    sheet = ground(np.ones((cells + 1, cells + 1)), line, line)
    sides = []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            sides.append(np.roll(sheet.vertices * [1.0, sign, 1.0], axis, axis=1))
    points, same = np.unique(np.round(np.concatenate(sides), 9), axis=0, return_inverse=True)
    count = len(sheet.vertices)
    faces = np.concatenate([sheet.faces + count * k for k in range(6)])
    points = (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float64)
    own = same.reshape(-1)[faces]
    # Opposite sides of a cube are wound alike: turn those around that face inwards.
    a, b, c = (points[own[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", cross(b - a, c - a), a) < 0
    return points, np.where(inward[:, None], own[:, ::-1], own).astype(np.int32)


def lump(rng: Random, size: Vector, *, rough: float = 0.2, cells: int = 6) -> TriangleMesh:
    """Make an uneven ball standing on the origin: stones, heaps of clothes, loaves.

    `rough` is how far the surface goes in and out as a share of its radius.
    """
    points, faces = _cube_sphere(cells)
    waves = rng.normal(0.0, 1.8, (5, 3))
    phase = rng.uniform(0, 2 * np.pi, 5)
    push = 1.0 + rough * np.sin(points @ waves.T + phase).sum(1) / 2.2
    half = np.asarray(size, np.float64) / 2
    vertices = points * push[:, None] * half
    vertices[:, 1] = np.minimum(vertices[:, 1], half[1] * 0.75) - half[1] * 0.75
    normals = vertex_normals(vertices, faces)
    return TriangleMesh(vertices, faces, normals, vertices[:, :2] + vertices[:, 2:] * [0.6, 0.5])


def ring(
    center: Vector, radius: float, thick: float, *, sectors: int = 20, sides: int = 7
) -> TriangleMesh:
    """Make a level ring (torus) of this radius; `thick` is the radius of its own cross-section."""
    round_ = _unit_ring(round(max(thick / radius, 0.02), 2), sectors, sides)
    return round_.moved(center, scale=float(radius))


@cache
def _unit_ring(thick: float, sectors: int, sides: int) -> TriangleMesh:
    """Make a ring of radius one."""
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    path = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], -1)
    open_ring = tube(path, thick, sectors=sides)
    around, turn = np.meshgrid(angle, np.linspace(0.0, 2 * np.pi, sides + 1), indexing="ij")
    normals = np.stack(
        [np.cos(around) * np.cos(turn), np.sin(turn), np.sin(around) * np.cos(turn)], -1
    ).reshape(-1, 3)
    middle = np.repeat(path, sides + 1, 0)
    return TriangleMesh(middle + thick * normals, open_ring.faces, normals, open_ring.uv)


def drape(
    rng: Random, width: float, height: float, *, folds: float = 6.0, deep: float = 0.05
) -> TriangleMesh:
    """Make a cloth that hangs from y = −height down to y = 0 along x, with upright folds.

    `folds` is how many there are over the width, `deep` how far they go to and fro along z.
    """
    columns = int(min(64, 4 + 6 * folds))
    s = np.linspace(0.0, 1.0, columns)
    phase, second = rng.uniform(0, 2 * np.pi, 2)
    turn = 2 * np.pi * folds * s
    wave = np.sin(turn + phase) + 0.35 * np.sin(0.37 * turn + second)
    slope = 2 * np.pi * folds * (np.cos(turn + phase) + 0.13 * np.cos(0.37 * turn + second))
    rows = np.array([0.0, 0.5, 1.0])
    swing = np.array([1.25, 0.9, 0.7])[:, None] * deep
    x = (s - 0.5) * width
    vertices = np.stack(
        [np.tile(x, (3, 1)), np.repeat(-rows[:, None] * height, columns, 1), swing * wave], -1
    )
    normals = np.stack([-swing * slope / width, np.zeros((3, columns)), np.ones((3, columns))], -1)
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    flat = ground(np.zeros((3, columns)), s, rows)
    uv = np.stack(
        [np.tile(s * width * 1.3, (3, 1)), np.repeat(rows[:, None] * height, columns, 1)], -1
    )
    return TriangleMesh(
        vertices.reshape(-1, 3), flat.faces, normals.reshape(-1, 3), uv.reshape(-1, 2)
    )
