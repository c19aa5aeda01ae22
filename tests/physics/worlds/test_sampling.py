"""What the rules of placing promise: balls inside, and enough frames to see."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.worlds import closed_form as exact
from sightline.physics.worlds.sampling import fits, place_pair, place_single
from sightline.physics.worlds.simulation import sample

seeds = st.integers(0, 2**63 - 1)


def singles(count, seed, low=(0.3, 0.0), high=(2.0, 6.0)):
    return np.random.default_rng(seed % 2**32).uniform(low, high, (count, 2))


@given(seed=seeds, falling=st.booleans())
def test_a_single_ball_starts_inside_and_is_seen_long_enough(seed, falling):
    init = singles(50, seed)
    starts = place_single(init, falling=falling, seed=seed, tag=1, indexes=np.arange(50))
    r, v = init.T
    x, y = starts[:, 0].T
    assert ((x >= r) & (x <= 10 - r)).all()
    top, bottom = 9.5 - r, (8.5 - r if falling else r + 0.5)
    assert ((y >= bottom - 1e-9) & (y <= top)).all()
    slow = 10 - 2 * r - 2.4 * v >= 0
    assert (x + 2.4 * v <= 10 - r + 1e-9)[slow].all()
    assert (x <= r + 0.5)[~slow].all()


def pairs(count, seed):
    drawn = np.random.default_rng(seed % 2**32).uniform((0.3, 0.3, 0, 0), (2, 2, 6, 6), (4000, 4))
    return drawn[[fits(*row) for row in drawn]][:count]


@given(seed=seeds)
def test_a_pair_meets_neither_too_early_nor_too_late(seed):
    init = pairs(50, seed)
    starts = place_pair(init, seed=seed, tag=1, indexes=np.arange(len(init)))
    r1, r2, v1, v2 = init.T
    time = (starts[:, 1, 0] - starts[:, 0, 0] - r1 - r2) / (v1 + v2)
    assert ((time >= 0.8 - 1e-9) & (time <= 2.4 + 1e-9)).all()
    assert (starts[:, 0, 0] >= r1 - 1e-9).all()
    assert (starts[:, 1, 0] <= 10 - r2 + 1e-9).all()
    assert (starts[:, 0, 1] == starts[:, 1, 1]).all()
    tallest = np.maximum(r1, r2)
    heights = starts[:, 0, 1]
    assert ((heights >= tallest + 0.5) & (heights <= 9.5 - tallest)).all()


def test_a_much_larger_ball_starts_at_its_side():
    left = np.tile([1.5, 0.5, 1.0, 1.0], (200, 1))
    starts = place_pair(left, seed=0, tag=0, indexes=np.arange(200))
    assert (starts[:, 0, 0] <= 1.5 + 0.5).all()
    right = np.tile([0.5, 1.5, 1.0, 1.0], (200, 1))
    starts = place_pair(right, seed=0, tag=0, indexes=np.arange(200))
    assert (starts[:, 1, 0] >= 10 - 1.5 - 0.5 - 1e-9).all()
    even = np.tile([1.0, 1.0, 1.0, 1.0], (200, 1))
    starts = place_pair(even, seed=0, tag=0, indexes=np.arange(200))
    assert np.ptp(starts[:, 0, 0]) > 3


def test_pairs_that_cannot_meet_in_the_picture_do_not_fit():
    assert fits(1.0, 1.0, 2.0, 2.0)
    assert not fits(1.5, 1.5, 4.0, 4.0)  # 6.4 of approach in a room of 4
    assert not fits(2.5, 2.5, 1.0, 1.0)  # half of the picture
    assert not fits(1.0, 1.0, 0.0, 0.0)  # never meet


@pytest.mark.parametrize("mode", ["exact", "box2d"])
def test_eight_frames_before_and_eight_after_the_collision(mode):
    samples = sample("collision", 1000, split="ood", mode=mode, seed=2)
    moved = np.abs(np.diff(samples.velocities[..., 0], axis=1)).max(2) > 0.011  # not mere sleep
    assert moved.any(1).all()
    frame = moved.argmax(1)  # the last one before the change
    assert frame.min() >= 7
    assert frame.max() <= 23 + (mode == "box2d")  # found one sub-step late


def test_a_ball_in_distribution_is_seen_in_24_frames():
    samples = sample("uniform", 1000, seed=4)
    right = samples.positions[:, :, 0, 0] + samples.init[:, :1]
    slow = 10 - 2 * samples.init[:, 0] - 2.4 * samples.init[:, 1] >= 0
    assert slow.mean() > 0.6
    t = exact.frame_times()[23]
    assert t < 2.4
    assert (right[slow, 23] <= 10).all()
