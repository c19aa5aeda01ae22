"""Collisions whose two speeds come from a piece of the plane, and the convex hull of such a piece."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from sightline.errors import InputError, SightlineError
from sightline.physics.probes.parts import SPEEDS, Plane, Probe, Rectangle
from sightline.physics.types import Doubles, Samples
from sightline.physics.worlds.draws import between, stream
from sightline.physics.worlds.make import simulate
from sightline.physics.worlds.ranges import ranges
from sightline.physics.worlds.sampling import fits, place_pair

#: Draws of one sample before we give up; the smallest piece takes about 30.
_MOST = 100_000


def make_plane(part: Plane, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make collisions by their places in the row of a part."""
    init = np.empty((len(indexes), 4))
    radius = np.array(ranges("collision").radius)
    inside, outside = _table(part.inside), _table(part.outside)
    if not _draw(inside, outside, np.array(SPEEDS), radius, seed, tag, indexes, init):
        raise SightlineError(f"no pair of speeds was found in {_MOST} draws")
    return simulate("collision", init, place_pair(init, seed=seed, tag=tag + 1, indexes=indexes))


def inside_hull(probe: Probe, init: Doubles) -> NDArray[np.bool_]:
    """Say which collisions have speeds within the convex hull of what the probe trains on.

    Args:
        probe: one on collisions.
        init: (M, 4): r1, r2, v1, v2.

    Returns:
        (M,) bool.
    """
    if not isinstance(probe.train, Plane):
        raise InputError(f"{probe.name} is not about the speeds of collisions")
    # None of the probes cuts off a corner of its pieces, so the corners span the hull.
    corners = [(v1, v2) for first, second in probe.train.inside for v1 in first for v2 in second]
    sides = ConvexHull(np.array(corners)).equations
    return np.all(init[:, 2:4] @ sides[:, :2].T + sides[:, 2] <= 1e-9, axis=1)


def _table(rectangles: tuple[Rectangle, ...]) -> Doubles:
    return np.array(rectangles, np.float64).reshape(-1, 2, 2)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _within(rectangles: Any, v1: float, v2: float) -> bool:
    for n in range(len(rectangles)):
        first, second = rectangles[n, 0], rectangles[n, 1]
        if first[0] <= v1 <= first[1] and second[0] <= v2 <= second[1]:
            return True
    return False


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _draw(
    inside: Any,
    outside: Any,
    speeds: Any,
    radius: Any,
    seed: int,
    tag: int,
    indexes: Any,
    init: Any,
) -> bool:
    """Draw evenly over the whole plane until the pair lies in the piece and fits into the picture."""
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m])
        for attempt in range(_MOST):
            place = 4 * attempt
            for k in range(2):
                init[m, k] = between(key, place + k, radius[0], radius[1])
                init[m, 2 + k] = between(key, place + 2 + k, speeds[k, 0], speeds[k, 1])
            r1, r2, v1, v2 = init[m]
            if _within(inside, v1, v2) and not _within(outside, v1, v2) and fits(r1, r2, v1, v2):
                break
        else:
            return False
    return True
