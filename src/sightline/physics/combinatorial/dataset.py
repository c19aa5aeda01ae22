"""Combinatorial videos for training in torch: simulated and rendered as they are asked for, or stored.

Every item is a dictionary: `video` (3, T, S, S) channels first, uint8 or float32 in [−1, 1]; `action`
(3,) float32; `objects` (T, `ROOM`, 14) float32 features, zeros after the last object, so that items
stack; `count`, how many objects there are; `index`. The horizontal flip mirrors x and angles, too.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import torch

from sightline.errors import InputError
from sightline.physics.combinatorial.bodies import ANGLE, FEATURES, X
from sightline.physics.combinatorial.layout import Task, make_task
from sightline.physics.combinatorial.make import run_trial
from sightline.physics.combinatorial.read import CombinatorialVideos
from sightline.physics.combinatorial.render import render_scene
from sightline.physics.combinatorial.spec import CombinatorialSpec
from sightline.physics.data.dataset import (
    Item,
    ItemOptions,
    NumberedVideos,
    StoredVideos,
    flipped,
)
from sightline.physics.data.videos import VideoData
from sightline.physics.draw.planes import to_planes
from sightline.physics.types import Doubles, Frames

#: Rows of `objects`: seven static balls, four standing bars, one each of two more kinds, the red ball.
ROOM = 14


class RenderedScenes(NumberedVideos):
    """Videos simulated and rendered when asked for; nothing is stored.

    Args:
        spec: of the data set; its `video` plays no part. Videos are numbered as in its file.
        options: how a video is handed over.
    """

    def __init__(self, spec: CombinatorialSpec, options: ItemOptions | None = None) -> None:
        super().__init__(spec.count, options)
        self.spec = spec

    def _item(self, index: int) -> Item:
        place, trial = divmod(index, self.spec.trials)
        template, number = divmod(place, self.spec.tasks)
        task = _task(self.spec.templates[template], number, self.spec.seed)
        sample = run_trial(task, self.spec.first_trial + trial, frames=self.spec.frames)
        frames = render_scene(sample, self.spec.size)
        return make_item(frames, sample.action, sample.objects, index, self.epoch, self.options)


class StoredScenes(StoredVideos):
    """The videos of an HDF5 file of combinatorial worlds, by number."""

    def item(self, data: VideoData, index: int) -> Item:
        """Make the item of a video."""
        if not isinstance(data, CombinatorialVideos):
            raise InputError("holds no combinatorial worlds", path=data.path)
        frames, objects, action = data.video(index), data.objects(index), data.action(index)
        return make_item(frames, action, objects, index, self.epoch, self.options)


def make_item(
    frames: Frames,
    action: Doubles,
    objects: Doubles,
    index: int,
    epoch: int,
    options: ItemOptions,
) -> Item:
    """Return what a data set hands over, flipped if chance has it.

    Args:
        frames: (T, S, S, 3) uint8.
        action: (3,) x, y, r.
        objects: (T, N, 14) features.
        index: of the video.
        epoch: of the training.
        options: how it is handed over.
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
    """Return (T, N, 14) features as a mirror shows them; all outlines are symmetric."""
    found = objects.copy()
    found[..., X] = 1 - found[..., X]
    found[..., ANGLE] = -found[..., ANGLE] % 1
    return found


@lru_cache(maxsize=256)
def _task(template: int, number: int, seed: int) -> Task:
    """Return a task, which many trials share."""
    return make_task(template, number, seed)
