import numpy as np
import pytest

from sightline.scenes.kinds.objects import build


def test_many_worlds_are_sound(check_sound):
    check_sound(build, range(200))


@pytest.mark.parametrize("seed", [0, 17, 123])
def test_same_seed_same_world(seed, check_repeats):
    check_repeats(build, seed)


def test_cameras_stand_free_and_see_something(shares):
    near, void, spread = shares(build, range(500, 560))
    assert (near > 0.5).mean() <= 0.05, np.flatnonzero(near > 0.5) + 500
    assert void.max() == 0, np.flatnonzero(void > 0) + 500
    assert (spread > 1.3).mean() > 0.9, np.flatnonzero(spread <= 1.3) + 500
    assert np.median(spread) > 2


def test_subjects_vary():
    everything = set()
    for seed in range(120):
        everything |= set(build(np.random.default_rng(seed))[0].kinds)
    assert {
        "dog",
        "cat",
        "bird",
        "statue",
        "machine",
        "sculpture",
        "plant",
        "vase",
        "chair",
    } <= everything


def test_some_are_outdoors_and_some_are_not():
    skies = [build(np.random.default_rng(seed))[0].sky is not None for seed in range(60)]
    assert 0.2 < np.mean(skies) < 0.8
