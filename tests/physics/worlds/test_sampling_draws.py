"""Random numbers by address: even, independent, and the same for ever."""

import numpy as np
from numba import njit

from sightline.physics.worlds.sampling import number, stream, tag_of

PINNED = (0.1296456182997474, 0.5702626523986661)


@njit
def numbers(seed, tag, count, places):
    drawn = np.empty((count, places))
    for k in range(count):
        for place in range(places):
            drawn[k, place] = number(stream(seed, tag, k), place)
    return drawn


def test_the_numbers_never_change():
    """Data sets are remade from their seeds: a change here is a change of all of them."""
    assert numbers(0, 0, 1, 1)[0, 0] == PINNED[0]
    assert numbers(42, tag_of("draw", "uniform", "id", "code"), 8, 4)[7, 3] == PINNED[1]


def test_numbers_are_even_and_uncorrelated():
    drawn = numbers(1, 2, 5000, 4)
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert np.abs(drawn.mean(0) - 0.5).max() < 0.02
    assert np.abs(drawn.var(0) - 1 / 12).max() < 0.005
    off = np.corrcoef(drawn.T) - np.eye(4)
    assert np.abs(off).max() < 0.05
    later = np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1]
    assert abs(later) < 0.05


def test_seeds_and_tags_do_not_share_numbers():
    streams = [numbers(seed, tag, 200, 3) for seed in (0, 1) for tag in (0, 1)]
    drawn = np.concatenate([s.ravel() for s in streams])
    assert len(np.unique(drawn)) == drawn.size
