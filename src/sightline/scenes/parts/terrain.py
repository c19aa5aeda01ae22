"""The lie of the land: smooth random heights, landscapes around a camera, hills, water, paths."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.parts.many import Floats, cards
from sightline.scenes.shapes import Shape

#: Height [m] above y = 0 at places (x, z) [m], arrays of one shape.
Height = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]

_TABLE = 32


def fractal(
    rng: np.random.Generator, wave: float, height: float, *, octaves: int = 4, gain: float = 0.45
) -> Height:
    """Random relief: bumps about `wave` [m] across and ±`height` [m], with finer ones on top."""
    tables = rng.uniform(-1.0, 1.0, (octaves, _TABLE, _TABLE))
    shifts = rng.uniform(0.0, _TABLE, (octaves, 2))

    def at(x: Floats, z: Floats) -> Floats:
        total = np.zeros(np.broadcast(x, z).shape)
        for k in range(octaves):
            step = 2.0**k / wave
            # Turned by an odd angle per octave, or the lattices would line up into a grid.
            c, s = np.cos(1.3 * k), np.sin(1.3 * k)
            u = (x * c + z * s) * step + shifts[k, 0]
            v = (z * c - x * s) * step + shifts[k, 1]
            total += gain**k * _lattice(tables[k], u, v)
        return total * height

    return at


def _lattice(table: Floats, u: Floats, v: Floats) -> Floats:
    """Values of a periodic table at (u, v), blended smoothly between its points."""
    i, j = np.floor(u), np.floor(v)
    fu, fv = u - i, v - j
    fu, fv = fu * fu * (3 - 2 * fu), fv * fv * (3 - 2 * fv)
    a, b = i.astype(np.int64) % _TABLE, j.astype(np.int64) % _TABLE
    a1, b1 = (a + 1) % _TABLE, (b + 1) % _TABLE
    low = table[a, b] * (1 - fu) + table[a1, b] * fu
    high = table[a, b1] * (1 - fu) + table[a1, b1] * fu
    return low * (1 - fv) + high * fv


def ridged(relief: Height, height: float) -> Height:
    """Sharp crests of up to `height` [m] where a relief of ±1 crosses zero: mountains."""
    return lambda x, z: height * (1.0 - np.abs(relief(x, z)))


def beyond(start: float, end: float, relief: Height) -> Height:
    """Let a relief rise between `start` and `end` [m] from the origin: a plain with hills around."""

    def at(x: Floats, z: Floats) -> Floats:
        t = np.clip((np.hypot(x, z) - start) / (end - start), 0.0, 1.0)
        return t * t * (3 - 2 * t) * relief(x, z)

    return at


def total(*reliefs: Height) -> Height:
    """Sum of reliefs."""
    return lambda x, z: sum((r(x, z) for r in reliefs[1:]), start=reliefs[0](x, z))


def flat(x: Floats, z: Floats) -> Floats:
    """No relief at all."""
    return np.zeros(np.broadcast(x, z).shape)


def landscape(
    height: Height,
    *,
    centre: tuple[float, float] = (0.0, 0.0),
    yaw: float = 0.0,
    near: float = 0.4,
    far: float = 600.0,
    ahead: int = 46,
    rings: int = 34,
) -> Shape:
    """Make ground all around a place, finer close by and in the direction of view.

    Args:
        height: of the land, at (x, z).
        centre: (x, z) of the camera, [m].
        yaw: where the camera looks, [degrees] from +z towards +x.
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
    x = centre[0] + radius[:, None] * np.sin(angle)
    z = centre[1] + radius[:, None] * np.cos(angle)
    y = height(x, z)
    vertices = np.stack([x, -y, z], -1)
    out, around = np.gradient(vertices, axis=0), np.gradient(vertices, axis=1)
    normals = np.cross(around, out)
    normals[0] = [0.0, -1.0, 0.0]
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    return Shape(
        vertices.reshape(-1, 3),
        _fan_faces(len(radius), len(angle)),
        normals.reshape(-1, 3),
        np.stack([x, z], -1).reshape(-1, 2),
    )


@cache
def _fan_faces(rings: int, rays: int) -> NDArray[np.int32]:
    """Triangles of a disc of rings × rays whose first ring is a point."""
    ring, ray = np.meshgrid(np.arange(rings - 1), np.arange(rays - 1), indexing="ij")
    a = ring * rays + ray
    outer = np.stack([a, a + rays + 1, a + rays], -1).reshape(-1, 3)
    inner = np.stack([a, a + 1, a + rays + 1], -1)[1:].reshape(-1, 3)
    return np.concatenate([outer, inner]).astype(np.int32)


def horizon_hills(rng: np.random.Generator, distance: float, height: float) -> Shape:
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
    return Shape(
        vertices.reshape(-1, 3), faces.astype(np.int32), normals.reshape(-1, 3), uv.reshape(-1, 2)
    )


def plane(level: float, reach: float = 600.0, centre: tuple[float, float] = (0.0, 0.0)) -> Shape:
    """Make one level square of side 2·reach at height `level` above y = 0: water, far ground."""
    return cards(
        [[centre[0] - reach, -level, centre[1] - reach]], [[2 * reach, 0, 0]], [[0, 0, 2 * reach]]
    )


def path(line: Floats, width: float, height: Height, lift: float = 0.02) -> Shape:
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
    return Shape(
        np.stack([at[..., 0], -y, at[..., 1]], -1).reshape(-1, 3),
        faces.astype(np.int32),
        normals,
        uv.reshape(-1, 2),
    )
