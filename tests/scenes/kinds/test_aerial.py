"""Drone views: sound worlds, the ground far below, both straight down and aslant."""

from __future__ import annotations

import numpy as np

from sightline.scenes.kinds import aerial


def pitch(view):
    x, y, z = np.subtract(view.target, view.eye)
    return np.degrees(np.arctan2(-y, np.hypot(x, z)))


def test_two_hundred_flights_are_sound(check_sound):
    check_sound(aerial.build, range(200))


def test_the_same_seed_gives_the_same_flight(check_repeats):
    check_repeats(aerial.build, 5)


def test_nothing_is_in_the_way_of_the_drone(shares):
    near, _, spread = shares(aerial.build, range(300, 350))
    assert near.max() == 0
    assert np.median(spread) > 1.3


def test_flights_are_high_and_low_straight_down_and_aslant():
    rng = np.random.default_rng(2)
    views = [aerial._sample_view(rng) for _ in range(200)]
    heights, pitches = np.array([-v.eye[1] for v in views]), np.array([pitch(v) for v in views])
    assert heights.min() >= 10
    assert heights.max() <= 150
    assert heights.min() < 15
    assert heights.max() > 120
    assert 0.15 < (pitches < -75).mean() < 0.45
    assert pitches.max() > -20


def test_towns_fields_and_coasts_all_occur():
    kinds: set[str] = set()
    for seed in range(40):
        kinds |= set(aerial.build(np.random.default_rng([4, seed]))[0].kinds)
    assert {"building", "tree", "car", "hedge", "water", "boat", "container"} <= kinds
