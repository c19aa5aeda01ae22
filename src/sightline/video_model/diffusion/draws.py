"""Random numbers that belong to a sample: drawn from (seed, its number), whoever draws them and when.

So neither the number of processes, nor the batch size, nor a run that was broken and resumed changes
what a sample is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

_STEPS, _NOISE = 0, 1


def draw_steps(seed: int, numbers: Iterable[int], steps: int) -> Tensor:
    """Draw a step for each sample, all equally likely.

    Args:
        seed: of the run.
        numbers: of the samples: in training, counted from its beginning, so that a video that comes
            again is given another step.
        steps: of the schedule.

    Returns:
        (N,) int64, from 0 to steps − 1.
    """
    drawn = [int(_random(seed, _STEPS, number).integers(steps)) for number in numbers]
    return torch.tensor(drawn, dtype=torch.int64)


def draw_noise(seed: int, numbers: Iterable[int], shape: Sequence[int]) -> Tensor:
    """Draw standard normal noise for each sample.

    Args:
        seed: of the run.
        numbers: of the samples.
        shape: of one sample.

    Returns:
        (N, *shape) float32.
    """
    size = tuple(shape)
    drawn = [_random(seed, _NOISE, n).standard_normal(size, dtype=np.float32) for n in numbers]
    return torch.from_numpy(np.stack(drawn))


def _random(seed: int, purpose: int, number: int) -> np.random.Generator:
    # A spawn key: as parts of a seed, (5,) and (5, 0) would be the same.
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(purpose, number)))
