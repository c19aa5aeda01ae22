import numpy as np

from sightline.scenes.kinds.room import build


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
