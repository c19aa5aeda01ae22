"""Buckets agree with the splits that samples come from."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.worlds.simulation import sample
from sightline.physics.worlds.splits import BUCKETS, PRESETS, bucket

EXPECTED = {
    "id": {"in"},
    "ood-r": {"r_out"},
    "ood-v": {"v_out", "zero_speed"},
    "ood-rv": {"rv_out", "zero_speed"},
    "ood-r1": {"r_out"},
    "ood-v1": {"v_out", "zero_speed"},
    "ood-r1r2": {"r_out"},
    "ood-v1v2": {"v_out", "zero_speed"},
    "ood-r1v1": {"rv_out", "zero_speed"},
    "ood-all": {"rv_out", "zero_speed"},
}
CASES = [
    (scenario, split)
    for split in EXPECTED
    for scenario in ("uniform", "parabola", "collision")
    if split == "id" or ("1" in split or split == "ood-all") == (scenario == "collision")
]


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("scenario", "split"), CASES)
def test_splits_fall_into_their_buckets(scenario, split, preset):
    init = sample(scenario, 1000, split=split, preset=preset).init
    assert set(bucket(scenario, init, preset)) == EXPECTED[split]
    assert set(bucket(scenario, init.astype(np.float32).astype(float), preset)) == EXPECTED[split]


def test_rest_goes_before_everything_else():
    assert bucket("uniform", np.array([[0.3, 0.0]])).tolist() == ["zero_speed"]
    assert bucket("collision", np.array([[1.0, 1.0, 2.0, 0.0]])).tolist() == ["zero_speed"]
    assert set(BUCKETS) >= {"zero_speed", "in"}


def test_extra_columns_and_edges():
    init = np.array([[0.7, 1.0, 1.0, 2.0], [1.4, 4.0, 0.0, 0.0], [1.41, 4.0, 0.0, 0.0]])
    assert bucket("uniform", init).tolist() == ["in", "in", "r_out"]
    assert bucket("uniform", init, "paper").tolist() == ["in", "in", "in"]


def test_too_few_parameters_are_refused():
    with pytest.raises(InputError, match="shape"):
        bucket("collision", np.ones((3, 2)))
