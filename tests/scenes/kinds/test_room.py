import numpy as np
import pytest

from sightline.scenes.kinds.room import build


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


def test_rooms_are_full_of_different_things():
    kinds = [set(build(np.random.default_rng(seed))[0].kinds) for seed in range(60)]
    everything = set().union(*kinds)
    expected = {"chair", "table", "sofa", "bed", "shelf", "lamp", "book", "cup", "plant", "picture"}
    expected |= {"window", "door", "mirror", "counter", "toilet", "desk", "screen", "curtain"}
    assert expected <= everything
    assert np.median([len(k) for k in kinds]) >= 10


def test_the_camera_is_in_the_room():
    for seed in range(60):
        world, view = build(np.random.default_rng(seed))
        eye = np.array(view.eye)
        assert (eye > world.vertices.min(0)).all()
        assert (eye < world.vertices.max(0)).all()
        assert 0.05 < -eye[1] < 4.5


def test_sky_is_seen_only_through_windows():
    for seed in range(60):
        world, _ = build(np.random.default_rng(seed))
        if world.sky is not None:
            assert "window" in world.kinds
