"""People anywhere on the ground."""

import numpy as np
import pytest

from sightline.scenes.camera import (
    FARTHEST_PERSON,
    NEAREST_PERSON,
    find_standing_positions,
    merge_worlds,
    place_camera,
)
from sightline.scenes.kinds import visitors
from sightline.scenes.rendering.renderer import render


def people_of(world):
    """Place of every person: the middle of what they have."""
    numbers = [k for k, kind in enumerate(world.kinds, 1) if kind == "person"]
    return [
        world.vertices[np.unique(world.faces[world.instance == number])].mean(0)
        for number in numbers
    ]


def test_same_seed_same_world(check_repeats):
    check_repeats(visitors.build, 5)


def test_worlds_are_sound(check_sound):
    check_sound(visitors.build, range(30))


def test_most_places_get_people_at_many_distances():
    far = []
    empty = 0
    for seed in range(25):
        world, view = visitors.build(np.random.default_rng(seed))
        found = people_of(world)
        empty += not found
        far += [float(np.linalg.norm(one - view.eye)) for one in found]
    assert empty < 8
    assert np.percentile(far, 20) < 3
    assert np.percentile(far, 80) > 5
    assert min(far) > 0.5 * NEAREST_PERSON
    assert max(far) < 1.2 * FARTHEST_PERSON


def test_feet_are_on_the_ground():
    for seed in range(6):
        world, view = visitors.build(np.random.default_rng(seed))
        for k, kind in enumerate(world.kinds, 1):
            if kind == "person":
                own = world.vertices[np.unique(world.faces[world.instance == k])]
                ground = find_standing_positions(world, view)
                near = np.linalg.norm(ground[:, [0, 2]] - own.mean(0)[[0, 2]], axis=1)
                if near.min() < 0.5:
                    assert abs(own[:, 1].max() - ground[near.argmin(), 1]) < 0.25


def test_merged_worlds_show_both(check_repeats):
    world, view = visitors.build(np.random.default_rng(1))
    twice = merge_worlds(world, world)
    assert len(twice.faces) == 2 * len(world.faces)
    assert twice.kinds == world.kinds * 2
    camera, pose = place_camera(view, 64, 48)
    one, two = (render(w, camera, pose, supersample=1) for w in (world, twice))
    assert two.depth.values == pytest.approx(one.depth.values, rel=1e-4)
