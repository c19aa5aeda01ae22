"""Samples of one moving body from cells of radius, speed, colour and shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.probes.parts import COLOURS, Cells
from sightline.physics.types import WORLD_SIDE, Doubles, Samples
from sightline.physics.worlds import exact
from sightline.physics.worlds.draws import between, number, stream
from sightline.physics.worlds.sampling import place_single


def make_cells(part: Cells, *, seed: int, tag: int, indexes: NDArray[np.int64]) -> Samples:
    """Make samples by their places in the row of a part; they start where uniform motion starts."""
    shares = np.array([cell.share for cell in part.cells])
    ends = np.cumsum(shares / shares.sum())
    bounds = np.array([(cell.radius, cell.speed) for cell in part.cells])
    chosen = np.empty(len(indexes), np.int64)
    mirrored = np.empty(len(indexes), np.bool_)
    init = np.empty((len(indexes), 2))
    _draw(ends, bounds, part.flip, seed, tag, indexes, chosen, mirrored, init)
    starts = place_single(init, falling=False, seed=seed, tag=tag + 1, indexes=indexes)
    positions, velocities = exact.free(starts, _to_the_right(init), falling=False)
    positions[mirrored, ..., 0] = WORLD_SIDE - positions[mirrored, ..., 0]
    velocities[mirrored, ..., 0] *= -1
    colour = np.array([cell.colour for cell in part.cells])[chosen]
    shape = np.array([int(cell.shape) for cell in part.cells])[chosen]
    columns = np.column_stack([init, colour, shape])[:, : part.columns]
    return Samples(
        "uniform",
        columns,
        positions,
        velocities,
        init[:, :1].copy(),
        np.array(COLOURS, np.uint8)[colour][:, None],
        shape[:, None].astype(np.uint8),
    )


def _to_the_right(init: Doubles) -> Doubles:
    velocities = np.zeros((len(init), 1, 2))
    velocities[:, 0, 0] = init[:, 1]
    return velocities


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _draw(
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
