"""Training sets of 30 thousand, 300 thousand and 3 million samples: grids over radius and speed.

Uniform motion has evenly spaced values, a parabola random sorted values, a collision the grid of both
radii and both speeds. Cells come in shuffled order; cell k of a seed is always the same.

The `reference_…` functions reproduce the order of cells and the start positions of the released
generator. It shuffles its grid with NumPy's legacy generator and resets the seed for every shard of
1000 cells, so that start positions repeat from shard to shard. With its seed 42 and `box2d` mode this
is the released training data. Pairs are placed by its literal loop, including a branch that a later
one overrides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import FRAMES, Doubles
from sightline.physics.worlds.sampling import all_fit, tag_of
from sightline.physics.worlds.splits import check_scenario, ranges

_SINGLE = {"30K": (300, 100), "300K": (1000, 300), "3M": (3000, 1000)}

#: By scenario and name: how many speeds and how many radii, of each ball.
LEVELS: dict[str, dict[str, tuple[int, int]]] = {
    "uniform": _SINGLE,
    "parabola": _SINGLE,
    "collision": {"30K": (21, 8), "300K": (41, 14), "3M": (71, 26)},
}

#: Cells looked at at once when those that fit are sought, to keep memory small.
_BLOCK = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """A training set by its values and the order of its cells.

    Attributes:
        radii: (R,) values, ascending.
        speeds: (V,) values, ascending.
        balls: 1 or 2.
        order: (N,) numbers of the cells, shuffled; radii are the slow digits of such a number.
    """

    radii: Doubles
    speeds: Doubles
    balls: int
    order: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.order)

    def init(self, start: int, count: int) -> Doubles:
        """Return the (count, 2) radius, speed or (count, 4) r1, r2, v1, v2 of some cells."""
        return values(self.radii, self.speeds, self.balls, self.order[start : start + count])


def values(radii: Doubles, speeds: Doubles, balls: int, cells: NDArray[np.int64]) -> Doubles:
    """Return the parameters of cells given by number, (M, 2 balls)."""
    shape = (len(radii),) * balls + (len(speeds),) * balls
    digits = np.unravel_index(cells, shape)
    columns = [radii[d] for d in digits[:balls]] + [speeds[d] for d in digits[balls:]]
    return np.stack(columns, 1)


@lru_cache(maxsize=4)
def grid_of(scenario: str, level: str, preset: str = "code", seed: int = 0) -> Grid:
    """Lay out a training set: its values, and in which order its cells come.

    Pairs that no picture has room for are left out, as in the reference, so that a collision set is
    somewhat smaller than its grid.
    """
    speeds, radii = level_of(scenario, level)
    known = ranges(scenario, preset)
    rng = np.random.Generator(np.random.Philox(key=[seed, tag_of("grid", scenario, level, preset)]))
    if scenario == "parabola":
        speed_values = np.sort(rng.uniform(*known.speed, speeds))
        radius_values = np.sort(rng.uniform(*known.radius, radii))
    else:
        speed_values = np.linspace(*known.speed, speeds)
        radius_values = np.linspace(*known.radius, radii)
    balls = 2 if scenario == "collision" else 1
    order = rng.permutation((speeds * radii) ** balls)
    if scenario == "collision":
        order = order[_fitting(radius_values, speed_values, order)]
    return Grid(radius_values, speed_values, balls, order)


def level_of(scenario: str, level: str) -> tuple[int, int]:
    """Return how many speeds and how many radii a training set has."""
    check_scenario(scenario)
    known = LEVELS[scenario]
    if level not in known:
        raise InputError(f"no training set is called {level!r}", remedy=f"use {', '.join(known)}")
    return known[level]


def _fitting(radii: Doubles, speeds: Doubles, order: NDArray[np.int64]) -> NDArray[np.bool_]:
    kept = np.empty(len(order), np.bool_)
    for first in range(0, len(order), _BLOCK):
        block = slice(first, first + _BLOCK)
        kept[block] = all_fit(values(radii, speeds, 2, order[block]))
    return kept


SHARD = 1000
SEED = 42

_TRIES, _FAILED = 50, 10
#: Most numbers that a shard can ask for: three for each try of each pair, and a height.
_NUMBERS = SHARD * (3 * _TRIES + 1)


@lru_cache(maxsize=4)
def reference_grid(
    scenario: str, level: str, preset: str = "code", seed: int = SEED
) -> tuple[Grid, NDArray[np.int64]]:
    """Lay out a training set in the reference's order.

    Returns:
        The grid, its order still with the pairs that are dropped later; and the (N,) places in that
        order that are kept.
    """
    if not 0 <= seed < 2**32:
        raise InputError(f"the reference's generator has seeds from 0 to 2^32 − 1, got {seed}")
    speeds, radii = level_of(scenario, level)
    known = ranges(scenario, preset)
    rng = np.random.RandomState(seed)
    if scenario == "parabola":
        speed_values = np.sort(_scaled(rng.random_sample(speeds), *known.speed))
        radius_values = np.sort(_scaled(rng.random_sample(radii), *known.radius))
    else:
        speed_values = np.linspace(*known.speed, speeds)
        radius_values = np.linspace(*known.radius, radii)
    balls = 2 if scenario == "collision" else 1
    order = np.arange((speeds * radii) ** balls)
    rng.shuffle(order)
    grid = Grid(radius_values, speed_values, balls, order)
    if balls == 1:
        return grid, np.arange(len(order))
    kept = [_shard(grid, scenario, first, seed)[2] for first in range(0, len(order), SHARD)]
    return grid, np.flatnonzero(np.concatenate(kept))


def reference_cells(
    scenario: str, level: str, preset: str, seed: int, start: int, count: int
) -> tuple[Doubles, Doubles]:
    """Return parameters and start positions of samples `start` to `start + count` of the reference.

    Returns:
        (M, 2 or 4) parameters as in `init_streams`, and (M, balls, 2) centers (x, y) for motion to
        the right.
    """
    grid, kept = reference_grid(scenario, level, preset, seed)
    wanted = kept[start : start + count]
    init = np.empty((len(wanted), 2 * grid.balls))
    starts = np.empty((len(wanted), grid.balls, 2))
    for shard in np.unique(wanted // SHARD):
        here = wanted // SHARD == shard
        places = wanted[here] - shard * SHARD
        shard_init, shard_starts, _ = _shard(grid, scenario, int(shard) * SHARD, seed)
        init[here], starts[here] = shard_init[places], shard_starts[places]
    return init, starts


def _shard(
    grid: Grid, scenario: str, first: int, seed: int
) -> tuple[Doubles, Doubles, NDArray[np.bool_]]:
    """Return parameters, start positions, and which are kept, of the shard that begins at `first`."""
    init = values(grid.radii, grid.speeds, grid.balls, grid.order[first : first + SHARD])
    starts = np.empty((len(init), grid.balls, 2))
    kept = np.ones(len(init), np.bool_)
    if grid.balls == 1:
        _walk_singles(init, scenario == "parabola", _numbers(seed), starts)
    else:
        _walk_pairs(init, _numbers(seed), starts, kept)
    return init, starts, kept


@lru_cache(maxsize=2)
def _numbers(seed: int) -> Doubles:
    """Return the numbers that every shard begins anew."""
    return np.random.RandomState(seed).random_sample(_NUMBERS)


def _scaled(numbers: Doubles, low: float, high: float) -> Doubles:
    return numbers * (high - low) + low


# In what follows the order of operations is the reference's, because it decides the last bits.


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _walk_singles(init: Any, falling: bool, numbers: Any, starts: Any) -> None:
    used = 0
    for m in range(len(init)):
        radius, speed = init[m, 0], init[m, 1]
        furthest = 10.0 - (24 * speed * 0.01 * 10 + radius)
        if furthest < radius:
            furthest = radius + numbers[used] * 0.5
            used += 1
        top = (1 - 0.05) * 10.0 - radius
        bottom = top - 1.0 if falling else radius + 0.05 * 10.0
        starts[m, 0, 0] = numbers[used] * (furthest - radius) + radius
        starts[m, 0, 1] = numbers[used + 1] * (top - bottom) + bottom
        used += 2


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _walk_pairs(init: Any, numbers: Any, starts: Any, kept: Any) -> None:
    used = 0
    for m in range(len(init)):
        r1, r2, closing = init[m, 0], init[m, 1], init[m, 2] + init[m, 3]
        shortest = 8 * closing * 0.01 * 10 + r1 + r2
        longest = (float(FRAMES) - 8) * 0.01 * 10 * closing + r1 + r2
        x1 = x2 = 0.0
        failed = 0
        while failed < _TRIES:
            if r1 > 2 * r2:
                longest = min(shortest * 1.25, 10.0 - r1 - r2)
                used += 1
            if r2 > 2 * r1:
                longest = min(shortest * 1.25, 10.0 - r1 - r2)
            else:
                longest = min(longest, 10.0 - r1 - r2)
            distance = numbers[used] * (longest - shortest) + shortest
            right = 10.0 - r2 - distance
            left = right - 0.05 * 10.0 if r2 > 2 * r1 else r1
            x1 = max(numbers[used + 1] * (right - left) + left, r1)
            x2 = min(x1 + distance, 10.0 - r2)
            used += 2
            if closing > 0 and (x2 - x1 - r1 - r2) / closing / (0.01 * 10) < 8:
                failed += 1
            else:
                break
        tallest = max(r1, r2)
        low, high = tallest + 0.05 * 10.0, (1 - 0.05) * 10.0 - tallest
        starts[m, 0, 0], starts[m, 1, 0] = x1, x2
        starts[m, :, 1] = numbers[used] * (high - low) + low
        used += 1
        kept[m] = failed < _FAILED
