"""What other predictors would have scored, so that a figure means something alone.

Each yardstick makes motions for the same test cases. They are drawn, compressed if the data set is,
parsed and judged like anybody's videos:

* `truth`: the true videos through the parser: what a model that is right would measure.
* `copy-last`: the last condition frame stands still.
* `constant-velocity`: every body goes on as it moved last, through others and against gravity.
* `nearest-case`: what a memoriser would show: the training case nearest in radii and speeds,
  beginning at the true place (PhyWorld §5 calls this case-based generalisation). Where there are walls
  or gates, it is the case whose first frame is nearest: in places, sizes and velocities of all bodies.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from sightline.errors import InputError
from sightline.physics.types import Doubles, Samples
from sightline.physics.worlds.exact import frame_times
from sightline.physics.worlds.make import simulate
from sightline.physics.worlds.ranges import SCENARIOS

Yardstick = Literal["truth", "copy-last", "constant-velocity", "nearest-case"]
YARDSTICKS: tuple[Yardstick, ...] = get_args(Yardstick)


def copy_last(samples: Samples, condition: int) -> Samples:
    """Let everything stand still after the condition frames.

    Args:
        samples: the true motions.
        condition: how many frames are given, 1 or more.
    """
    _check(samples, condition)
    positions, velocities = samples.positions.copy(), samples.velocities.copy()
    positions[:, condition:] = positions[:, condition - 1 : condition]
    velocities[:, condition:] = 0.0
    return replace(samples, positions=positions, velocities=velocities)


def constant_velocity(samples: Samples, condition: int) -> Samples:
    """Let every body go on with the velocity of the last condition frame.

    Args:
        samples: the true motions.
        condition: how many frames are given, 1 or more.
    """
    _check(samples, condition)
    positions, velocities = samples.positions.copy(), samples.velocities.copy()
    steps = np.arange(1, positions.shape[1] - condition + 1) * samples.frame_time
    last = velocities[:, condition - 1 : condition]
    positions[:, condition:] = (
        positions[:, condition - 1 : condition] + last * steps[None, :, None, None]
    )
    velocities[:, condition:] = last
    return replace(samples, positions=positions, velocities=velocities)


class TrainingCases:
    """The parameters of a training set, ready to be asked for the nearest one.

    Distances are taken after dividing each parameter by its spread over the cases, so that radii and
    speeds count alike.

    Args:
        init: (K, parameters) of the training set.
        colours: (K, bodies, 3) uint8; None: a case looks as the sample that it is nearest to.
        shapes: (K, bodies) uint8; likewise.
    """

    def __init__(
        self,
        init: Doubles,
        colours: NDArray[np.uint8] | None = None,
        shapes: NDArray[np.uint8] | None = None,
    ) -> None:
        if init.ndim != 2 or not init.size or not np.isfinite(init).all():
            raise InputError(f"training cases of shape {init.shape}, expected (cases, parameters)")
        self.init, self.colours, self.shapes = init, colours, shapes
        self._spread = np.maximum(np.ptp(init, axis=0), 1e-9)
        # Three million cases: a tree that is not balanced is built four times as fast.
        self._tree = KDTree(init / self._spread, balanced_tree=False, compact_nodes=False)

    def nearest(self, init: Doubles) -> NDArray[np.int64]:
        """Return the (M,) numbers of the cases nearest to (M, parameters) others."""
        width = self.init.shape[1]
        if init.ndim != 2 or init.shape[1] != width:
            raise InputError(
                f"training cases have {width} parameters, the samples {init.shape[-1]}"
            )
        found: NDArray[np.int64] = np.asarray(self._tree.query(init / self._spread)[1], np.int64)
        return found


def nearest_case(samples: Samples, cases: TrainingCases, condition: int) -> Samples:
    """Replay, from the true start, the training case nearest in its parameters.

    The condition frames are the true ones.

    Args:
        samples: the true motions of `uniform`, `parabola` or `collision`.
        cases: of the training set.
        condition: how many frames are given, 1 or more.
    """
    _check(samples, condition)
    if samples.scenario not in SCENARIOS:
        raise InputError(f"no nearest case is defined for {samples.scenario}")
    nearest = cases.nearest(samples.init)
    replayed = _replay(samples, cases.init[nearest])
    if cases.colours is not None and cases.shapes is not None:
        replayed = replace(replayed, colours=cases.colours[nearest], shapes=cases.shapes[nearest])
    positions, velocities = replayed.positions, replayed.velocities
    positions[:, :condition] = samples.positions[:, :condition]
    velocities[:, :condition] = samples.velocities[:, :condition]
    return replace(replayed, init=samples.init)


class TrainingScenes:
    """The scenes that a probe with walls or gates trains on, ready to be asked for the nearest one.

    Args:
        shown: K scenes.
    """

    def __init__(self, shown: Samples) -> None:
        self.shown = shown
        states = _first_frame(shown)
        # What is the same in all scenes, such as the side of a gate, tells none from another.
        self._varies = np.ptp(states, axis=0) > 1e-6
        self._cases = TrainingCases(states[:, self._varies])

    def nearest(self, samples: Samples) -> Samples:
        """Return, for each sample, the scene whose first frame is nearest to its own."""
        return self.shown.take(self._cases.nearest(_first_frame(samples)[:, self._varies]))


def nearest_scene(samples: Samples, scenes: TrainingScenes, condition: int) -> Samples:
    """Let every body move on from its true start as that of the nearest training scene moved.

    The condition frames are the true ones.

    Args:
        samples: the true motions of a probe's own world.
        scenes: of the probe's training part.
        condition: how many frames are given, 1 or more.
    """
    _check(samples, condition)
    case = scenes.nearest(samples)
    positions = samples.positions[:, :1] + case.positions - case.positions[:, :1]
    velocities = case.velocities
    positions[:, :condition] = samples.positions[:, :condition]
    velocities[:, :condition] = samples.velocities[:, :condition]
    return replace(case, init=samples.init, positions=positions, velocities=velocities)


def _first_frame(samples: Samples) -> Doubles:
    """Return (M, 5 N) places, velocities and sizes of all bodies in the first frame."""
    first = samples.positions[:, 0], samples.velocities[:, 0], samples.sizes
    return np.concatenate([part.reshape(len(samples), -1) for part in first], axis=1)


def _replay(samples: Samples, init: Doubles) -> Samples:
    """Simulate other parameters from the places where the true bodies begin."""
    first = frame_times()[0]  # 0.01 s: what gravity adds within it is below 1e-3 of a pixel
    starts = samples.positions[:, 0] - samples.velocities[:, 0] * first
    if samples.scenario == "collision":
        return simulate("collision", init, starts)
    # Speeds are stored without a sign: the true motion says which way.
    velocity = samples.velocities[:, 0, 0]
    across = np.abs(velocity[:, 1]) > np.abs(velocity[:, 0])
    result = simulate(samples.scenario, init, starts)
    direction = np.where(across, np.sign(velocity[:, 1]), np.sign(velocity[:, 0]))
    direction[direction == 0] = 1.0
    shift = result.positions - starts[:, None]
    speed = result.velocities
    falling = samples.scenario == "parabola"
    shift[..., 0] *= direction[:, None, None]
    speed[..., 0] *= direction[:, None, None]
    if not falling and across.any():
        shift[across] = shift[across][..., ::-1]
        speed[across] = speed[across][..., ::-1]
    return replace(
        result,
        positions=starts[:, None] + shift,
        velocities=speed,
        colours=samples.colours,
        shapes=samples.shapes,
    )


def _check(samples: Samples, condition: int) -> None:
    frames = samples.positions.shape[1]
    if not 1 <= condition < frames:
        raise InputError(
            f"{condition} condition frames of {frames}", remedy=f"give 1 to {frames - 1}"
        )
