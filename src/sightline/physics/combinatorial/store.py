"""Data sets of combinatorial worlds in HDF5, in the layout of the released files (phyworld/phyworld).

A `merged` file has one group per stream, with one HDF5 data set per task, named `100TT:NNN`; a `shard`
file has one task only, and one HDF5 data set per stream:

    action_streams     (trials, 3) float64: x, y, r of the red ball
    object_streams     (trials, frames, objects, 14) float32: features (`objects`)
    video_streams      (trials,) variable-length uint8: one mp4 each, played at 5 frames per second

Sightline adds `velocity_streams` (trials, frames, objects, 3) float32, `trial_streams` (trials,)
int64, and the attribute `sightline` with the settings in JSON. The same samples give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby, product
from pathlib import Path
from typing import Any, cast

import numpy as np

from sightline.errors import InputError
from sightline.io.reading import naming
from sightline.physics.combinatorial.objects import FEATURES, colors, outlines
from sightline.physics.combinatorial.rendering import SIZE, render_scene
from sightline.physics.combinatorial.simulation import (
    FRAME_TIME,
    MOST_FRAMES,
    PLAYED,
    CombinatorialSample,
    run_trial,
)
from sightline.physics.combinatorial.tasks import (
    HELD_OUT,
    MOST_TASKS,
    MOST_TRIALS,
    PAPER_TASKS,
    PAPER_TRIALS,
    generator,
    kinds_of,
    make_task,
)
from sightline.physics.datasets import mp4
from sightline.physics.datasets.hdf5 import GET, MOST_BODIES, check_shapes
from sightline.physics.datasets.hdf5 import MOST_FRAMES as MOST_FILE_FRAMES
from sightline.physics.datasets.making import DatasetPlan, Made
from sightline.physics.datasets.reader import Hdf5File
from sightline.physics.datasets.spec import COMBINATORIAL, MOST, check_video
from sightline.physics.datasets.writer import (
    VELOCITIES,
    VIDEOS,
    Streams,
    byte_rows,
    concatenate,
    create,
    new_file,
    pack_block,
    unpack_block,
)
from sightline.physics.rendering import check_size
from sightline.physics.types import FRAMES, Doubles, Samples
from sightline.version import __version__

#: Trials that a worker makes at a time.
BLOCK = 100
#: Qualities of the mp4.
QUALITIES = ("standard", "lossless")


@dataclass(frozen=True, slots=True)
class CombinatorialSpec:
    """Settings of a data set: the same trials of the same tasks of some templates.

    Videos are in the order of templates, of tasks in a template, and of trials in a task.

    Attributes:
        templates: ids, in order.
        tasks: number per template.
        trials: number per task.
        first_trial: the first one; the paper tests in-template on 990 to 999.
        seed: random seed.
        frames: of a video.
        size: frame side in [px].
        video: mp4 of `standard` or `lossless` quality.
        limit: number of videos to keep, from the first; None: all.
    """

    templates: tuple[int, ...]
    tasks: int = PAPER_TASKS
    trials: int = PAPER_TRIALS
    first_trial: int = 0
    seed: int = 0
    frames: int = FRAMES
    size: int = SIZE
    video: str = "standard"
    limit: int | None = None

    def __post_init__(self) -> None:
        check_size(self.size)
        generator(self.seed)
        if not self.templates:
            raise InputError("a data set has at least one template")
        for template in self.templates:
            kinds_of(template)
        if not 1 <= self.tasks <= MOST_TASKS:
            raise InputError(f"a template has 1 to {MOST_TASKS} tasks, got {self.tasks}")
        end = self.first_trial + self.trials
        if self.trials < 1 or not 0 <= self.first_trial < end <= MOST_TRIALS:
            raise InputError(
                f"trials are numbered 0 to {MOST_TRIALS - 1}, got {self.first_trial} to {end - 1}"
            )
        if not 1 <= self.frames <= MOST_FRAMES:
            raise InputError(f"a video has 1 to {MOST_FRAMES} frames, got {self.frames}")
        check_video(self.video, self.size, QUALITIES)
        most = min(self._all(), MOST)
        if not 1 <= self.count <= most:
            raise InputError(
                f"of these templates, tasks and trials a data set has 1 to {most:,} videos, "
                f"got {self.count:,}",
                remedy="choose another --count, or other --tasks and --trials",
            )

    @property
    def count(self) -> int:
        """Number of videos."""
        return self._all() if self.limit is None else self.limit

    def _all(self) -> int:
        """Return the number of videos without a limit."""
        return len(self.templates) * self.tasks * self.trials

    def record(self) -> dict[str, Any]:
        """Return the settings as they are stored in files."""
        found = {"scenario": COMBINATORIAL, **asdict(self), "sightline": __version__}
        del found["limit"]
        return {**found, "templates": list(self.templates), "count": self.count}

    def jobs(self) -> list[TrialJob]:
        """Return all blocks, in the order of the file."""
        found: list[TrialJob] = []
        left = self.count
        for template, task in product(self.templates, range(self.tasks)):
            end = self.first_trial + min(left, self.trials)
            for first in range(self.first_trial, end, BLOCK):
                found.append(TrialJob(len(found), template, task, first, min(BLOCK, end - first)))
            left -= end - self.first_trial
        return found


@dataclass(frozen=True, slots=True)
class TrialJob:
    """A block of trials of one task.

    Attributes:
        number: of the block.
        template: id.
        task: number of the task.
        first: number of the first trial.
        videos: number of trials.
    """

    number: int
    template: int
    task: int
    first: int
    videos: int

    @property
    def key(self) -> str:
        """Name of the task."""
        return f"{self.template}:{self.task:03d}"

    def rehearsal(self) -> TrialJob:
        """Return the same job with its first trial only."""
        return replace(self, videos=1)

    def __str__(self) -> str:
        return f"trials {self.first} to {self.first + self.videos - 1} of task {self.key}"


def parse_trials(text: str | None, templates: tuple[int, ...]) -> tuple[int, int]:
    """Parse a range of trials: `50`, `990-999`, or None for as many as in the paper.

    Returns:
        First trial and number of trials.

    >>> parse_trials("990-999", (10000,))
    (990, 10)
    """
    if text is None:
        return 0, 1 if set(templates) <= set(HELD_OUT) else PAPER_TRIALS
    if match := re.fullmatch(r"(\d{1,7})-(\d{1,7})", text):
        first, last = int(match[1]), int(match[2])
        return first, last + 1 - first
    if re.fullmatch(r"\d{1,7}", text):
        return 0, int(text)
    raise InputError(f"{text!r} is no number of trials", remedy="use 50, or 990-999")


ACTIONS, OBJECTS, TRIALS = "action_streams", "object_streams", "trial_streams"

_KEPT = {ACTIONS: np.float64, OBJECTS: np.float32, VELOCITIES: np.float32, TRIALS: np.int64}


def make_block(spec: CombinatorialSpec, job: TrialJob) -> bytes:
    """Simulate, render and encode some trials: a pure function of its arguments."""
    task = make_task(job.template, job.task, spec.seed)
    kept: dict[str, list[Any]] = {name: [] for name in (*_KEPT, VIDEOS)}
    for trial in range(job.first, job.first + job.videos):
        sample = run_trial(task, trial, frames=spec.frames)
        frames = render_scene(sample, spec.size)
        kept[ACTIONS].append(sample.action)
        kept[OBJECTS].append(sample.objects)
        kept[VELOCITIES].append(sample.velocities)
        kept[TRIALS].append(trial)
        kept[VIDEOS].append(mp4.encode(frames, cast(mp4.Quality, spec.video), rate=PLAYED))
    streams: Streams = {name: np.array(kept[name], kind) for name, kind in _KEPT.items()}
    return pack_block({**streams, VIDEOS: byte_rows(kept[VIDEOS])})


def _write_blocks(
    spec: CombinatorialSpec, layout: str, path: Path, made: Iterable[Made[TrialJob]]
) -> None:
    """Write the file from its blocks, given in the order of `spec.jobs`."""
    note = {"scenario": COMBINATORIAL, "frame_time": FRAME_TIME, "made": spec.record()}
    with new_file(path, note) as file:
        for key, streams in _tasks(made):
            for name, values in streams.items():
                if layout == "shard":
                    create(file, name, values)
                else:
                    create(file.require_group(name), key, values)


def _tasks(made: Iterable[Made[TrialJob]]) -> Iterator[tuple[str, Streams]]:
    """Join blocks into tasks."""
    for key, group in groupby(made, key=lambda one: one[0].key):
        yield key, concatenate([unpack_block(block) for _, block in group])


_SECONDS = 0.02, 0.035  # per video: to simulate; to render and encode at 256 px, roughly


def combinatorial_plan(spec: CombinatorialSpec, layout: str) -> DatasetPlan[TrialJob]:
    """Return how a data set is made.

    Args:
        spec: settings of the data set.
        layout: `merged`, or `shard` for one task.
    """
    jobs = spec.jobs()
    if layout == "shard" and jobs[0].key != jobs[-1].key:
        raise InputError("a shard holds one task", remedy="use --layout merged, or --tasks 1")
    simulating, drawing = _SECONDS
    seconds = simulating + drawing * (spec.size / SIZE) ** 2
    write = partial(_write_blocks, spec, layout)
    return DatasetPlan(spec.record(), jobs, partial(make_block, spec), seconds, write)


class CombinatorialVideos(Hdf5File):
    """An HDF5 file of combinatorial worlds. Tasks differ in their number of objects.

    Attributes:
        keys: of the tasks, such as `10003:007`; one empty key in a file of one shard.
    """

    needed = (ACTIONS, OBJECTS)
    optional = (VELOCITIES, TRIALS)
    timed, row = OBJECTS, "trial"
    scenario = COMBINATORIAL
    frame_time = FRAME_TIME

    def _describe(self) -> None:
        """Set the task keys and the format."""
        self.keys = self._streams.keys
        self.format = f"HDF5, released combinatorial layout ({self._streams.layout})"

    @staticmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check the shapes of one task; return its number of trials."""
        objects = streams[OBJECTS]
        shape = objects.shape
        count = int(shape[0])
        if len(shape) != 4 or shape[3] != FEATURES or 0 in shape[1:]:
            wanted = f"(trials, frames, objects, {FEATURES})"
            problem = f"{objects.name} has the shape {shape}, not {wanted}"
            raise InputError(problem, path=path, remedy=GET)
        if shape[1] > MOST_FILE_FRAMES or shape[2] > MOST_BODIES:
            problem = f"{objects.name} claims {shape[1]:,} frames and {shape[2]:,} objects"
            raise InputError(problem, path=path, remedy=GET)
        shapes = {
            ACTIONS: (count, 3),
            VELOCITIES: (count, *shape[1:3], 3),
            TRIALS: (count,),
        }
        check_shapes(streams, shapes, path)
        return count

    def read_samples(self, start: int, stop: int) -> Samples:
        """Not available: tasks have bars, jars and sticks, in different numbers."""
        raise InputError(
            f"videos {start} to {stop - 1} are of combinatorial worlds, not samples of moving balls",
            path=self.path,
            remedy="use .sample(index), .objects(index) and .video(index)",
        )

    def place(self, index: int) -> tuple[str, int]:
        """Return the key of the task and the number of the trial of a video."""
        shard, row = self._place(index)
        trial = row
        if self._streams.has(TRIALS):
            trial = int(self._numbers(TRIALS, shard, row))
        return self.keys[shard], trial

    def objects(self, index: int) -> Doubles:
        """Return the (T, N, 14) float64 features of a video (see `objects`)."""
        shard, row = self._place(index)
        found = self._numbers(OBJECTS, shard, row)
        with naming(self.path):
            outlines(found), colors(found)
        return found

    def action(self, index: int) -> Doubles:
        """Return x, y, r of the red ball of a video: (3,) float64 from 0 to 1."""
        return self._numbers(ACTIONS, *self._place(index))

    def sample(self, index: int) -> CombinatorialSample:
        """Return the motion of a video.

        Velocities are the stored ones, else forward differences, of which the last is repeated.
        """
        shard, row = self._place(index)
        key, trial = self.place(index)
        objects = self.objects(index)
        if self._streams.has(VELOCITIES):
            velocities = self._numbers(VELOCITIES, shard, row)
        else:
            velocities = differences(objects, self.frame_time)
        return CombinatorialSample(key, trial, self.action(index), objects, velocities)

    def _numbers(self, name: str, shard: int, row: int) -> Doubles:
        """Return a row of a stream; refuse numbers that are not finite."""
        return self._rows(name, shard, slice(row, row + 1))[0].astype(np.float64)


def differences(objects: Doubles, frame_time: float) -> Doubles:
    """Return (T, N, 3) velocities of (T, N, 14) features by forward differences.

    Rotations are taken the short way round, which is wrong for more than half a turn per frame.
    """
    steps = np.diff(objects[..., :3], axis=0)
    if not len(steps):
        return np.zeros((*objects.shape[:2], 3))
    steps[..., 2] = 2 * np.pi * ((steps[..., 2] + 0.5) % 1 - 0.5)
    found: Doubles = np.concatenate([steps, steps[-1:]]) / frame_time
    return found
