"""Sample the parts of probes: single bodies from cells of parameters, collisions from speed regions."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from sightline.errors import InputError, SightlineError
from sightline.physics.probes.catalog import probe_of
from sightline.physics.probes.parts import COLORS, SPEEDS, Cells, Plane, Probe, Rectangle, Scenes
from sightline.physics.probes.scenes import make_gates, make_spatial, make_temporal
from sightline.physics.types import WORLD_SIDE, Doubles, Samples
from sightline.physics.worlds import closed_form as exact
from sightline.physics.worlds.sampling import (
    between,
    check_address,
    fits,
    number,
    place_pair,
    place_single,
    stream,
    tag_of,
)
from sightline.physics.worlds.simulation import simulate
from sightline.physics.worlds.splits import ranges


def make_cells(part: Cells, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make samples by their places in the row of a part; they start where uniform motion starts."""
    shares = np.array([cell.share for cell in part.cells])
    ends = np.cumsum(shares / shares.sum())
    bounds = np.array([(cell.radius, cell.speed) for cell in part.cells])
    chosen = np.empty(len(indexes), np.int64)
    mirrored = np.empty(len(indexes), np.bool_)
    init = np.empty((len(indexes), 2))
    _draw_cells(ends, bounds, part.flip, seed, tag, indexes, chosen, mirrored, init)
    starts = place_single(init, falling=False, seed=seed, tag=tag + 1, indexes=indexes)
    positions, velocities = exact.free(starts, _to_the_right(init), falling=False)
    positions[mirrored, ..., 0] = WORLD_SIDE - positions[mirrored, ..., 0]
    velocities[mirrored, ..., 0] *= -1
    color = np.array([cell.color for cell in part.cells])[chosen]
    shape = np.array([int(cell.shape) for cell in part.cells])[chosen]
    columns = np.column_stack([init, color, shape])[:, : part.columns]
    return Samples(
        "uniform",
        columns,
        positions,
        velocities,
        init[:, :1].copy(),
        np.array(COLORS, np.uint8)[color][:, None],
        shape[:, None].astype(np.uint8),
    )


def _to_the_right(init: Doubles) -> Doubles:
    velocities = np.zeros((len(init), 1, 2))
    velocities[:, 0, 0] = init[:, 1]
    return velocities


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _draw_cells(
    ends: Any,
    bounds: Any,
    flip: bool,
    seed: int,
    tag: int,
    indexes: Any,
    chosen: Any,
    mirrored: Any,
    init: Any,
) -> None:
    for m in range(len(indexes)):
        key = stream(seed, tag, indexes[m])
        at = number(key, 0)
        cell = 0
        while cell < len(ends) - 1 and at >= ends[cell]:
            cell += 1
        chosen[m] = cell
        for k in range(2):
            init[m, k] = between(key, 1 + k, bounds[cell, k, 0], bounds[cell, k, 1])
        mirrored[m] = flip and number(key, 3) < 0.5


#: Draws of one sample before we give up; the smallest piece takes about 30.
_MOST = 100_000


def make_plane(part: Plane, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make collisions by their places in the row of a part."""
    init = np.empty((len(indexes), 4))
    radius = np.array(ranges("collision").radius)
    inside, outside = _table(part.inside), _table(part.outside)
    if not _draw_plane(inside, outside, np.array(SPEEDS), radius, seed, tag, indexes, init):
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
def _draw_plane(
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


def make_probe(
    probe: Probe | str,
    part: Literal["train", "test"],
    count: int,
    seed: int = 0,
    start: int = 0,
) -> Samples:
    """Make samples `start` to `start + count` of what a probe trains on or tests on.

    Sample k depends on the probe, the part, the seed and k alone. Motion is exact.

    Args:
        probe: or its name.
        part: `train` or `test`; with the same seed they share no sample.
        count: how many.
        seed: of all random choices.
        start: number of the first.
    """
    check_address(seed, start, count)
    probe = probe_of(probe) if isinstance(probe, str) else probe
    if part not in ("train", "test"):
        raise InputError(f"no part of a probe is called {part!r}", remedy="use train or test")
    chosen = probe.train if part == "train" else probe.test
    tag = tag_of("probe", probe.name, part)
    indexes = np.arange(start, start + count)
    if isinstance(chosen, Cells):
        return make_cells(chosen, seed=seed, tag=tag, indexes=indexes)
    if isinstance(chosen, Plane):
        return make_plane(chosen, seed=seed, tag=tag, indexes=indexes)
    if isinstance(chosen, Scenes):
        scenes = make_spatial if chosen.world == "spatial" else make_temporal
        return scenes(chosen.kinds, seed=seed, tag=tag, indexes=indexes)
    return make_gates(chosen, seed=seed, tag=tag, indexes=indexes)
