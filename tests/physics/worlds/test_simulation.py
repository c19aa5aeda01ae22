"""Samples are pure in seed and place; directions turn the world; wrong requests are refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.physics.types import Shape
from sightline.physics.worlds.simulation import grid, sample, training_size
from sightline.physics.worlds.splits import SCENARIOS

FIELDS = ("init", "positions", "velocities", "sizes", "colors", "shapes")


def assert_same(one, other):
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))


@settings(max_examples=15)
@given(
    scenario=st.sampled_from(SCENARIOS),
    mode=st.sampled_from(["exact", "box2d"]),
    split=st.sampled_from(["id", "ood", "xl", "cross"]),
    seed=st.integers(0, 2**63 - 1),
    start=st.integers(0, 50),
    count=st.integers(0, 30),
)
def test_a_sample_does_not_depend_on_its_neighbors(scenario, mode, split, seed, start, count):
    options = {"split": split, "mode": mode, "seed": seed}
    whole = sample(scenario, 100, **options)
    assert_same(
        whole.take(slice(start, start + count)), sample(scenario, count, start=start, **options)
    )


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_seeds_splits_and_places_give_other_samples(scenario):
    base = sample(scenario, 50).init
    assert len(np.unique(base[:, 0])) == 50
    for other in (
        sample(scenario, 50, seed=1),
        sample(scenario, 50, start=50),
        sample(scenario, 50, preset="paper"),
    ):
        assert not np.isin(other.init[:, 0], base[:, 0]).any()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_both_modes_start_from_the_same_places(scenario):
    truth, stepped = sample(scenario, 20), sample(scenario, 20, mode="box2d")
    assert (truth.init == stepped.init).all()
    assert np.abs(truth.positions[:, 0] - stepped.positions[:, 0]).max() < 1e-3


def test_what_samples_hold():
    one, two = sample("parabola", 3), sample("collision", 3)
    assert one.positions.shape == (3, 32, 1, 2)
    assert two.positions.shape == (3, 32, 2, 2)
    assert (one.sizes == one.init[:, :1]).all()
    assert (two.sizes == two.init[:, :2]).all()
    assert two.colors[0].tolist() == [[255, 0, 0], [0, 0, 255]]
    assert (two.shapes == Shape.BALL).all()
    assert (two.velocities[:, 0, :, 0] == two.init[:, 2:] * [1, -1]).all()
    assert len(sample("collision", 0)) == 0


def test_directions_mirror_and_turn():
    right, left, up, down = (
        sample("uniform", 20, direction=way) for way in ("right", "left", "up", "down")
    )
    np.testing.assert_allclose(left.positions[..., 0], 10 - right.positions[..., 0])
    assert (left.positions[..., 1] == right.positions[..., 1]).all()
    np.testing.assert_allclose(up.positions, right.positions[..., ::-1])
    np.testing.assert_allclose(down.positions[..., 1], 10 - right.positions[..., 0])
    assert (left.velocities[..., 0] == -right.velocities[..., 0]).all()
    assert (down.velocities[..., 1] == -right.velocities[..., 0]).all()
    fall = sample("parabola", 5, direction="left")
    assert (fall.velocities[..., 0] < 0).all()
    assert (fall.velocities[..., 1] < 0).all()


def test_starts_repeat_from_shard_to_shard_only_if_asked():
    options = {"count": 50, "split": "id", "seed": 42}
    for shard_seed in (False, True):
        first = sample("uniform", start=0, shard_seed=shard_seed, **options)
        second = sample("uniform", start=1000, shard_seed=shard_seed, **options)
        assert (first.init != second.init).all()
        # The height is drawn evenly between limits that depend on the radius alone.
        shares = [
            (s.positions[:, 0, 0, 1] - s.init[:, 0] - 0.5) / (9 - 2 * s.init[:, 0])
            for s in (first, second)
        ]
        assert np.allclose(*shares) == shard_seed


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("shard_seed", [False, True])
def test_a_training_set_is_pure_in_its_index(scenario, shard_seed):
    options = {"seed": 42, "shard_seed": shard_seed}
    whole = grid(scenario, "30K", 2100, **options)
    assert_same(whole.take(slice(990, 1510)), grid(scenario, "30K", 520, start=990, **options))
    size = training_size(scenario, "30K", **options)
    assert len(grid(scenario, "30K", 100, start=size - 10, **options)) == 10


@pytest.mark.parametrize(
    ("scenario", "options", "words"),
    [
        ("uniform", {"mode": "euler"}, "mode"),
        ("parabola", {"direction": "up"}, "cannot go"),
        ("collision", {"direction": "left"}, "cannot go"),
        ("uniform", {"seed": -1}, "seed"),
        ("uniform", {"start": -1}, "negative"),
    ],
)
def test_wrong_requests_are_refused(scenario, options, words):
    with pytest.raises(InputError, match=words):
        sample(scenario, 1, **options)


def test_wrong_training_sets_are_refused():
    with pytest.raises(InputError, match="30K"):
        grid("uniform", "30k")
    with pytest.raises(InputError, match="30000 samples"):
        grid("uniform", "30K", 1, start=40000)
    with pytest.raises(InputError, match="2\\^32"):
        grid("uniform", "30K", 1, seed=2**40, shard_seed=True)
