"""Training regions: of presets, and of probes."""

import numpy as np
import pytest

from sightline.physics.probes import PROBES
from sightline.physics.probes.samplers import make_probe
from sightline.physics.scoring.figures import parameters, training_region
from sightline.physics.worlds.splits import PRESETS, SCENARIOS, bucket


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_region_of_a_preset_is_where_buckets_are_in(scenario, preset):
    region = training_region(scenario, preset)
    balls = 2 if scenario == "collision" else 1
    rng = np.random.default_rng(1)
    init = rng.uniform(0.2, [2.0] * balls + [6.0] * balls, (500, 2 * balls))
    inside = ~region.outside_elsewhere(init, ())
    np.testing.assert_array_equal(inside, bucket(scenario, init, preset) == "in")


def test_a_dot_on_shaded_ground_may_be_out_in_what_its_plot_does_not_show():
    region = training_region("collision", "code")
    init = np.array([[1.0, 1.0, 2.0, 2.0], [1.0, 0.3, 2.0, 2.0], [0.3, 1.0, 2.0, 5.0]])
    assert region.outside_elsewhere(init, (2,)).tolist() == [False, True, True]
    assert region.outside_elsewhere(init, (2, 3)).tolist() == [False, True, True]
    assert region.outside_elsewhere(init, (0, 1)).tolist() == [False, False, True]


def test_a_gap_in_the_speeds_is_not_shaded():
    region = training_region("uniform", "code", PROBES["velocity-gap-1.25-3.75"])
    assert region.spans(1) == [(1.0, 1.25), (3.75, 4.0)]
    assert region.spans(0) == [(0.7, 1.4)]
    assert len(region.rectangles(0, 1)) == 2


def test_pairs_of_speeds_that_were_cut_out_are_holes_in_their_plane_only():
    region = training_region("collision", "code", PROBES["collision-gap-square"])
    assert region.holes_in(2, 3) == [((2.0, 3.0), (2.0, 3.0))]
    assert region.holes_in(0, 1) == []
    assert region.spans(2) == [(1.0, 4.0)]


def test_touching_cells_are_one_span():
    region = training_region("collision", "code", PROBES["collision-hull"])
    assert region.spans(2) == [(1.0, 4.0)]


@pytest.mark.parametrize("name", ["velocity-islands-3", "memorization", "collision-gap-rectangles"])
def test_what_a_probe_trains_on_is_in_its_region(name):
    samples = make_probe(name, "train", 50, seed=3)
    region = training_region(samples.scenario, "code", PROBES[name])
    init = parameters(samples.init.tolist(), samples.scenario)
    assert not region.outside_elsewhere(init, ()).any()


def test_where_color_or_shape_decide_there_is_no_region():
    assert training_region("uniform", "code", PROBES["conflict-color-size"]) is None
    assert training_region("spatial", "code", PROBES["spatial-composition"]) is None


def test_speeds_have_no_sign_and_further_parameters_are_left_out():
    found = parameters([(1.0, -2.0, 1.0, 0.0)], "uniform")
    assert found.tolist() == [[1.0, 2.0]]
    assert parameters([], "collision").shape == (0, 4)
