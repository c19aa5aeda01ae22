"""Videos for training in torch: rendered as they are asked for, or read from a file.

    RenderedVideos    any video of a data set that exists nowhere but in its settings, by number
    StreamedVideos    the same one after the other, simulated in blocks: the fastest way through them
    StoredVideos      the videos of a file, either format

Every item is a dictionary: `video` (3, T, S, S) channels first, uint8 or float32 in [−1, 1]; `init`
(parameters,) float32; `positions` (T, N, 2) float32 in world units; `index`. Item k depends on the
settings, k and the epoch alone, not on the number of workers. The horizontal flip, the only
augmentation of the paper (App. B), mirrors `positions`, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from sightline.errors import InputError
from sightline.physics.data.reopened import Reopened
from sightline.physics.data.spec import DataSpec, draw
from sightline.physics.data.videos import VideoData
from sightline.physics.draw.planes import to_planes
from sightline.physics.render import Canvas
from sightline.physics.types import WORLD_SIDE, Doubles, Frames

Item = dict[str, Any]

_BLOCK = 64  # samples that a stream simulates at a time


@dataclass(frozen=True, slots=True)
class ItemOptions:
    """How a video is handed over.

    Attributes:
        floats: float32 in [−1, 1] instead of uint8.
        flip: mirror every other video, chosen at random anew in every epoch.
        seed: of that choice.
    """

    floats: bool = False
    flip: bool = False
    seed: int = 0


class NumberedVideos(Dataset[Item], ABC):
    """Videos by number, from 0; negative numbers count from the end.

    Args:
        count: how many there are.
        options: how a video is handed over.
    """

    def __init__(self, count: int, options: ItemOptions | None = None) -> None:
        self.options = options or ItemOptions()
        self.epoch = 0
        self._count = count

    def __len__(self) -> int:
        return self._count

    def set_epoch(self, epoch: int) -> None:
        """Choose anew what is flipped; call it before the loader starts its workers."""
        self.epoch = epoch

    def __getitem__(self, index: int) -> Item:
        place = index + self._count if index < 0 else index
        if not 0 <= place < self._count:
            raise IndexError(index)  # which ends loops
        return self._item(place)

    @abstractmethod
    def _item(self, index: int) -> Item:
        """Return what is handed over of a video."""


class RenderedVideos(NumberedVideos):
    """Videos rendered when asked for, by number; nothing is stored.

    Args:
        spec: of the data set; its `video` plays no part.
        options: how a video is handed over.
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
        motion = (samples.init[0], samples.positions[0])
        return make_item(frames, *motion, index, self.epoch, self.options)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the canvas behind: a worker makes its own."""
        return {**self.__dict__, "_canvas": None}


class StreamedVideos(IterableDataset[Item]):
    """All videos of a data set once, in order; with several workers each has its share of blocks.

    Args:
        spec: of the data set.
        options: how a video is handed over.
        rank: of this process among those that share the data set.
        ranks: how many such processes there are.
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
        """Choose anew what is flipped; call it before the loader starts its workers."""
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
                motion = (samples.init[place], samples.positions[place])
                yield make_item(frames, *motion, start + place, self.epoch, self.options)


class StoredVideos(NumberedVideos):
    """The videos of a file, by number. Each process opens the file for itself.

    Args:
        path: `.slv` or HDF5.
        options: how a video is handed over.
    """

    def __init__(self, path: str | Path, options: ItemOptions | None = None) -> None:
        self.file = Reopened(path)
        super().__init__(len(self.file.data), options)

    def _item(self, index: int) -> Item:
        return self.item(self.file.data, index)

    def item(self, data: VideoData, index: int) -> Item:
        """Make the item of a video."""
        samples = data.read_samples(index, index + 1)
        motion = (samples.init[0], samples.positions[0])
        return make_item(data.video(index), *motion, index, self.epoch, self.options)


def make_item(
    frames: Frames, init: Doubles, positions: Doubles, index: int, epoch: int, options: ItemOptions
) -> Item:
    """Return what a data set hands over: arrays of its own, flipped if chance has it.

    Args:
        frames: (T, S, S, 3) uint8.
        init: (K,) parameters.
        positions: (T, N, 2) in world units.
        index: of the video.
        epoch: of the training.
        options: how it is handed over.
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
    """Toss the coin of one video in one epoch."""
    words = np.random.SeedSequence([seed, epoch, index]).generate_state(1)
    return bool(words[0] & 1)
