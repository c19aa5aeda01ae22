"""Simulate samples of the three scenarios: draw parameters, place the balls and move them.

Samples are pure functions of the seed and their index: they do not depend on how many are made, from
where, or in which process. The modes `exact` and `box2d` start from the same positions.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import BLUE, RED, WORLD_SIDE, Doubles, Samples, Shape
from sightline.physics.worlds import box2d
from sightline.physics.worlds import closed_form as exact
from sightline.physics.worlds.grids import SHARD, grid_of, reference_cells, reference_grid
from sightline.physics.worlds.sampling import check_address, place_pair, place_single, tag_of
from sightline.physics.worlds.splits import check_scenario, draw

Mode = Literal["exact", "box2d"]
Direction = Literal["right", "left", "up", "down"]

#: Which ways a scenario can go. Upward a parabola would be another law; a pair needs both ways.
DIRECTIONS: dict[str, tuple[str, ...]] = {
    "uniform": get_args(Direction),
    "parabola": ("right", "left"),
    "collision": ("right",),
}


def sample(
    scenario: str,
    count: int,
    *,
    split: str = "id",
    preset: str = "code",
    mode: str = "exact",
    seed: int = 0,
    start: int = 0,
    direction: str = "right",
    shard_seed: bool = False,
    threshold: float = box2d.THRESHOLD,
) -> Samples:
    """Make samples `start` to `start + count` of a split.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        count: number of samples.
        split: `id`, `ood`, one of its levels, `xl` or `cross`; see `splits.SPLITS`.
        preset: ranges of the released `code` or of the `paper`.
        mode: `exact` (closed form) or `box2d` (the reference integrator).
        seed: random seed.
        start: index of the first sample.
        direction: of motion; `left`, `up` and `down` mirror and turn the world.
        shard_seed: repeat start positions every 1000 samples, as the reference does by accident.
        threshold: approach speed in units/s up to which a `box2d` collision is inelastic.
    """
    check_address(seed, start, count)
    check_scenario(scenario)
    indexes = np.arange(start, start + count)
    words = (scenario, split, preset)
    init = draw(scenario, split, preset, seed=seed, tag=tag_of("draw", *words), indexes=indexes)
    places = indexes % SHARD if shard_seed else indexes
    starts = _place(scenario, init, seed, tag_of("place", *words), places)
    return simulate(scenario, init, starts, mode=mode, direction=direction, threshold=threshold)


def grid(
    scenario: str,
    level: str,
    count: int | None = None,
    *,
    preset: str = "code",
    mode: str = "exact",
    seed: int = 0,
    start: int = 0,
    direction: str = "right",
    shard_seed: bool = False,
    threshold: float = box2d.THRESHOLD,
) -> Samples:
    """Make samples `start` to `start + count` of a training set, or fewer where it ends.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        level: `30K`, `300K` or `3M`.
        count: how many; None: all that are left.
        preset: ranges of the released `code` or of the `paper`.
        mode: `exact` or `box2d`.
        seed: of the order of the cells and of the start positions.
        start: number of the first sample.
        direction: of motion.
        shard_seed: cells and start positions of the released generator itself, whose start positions
            repeat from shard to shard; with seed 42 and `box2d` that is the released data.
        threshold: approach speed in units/s up to which a `box2d` collision is inelastic.
    """
    size = training_size(scenario, level, preset=preset, seed=seed, shard_seed=shard_seed)
    count = size - start if count is None else count
    check_address(seed, start, count)
    if start > size:
        raise InputError(f"{scenario} {level} has {size} samples, none from {start} on")
    if shard_seed:
        init, starts = reference_cells(scenario, level, preset, seed, start, count)
    else:
        init = grid_of(scenario, level, preset, seed).init(start, count)
        indexes = np.arange(start, start + len(init))
        tag = tag_of("grid place", scenario, level, preset)
        starts = _place(scenario, init, seed, tag, indexes)
    return simulate(scenario, init, starts, mode=mode, direction=direction, threshold=threshold)


def training_size(
    scenario: str, level: str, *, preset: str = "code", seed: int = 0, shard_seed: bool = False
) -> int:
    """Return how many samples a training set of `grid` has.

    >>> training_size("uniform", "300K")
    300000
    """
    if shard_seed:
        return len(reference_grid(scenario, level, preset, seed)[1])
    return len(grid_of(scenario, level, preset, seed))


def simulate(
    scenario: str,
    init: Doubles,
    starts: Doubles,
    *,
    mode: str = "exact",
    direction: str = "right",
    threshold: float = box2d.THRESHOLD,
) -> Samples:
    """Simulate balls from given start positions.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        init: (M, 2 or more): radius, speed …; or (M, 4): r1, r2, v1, v2, toward each other.
        starts: (M, balls, 2) centers (x, y) for motion to the right; the first ball is the left one.
        mode: `exact` or `box2d`.
        direction: of motion.
        threshold: approach speed in units/s up to which a `box2d` collision is inelastic.
    """
    check_scenario(scenario)
    if mode not in get_args(Mode):
        raise InputError(f"no mode is called {mode!r}", remedy="use exact or box2d")
    if direction not in DIRECTIONS[scenario]:
        raise InputError(
            f"{scenario} cannot go {direction!r}", remedy=f"use {', '.join(DIRECTIONS[scenario])}"
        )
    starts, velocities = _launch(scenario, init, starts, direction)
    if scenario == "collision":
        radii = np.ascontiguousarray(init[:, :2])
        if mode == "exact":
            positions, speeds = exact.pair(starts, velocities, radii)
        else:
            positions, speeds = box2d.pair(starts, velocities, radii, threshold=threshold)
    else:
        radii = np.ascontiguousarray(init[:, :1])
        integrator = exact if mode == "exact" else box2d
        positions, speeds = integrator.free(starts, velocities, falling=scenario == "parabola")
    count, balls = radii.shape
    colors = np.broadcast_to(np.array([RED, BLUE], np.uint8)[:balls], (count, balls, 3)).copy()
    shapes = np.full((count, balls), Shape.BALL, np.uint8)
    return Samples(scenario, init, positions, speeds, radii, colors, shapes)


def _place(
    scenario: str, init: Doubles, seed: int, tag: int, indexes: NDArray[np.int64]
) -> Doubles:
    if scenario == "collision":
        return place_pair(init, seed=seed, tag=tag, indexes=indexes)
    return place_single(init, falling=scenario == "parabola", seed=seed, tag=tag, indexes=indexes)


def _launch(
    scenario: str, init: Doubles, starts: Doubles, direction: str
) -> tuple[Doubles, Doubles]:
    """Return start positions and velocities, turned into the direction of motion."""
    velocities = np.zeros_like(starts)
    if scenario == "collision":
        velocities[:, 0, 0], velocities[:, 1, 0] = init[:, 2], -init[:, 3]
        return starts, velocities
    velocities[:, 0, 0] = init[:, 1]
    starts = starts.copy()
    if direction in ("left", "down"):
        starts[:, :, 0] = WORLD_SIDE - starts[:, :, 0]
        velocities[:, :, 0] *= -1
    if direction in ("up", "down"):
        starts = np.ascontiguousarray(starts[:, :, ::-1])
        velocities = np.ascontiguousarray(velocities[:, :, ::-1])
    return starts, velocities
