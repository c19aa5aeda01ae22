"""Torch data sets of videos: rendered on the fly, or read from a file.

    RenderedVideos    any video of a data set that is defined by its settings alone, by index
    StreamedVideos    the same videos in order, simulated in blocks: the fastest way to iterate
    StoredVideos      the videos of a file
    RenderedScenes, StoredScenes    the same for combinatorial worlds

Every item is a dictionary: `video` (3, T, S, S) channels first, uint8 or float32 in [−1, 1]; `init`
(parameters,) float32; `positions` (T, N, 2) float32 in world units; `index`. Items of combinatorial
worlds have `action` (3,) float32 and `objects` (T, `ROOM`, 14) float32 instead (zeros after the last
object, so that items can be stacked), and `count`, the number of objects. Item k depends on the
settings, k and the epoch alone, not on the number of workers. The horizontal flip, the only
augmentation of the paper (App. B), also mirrors positions and angles.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import ANGLE, FEATURES, X
from sightline.physics.combinatorial.rendering import render_scene
from sightline.physics.combinatorial.simulation import run_trial
from sightline.physics.combinatorial.store import CombinatorialSpec, CombinatorialVideos
from sightline.physics.combinatorial.tasks import CombinatorialTask, make_task
from sightline.physics.datasets.reader import ReopenedData, VideoData
from sightline.physics.datasets.spec import DataSpec, draw
from sightline.physics.rendering import Canvas, to_planes
from sightline.physics.types import WORLD_SIDE, Doubles, Frames

Item = dict[str, Any]

_BLOCK = 64  # samples that a stream simulates at a time


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """Options of the items.

    Attributes:
        floats: float32 in [−1, 1] instead of uint8.
        flip: mirror every other video, chosen at random in each epoch.
        seed: random seed of the flips.
    """

    floats: bool = False
    flip: bool = False
    seed: int = 0


class NumberedVideos(Dataset[Item], ABC):
    """Videos by index; negative indexes count from the end.

    Args:
        count: number of videos.
        options: of the items.
    """

    def __init__(self, count: int, options: ItemOptions | None = None) -> None:
        self.options = options or ItemOptions()
        self.epoch = 0
        self._count = count

    def __len__(self) -> int:
        return self._count

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which selects the flipped videos; call it before the loader starts workers."""
        self.epoch = epoch

    def __getitem__(self, index: int) -> Item:
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(index)  # ends iteration
        return self._item(place)

    @abstractmethod
    def _item(self, index: int) -> Item:
        """Return the item of a video."""


class RenderedVideos(NumberedVideos):
    """Videos rendered on access; nothing is stored.

    Args:
        spec: of the data set; its `video` is not used.
        options: of the items.
    """

    def __init__(self, spec: DataSpec, options: ItemOptions | None = None) -> None:
        super().__init__(spec.count, options)
        self.spec = spec
        self._canvas: Canvas | None = None

    def _item(self, index: int) -> Item:
        samples = draw(self.spec, index, 1)
        if self._canvas is None:
            self._canvas = Canvas(self.spec.size, samples.positions.shape[1])
        frames = self._canvas.paint(samples[0])
        return make_item(
            frames, samples.init[0], samples.positions[0], index, self.epoch, self.options
        )

    def __getstate__(self) -> dict[str, Any]:
        """Drop the canvas: each worker makes its own."""
        return {**self.__dict__, "_canvas": None}


class StreamedVideos(IterableDataset[Item]):
    """All videos of a data set in order; with several workers, each takes its share of blocks.

    Args:
        spec: of the data set.
        options: of the items.
        rank: of this process among those that share the data set.
        ranks: number of such processes.
    """

    def __init__(
        self,
        spec: DataSpec,
        options: ItemOptions | None = None,
        *,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        if not 0 <= rank < ranks:
            raise InputError(f"rank must be from 0 to {ranks - 1}, got {rank}")
        self.spec = spec
        self.options = options or ItemOptions()
        self.rank, self.ranks = rank, ranks
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, which selects the flipped videos; call it before the loader starts workers."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[Item]:
        worker = get_worker_info()
        number, count = (0, 1) if worker is None else (worker.id, worker.num_workers)
        share, shares = self.rank * count + number, self.ranks * count
        canvas: Canvas | None = None
        for start in range(share * _BLOCK, self.spec.count, shares * _BLOCK):
            samples = draw(self.spec, start, min(_BLOCK, self.spec.count - start))
            canvas = canvas or Canvas(self.spec.size, samples.positions.shape[1])
            for place in range(len(samples)):
                frames = canvas.paint(samples[place])
                init, positions = samples.init[place], samples.positions[place]
                yield make_item(frames, init, positions, start + place, self.epoch, self.options)


class StoredVideos(NumberedVideos):
    """The videos of a file. Each process opens the file for itself.

    Args:
        path: of the HDF5 file.
        options: of the items.
    """

    def __init__(self, path: str | Path, options: ItemOptions | None = None) -> None:
        self.file = ReopenedData(path)
        super().__init__(len(self.file.data), options)

    def _item(self, index: int) -> Item:
        return self.item(self.file.data, index)

    def item(self, data: VideoData, index: int) -> Item:
        """Make the item of a video."""
        samples = data.read_samples(index, index + 1)
        return make_item(
            data.video(index),
            samples.init[0],
            samples.positions[0],
            index,
            self.epoch,
            self.options,
        )


def make_item(
    frames: Frames, init: Doubles, positions: Doubles, index: int, epoch: int, options: ItemOptions
) -> Item:
    """Return an item with its own arrays, possibly flipped.

    Args:
        frames: (T, S, S, 3) uint8.
        init: (K,) parameters.
        positions: (T, N, 2) in world units.
        index: of the video.
        epoch: of the training.
        options: of the item.
    """
    mirror = options.flip and flipped(options.seed, epoch, index)
    if mirror:
        positions = np.stack([WORLD_SIDE - positions[..., 0], positions[..., 1]], axis=-1)
    return {
        "video": torch.from_numpy(to_planes(frames, floats=options.floats, mirror=mirror)),
        "init": torch.from_numpy(init.astype(np.float32)),
        "positions": torch.from_numpy(positions.astype(np.float32)),
        "index": index,
    }


def flipped(seed: int, epoch: int, index: int) -> bool:
    """Return whether a video is flipped in an epoch."""
    words = np.random.SeedSequence([seed, epoch, index]).generate_state(1)
    return bool(words[0] & 1)


#: Rows of `objects`: seven static balls, four standing bars, one each of two more kinds, the red ball.
ROOM = 14


class RenderedScenes(NumberedVideos):
    """Combinatorial videos simulated and rendered on access; nothing is stored.

    Args:
        spec: of the data set; its `video` is not used. Videos are numbered as in its file.
        options: of the items.
    """

    def __init__(self, spec: CombinatorialSpec, options: ItemOptions | None = None) -> None:
        super().__init__(spec.count, options)
        self.spec = spec

    def _item(self, index: int) -> Item:
        place, trial = divmod(index, self.spec.trials)
        template, number = divmod(place, self.spec.tasks)
        task = _cached_task(self.spec.templates[template], number, self.spec.seed)
        sample = run_trial(task, self.spec.first_trial + trial, frames=self.spec.frames)
        frames = render_scene(sample, self.spec.size)
        return make_scene_item(
            frames, sample.action, sample.objects, index, self.epoch, self.options
        )


class StoredScenes(StoredVideos):
    """The videos of an HDF5 file of combinatorial worlds."""

    def item(self, data: VideoData, index: int) -> Item:
        """Make the item of a video."""
        if not isinstance(data, CombinatorialVideos):
            raise InputError("holds no combinatorial worlds", path=data.path)
        frames, objects, action = data.video(index), data.objects(index), data.action(index)
        return make_scene_item(frames, action, objects, index, self.epoch, self.options)


def make_scene_item(
    frames: Frames,
    action: Doubles,
    objects: Doubles,
    index: int,
    epoch: int,
    options: ItemOptions,
) -> Item:
    """Return an item of a combinatorial world, possibly flipped.

    Args:
        frames: (T, S, S, 3) uint8.
        action: (3,) x, y, r.
        objects: (T, N, 14) features.
        index: of the video.
        epoch: of the training.
        options: of the item.
    """
    mirror = options.flip and flipped(options.seed, epoch, index)
    if mirror:
        objects, action = mirrored(objects), np.array([1 - action[0], *action[1:]])
    count = objects.shape[1]
    rows = np.zeros((len(objects), max(ROOM, count), FEATURES), np.float32)
    rows[:, :count] = objects
    return {
        "video": torch.from_numpy(to_planes(frames, floats=options.floats, mirror=mirror)),
        "action": torch.from_numpy(action.astype(np.float32)),
        "objects": torch.from_numpy(rows),
        "count": count,
        "index": index,
    }


def mirrored(objects: Doubles) -> Doubles:
    """Return mirrored (T, N, 14) features; all outlines are symmetric."""
    found = objects.copy()
    found[..., X] = 1 - found[..., X]
    found[..., ANGLE] = -found[..., ANGLE] % 1
    return found


@lru_cache(maxsize=256)
def _cached_task(template: int, number: int, seed: int) -> CombinatorialTask:
    """Return a task, cached because many trials share it."""
    return make_task(template, number, seed)
