import numpy as np
import pytest

from sightline.scenes.kinds.tabletop import build


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


def test_cameras_are_close_to_the_table_at_many_pitches():
    pitches = []
    for seed in range(80):
        _, view = build(np.random.default_rng(seed))
        way = np.subtract(view.target, view.eye)
        assert np.linalg.norm(way) < 2.2
        pitches.append(np.degrees(np.arcsin(way[1] / np.linalg.norm(way))))
    assert max(pitches) > 75
    assert min(pitches) < 15
    assert np.std(pitches) > 12


def test_things_lie_on_it():
    counts = [len(build(np.random.default_rng(seed))[0].kinds) for seed in range(60)]
    assert np.median(counts) >= 10
