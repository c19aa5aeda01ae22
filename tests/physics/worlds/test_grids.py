"""The training sets' grids."""

import numpy as np
import pytest

from sightline.physics.worlds.grids import grid_of
from sightline.physics.worlds.sampling import all_fit


@pytest.mark.parametrize(("level", "size"), [("30K", 30_000), ("300K", 300_000)])
def test_every_cell_of_uniform_motion_comes_once(level, size):
    grid = grid_of("uniform", level)
    init = grid.init(0, len(grid))
    assert len(init) == size
    assert len(np.unique(grid.order)) == size
    assert len(np.unique(init[:, 0])) * len(np.unique(init[:, 1])) == size
    np.testing.assert_allclose(np.ptp(np.diff(grid.speeds)), 0, atol=1e-12)
    assert (grid.radii[0], grid.radii[-1]) == (0.7, 1.4)
    assert abs(np.corrcoef(np.arange(size), init[:, 1])[0, 1]) < 0.02  # shuffled


def test_three_million():
    assert len(grid_of("uniform", "3M")) == 3_000_000
    assert len(grid_of("collision", "3M").radii) == 26


def test_a_parabola_has_random_values():
    grid, other = grid_of("parabola", "30K"), grid_of("parabola", "30K", seed=1)
    for values in (grid.speeds, grid.radii):
        assert (np.diff(values) > 0).all()
        assert np.ptp(np.diff(values)) > 1e-4
    assert (grid.speeds != other.speeds).all()
    assert (len(grid.speeds), len(grid.radii)) == (300, 100)


def test_a_collision_set_leaves_out_what_does_not_fit():
    grid = grid_of("collision", "30K")
    assert (len(grid.speeds), len(grid.radii)) == (21, 8)
    init = grid.init(0, len(grid))
    assert init.shape == (len(grid), 4)
    assert all_fit(init).all()
    whole = np.stack(
        np.meshgrid(grid.radii, grid.radii, grid.speeds, grid.speeds, indexing="ij"), -1
    ).reshape(-1, 4)
    assert len(whole) == 28_224
    assert len(grid) == all_fit(whole).sum() < 28_224
    assert len(np.unique(init, axis=0)) == len(init)


def test_presets_change_the_values():
    assert grid_of("collision", "30K", "paper").radii[0] == 0.7
