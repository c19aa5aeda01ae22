"""Geometry that is not straight: cushions, lumps, rings, hanging cloth, shapes spread about."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.shape import cross
from sightline.scenes.shapes import Shape, Vector, ground, tube


def spread(
    shape: Shape,
    places: Vector,
    *,
    yaw: Vector | float = 0.0,
    pitch: Vector | float = 0.0,
    roll: Vector | float = 0.0,
    scale: Vector | float = 1.0,
) -> Shape:
    """Repeat a shape at (N, 3) places, each turned and scaled as by `Shape.moved`, as one shape.

    Angles are one for all or (N,); `scale` is one for all, (N,) or (N, 3).
    """
    to = np.asarray(places, np.float64)
    count = len(to)
    factors = np.asarray(scale, np.float64)
    factors = np.broadcast_to(factors[:, None] if factors.ndim == 1 else factors, (count, 3))
    angles = [np.broadcast_to(np.radians(a), (count,)) for a in (yaw, pitch, roll)]
    turns = _turns(*angles).transpose(0, 2, 1)
    vertices = (shape.vertices * factors[:, None]) @ turns + to[:, None]
    normals = (shape.normals / factors[:, None]) @ turns
    normals /= np.sqrt(np.einsum("nij,nij->ni", normals, normals))[..., None]
    start = len(shape.vertices) * np.arange(count, dtype=np.int32)[:, None, None]
    size = np.cbrt(np.abs(factors).prod(1))[:, None, None]
    return Shape(
        vertices.reshape(-1, 3),
        (shape.faces + start).reshape(-1, 3),
        normals.reshape(-1, 3),
        (shape.uv * size).reshape(-1, 2),
    )


def _turns(
    yaw: NDArray[np.float64], pitch: NDArray[np.float64], roll: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(N, 3, 3) rotations of (N,) angles in radians, in the order of `shapes.rotation`."""
    zero, one = np.zeros_like(yaw), np.ones_like(yaw)

    def about(rows: list[list[NDArray[np.float64]]]) -> NDArray[np.float64]:
        return np.stack([np.stack(row, -1) for row in rows], -2)

    (cy, cp, cr), (sy, sp, sr) = ([f(a) for a in (yaw, pitch, roll)] for f in (np.cos, np.sin))
    about_y = about([[cy, zero, sy], [zero, one, zero], [-sy, zero, cy]])
    about_x = about([[one, zero, zero], [zero, cp, -sp], [zero, sp, cp]])
    about_z = about([[cr, -sr, zero], [sr, cr, zero], [zero, zero, one]])
    return np.asarray(about_y @ about_x @ about_z)


def cushion(centre: Vector, size: Vector, *, hard: int = 4) -> Shape:
    """Make a padded box around `centre`; `hard` is 2 for an ellipsoid, 4 for a pillow, 8 for a box."""
    return _cushion(hard).moved(centre, scale=np.asarray(size, np.float64) / 2)


@cache
def _cushion(hard: int) -> Shape:
    """Make |x|^hard + |y|^hard + |z|^hard = 1."""
    points, faces = _cube_ball(4)
    radius = (np.abs(points) ** hard).sum(1) ** (-1.0 / hard)
    vertices = points * radius[:, None]
    normals = np.sign(vertices) * np.abs(vertices) ** (hard - 1)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return Shape(vertices, faces, normals, vertices[:, :2] + vertices[:, 2:] * [0.6, 0.5])


@cache
def _cube_ball(cells: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Give unit directions (V, 3) in a grid on the faces of a cube, and triangles (F, 3) between."""
    # Closer towards the edges, where a padded box bends.
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


def smooth_normals(vertices: NDArray[np.float64], faces: NDArray[np.int32]) -> NDArray[np.float64]:
    """(V, 3) unit normals: the mean of those of the faces around each vertex."""
    a, b, c = (vertices[faces[:, k]] for k in range(3))
    flat = cross(b - a, c - a)
    total = np.zeros_like(vertices)
    for axis in range(3):
        total[:, axis] = np.bincount(
            faces.T.reshape(-1), np.tile(flat[:, axis], 3), minlength=len(vertices)
        )
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12))


def lump(rng: np.random.Generator, size: Vector, *, rough: float = 0.2, cells: int = 6) -> Shape:
    """Make an uneven ball standing on the origin: stones, heaps of clothes, loaves.

    `rough` is how far the surface goes in and out as a share of its radius.
    """
    points, faces = _cube_ball(cells)
    waves = rng.normal(0.0, 1.8, (5, 3))
    phase = rng.uniform(0, 2 * np.pi, 5)
    push = 1.0 + rough * np.sin(points @ waves.T + phase).sum(1) / 2.2
    half = np.asarray(size, np.float64) / 2
    vertices = points * push[:, None] * half
    vertices[:, 1] = np.minimum(vertices[:, 1], half[1] * 0.75) - half[1] * 0.75
    normals = smooth_normals(vertices, faces)
    return Shape(vertices, faces, normals, vertices[:, :2] + vertices[:, 2:] * [0.6, 0.5])


def ring(
    centre: Vector, radius: float, thick: float, *, sectors: int = 20, sides: int = 7
) -> Shape:
    """Make a level ring (torus) of this radius; `thick` is the radius of its own cross-section."""
    round_ = _ring(round(max(thick / radius, 0.02), 2), sectors, sides)
    return round_.moved(centre, scale=float(radius))


@cache
def _ring(thick: float, sectors: int, sides: int) -> Shape:
    """Make a ring of radius one."""
    angle = np.linspace(0.0, 2 * np.pi, sectors + 1)
    path = np.stack([np.cos(angle), np.zeros_like(angle), np.sin(angle)], -1)
    open_ring = tube(path, thick, sectors=sides)
    around, turn = np.meshgrid(angle, np.linspace(0.0, 2 * np.pi, sides + 1), indexing="ij")
    normals = np.stack(
        [np.cos(around) * np.cos(turn), np.sin(turn), np.sin(around) * np.cos(turn)], -1
    ).reshape(-1, 3)
    middle = np.repeat(path, sides + 1, 0)
    return Shape(middle + thick * normals, open_ring.faces, normals, open_ring.uv)


def drape(
    rng: np.random.Generator, width: float, height: float, *, folds: float = 6.0, deep: float = 0.05
) -> Shape:
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
    return Shape(vertices.reshape(-1, 3), flat.faces, normals.reshape(-1, 3), uv.reshape(-1, 2))
