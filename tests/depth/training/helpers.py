"""Small pairs and runs for the tests of training."""

import numpy as np

from sightline.training.data.augment import AugmentConfig
from sightline.training.data.pairs import Pair
from sightline.training.data.shards import MemoryPairs
from sightline.training.data.stream import MixtureSource, StreamConfig


def ramp_pair(seed, height=90, width=120, *, pseudo=False, unit=None, focal=None):
    """A pair whose color and disparity both grow from left to right."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(0, 1, width, dtype=np.float32)[None].repeat(height, 0)
    pixels = np.clip(slope[..., None] * 200 + rng.uniform(0, 55, 3), 0, 255).astype(np.uint8)
    known = np.ones((height, width), bool)
    return Pair(pixels, slope.astype(np.float16), known, unit, pseudo, focal=focal)


def two_sources(*, pseudo=False, unit=None, share=1, focal=None):
    """Three pairs and one pair, `share` samples of each in every batch."""
    first = [ramp_pair(i, unit=unit, focal=focal) for i in range(3)]
    second = [ramp_pair(9 + i, pseudo=pseudo, unit=unit, focal=focal) for i in range(share)]
    return [MixtureSource(MemoryPairs(first), share), MixtureSource(MemoryPairs(second), share)]


def small_stream(short_side=64, **changes):
    """Batches of 64 px."""
    return StreamConfig(short_side, AugmentConfig(), AugmentConfig.strong(), **changes)
