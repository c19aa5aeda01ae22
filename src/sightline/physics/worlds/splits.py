"""Radii and speeds in and out of distribution: ranges, splits and buckets.

The released code and the paper differ in the ranges (phyworld/phyworld#4): App. C.1 gives one range of
radii for all scenarios, the released generators give collisions another. The preset `code` is the
default, because the published files follow it.

A split is a set of levels; a level gives for each parameter whether it is in distribution, below,
above, or one of the two outer parts with equal probability. The levels are those of the released code:
for one ball r, v, both; for two balls r1, v1, r1 r2, v1 v2, r1 v1, all four; `xl` only on the large
side, `cross` small with large. All levels of a split are equally likely. `bucket` sorts samples by the
same ranges for the score.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.physics.types import FRAME_TIME, WORLD_SIDE, Doubles
from sightline.physics.worlds.sampling import FRAMES_BEFORE, between, fits, number, stream

Interval = tuple[float, float]

SCENARIOS = ("uniform", "parabola", "collision")


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of radius and speed, in distribution and out of it.

    Attributes:
        radius: in distribution, in world units.
        radius_low: out of distribution, below.
        radius_high: out of distribution, above.
        speed: in distribution, in units/s.
        speed_low: out of distribution, below; from rest.
        speed_high: out of distribution, above.
    """

    radius: Interval
    radius_low: Interval
    radius_high: Interval
    speed: Interval = (1.0, 4.0)
    speed_low: Interval = (0.0, 0.8)
    speed_high: Interval = (4.5, 6.0)


_CODE_SINGLE = Ranges((0.7, 1.4), (0.3, 0.6), (1.5, 2.0))
_CODE_PAIR = Ranges((0.5, 1.5), (0.3, 0.4), (1.7, 2.0))
_PAPER = Ranges((0.7, 1.5), (0.3, 0.6), (1.5, 2.0))

#: By preset, then by scenario.
PRESETS: dict[str, dict[str, Ranges]] = {
    "code": {"uniform": _CODE_SINGLE, "parabola": _CODE_SINGLE, "collision": _CODE_PAIR},
    "paper": {"uniform": _PAPER, "parabola": _PAPER, "collision": _PAPER},
}

#: How many samples the paper evaluates on (App. C.1, about).
EVAL_SIZES: dict[str, dict[str, int]] = {
    "uniform": {"id": 1050, "ood": 2400},
    "parabola": {"id": 1100, "ood": 2500},
    "collision": {"id": 2000, "ood": 4800},
}


def ranges(scenario: str, preset: str = "code") -> Ranges:
    """Return the ranges of a scenario under a preset.

    >>> ranges("collision").radius, ranges("collision", "paper").radius
    ((0.5, 1.5), (0.7, 1.5))
    """
    check_scenario(scenario)
    if preset not in PRESETS:
        raise InputError(f"no ranges are called {preset!r}", remedy=f"use {', '.join(PRESETS)}")
    return PRESETS[preset][scenario]


def eval_size(scenario: str, split: str) -> int:
    """Return how many samples the paper evaluates on: `id`, or any of the out-of-distribution splits.

    >>> eval_size("collision", "id"), eval_size("collision", "ood-r1")
    (2000, 4800)
    """
    check_scenario(scenario)
    return EVAL_SIZES[scenario]["id" if split == "id" else "ood"]


def check_scenario(scenario: str) -> None:
    """Refuse an unknown scenario."""
    if scenario not in SCENARIOS:
        raise InputError(
            f"no scenario is called {scenario!r}", remedy=f"use {', '.join(SCENARIOS)}"
        )


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
    """Return the (L, 2 or 4) levels of a split, without those that do not fit into the picture.

    Two large and fast balls would have to start outside the picture; the released generator drops such
    samples.
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


Bucket = Literal["in", "r_out", "v_out", "rv_out", "zero_speed"]
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)

# Values that went through a file as 32-bit floats must not fall out of a closed range.
_SLACK = 1e-6


def bucket(scenario: str, init: Doubles, preset: str = "code") -> NDArray[np.str_]:
    """Sort samples into the buckets of the released evaluator.

    A sample with any ball at rest is `zero_speed`; otherwise it is out in radius, in speed or in both
    if any
    ball is.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        init: (M, 2 or more): r, v …; or (M, 4): r1, r2, v1, v2.
        preset: of ranges.

    Returns:
        (M,) names, each one of `BUCKETS`.

    >>> bucket("uniform", np.array([[1.0, 2.0], [0.4, 2.0], [1.0, 0.0]])).tolist()
    ['in', 'r_out', 'zero_speed']
    """
    known = ranges(scenario, preset)
    balls = 2 if scenario == "collision" else 1
    if init.ndim != 2 or init.shape[1] < 2 * balls:
        raise InputError(
            f"parameters of shape {init.shape}, expected (samples, {2 * balls} or more)"
        )
    radii, speeds = init[:, :balls], np.abs(init[:, balls : 2 * balls])
    r_out = _outside(radii, *known.radius)
    v_out = _outside(speeds, *known.speed)
    cases = [(speeds == 0).any(1), r_out & v_out, r_out, v_out]
    return np.select(cases, ["zero_speed", "rv_out", "r_out", "v_out"], "in")


def _outside(values: Doubles, low: float, high: float) -> NDArray[np.bool_]:
    return np.any((values < low - _SLACK) | (values > high + _SLACK), axis=1)
