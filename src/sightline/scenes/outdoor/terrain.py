"""Build terrain: random relief, landscapes around a camera, hills, water planes, paths, rocks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.mesh_arrays import Floats, quads, vertex_normals
from sightline.scenes.meshes import TriangleMesh
from sightline.scenes.sampling import Random

#: Height [m] above y = 0 at places (x, z) [m], arrays of one shape.
Height = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_TABLE = 32


def fractal(
    rng: Random, wave: float, height: float, *, octaves: int = 4, gain: float = 0.45
) -> Height:
    """Return fractal relief: bumps about `wave` [m] across and ±`height` [m], with finer octaves."""
    tables = rng.uniform(-1.0, 1.0, (octaves, _TABLE, _TABLE))
    shifts = rng.uniform(0.0, _TABLE, (octaves, 2))

    def at(x: Floats, z: Floats) -> Floats:
        total = np.zeros(np.broadcast(x, z).shape)
        for k in range(octaves):
            step = 2.0**k / wave
            # Rotate each octave, or the lattices would line up into a visible grid.
            c, s = np.cos(1.3 * k), np.sin(1.3 * k)
            u = (x * c + z * s) * step + shifts[k, 0]
            v = (z * c - x * s) * step + shifts[k, 1]
            total += gain**k * _lattice(tables[k], u, v)
        return total * height

    return at


def _lattice(table: Floats, u: Floats, v: Floats) -> Floats:
    """Interpolate a periodic table at (u, v) with smoothstep weights."""
    i, j = np.floor(u), np.floor(v)
    fu, fv = u - i, v - j
    fu, fv = fu * fu * (3 - 2 * fu), fv * fv * (3 - 2 * fv)
    a, b = i.astype(np.int64) % _TABLE, j.astype(np.int64) % _TABLE
    a1, b1 = (a + 1) % _TABLE, (b + 1) % _TABLE
    low = table[a, b] * (1 - fu) + table[a1, b] * fu
    high = table[a, b1] * (1 - fu) + table[a1, b1] * fu
    return low * (1 - fv) + high * fv


def ridged(relief: Height, height: float) -> Height:
    """Return sharp crests of up to `height` [m] where a relief of ±1 crosses zero (ridged noise)."""
    return lambda x, z: height * (1.0 - np.abs(relief(x, z)))


def beyond(start: float, end: float, relief: Height) -> Height:
    """Fade a relief in between `start` and `end` [m] from the origin."""

    def at(x: Floats, z: Floats) -> Floats:
        t = np.clip((np.hypot(x, z) - start) / (end - start), 0.0, 1.0)
        return t * t * (3 - 2 * t) * relief(x, z)

    return at


def total(*reliefs: Height) -> Height:
    """Return the sum of reliefs."""
    return lambda x, z: sum((r(x, z) for r in reliefs[1:]), start=reliefs[0](x, z))


def landscape(
    height: Height,
    *,
    center: tuple[float, float] = (0.0, 0.0),
    yaw: float = 0.0,
    near: float = 0.4,
    far: float = 600.0,
    ahead: int = 46,
    rings: int = 34,
) -> TriangleMesh:
    """Make ground all around a place, finer close by and in the direction of view.

    Args:
        height: height of the land, at (x, z).
        center: (x, z) of the camera, [m].
        yaw: where the camera looks, [degrees] from +z toward +x.
        near: radius of the innermost ring, [m]. Rings grow geometrically, so that the triangles look
            equally large in the picture.
        far: radius of the outermost ring, [m].
        ahead: rays within 65 degrees of the view; a quarter as many behind.
        rings: number of rings.
    """
    front = np.linspace(-65.0, 65.0, ahead)
    back = np.linspace(65.0, 295.0, ahead // 4 + 2)[1:]
    angle = np.radians(np.concatenate([front, back]) + yaw)
    radius = np.concatenate([[0.0], np.geomspace(near, far, rings)])
    x = center[0] + radius[:, None] * np.sin(angle)
    z = center[1] + radius[:, None] * np.cos(angle)
    y = height(x, z)
    vertices = np.stack([x, -y, z], -1)
    out, around = np.gradient(vertices, axis=0), np.gradient(vertices, axis=1)
    normals = np.cross(around, out)
    normals[0] = [0.0, -1.0, 0.0]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return TriangleMesh(
        vertices.reshape(-1, 3),
        _fan_faces(len(radius), len(angle)),
        normals.reshape(-1, 3),
        np.stack([x, z], -1).reshape(-1, 2),
    )


@cache
def _fan_faces(rings: int, rays: int) -> NDArray[np.int32]:
    """Return triangles of a disc of rings × rays whose first ring is a point."""
    ring, ray = np.meshgrid(np.arange(rings - 1), np.arange(rays - 1), indexing="ij")
    a = ring * rays + ray
    outer = np.stack([a, a + rays + 1, a + rays], -1).reshape(-1, 3)
    inner = np.stack([a, a + 1, a + rays + 1], -1)[1:].reshape(-1, 3)
    return np.concatenate([outer, inner]).astype(np.int32)


def horizon_hills(rng: Random, distance: float, height: float) -> TriangleMesh:
    """Make a ring of far hills around the origin, a curtain with a broken upper edge."""
    angle = np.linspace(0.0, 2 * np.pi, 97)
    bumps = fractal(rng, 1.0, 0.5, octaves=4, gain=0.55)
    around = rng.uniform(2.0, 5.0)
    crest = 0.5 + bumps(np.cos(angle) * around, np.sin(angle) * around)
    crest = height * np.clip(crest, 0.03, None)
    rows = []
    for share, out in ((-0.05, 0.85), (0.45, 0.93), (1.0, 1.0)):
        r = distance * out
        rows.append(np.stack([r * np.sin(angle), -crest * share, r * np.cos(angle)], -1))
    vertices = np.stack(rows)
    inward = -vertices * [1.0, 0.0, 1.0]
    inward /= np.linalg.norm(inward, axis=-1, keepdims=True)
    normals = inward * 0.6 + np.array([0.0, -0.8, 0.0])
    a = (np.arange(2)[:, None] * 97 + np.arange(96)).reshape(-1)
    faces = np.concatenate(
        [np.stack([a, a + 1, a + 97], -1), np.stack([a + 1, a + 98, a + 97], -1)]
    )
    uv = np.stack([np.broadcast_to(angle * distance, (3, 97)), -vertices[..., 1]], -1)
    return TriangleMesh(
        vertices.reshape(-1, 3), faces.astype(np.int32), normals.reshape(-1, 3), uv.reshape(-1, 2)
    )


def plane(
    level: float, reach: float = 600.0, center: tuple[float, float] = (0.0, 0.0)
) -> TriangleMesh:
    """Make one level square of side 2·reach at height `level` above y = 0: water, far ground."""
    return quads(
        [[center[0] - reach, -level, center[1] - reach]], [[2 * reach, 0, 0]], [[0, 0, 2 * reach]]
    )


def path(line: Floats, width: float, height: Height, lift: float = 0.02) -> TriangleMesh:
    """Make a strip along (P, 2) points (x, z), draped on the land a little above it."""
    forward = np.gradient(line, axis=0)
    forward /= np.maximum(np.linalg.norm(forward, axis=1, keepdims=True), 1e-9)
    side = np.stack([forward[:, 1], -forward[:, 0]], -1)
    across = np.linspace(-0.5, 0.5, 4) * width
    at = line[:, None] + side[:, None] * across[:, None]
    away = np.linalg.norm(line - line[0], axis=1)[:, None]
    # Far triangles of the land are coarse: there the strip has to clear their chords.
    y = height(at[..., 0], at[..., 1]) + lift + 0.003 * away
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])
    uv = np.stack(np.broadcast_arrays(across + width / 2, along[:, None]), -1)
    count = len(line)
    a = (np.arange(count - 1)[:, None] * 4 + np.arange(3)).reshape(-1)
    faces = np.concatenate([np.stack([a, a + 1, a + 4], -1), np.stack([a + 1, a + 5, a + 4], -1)])
    normals = np.broadcast_to([0.0, -1.0, 0.0], (count * 4, 3)).copy()
    return TriangleMesh(
        np.stack([at[..., 0], -y, at[..., 1]], -1).reshape(-1, 3),
        faces.astype(np.int32),
        normals,
        uv.reshape(-1, 2),
    )


#: Different stones there are; size, proportions and direction vary on top.
ROCK_VARIANTS = 10


@cache
def rock_shape(variant: int, fine: int = 2) -> TriangleMesh:
    """Return a rock of about 1 m radius around the origin with 20·4^fine triangles."""
    rng = np.random.default_rng([73, variant % ROCK_VARIANTS])
    points, faces = _icosphere(fine)
    waves = rng.normal(size=(7, 3)) * np.geomspace(0.9, 5.0, 7)[:, None]
    phase = rng.uniform(0, 2 * np.pi, 7)
    heights = (np.sin(points @ waves.T + phase) * np.geomspace(0.16, 0.03, 7)).sum(1)
    # A few flat cuts make it broken stone rather than dough.
    radius = 1.0 + heights
    for _ in range(rng.integers(2, 7)):
        cut = rng.normal(size=3)
        cut /= np.linalg.norm(cut)
        reach = points @ cut
        radius = np.where(reach > 0.2, np.minimum(radius, rng.uniform(0.65, 0.95) / reach), radius)
    vertices = points * radius[:, None]
    return TriangleMesh(
        vertices,
        faces,
        vertex_normals(vertices, faces),
        np.stack([vertices @ [1, 0, 0.7], vertices @ [0, 1, 0.7]], -1),
    )


@cache
def _icosphere(fine: int) -> tuple[Floats, NDArray[np.int32]]:
    """Make the unit ball of 20·4^fine triangles."""
    t = (1 + 5**0.5) / 2
    points = np.array([
        [-1, t, 0], [1, t, 0], [-1, -t, 0], [1, -t, 0], [0, -1, t], [0, 1, t],
        [0, -1, -t], [0, 1, -t], [t, 0, -1], [t, 0, 1], [-t, 0, -1], [-t, 0, 1],
    ], np.float64)  # fmt: skip
    faces = np.array([
        [0, 11, 5], [0, 5, 1], [0, 1, 7], [0, 7, 10], [0, 10, 11], [1, 5, 9], [5, 11, 4],
        [11, 10, 2], [10, 7, 6], [7, 1, 8], [3, 9, 4], [3, 4, 2], [3, 2, 6], [3, 6, 8],
        [3, 8, 9], [4, 9, 5], [2, 4, 11], [6, 2, 10], [8, 6, 7], [9, 8, 1],
    ], np.int64)  # fmt: skip
    for _ in range(fine):
        edges = np.sort(
            np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1
        )
        unique, number = np.unique(edges, axis=0, return_inverse=True)
        middle = number.reshape(3, -1).T + len(points)
        points = np.concatenate([points, points[unique].mean(1)])
        (a, b, c), (ab, bc, ca) = faces.T, middle.T
        faces = np.concatenate(
            [np.stack(f, -1) for f in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))]
        )
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, faces.astype(np.int32)
