"""The videos of the yardsticks, for the samples of a data set: drawn, and compressed where it is."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.errors import InputError
from sightline.physics.data import mp4
from sightline.physics.data.open import open_dataset
from sightline.physics.data.spec import PROBE
from sightline.physics.probes.make import make_probe
from sightline.physics.render import render
from sightline.physics.score.yardsticks import (
    TrainingCases,
    TrainingScenes,
    Yardstick,
    constant_velocity,
    copy_last,
    nearest_case,
    nearest_scene,
)
from sightline.physics.types import Frames, Samples
from sightline.physics.worlds.grids import grid_of
from sightline.physics.worlds.ranges import SCENARIOS

if TYPE_CHECKING:
    from sightline.physics.score.work import Task

#: Training cases of a probe that the nearest one is taken from.
PROBE_CASES = 30_000

#: What yardsticks say of some samples; None for the true videos themselves.
Rivals = dict[Yardstick, Samples | None]


def rivals_of(task: Task, samples: Samples, made_of: str) -> Rivals:
    """Return what each yardstick of a task says of samples.

    Args:
        task: which yardsticks, and what the nearest case is taken from.
        samples: the true motions.
        made_of: what the data set was made of, such as `probe:NAME`; may be empty.
    """
    found: Rivals = {}
    for name in task.yardsticks:
        if name == "copy-last":
            found[name] = copy_last(samples, task.condition)
        elif name == "constant-velocity":
            found[name] = constant_velocity(samples, task.condition)
        elif name == "truth":
            found[name] = None
        elif samples.scenario in SCENARIOS:
            choice = task.training, task.level, task.preset, made_of
            found[name] = nearest_case(
                samples, training_cases(samples.scenario, *choice), task.condition
            )
        else:
            found[name] = nearest_scene(samples, training_scenes(made_of), task.condition)
    return found


def rival_video(rival: Samples | None, place: int, truth: Frames, *, lossy: bool) -> Frames:
    """Return the video of a yardstick: (T, S, S, 3) uint8 RGB.

    It goes through a codec where the true videos went through one: drawn as they are, yardsticks would
    be measured better than the truth.

    Args:
        rival: of `rivals_of`.
        place: of the sample in it.
        truth: the true video, for its size.
        lossy: whether the data set went through a codec that changes videos.
    """
    if rival is None:
        return truth
    return through_codec(render(rival[place], truth.shape[1]), lossy=lossy)


def through_codec(frames: Frames, *, lossy: bool) -> Frames:
    """Send a video through the codec of a data set, if it has one that changes videos."""
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
    if training is None and made_of.startswith(PROBE):
        shown = make_probe(made_of.removeprefix(PROBE), "train", PROBE_CASES)
        return TrainingCases(shown.init, shown.colours, shown.shapes)
    if training is None:
        cells = grid_of(scenario, level, preset)
        return TrainingCases(cells.init(0, len(cells)))
    with open_dataset(training) as data:
        if data.scenario != scenario:
            raise InputError(
                f"holds {data.scenario}, the data set to be scored {scenario}", path=training
            )
        shown = data.samples
        return TrainingCases(shown.init, shown.colours, shown.shapes)


@lru_cache(maxsize=1)
def training_scenes(made_of: str) -> TrainingScenes:
    """Return the scenes that a probe trains on."""
    return TrainingScenes(make_probe(made_of.removeprefix(PROBE), "train", PROBE_CASES))
