"""Combinatorial videos in HDF5, as the reference stores them (`R-PHY` combinatorial_data).

A `merged` file has groups, in each of them a data set per task named `100TT:NNN`; a `shard` file, of
one task only, has data sets of those names instead:

    action_streams     (trials, 3) float64: x, y, r of the red ball
    object_streams     (trials, frames, objects, 14) float32: features (`bodies`)
    video_streams      (trials,) of variable length uint8: an mp4 each, played at 5 frames a second

and of our own `velocity_streams` (trials, frames, objects, 3) float32, `trial_streams` (trials,) int64,
and the attribute `sightline` with how it was made, in JSON. Same samples, same bytes.

On their way there blocks are such shards themselves.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
from numpy.typing import NDArray

from sightline.physics.combinatorial.layout import make_task
from sightline.physics.combinatorial.make import run_trial
from sightline.physics.combinatorial.render import render_scene
from sightline.physics.combinatorial.simulate import FRAME_TIME, PLAYED
from sightline.physics.combinatorial.spec import CombinatorialSpec, Job
from sightline.physics.data import mp4
from sightline.physics.data.hdf5_write import VELOCITIES, VIDEOS, create, listed, new_file
from sightline.physics.data.recipe import Made
from sightline.physics.data.spec import COMBINATORIAL

ACTIONS, OBJECTS, TRIALS = "action_streams", "object_streams", "trial_streams"

_KEPT = {ACTIONS: np.float64, OBJECTS: np.float32, VELOCITIES: np.float32, TRIALS: np.int64}

Streams = dict[str, NDArray[Any]]


def make_block(spec: CombinatorialSpec, job: Job) -> bytes:
    """Simulate, render and encode some trials. Pure: the same bytes wherever it runs."""
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
    buffer = io.BytesIO()
    with h5py.File(buffer, "w") as file:
        for name, values in (streams | {VIDEOS: listed(kept[VIDEOS])}).items():
            create(file, name, values)
    return buffer.getvalue()


def write(spec: CombinatorialSpec, layout: str, path: Path, made: Iterable[Made[Job]]) -> None:
    """Write a file of all blocks.

    Args:
        spec: what it holds.
        layout: `merged` or `shard`.
        path: of the new file.
        made: blocks in the order of `spec.jobs`.
    """
    note = {"scenario": COMBINATORIAL, "frame_time": FRAME_TIME, "made": spec.record()}
    with new_file(path, note) as file:
        for key, streams in _tasks(made):
            for name, values in streams.items():
                if layout == "shard":
                    create(file, name, values)
                else:
                    create(file.require_group(name), key, values)


def _tasks(made: Iterable[Made[Job]]) -> Iterator[tuple[str, Streams]]:
    """Put blocks together to tasks."""
    for key, group in groupby(made, key=lambda one: one[0].key):
        pieces = [_read(block) for _, block, _ in group]
        yield key, {name: np.concatenate([p[name] for p in pieces]) for name in pieces[0]}


def _read(block: bytes) -> Streams:
    """Return the streams of a block."""
    with h5py.File(io.BytesIO(block), "r") as file:
        return {name: file[name][:] for name in file}
