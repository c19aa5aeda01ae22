import numpy as np

from sightline.scenes.kinds.objects import build


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
