"""Rotations for many joints at once: vectors to matrices and back, and how they change.

A rotation vector is (3,): its direction the axis, its length the angle in [rad].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def cross_matrix(vectors: Array) -> Array:
    """(…, 3, 3) matrices that take the cross product with (…, 3) vectors from the left."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    rows = [zero, -z, y, z, zero, -x, -y, x, zero]
    return np.stack(rows, -1).reshape(*x.shape, 3, 3)


def to_matrix(vectors: Array) -> Array:
    """(…, 3, 3) rotations of (…, 3) rotation vectors (Rodrigues' formula)."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    across = cross_matrix(vectors)
    safe = np.maximum(angle, 1e-8)
    # 1 - cos x, without losing digits where x is small.
    versine = 2 * np.sin(safe / 2) ** 2
    return np.asarray(
        np.eye(3) + np.sin(safe) / safe * across + versine / safe**2 * (across @ across)
    )


def to_vector(matrices: Array) -> Array:
    """(…, 3) rotation vectors, at most π long, of (…, 3, 3) rotations."""
    m = matrices
    trace = np.trace(m, axis1=-2, axis2=-1)
    # Via quaternions: each component is found from the largest, so half turns do no harm.
    squares = np.stack(
        [
            1 + trace,
            1 + 2 * m[..., 0, 0] - trace,
            1 + 2 * m[..., 1, 1] - trace,
            1 + 2 * m[..., 2, 2] - trace,
        ],
        -1,
    )
    a, b, c = (m[..., j, i] - m[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    d, e, f = (m[..., j, i] + m[..., i, j] for i, j in ((1, 2), (2, 0), (0, 1)))
    w, x, y, z = np.moveaxis(squares, -1, 0)
    table = np.stack(
        [
            np.stack([w, a, b, c], -1),
            np.stack([a, x, f, e], -1),
            np.stack([b, f, y, d], -1),
            np.stack([c, e, d, z], -1),
        ],
        -2,
    )
    largest = squares.argmax(-1)[..., None, None]
    quaternion = np.take_along_axis(table, largest, -2)[..., 0, :]
    quaternion = quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True)
    quaternion = quaternion * np.where(quaternion[..., :1] < 0, -1.0, 1.0)
    sine = np.linalg.norm(quaternion[..., 1:], axis=-1, keepdims=True)
    angle = 2 * np.arctan2(sine, quaternion[..., :1])
    factor = np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
    return np.asarray(factor * quaternion[..., 1:])


def change_of_vector(vectors: Array) -> Array:
    """(…, 3, 3) how the vector of a rotation changes when a small one is applied before it.

    `to_vector(to_matrix(v) @ to_matrix(d))` is `v + change_of_vector(v) @ d` for small d: the inverse
    of the right Jacobian of SO(3).
    """
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    across = cross_matrix(vectors)
    safe = np.maximum(angle, 1e-4)
    # Half a turn is where a vector jumps to its opposite; just short of it the change is steep.
    tangent = np.tan(np.minimum(safe, np.pi - 1e-3) / 2)
    bend = np.where(angle > 1e-3, 1 / safe**2 - 1 / (2 * safe * tangent), 1 / 12)
    return np.asarray(np.eye(3) + across / 2 + bend * (across @ across))


def shortest(start: Array, end: Array) -> Array:
    """(3, 3) smallest rotation that turns one direction (3,) into another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    cosine = float(a @ b)
    if cosine < -0.9999:  # straight back: about any axis across
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        axis /= np.linalg.norm(axis)
        return np.asarray(2 * np.outer(axis, axis) - np.eye(3))
    across = cross_matrix(np.cross(a, b))
    return np.asarray(np.eye(3) + across + across @ across / (1 + cosine))


def best_turn(start: Array, end: Array) -> Array:
    """(3, 3) rotation that takes (N, 3) directions nearest to (N, 3) others (Kabsch)."""
    left, _, right = np.linalg.svd(end.T @ start)
    handed = np.array([1.0, 1.0, np.linalg.det(left @ right)])
    return np.asarray((left * handed) @ right)
