"""Geometry without colour: boxes, turned and drawn bodies, sheets, landscapes; all as `Shape`.

Each has unit normals for shading (corners are repeated where faces meet at an edge, shared where a
surface is round) and texture coordinates in metres along the surface. Up is −y; lengths in [m], angles
in [degrees].
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.boxes import box, boxes, quad
from sightline.scenes.shape import Shape, Vector, cross, lengths, merge, rotation

__all__ = [
    "Shape",
    "Vector",
    "box",
    "boxes",
    "cylinder",
    "extrude",
    "ground",
    "lathe",
    "merge",
    "quad",
    "rotation",
    "sphere",
    "tube",
]


def lathe(profile: Vector, *, sectors: int = 20) -> Shape:
    """Turn a profile about the vertical: (P, 2) of (radius, height above the origin), in order.

    Smooth around, and smooth along the profile except where neighbouring pieces meet at more than
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
    return Shape(
        vertices.reshape(-1, 3),
        _strips(len(rings), sectors + 1, 2),
        turned.reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def _profile_rings(
    line: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Both ends of each piece of a profile, with normals (shared where it bends little) and length."""
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
    """Triangles between rings k and k + 1 of `count` vertices each, for every `step`-th ring k."""
    low = count * np.arange(0, rings - 1, step)[:, None] + np.arange(count - 1)
    high = low + count
    first = np.stack([low, low + 1, high], -1)
    second = np.stack([low + 1, high + 1, high], -1)
    return np.concatenate([first, second], 1).reshape(-1, 3).astype(np.int32)


def cylinder(
    foot: Vector, radius: float, height: float, *, top: float | None = None, sectors: int = 16
) -> Shape:
    """Make a closed round column standing on `foot`; `top` is the upper radius, 0 for a cone."""
    upper = radius if top is None else top
    body = lathe([[0.0, 0.0], [radius, 0.0], [upper, height], [0.0, height]], sectors=sectors)
    return body.moved(foot)


def sphere(centre: Vector, radius: float | Vector, *, sectors: int = 20) -> Shape:
    """Make a ball or, with (3,) radii, an ellipsoid."""
    return _ball(sectors).moved(centre, scale=radius)


@cache
def _ball(sectors: int) -> Shape:
    """Make the unit ball, whose normals are its places."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, max(6, sectors // 2) + 1)
    turned = lathe(np.stack([np.cos(angle), np.sin(angle)], -1), sectors=sectors)
    return Shape(turned.vertices, turned.faces, turned.vertices, turned.uv)


def tube(path: Vector, radius: float | Vector, *, sectors: int = 8) -> Shape:
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
    return Shape(
        vertices.reshape(-1, 3),
        _strips(len(points), sectors + 1, 1),
        ring.reshape(-1, 3),
        uv.reshape(-1, 2),
    )


def extrude(outline: Vector, depth: float) -> Shape:
    """Push a convex (P, 2) outline of (x, height) through `depth` along z, centred on z = 0."""
    line = np.asarray(outline, np.float64)
    flat = np.stack([line[:, 0], -line[:, 1], np.zeros(len(line))], -1)
    fan = np.stack([np.zeros(len(line) - 2), np.arange(1, len(line) - 1), np.arange(2, len(line))])
    ends = [
        Shape(
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


def ground(heights: NDArray[np.float64], x: NDArray[np.float64], z: NDArray[np.float64]) -> Shape:
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
    return Shape(
        np.stack([gx, -heights, gz], -1).reshape(-1, 3),
        _strips(len(z), len(x), 1),
        normals.reshape(-1, 3),
        np.stack([gx, gz], -1).reshape(-1, 2),
    )
