"""Choosing a view: of several random cameras, one that stands free and sees near and far things."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.scenes.world import View

Floats = NDArray[np.float64]

#: Rays across and down the picture that a candidate is judged by.
COLUMNS, ROWS = 7, 5


def as_point(place: Floats) -> tuple[float, float, float]:
    """Turn (3,) into the plain numbers a `View` holds."""
    return float(place[0]), float(place[1]), float(place[2])


def best_view(
    rng: np.random.Generator,
    candidates: list[View],
    boxes: Floats,
    *,
    room: Floats | None = None,
    near: float = 0.3,
) -> View:
    """Choose among views: not inside a thing, little of the picture closer than `near`, rich in depth.

    Args:
        rng: shuffles views that are about as good.
        candidates: at least one.
        boxes: (N, 2, 3) lowest and highest corners of the things, [m].
        room: (2, 3) lowest and highest corner of the walls around; None outdoors.
        near: closer than this nothing should fill much of the picture, [m].
    """
    eyes = np.array([view.eye for view in candidates], np.float64)
    clear = _clearance(eyes, boxes)
    away, thing = hits(eyes, _rays(candidates), boxes, room)
    crowded = (away < near).mean(1)
    spread = np.log(np.clip(away, 0.1, 50.0)).std(1)
    kinds = np.array([len(set(row)) for row in thing.tolist()])
    full = (thing >= 0).mean(1)
    score = spread + np.minimum(kinds, 12) / 6 + np.minimum(full, 0.6) + 0.6 * rng.random(len(eyes))
    score -= (
        3.0 * np.maximum(crowded - 0.15, 0) + 100.0 * (clear < 0.08) - 5.0 * np.maximum(-clear, 0)
    )
    return candidates[int(score.argmax())]


def _clearance(eyes: Floats, boxes: Floats) -> Floats:
    """(K,) distance of each eye to the nearest box, below zero inside of one."""
    if not len(boxes):
        return np.full(len(eyes), np.inf)
    outside = np.maximum(boxes[None, :, 0] - eyes[:, None], eyes[:, None] - boxes[None, :, 1])
    far = np.linalg.norm(np.maximum(outside, 0), axis=-1)
    return np.asarray((far + np.minimum(outside.max(-1), 0)).min(1))


def _rays(views: list[View]) -> Floats:
    """(K, R, 3) unit directions over each picture, 4:3, without roll."""
    eyes = np.array([view.eye for view in views], np.float64)
    forward = np.array([view.target for view in views], np.float64) - eyes
    forward /= np.linalg.norm(forward, axis=1, keepdims=True)
    right = np.stack([forward[:, 2], 0 * forward[:, 0], -forward[:, 0]], -1)
    length = np.linalg.norm(right, axis=1, keepdims=True)
    right = np.where(length > 1e-6, right / np.maximum(length, 1e-6), [[1.0, 0.0, 0.0]])
    down = np.cross(forward, right)
    half = np.tan(np.radians([view.fov for view in views]) / 2)[:, None, None]
    u, v = np.meshgrid(np.linspace(-0.9, 0.9, COLUMNS), np.linspace(-0.68, 0.68, ROWS))
    across, along = u.reshape(1, -1, 1) * half, v.reshape(1, -1, 1) * half
    rays = forward[:, None] + across * right[:, None] + along * down[:, None]
    return np.asarray(rays / np.linalg.norm(rays, axis=-1, keepdims=True))


def hits(
    eyes: Floats, rays: Floats, boxes: Floats, room: Floats | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Distance to the first box along each ray, and which box it is.

    Args:
        eyes: (K, 3).
        rays: (K, R, 3) unit directions.
        boxes: (N, 2, 3).
        room: (2, 3) box around everything, or None.

    Returns:
        (K, R) distance in [m], at most 100, and (K, R) number of the box, −1 for the walls or nothing.
    """
    inverse = 1.0 / np.where(np.abs(rays) < 1e-9, 1e-9, rays)
    limit = np.full(rays.shape[:2], 100.0)
    if room is not None:
        ends = (room[None, :, None] - eyes[:, None, None]) * inverse[:, None]
        limit = ends.max(1).min(-1)
    if not len(boxes):
        return limit, np.full(limit.shape, -1)
    low = (boxes[None, None, :, 0] - eyes[:, None, None]) * inverse[:, :, None]
    high = (boxes[None, None, :, 1] - eyes[:, None, None]) * inverse[:, :, None]
    enter, leave = np.minimum(low, high).max(-1), np.maximum(low, high).min(-1)
    enter = np.where((enter < leave) & (leave > 0), np.maximum(enter, 0), np.inf)
    first = enter.argmin(-1)
    away = np.take_along_axis(enter, first[..., None], -1)[..., 0]
    return np.minimum(away, limit), np.where(away < limit, first, -1)
