"""Baselines: the scores that other predictors reach on the same samples.

Each baseline produces motions for the same test cases. They are rendered, compressed if the data set
is, tracked and judged like the videos of a model:

* `truth`: the true videos through the tracker: what a correct model would measure.
* `copy-last`: the last condition frame is repeated.
* `constant-velocity`: every body moves on at its last velocity, through others and against gravity.
* `nearest-case`: a memorizer: the training case nearest in radii and speeds, from the true start
  (PhyWorld §5 calls this case-based generalization). Where there are walls or gates, it is the case
  whose first frame is nearest in positions, sizes and velocities of all bodies.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from sightline.errors import InputError
from sightline.physics.datasets import mp4
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.datasets.spec import PROBE
from sightline.physics.rendering import render
from sightline.physics.types import Doubles, Frames, Samples
from sightline.physics.worlds.closed_form import frame_times
from sightline.physics.worlds.grids import grid_of
from sightline.physics.worlds.simulation import simulate
from sightline.physics.worlds.splits import SCENARIOS

if TYPE_CHECKING:
    from sightline.physics.scoring.run import ScoringTask

Baseline = Literal["truth", "copy-last", "constant-velocity", "nearest-case"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)


def copy_last(samples: Samples, condition: int) -> Samples:
    """Return motions in which everything stands still after the condition frames.

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
    """Return motions in which every body keeps the velocity of the last condition frame.

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
    """Nearest-neighbor search over the parameters of a training set.

    Distances are taken after dividing each parameter by its spread over the cases, so that radii and
    speeds count alike.

    Args:
        init: (K, parameters) of the training set.
        colors: (K, bodies, 3) uint8; None: a case looks as the sample that it is nearest to.
        shapes: (K, bodies) uint8; likewise.
    """

    def __init__(
        self,
        init: Doubles,
        colors: NDArray[np.uint8] | None = None,
        shapes: NDArray[np.uint8] | None = None,
    ) -> None:
        if init.ndim != 2 or not init.size or not np.isfinite(init).all():
            raise InputError(f"training cases of shape {init.shape}, expected (cases, parameters)")
        self.init, self.colors, self.shapes = init, colors, shapes
        self._spread = np.maximum(np.ptp(init, axis=0), 1e-9)
        # Three million cases: an unbalanced tree is built four times as fast.
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
    """Return the motion of the training case with the nearest parameters, from the true start.

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
    if cases.colors is not None and cases.shapes is not None:
        replayed = replace(replayed, colors=cases.colors[nearest], shapes=cases.shapes[nearest])
    positions, velocities = replayed.positions, replayed.velocities
    positions[:, :condition] = samples.positions[:, :condition]
    velocities[:, :condition] = samples.velocities[:, :condition]
    return replace(replayed, init=samples.init)


class TrainingScenes:
    """Nearest-neighbor search over the training scenes of a probe with walls or gates.

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
    """Return motions that follow the nearest training scene from the true start.

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
        colors=samples.colors,
        shapes=samples.shapes,
    )


def _check(samples: Samples, condition: int) -> None:
    frames = samples.positions.shape[1]
    if not 1 <= condition < frames:
        raise InputError(
            f"{condition} condition frames of {frames}", remedy=f"give 1 to {frames - 1}"
        )


#: Training cases of a probe that the nearest one is taken from.
PROBE_CASES = 30_000

#: Motions of the baselines; None for the true videos themselves.
BaselineMotions = dict[Baseline, Samples | None]


def baseline_motions(task: ScoringTask, samples: Samples, made_of: str) -> BaselineMotions:
    """Return the motions of each baseline of a task.

    Args:
        task: which baselines, and what the nearest case is taken from.
        samples: the true motions.
        made_of: what the data set was made of, such as `probe:NAME`; may be empty.
    """
    found: BaselineMotions = {}
    for name in task.baselines:
        if name == "copy-last":
            found[name] = copy_last(samples, task.condition)
        elif name == "constant-velocity":
            found[name] = constant_velocity(samples, task.condition)
        elif name == "truth":
            found[name] = None
        elif samples.scenario in SCENARIOS:
            cases = training_cases(
                samples.scenario, task.training, task.level, task.preset, made_of
            )
            found[name] = nearest_case(samples, cases, task.condition)
        else:
            found[name] = nearest_scene(samples, training_scenes(made_of), task.condition)
    return found


def baseline_video(baseline: Samples | None, place: int, truth: Frames, *, lossy: bool) -> Frames:
    """Return the video of a baseline: (T, S, S, 3) uint8 RGB.

    It goes through a codec where the true videos went through one: drawn as they are, baselines would
    be measured better than the truth.

    Args:
        baseline: of `baseline_motions`.
        place: of the sample in it.
        truth: the true video, for its size.
        lossy: whether the data set went through a codec that changes videos.
    """
    if baseline is None:
        return truth
    return through_codec(render(baseline[place], truth.shape[1]), lossy=lossy)


def through_codec(frames: Frames, *, lossy: bool) -> Frames:
    """Encode and decode a video, if the data set has a lossy codec."""
    return mp4.decode(mp4.encode(frames)) if lossy and frames.shape[1] % 2 == 0 else frames


def still_video(truth: Frames, condition: int) -> Frames:
    """Return the true video with the last given frame in the place of all that follow."""
    still = truth.copy()
    still[condition:] = truth[condition - 1]
    return still


@lru_cache(maxsize=1)
def training_cases(
    scenario: str, training: Path | None, level: str, preset: str, made_of: str
) -> TrainingCases:
    """Return the cases of a training set: those of a data set, of the tested probe, or of a grid."""
    from sightline.physics.probes import make_probe

    if training is None and made_of.startswith(PROBE):
        shown = make_probe(made_of.removeprefix(PROBE), "train", PROBE_CASES)
        return TrainingCases(shown.init, shown.colors, shown.shapes)
    if training is None:
        cells = grid_of(scenario, level, preset)
        return TrainingCases(cells.init(0, len(cells)))
    with open_dataset(training) as data:
        if data.scenario != scenario:
            raise InputError(
                f"holds {data.scenario}, the data set to be scored {scenario}", path=training
            )
        shown = data.samples
        return TrainingCases(shown.init, shown.colors, shown.shapes)


@lru_cache(maxsize=1)
def training_scenes(made_of: str) -> TrainingScenes:
    """Return the scenes that a probe trains on."""
    from sightline.physics.probes import make_probe

    return TrainingScenes(make_probe(made_of.removeprefix(PROBE), "train", PROBE_CASES))
