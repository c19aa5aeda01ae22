"""The training sets of 30 thousand, 300 thousand and 3 million: grids over radius and speed.

Uniform motion takes evenly spaced values, a parabola values drawn at random and sorted, a collision the
grid of both radii and both speeds. Cells come in shuffled order; cell k of a seed is always the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Doubles
from sightline.physics.worlds.draws import tag_of
from sightline.physics.worlds.ranges import check_scenario, ranges
from sightline.physics.worlds.sampling import all_fit

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
