"""What the baselines would show."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.probes.samplers import make_probe
from sightline.physics.scoring.baselines import (
    TrainingCases,
    TrainingScenes,
    constant_velocity,
    copy_last,
    nearest_case,
    nearest_scene,
)
from sightline.physics.worlds.simulation import grid, sample


@pytest.fixture(params=["uniform", "parabola", "collision"])
def samples(request):
    return sample(request.param, 40, seed=3)


@pytest.mark.parametrize("make", [copy_last, constant_velocity])
def test_the_condition_frames_are_the_true_ones(samples, make):
    made = make(samples, 3)
    np.testing.assert_array_equal(made.positions[:, :3], samples.positions[:, :3])
    assert not np.array_equal(made.positions, samples.positions)


def test_copy_last_stands_still(samples):
    made = copy_last(samples, 3)
    assert (made.positions[:, 3:] == samples.positions[:, 2:3]).all()
    assert (made.velocities[:, 3:] == 0).all()


def test_constant_velocity_is_the_truth_of_uniform_motion_alone():
    for scenario, right in (("uniform", True), ("parabola", False), ("collision", False)):
        samples = sample(scenario, 40, seed=3)
        made = constant_velocity(samples, 3)
        assert np.allclose(made.positions, samples.positions, atol=1e-9) is right


def test_constant_velocity_is_right_until_the_balls_touch():
    samples = sample("collision", 40, seed=3)
    made = constant_velocity(samples, 3)
    unchanged = np.isclose(samples.velocities, samples.velocities[:, :1]).all(axis=(2, 3))
    np.testing.assert_allclose(made.positions[unchanged], samples.positions[unchanged], atol=1e-9)
    assert (np.abs(made.positions - samples.positions)[:, -1, :, 0] > 0.5).all()


def test_the_nearest_case_is_close_in_distribution_and_far_outside():
    cases = TrainingCases(grid("uniform", "30K", 30000).init)

    def error(split):
        samples = sample("uniform", 200, split=split, seed=1)
        made = nearest_case(samples, cases, 3)
        return np.abs(made.velocities[:, 3:] - samples.velocities[:, 3:]).max(axis=(1, 2, 3))

    assert error("id").max() < 0.02
    assert error("ood-v").min() > 0.15  # the ranges are 0.2 and 0.5 apart


@pytest.mark.parametrize("direction", ["right", "left", "up", "down"])
def test_the_nearest_case_goes_the_true_way(direction):
    samples = sample("uniform", 20, seed=2, direction=direction)
    made = nearest_case(samples, TrainingCases(samples.init), 3)
    np.testing.assert_allclose(made.positions, samples.positions, atol=1e-9)


def test_a_case_that_was_trained_on_is_replayed_exactly(samples):
    made = nearest_case(samples, TrainingCases(samples.init), 3)
    np.testing.assert_allclose(made.positions, samples.positions, atol=2e-4)
    np.testing.assert_array_equal(made.sizes, samples.sizes)


@pytest.mark.parametrize(
    "name", ["visual-ambiguity", "temporal-composition", "spatial-composition"]
)
def test_a_scene_that_was_trained_on_is_replayed_exactly(name):
    samples = make_probe(name, "train", 30)
    made = nearest_scene(samples, TrainingScenes(samples), 3)
    np.testing.assert_allclose(made.positions, samples.positions, atol=1e-9)


def test_the_nearest_scene_goes_on_from_the_true_start():
    samples = make_probe("spatial-composition", "test", 20)
    made = nearest_scene(
        samples, TrainingScenes(make_probe("spatial-composition", "train", 500)), 3
    )
    np.testing.assert_array_equal(made.positions[:, :3], samples.positions[:, :3])
    assert np.linalg.norm(made.positions[:, 3] - samples.positions[:, 3], axis=2).max() < 2.5
    moving = np.ptp(made.positions[:, 3:], axis=1).max(axis=2) > 1e-6
    assert (moving.sum(axis=1) == 1).all()  # nobody ever showed it two bodies that move


def test_what_cannot_be_measured_against_is_refused(samples):
    with pytest.raises(InputError, match="condition frames"):
        copy_last(samples, 0)
    with pytest.raises(InputError, match="condition frames"):
        constant_velocity(samples, 32)
    with pytest.raises(InputError, match="training cases"):
        nearest_case(samples, TrainingCases(samples.init[:, :1]), 3)
    with pytest.raises(InputError, match="training cases"):
        TrainingCases(samples.init[:0])
