"""Distances between bodies, and when two of them may be in touch."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.types import Doubles

#: Free distance below which two bodies count as touching, in world units, beside what they cover in
#: half a frame: a collision between two frames shows at neither of them.
TOUCH = 0.15
#: Frames to both sides of a contact in which velocities may change.
REACH = 2


def gaps(positions: Doubles, sizes: Doubles) -> tuple[NDArray[np.int64], Doubles]:
    """Return (P, 2) pairs of bodies and the (T, P) free distance between them in world units.

    Args:
        positions: (T, N, 2) centres.
        sizes: (N,) radii.
    """
    bodies = len(sizes)
    if bodies == 2:  # by far the most frequent case, without a list
        pairs = np.array([[0, 1]])
    else:
        pairs = np.array(list(combinations(range(bodies), 2)), np.int64).reshape(-1, 2)
    apart = positions[:, pairs[:, 1]] - positions[:, pairs[:, 0]]
    return pairs, np.sqrt((apart**2).sum(axis=-1)) - sizes[pairs].sum(axis=1)


def contacts(
    velocities: Doubles,
    gap: Doubles,
    pairs: NDArray[np.int64],
    there: NDArray[np.bool_],
    frame_time: float,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (T, N) where a body may touch another, and the same with `REACH` frames to both sides.

    Args:
        velocities: (T, N, 2) in units/s.
        gap: (T, P) free distances.
        pairs: (P, 2) bodies.
        there: (T, N) where a body is in the picture: the place of one that has left means nothing.
        frame_time: seconds between frames.
    """
    frames, bodies = velocities.shape[:2]
    touching = np.zeros((frames, bodies), np.bool_)
    touched = touching.copy()
    for index, (one, two) in enumerate(pairs):
        relative = velocities[:, two] - velocities[:, one]
        speed = np.sqrt((relative**2).sum(axis=-1))
        close = np.flatnonzero(
            (gap[:, index] < TOUCH + 0.6 * frame_time * speed) & there[:, one] & there[:, two]
        )
        if len(close):
            first, last = int(close[0]), int(close[-1])
            touching[first : last + 1, [one, two]] = True
            touched[max(first - REACH, 0) : last + REACH + 1, [one, two]] = True
    return touching, touched


def depth_of_passage(positions: Doubles, sizes: Doubles, one: int, two: int) -> Doubles:
    """Return (T,) how deep two bodies are in each other at a frame or on the way to the next.

    Between frames they move on straight lines, so that two fast bodies cannot pass through each
    other unseen. In world units, zero where they are apart.
    """
    apart = positions[:, two] - positions[:, one]
    nearest = np.sqrt((apart**2).sum(axis=-1))
    if len(apart) > 1:
        step = apart[1:] - apart[:-1]
        length = (step**2).sum(axis=-1)
        share = -(apart[:-1] * step).sum(axis=-1) / np.maximum(length, 1e-12)
        middle = apart[:-1] + np.clip(share, 0, 1)[:, None] * step
        nearest[:-1] = np.minimum(nearest[:-1], np.sqrt((middle**2).sum(axis=-1)))
    return np.maximum(sizes[one] + sizes[two] - nearest, 0.0)
