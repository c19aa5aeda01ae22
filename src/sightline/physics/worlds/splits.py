"""Which radii and speeds a split draws: in distribution, or out of it in one way or another.

A split is a set of levels; a level says for each parameter whether it is in distribution, below,
above, or one of the two outer parts at even chances. The levels are the reference's: for one ball r, v,
both; for two r1, v1, r1 r2, v1 v2, r1 v1, all four; `xl` only on the large side, `cross` small with
large. Within a split every level has the same share.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.physics.types import FRAME_TIME, WORLD_SIDE, Doubles
from sightline.physics.worlds.draws import between, number, stream
from sightline.physics.worlds.ranges import Ranges, check_scenario, ranges
from sightline.physics.worlds.sampling import FRAMES_BEFORE, fits

# Sides of a parameter.
ID, LOW, HIGH, OUT = range(4)
Level = tuple[int, ...]

_SINGLE_OOD: dict[str, Level] = {"ood-r": (OUT, ID), "ood-v": (ID, OUT), "ood-rv": (OUT, OUT)}
_PAIR_OOD: dict[str, Level] = {
    "ood-r1": (OUT, ID, ID, ID),
    "ood-v1": (ID, ID, OUT, ID),
    "ood-r1r2": (OUT, OUT, ID, ID),
    "ood-v1v2": (ID, ID, OUT, OUT),
    "ood-r1v1": (OUT, ID, OUT, ID),
    "ood-all": (OUT, OUT, OUT, OUT),
}
_SINGLE_CROSS = ((LOW, HIGH), (HIGH, LOW))
_PAIR_CROSS = (
    (LOW, HIGH, ID, ID),
    (ID, ID, LOW, HIGH),
    (LOW, HIGH, LOW, HIGH),
    (HIGH, LOW, LOW, HIGH),
)


def _splits(
    size: int, ood: dict[str, Level], cross: tuple[Level, ...]
) -> dict[str, tuple[Level, ...]]:
    large = tuple(tuple(HIGH if s == OUT else s for s in level) for level in ood.values())
    single = {name: (level,) for name, level in ood.items()}
    return {
        "id": ((ID,) * size,),
        "ood": tuple(ood.values()),
        **single,
        "xl": large,
        "cross": cross,
    }


_SINGLE = _splits(2, _SINGLE_OOD, _SINGLE_CROSS)

#: By scenario: the levels of each split, in the order of `init`: r, v or r1, r2, v1, v2.
SPLITS: dict[str, dict[str, tuple[Level, ...]]] = {
    "uniform": _SINGLE,
    "parabola": _SINGLE,
    "collision": _splits(4, _PAIR_OOD, _PAIR_CROSS),
}

#: Share of the low speeds that are no speed at all: the reference's grids of low speeds begin at rest.
AT_REST = 1 / 16
#: Draws of one sample before we give up. The rarest level (both speeds high) takes 150 on average.
_MOST = 1_000_000


@lru_cache(maxsize=64)
def levels(scenario: str, split: str, preset: str) -> NDArray[np.int64]:
    """Return the (L, 2 or 4) levels of a split, without those that no picture has room for.

    Two balls that are both large and both fast would have to start outside of the picture; the
    reference drops every such sample.
    """
    check_scenario(scenario)
    known = SPLITS[scenario]
    if split not in known:
        raise InputError(
            f"{scenario} has no split called {split!r}", remedy=f"use {', '.join(known)}"
        )
    table = bounds(ranges(scenario, preset), 1 if scenario != "collision" else 2)
    possible = [level for level in known[split] if _possible(level, table)]
    if not possible:
        raise InputError(f"no sample of {scenario} {split} fits into the picture")
    return np.array(possible, np.int64)


def bounds(preset: Ranges, balls: int) -> Doubles:
    """Return the (2 balls, 3, 2) least and greatest values of each parameter on each side."""
    radius = (preset.radius, preset.radius_low, preset.radius_high)
    speed = (preset.speed, preset.speed_low, preset.speed_high)
    return np.array([radius] * balls + [speed] * balls)


def draw(
    scenario: str, split: str, preset: str, *, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Doubles:
    """Draw the parameters of samples; sample k depends on nothing but the seed and k.

    Pairs that do not fit are drawn again for the same sample, within the same level.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        split: one of `SPLITS[scenario]`.
        preset: of ranges.
        seed: of all random choices.
        tag: of the stream of numbers.
        indexes: (M,) place of each sample in its row.

    Returns:
        (M, 2) radius, speed; or (M, 4) r1, r2, v1, v2.
    """
    chosen = levels(scenario, split, preset)
    paired = scenario == "collision"
    table = bounds(ranges(scenario, preset), 2 if paired else 1)
    init = np.empty((len(indexes), chosen.shape[1]))
    if not _draw(chosen, table, paired, seed, tag, indexes, init):
        raise SightlineError(f"no pair of {split} fitted into the picture in {_MOST} draws")
    return init


def _possible(level: Level, table: Doubles) -> bool:
    """Say whether the smallest and slowest pair of a level fits, with room to spare."""
    if len(level) == 2:
        return True
    least = [
        table[k, ID if s == ID else HIGH if s == HIGH else LOW, 0] for k, s in enumerate(level)
    ]
    r1, r2, v1, v2 = least
    return FRAMES_BEFORE * FRAME_TIME * (v1 + v2) + 2 * (r1 + r2) < WORLD_SIDE - 1e-9


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _draw(
    levels: Any, table: Any, paired: bool, seed: int, tag: int, indexes: Any, init: Any
) -> bool:
    size = init.shape[1]
    for m in range(len(init)):
        key = stream(seed, tag, indexes[m])
        level = levels[int(number(key, 0) * len(levels))]
        place = 1
        for _ in range(_MOST):
            for k in range(size):
                side = level[k]
                if side == OUT:
                    side = LOW if number(key, place) < 0.5 else HIGH
                init[m, k] = between(key, place + 1, table[k, side, 0], table[k, side, 1])
                if side == LOW and 2 * k >= size and number(key, place + 2) < AT_REST:
                    init[m, k] = table[k, side, 0]
                place += 3
            if not paired or fits(init[m, 0], init[m, 1], init[m, 2], init[m, 3]):
                break
        else:
            return False
    return True
