"""The released generator's order and start positions, against its rules written out one by one."""

import itertools

import numpy as np
import pytest

from sightline.physics.worlds.grids import reference_cells, reference_grid
from sightline.physics.worlds.sampling import fits


class Plain:
    """The rules in plain Python, on a generator of its own; one sample after the other."""

    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def uniform(self, low, high):
        return self.rng.rand() * (high - low) + low

    def single(self, r, v, falling):
        most = 10.0 - (24 * v * 0.01 * 10 + r)
        if most < r:
            most = r + self.uniform(0, 0.5)
        x = self.uniform(r, most)
        low = (1 - 0.05) * 10.0 - r - 1.0 if falling else r + 0.05 * 10.0
        return x, self.uniform(low, (1 - 0.05) * 10.0 - r)

    def pair(self, r1, r2, v1, v2):
        least = 8 * (v1 + v2) * 0.01 * 10 + r1 + r2
        most = (320 / 10 - 8) * 0.01 * 10 * (v1 + v2) + r1 + r2
        tries = 0
        while tries < 50:
            if r1 > 2 * r2:
                most = min(least * 1.25, 10.0 - r1 - r2)
                self.uniform(least, most)
            if r2 > 2 * r1:
                most = min(least * 1.25, 10.0 - r1 - r2)
                distance = self.uniform(least, most)
                high = 10.0 - r2 - distance
                low = high - 0.5
            else:
                most = min(most, 10.0 - r1 - r2)
                distance = self.uniform(least, most)
                low, high = r1, 10.0 - r2 - distance
            x1 = max(self.uniform(low, high), r1)
            x2 = min(x1 + distance, 10.0 - r2)
            if (x2 - x1 - r1 - r2) / (v1 + v2) / 0.1 < 8:
                tries += 1
            else:
                break
        height = self.uniform(max(r1, r2) + 0.5, (1 - 0.05) * 10.0 - max(r1, r2))
        return x1, x2, height, tries


def shuffled(plain, radii, speeds, balls):
    axes = [radii] * balls + [speeds] * balls
    cells = [tuple(cell) for cell in itertools.product(*axes)]
    plain.rng.shuffle(cells)
    return cells


@pytest.mark.parametrize("scenario", ["uniform", "parabola"])
def test_single_balls_are_the_released_ones(scenario):
    plain = Plain(42)
    if scenario == "parabola":
        speeds = sorted(plain.uniform(1.0, 4.0) for _ in range(300))
        radii = sorted(plain.uniform(0.7, 1.4) for _ in range(100))
    else:
        speeds, radii = np.linspace(1.0, 4.0, 300), np.linspace(0.7, 1.4, 100)
    cells = shuffled(plain, radii, speeds, 1)
    init, starts = reference_cells(scenario, "30K", "code", 42, 0, 1500)
    np.testing.assert_array_equal(init, cells[:1500])
    for first in (0, 1000):  # the seed is set anew
        shard = Plain(42)
        wanted = [
            shard.single(*cell, scenario == "parabola") for cell in cells[first : first + 500]
        ]
        np.testing.assert_allclose(starts[first : first + 500, 0], wanted, atol=1e-12)


def test_pairs_are_the_released_ones():
    cells = shuffled(Plain(42), np.linspace(0.5, 1.5, 8), np.linspace(1.0, 4.0, 21), 2)
    kept, wanted = [], []
    for first in (0, 1000):
        shard = Plain(42)
        for cell in cells[first : first + 1000]:
            x1, x2, height, tries = shard.pair(*cell)
            assert tries in (0, 50)  # all succeed or all fail, as `sampling` says
            assert (tries == 0) == fits(*cell)
            if tries < 10:
                kept.append(cell)
                wanted.append([(x1, height), (x2, height)])
    init, starts = reference_cells("collision", "30K", "code", 42, 0, len(kept))
    np.testing.assert_array_equal(init, kept)
    np.testing.assert_allclose(starts, wanted, atol=1e-12)


def test_dropped_pairs_have_no_number():
    grid, kept = reference_grid("collision", "30K")
    assert len(grid) == 28_224
    assert 20_000 < len(kept) < 28_224
    assert (np.diff(kept) > 0).all()
