"""Read combinatorial videos from HDF5: the released files, and ours (`files` has the layout)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import InputError
from sightline.files.reading import naming
from sightline.physics.combinatorial.bodies import FEATURES, colours, outlines
from sightline.physics.combinatorial.files import ACTIONS, OBJECTS, TRIALS
from sightline.physics.combinatorial.make import CombinatorialSample
from sightline.physics.combinatorial.simulate import FRAME_TIME
from sightline.physics.data.hdf5_file import Hdf5File
from sightline.physics.data.hdf5_guard import GET, check_rows, check_shapes
from sightline.physics.data.hdf5_write import VELOCITIES, VIDEOS
from sightline.physics.data.index import MOST_BODIES, MOST_FRAMES
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.types import Doubles, Samples


class CombinatorialVideos(Hdf5File):
    """An HDF5 file of combinatorial worlds. Tasks differ in their number of objects.

    Attributes:
        keys: of the tasks, such as `10003:007`; one empty key in a file of one shard.
    """

    needed = (VIDEOS, ACTIONS, OBJECTS)
    optional = (VELOCITIES, TRIALS)
    timed, row = OBJECTS, "trial"
    scenario = COMBINATORIAL
    frame_time = FRAME_TIME

    def _describe(self) -> None:
        """Name the tasks."""
        self.keys = self._streams.keys
        self.format = f"HDF5 of the reference's combinatorial layout ({self._streams.layout})"

    @staticmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check types, shapes and counts of one task; return how many trials it has."""
        count = check_rows(streams, path)
        objects = streams[OBJECTS]
        shape = objects.shape
        if len(shape) != 4 or shape[3] != FEATURES or 0 in shape[1:]:
            wanted = f"(trials, frames, objects, {FEATURES})"
            problem = f"{objects.name} has the shape {shape}, not {wanted}"
            raise InputError(problem, path=path, remedy=GET)
        if shape[1] > MOST_FRAMES or shape[2] > MOST_BODIES:
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
        """Refuse: tasks have bars, jars and sticks, and each another number of them."""
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
        """Return the (T, N, 14) float64 features of a video (`bodies`)."""
        shard, row = self._place(index)
        found = self._numbers(OBJECTS, shard, row)
        with naming(self.path):
            outlines(found), colours(found)
        return found

    def action(self, index: int) -> Doubles:
        """Return x, y, r of the red ball of a video: (3,) float64 from 0 to 1."""
        return self._numbers(ACTIONS, *self._place(index))

    def sample(self, index: int) -> CombinatorialSample:
        """Return what happens in a video.

        Velocities are those stored, else forward differences, those of the last frame being those of
        the frame before.
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
        """Return a row of a stream; finite numbers only."""
        return self._rows(name, shard, slice(row, row + 1))[0].astype(np.float64)


def differences(objects: Doubles, frame_time: float) -> Doubles:
    """Return (T, N, 3) velocities of (T, N, 14) features by forward differences.

    Turns are taken the short way round, which is wrong of what turns by more than half of one between
    two frames.
    """
    steps = np.diff(objects[..., :3], axis=0)
    if not len(steps):
        return np.zeros((*objects.shape[:2], 3))
    steps[..., 2] = 2 * np.pi * ((steps[..., 2] + 0.5) % 1 - 0.5)
    found: Doubles = np.concatenate([steps, steps[-1:]]) / frame_time
    return found
