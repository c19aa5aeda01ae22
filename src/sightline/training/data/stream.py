"""An endless stream of batches that is a pure function of seed and step.

Batch number k is the same whatever the number of workers and however often training was stopped: the
order of each source and every augmentation follow from (seed, source, position). Resuming is starting
to count at another k; several processes share a batch by taking every n-th sample of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields

import cv2
import numpy as np
import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.training.data.augment import AugmentConfig, Sample, cutmix, make_sample
from sightline.training.data.pairs import Pair
from sightline.training.data.shards import PairSource

#: Width over height of a batch, and how often: landscape, portrait, wide, square.
ASPECTS = (1.25, 0.8, 1.71, 1.0)
ASPECT_CHANCES = (0.55, 0.15, 0.15, 0.15)

#: Largest aspect of a random grid (the smallest is its inverse), and the standard deviation of the
#: logarithm of the aspect: half of the batches lie between 2:3 and 3:2.
MAX_ASPECT, ASPECT_SPREAD = 21 / 9, 0.55


@dataclass(frozen=True, slots=True)
class Batch:
    """One step's samples.

    Attributes:
        image: (N, 3, H, W) normalized.
        disparity: (N, H, W), at most 1.
        known: (N, H, W) bool.
        weight: (N, H, W) trust in the label, 0 to 1.
        unit: (N,) inverse depth in [1/m] is disparity times this, as a camera of the network's own
            focal length would see it (`ModelSpec.focal`), or true; NaN where nobody knows.
        pseudo: (N,) bool, a teacher's label rather than a measurement.
        pasted: (N, H, W) bool, where CutMix put another picture of the batch in; None without CutMix.
    """

    image: Tensor
    disparity: Tensor
    known: Tensor
    weight: Tensor
    unit: Tensor
    pseudo: Tensor
    pasted: Tensor | None = None

    def to(self, device: torch.device) -> Batch:
        """Move everything to a device."""
        there: dict[str, Tensor] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None:
                there[field.name] = value.to(device, non_blocking=True)
        return Batch(**there)


@dataclass(frozen=True, slots=True)
class MixtureSource:
    """Training pairs of one source and their share of the batch.

    Attributes:
        pairs: training pairs.
        share: number of samples of every batch that come from this source.
    """

    pairs: PairSource
    share: int

    def __post_init__(self) -> None:
        if self.share < 1:
            raise InputError(f"a source's share of the batch must be at least 1, got {self.share}")
        if len(self.pairs) == 0:
            raise InputError("a source of training pairs is empty")


@dataclass(frozen=True, slots=True)
class StreamConfig:
    """Configuration of the batches: shape, augmentation and order.

    Attributes:
        short_side: short side of a batch of the most common shape, [px]; other shapes have about the
            same area.
        augment: variation of measured and rendered pairs.
        augment_pseudo: variation of pseudo-labeled pairs: stronger, so that the student cannot
            simply repeat what the teacher saw (V1 §3.2).
        cutmix: chance that a pseudo-labeled sample has a piece of another one pasted in.
        seed: seed of order and augmentation.
        random_grids: sample the shape of every batch (`random_shape`) instead of using one of four.
    """

    short_side: int
    augment: AugmentConfig
    augment_pseudo: AugmentConfig
    cutmix: float = 0.0
    seed: int = 0
    random_grids: bool = False


def random_shape(short_side: int, multiple: int, rng: np.random.Generator) -> tuple[int, int]:
    """Sample the (height, width) of a batch: odd and even multiples, of about the area of `shapes`.

    A network trained on few shapes learns where their edges are. Aspects lie between 9:21 and 21:9.
    """
    area = short_side * short_side * ASPECTS[0] / multiple**2
    most = math.log(MAX_ASPECT)
    aspect = math.exp(float(np.clip(rng.normal(0.1, ASPECT_SPREAD), -most, most)))
    rows = max(1, round(math.sqrt(area / aspect) + rng.uniform(-0.5, 0.5)))
    columns = max(1, round(area / rows + rng.uniform(-0.5, 0.5)))
    return rows * multiple, columns * multiple


def shapes(short_side: int, multiple: int) -> list[tuple[int, int]]:
    """(height, width) of the four batch shapes, multiples of `multiple`, about equal in area.

    >>> shapes(256, 32)
    [(256, 320), (320, 256), (224, 384), (288, 288)]
    """
    area = short_side * short_side * ASPECTS[0]

    def snap(side: float) -> int:
        return max(1, round(side / multiple)) * multiple

    return [(snap(math.sqrt(area / a)), snap(math.sqrt(area * a))) for a in ASPECTS]


def make_batch(
    sources: list[MixtureSource],
    step: int,
    spec: ModelSpec,
    config: StreamConfig,
    *,
    rank: int = 0,
    processes: int = 1,
) -> Batch:
    """Build batch number `step`; of several processes, each takes every n-th sample."""
    shape = _shape(step, spec, config)
    slots = [
        (number, slot) for number, source in enumerate(sources) for slot in range(source.share)
    ]
    if len(slots) < processes:
        raise InputError(f"{processes} processes cannot share a batch of {len(slots)} samples")
    samples, units, pseudo = [], [], []
    for number, slot in slots[rank::processes]:
        source = sources[number]
        position = step * source.share + slot
        pair = source.pairs.pair(position, (config.seed, 2, number))
        augment = config.augment_pseudo if pair.pseudo else config.augment
        rng = np.random.default_rng([config.seed, 3, number, position])
        sample = make_sample(pair, shape, augment, rng)
        samples.append(sample)
        units.append(_unit(pair, sample.zoom, spec))
        pseudo.append(pair.pseudo)
    batch = _collate(samples, units, pseudo, spec)
    if config.cutmix > 0:
        return _paste(batch, config, np.random.default_rng([config.seed, 4, step, rank]))
    return batch


def _shape(step: int, spec: ModelSpec, config: StreamConfig) -> tuple[int, int]:
    rng = np.random.default_rng([config.seed, 1, step])
    if config.random_grids:
        return random_shape(config.short_side, spec.multiple, rng)
    choices = shapes(config.short_side, spec.multiple)
    return choices[rng.choice(len(choices), p=ASPECT_CHANCES)]


def _unit(pair: Pair, zoom: float, spec: ModelSpec) -> float:
    """Return the unit of a sample's disparity in [1/m] for a network's own camera, if it has one.

    Metric3D (Yin et al. 2023, §3.1): what is twice as large through a lens twice as long looks alike,
    so the network learns the distance at which its own lens would show the same picture.
    """
    if spec.max_depth is None:
        return math.nan if pair.unit is None else pair.unit
    if pair.unit is None:
        raise InputError("a metric network cannot learn from a pair without meters")
    if spec.focal is None:
        return pair.unit
    if pair.focal is None:
        raise InputError("a network with a camera of its own needs the focal length of every pair")
    return pair.unit * pair.focal * zoom / spec.focal


def _collate(
    samples: list[Sample], units: list[float], pseudo: list[bool], spec: ModelSpec
) -> Batch:
    mean, std = torch.tensor(spec.mean) * 255, torch.tensor(spec.std) * 255
    pixels = torch.from_numpy(np.stack([s.pixels for s in samples]))
    return Batch(
        ((pixels.float() - mean) / std).permute(0, 3, 1, 2),
        torch.from_numpy(np.stack([s.disparity for s in samples])),
        torch.from_numpy(np.stack([s.known for s in samples])),
        torch.from_numpy(np.stack([s.weight for s in samples])),
        torch.tensor(units),
        torch.tensor(pseudo),
    )


def _paste(batch: Batch, config: StreamConfig, rng: np.random.Generator) -> Batch:
    """CutMix: paste a rectangle of the next pseudo-labeled sample into some of them (V1 §3.2)."""
    chosen: list[int] = torch.nonzero(batch.pseudo).flatten().tolist()
    pasted = torch.zeros_like(batch.known)
    image, disparity = batch.image.clone(), batch.disparity.clone()
    known, weight = batch.known.clone(), batch.weight.clone()
    for place, target in enumerate(chosen):
        hit, (row, column, height, width) = rng.random(), cutmix(known.shape[1:], rng)
        if hit >= config.cutmix or len(chosen) < 2:
            continue
        giver = chosen[(place + 1) % len(chosen)]
        window = (slice(row, row + height), slice(column, column + width))
        image[target, :, *window] = batch.image[giver, :, *window]
        for mixed, clean in (
            (disparity, batch.disparity),
            (known, batch.known),
            (weight, batch.weight),
        ):
            mixed[target, *window] = clean[giver, *window]
        pasted[target, *window] = True
    return Batch(image, disparity, known, weight, batch.unit, batch.pseudo, pasted)


def batches(
    sources: list[MixtureSource],
    start: int,
    stop: int,
    spec: ModelSpec,
    config: StreamConfig,
    *,
    rank: int = 0,
    processes: int = 1,
    ahead: int = 3,
) -> Iterator[tuple[int, Batch]]:
    """Yield (step, batch) for `start` ≤ step < `stop`, prepared by a thread a few steps ahead.

    A thread is enough: OpenCV and numpy leave the interpreter while they work.
    """
    cv2.setNumThreads(1)

    def make(step: int) -> Batch:
        return make_batch(sources, step, spec, config, rank=rank, processes=processes)

    with ThreadPoolExecutor(1) as pool:
        waiting = [pool.submit(make, step) for step in range(start, min(stop, start + ahead))]
        for step in range(start, stop):
            batch = waiting.pop(0).result()
            if step + ahead < stop:
                waiting.append(pool.submit(make, step + ahead))
            yield step, batch
