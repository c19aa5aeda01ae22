"""Things to count."""

from collections import Counter

import numpy as np

from sightline.scenes.generate import find_instances, make_scene
from sightline.scenes.kinds import DEFAULT_KINDS, collection


def test_same_seed_same_world(check_repeats):
    check_repeats(collection.build, 5)


def test_worlds_are_sound(check_sound):
    check_sound(collection.build, range(30))


def test_none_to_ten_of_a_few_kinds():
    kinds = {maker(np.random.default_rng(0)).kind for maker in collection.COUNTED}
    assert len(kinds) == len(collection.COUNTED), "kinds have different names"
    numbers = set()
    for seed in range(40):
        world, _ = collection.build(np.random.default_rng(seed))
        counts = Counter(kind for kind in world.kinds if kind in kinds)
        assert sum(counts.values()) <= collection.MAX_TOTAL
        assert len(counts) <= 5
        numbers |= set(counts.values())
    assert numbers >= set(range(1, 9))
    assert max(numbers) <= collection.MAX_PER_KIND


def test_nearly_all_of_them_are_seen():
    counted = {maker(np.random.default_rng(0)).kind for maker in collection.COUNTED}
    seen = there = 0
    for index in range(8):
        frame = make_scene(9, index, width=320, height=256, kinds=["collection"]).frame
        things = find_instances(frame.instance, frame.depth.values, frame.kinds)
        seen += sum(t.kind in counted and t.pixels >= 0.0015 * 320 * 256 for t in things)
        there += sum(kind in counted for kind in frame.kinds)
    assert seen >= 0.9 * there


def test_sets_that_nobody_chose_have_none_of_them():
    assert "collection" not in DEFAULT_KINDS
