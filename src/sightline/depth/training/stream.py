"""An endless stream of batches that is a pure function of seed and step.

Batch number k is the same whatever the number of workers and however often training was stopped: the
order of each source and every augmentation follow from (seed, source, position). Resuming is starting
to count at another k.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np
import torch
from torch import Tensor

from sightline.depth.spec import ModelSpec
from sightline.depth.training.augment import AugmentConfig, make_sample
from sightline.depth.training.items import Pair

#: Shapes (height, width) a batch may take: landscape, portrait, wide, square; about equal in area.
SHAPES = ((256, 320), (320, 256), (224, 384), (288, 288))
SHAPE_CHANCES = (0.55, 0.15, 0.15, 0.15)


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's samples.

    Attributes:
        image: (N, 3, H, W) normalised.
        disparity: (N, H, W).
        known: (N, H, W) bool.
    """

    image: Tensor
    disparity: Tensor
    known: Tensor


@dataclass(frozen=True, slots=True)
class Source:
    """Pairs that share a place in the mixture: `share` of every batch comes from here."""

    pairs: list[Pair]
    share: int


def pick(count: int, position: int, seed: tuple[int, ...]) -> int:
    """Return the `position`-th index of an endless walk in which every epoch is a new shuffle."""
    epoch, place = divmod(position, count)
    order = np.random.default_rng([*seed, epoch]).permutation(count)
    return int(order[place])


def make_batch(
    sources: list[Source], step: int, spec: ModelSpec, augment: AugmentConfig, seed: int
) -> Batch:
    """Build batch number `step`."""
    shape = SHAPES[np.random.default_rng([seed, 1, step]).choice(len(SHAPES), p=SHAPE_CHANCES)]
    images, targets, masks = [], [], []
    for number, source in enumerate(sources):
        for slot in range(source.share):
            position = step * source.share + slot
            pair = source.pairs[pick(len(source.pairs), position, (seed, 2, number))]
            rng = np.random.default_rng([seed, 3, number, position])
            pixels, disparity, known = make_sample(pair, shape, augment, rng)
            images.append(pixels)
            targets.append(disparity)
            masks.append(known)
    mean = torch.tensor(spec.mean) * 255
    std = torch.tensor(spec.std) * 255
    image = (torch.from_numpy(np.stack(images)).float() - mean) / std
    return Batch(
        image.permute(0, 3, 1, 2),
        torch.from_numpy(np.stack(targets)),
        torch.from_numpy(np.stack(masks)),
    )


def batches(
    sources: list[Source],
    start: int,
    stop: int,
    spec: ModelSpec,
    augment: AugmentConfig,
    seed: int,
    ahead: int = 3,
) -> Iterator[tuple[int, Batch]]:
    """Yield (step, batch) for `start` ≤ step < `stop`, prepared by a thread a few steps ahead.

    A thread is enough: OpenCV and numpy leave the interpreter while they work.
    """
    cv2.setNumThreads(1)
    with ThreadPoolExecutor(1) as pool:
        waiting = [
            pool.submit(make_batch, sources, step, spec, augment, seed)
            for step in range(start, min(stop, start + ahead))
        ]
        for step in range(start, stop):
            batch = waiting.pop(0).result()
            if step + ahead < stop:
                waiting.append(pool.submit(make_batch, sources, step + ahead, spec, augment, seed))
            yield step, batch
