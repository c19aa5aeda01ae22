"""Intervals of benchmark means, and how often they cover the truth."""

import math

import numpy as np
import pytest

from sightline.benchmarks.bootstrap import bootstrap, choose_unit, interval, layout_of
from sightline.errors import InputError


def paired(values, groups, scenes, unit, over_sets):
    layout = layout_of(groups, scenes, [1] * len(groups), unit=unit, over_sets=over_sets)
    means, spread, freedom = bootstrap(values, layout, resamples=600)
    return interval(means[0] - means[1], spread[:, 0] - spread[:, 1], freedom)


def test_the_estimate_is_the_mean_over_sets_or_pictures():
    values = np.array([[1.0], [2.0], [6.0]])
    groups = ["a", "a", "b"]
    for unit in ("pictures", "scenes"):
        sets = bootstrap(values, layout_of(groups, groups, [1, 1, 1], unit=unit, over_sets=True))
        flat = bootstrap(values, layout_of(groups, groups, [1, 1, 1], unit=unit, over_sets=False))
        assert sets[0][0] == pytest.approx(3.75)
        assert flat[0][0] == pytest.approx(3.0)


def test_the_standard_error_of_a_plain_mean_is_that_of_the_textbook(rng):
    values = rng.normal(size=(50, 1))
    layout = layout_of(["a"] * 50, ["a"] * 50, [1] * 50, unit="pictures", over_sets=False)
    _, spread, freedom = bootstrap(values, layout, resamples=20_000)
    assert freedom == 49
    assert spread.std() == pytest.approx(values.std(ddof=1) / math.sqrt(50), rel=0.03)


def test_pairing_removes_the_difficulty_of_pictures(rng):
    hard = rng.uniform(0, 1, 40)
    values = np.column_stack([hard + 0.02, hard]) + rng.normal(0, 0.005, (40, 2))
    found = paired(values, ["a"] * 40, ["a"] * 40, "pictures", False)
    assert found.excludes_zero
    assert found.high - found.low < 0.02 < values[:, 0].std()


def test_one_unit_has_no_interval():
    found = paired(np.array([[1.0, 2.0]]), ["a"], ["a"], "pictures", False)
    assert math.isnan(found.low)
    assert not found.excludes_zero


def test_scenes_are_drawn_only_where_there_are_enough():
    assert choose_unit(["x", "y"], ["a", "a"], over_sets=False) == "pictures"
    assert choose_unit(["x", "y", "z"], ["a"] * 3, over_sets=False) == "scenes"
    assert choose_unit(["x", "y", "z"], ["a"] * 3, over_sets=True) == "pictures"


def test_figures_that_are_not_finite_are_refused():
    layout = layout_of(["a"], ["a"], [1], unit="pictures", over_sets=False)
    with pytest.raises(InputError, match="finite"):
        bootstrap(np.array([[math.nan]]), layout)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("scenes", "each", "unit", "over_sets"),
    [
        (86, 1, "pictures", False),
        (12, 6, "scenes", False),
        (8, 5, "scenes", True),
        (4, 10, "scenes", True),
    ],
)
def test_intervals_of_simulated_predictors_cover_95_percent(scenes, each, unit, over_sets):
    """Two predictors with a known difference, errors shared by the pictures of a scene."""
    rng = np.random.default_rng(5)
    true, trials, covered = 0.03, 2000, 0
    names = [f"s{k}" for k in range(scenes) for _ in range(each)]
    for _ in range(trials):
        difficulty = rng.gamma(3, 0.05, len(names))  # common to both, as in real pictures
        scene_effect = np.repeat(rng.normal(0, 0.04, scenes), each)
        a = difficulty + true + scene_effect + rng.normal(0, 0.05, len(names))
        b = difficulty + rng.normal(0, 0.05, len(names))
        found = paired(np.column_stack([a, b]), names, names, unit, over_sets)
        covered += found.low <= true <= found.high
    assert 0.93 <= covered / trials <= 0.97


@pytest.mark.slow
def test_drawing_pictures_instead_of_scenes_would_be_overconfident():
    rng = np.random.default_rng(6)
    names = [f"s{k}" for k in range(10) for _ in range(8)]
    covered = 0
    for _ in range(500):
        gain = np.repeat(rng.normal(0, 0.05, 10), 8) + rng.normal(0, 0.05, 80)
        found = paired(
            np.column_stack([gain, np.zeros(80)]), names, names, "pictures", over_sets=False
        )
        covered += found.low <= 0 <= found.high
    assert covered / 500 < 0.8
