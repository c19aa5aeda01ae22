import numpy as np

from sightline.scenes.kinds.tabletop import build


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
