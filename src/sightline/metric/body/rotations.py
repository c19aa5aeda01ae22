"""Rotations of many joints at once: rotation vectors, matrices and derivatives.

A rotation vector (3,) has the direction of the axis and the angle in [rad] as its length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def cross_matrix(vectors: Array) -> Array:
    """Return (…, 3, 3) matrices of the cross product with (…, 3) vectors from the left."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    rows = [zero, -z, y, z, zero, -x, -y, x, zero]
    return np.stack(rows, -1).reshape(*x.shape, 3, 3)


def rotation_matrix(vectors: Array) -> Array:
    """Return (…, 3, 3) rotation matrices of (…, 3) rotation vectors (Rodrigues' formula)."""
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    across = cross_matrix(vectors)
    safe = np.maximum(angle, 1e-8)
    # 1 - cos x = 2 sin²(x/2), without cancellation for small x.
    versine = 2 * np.sin(safe / 2) ** 2
    return np.asarray(
        np.eye(3) + np.sin(safe) / safe * across + versine / safe**2 * (across @ across)
    )


def rotation_vector(matrices: Array) -> Array:
    """Return (…, 3) rotation vectors, of length at most π, of (…, 3, 3) rotation matrices."""
    m = matrices
    trace = np.trace(m, axis1=-2, axis2=-1)
    # Via quaternions, computed from their largest component, which is stable at half turns.
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


def inverse_right_jacobian(vectors: Array) -> Array:
    """Return the (…, 3, 3) inverse right Jacobian of SO(3) at (…, 3) rotation vectors.

    `rotation_vector(rotation_matrix(v) @ rotation_matrix(d))` is `v + inverse_right_jacobian(v) @
    d` for small d.
    """
    angle = np.linalg.norm(vectors, axis=-1)[..., None, None]
    across = cross_matrix(vectors)
    safe = np.maximum(angle, 1e-4)
    # The vector flips at half a turn; clamp just below.
    tangent = np.tan(np.minimum(safe, np.pi - 1e-3) / 2)
    bend = np.where(angle > 1e-3, 1 / safe**2 - 1 / (2 * safe * tangent), 1 / 12)
    return np.asarray(np.eye(3) + across / 2 + bend * (across @ across))


def smallest_rotation(start: Array, end: Array) -> Array:
    """Return the (3, 3) smallest rotation of one direction (3,) to another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    cosine = float(a @ b)
    if cosine < -0.9999:  # opposite directions: any perpendicular axis
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        axis /= np.linalg.norm(axis)
        return np.asarray(2 * np.outer(axis, axis) - np.eye(3))
    across = cross_matrix(np.cross(a, b))
    return np.asarray(np.eye(3) + across + across @ across / (1 + cosine))


def kabsch(start: Array, end: Array) -> Array:
    """Return the (3, 3) rotation that best aligns (N, 3) vectors with (N, 3) others (Kabsch)."""
    left, _, right = np.linalg.svd(end.T @ start)
    handed = np.array([1.0, 1.0, np.linalg.det(left @ right)])
    return np.asarray((left * handed) @ right)
