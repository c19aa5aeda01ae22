"""Streets, squares and yards: sound worlds, the same by the same seed, with a camera that sees them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sightline.scenes.kinds import street
from sightline.scenes.meshes import quad
from sightline.scenes.outdoor import squares
from sightline.scenes.outdoor.roads import CUTS, RoadBend, sample_section
from sightline.scenes.world import Light, Material, WorldBuilder


def test_two_hundred_streets_are_sound(check_sound):
    check_sound(street.build, range(200))


def test_the_same_seed_gives_the_same_street(check_repeats):
    check_repeats(street.build, 5)


def test_the_camera_stands_free_and_sees_depth(shares):
    near, _, spread = shares(street.build, range(300, 360))
    assert near.max() < 0.05, "the camera stands inside something"
    assert np.median(spread) > 5
    assert (spread > 1.1).all(), "nothing but sky or one flat wall"


def test_streets_hold_what_streets_hold():
    kinds: Counter[str] = Counter()
    for seed in range(40):
        world, _ = street.build(np.random.default_rng([4, seed]))
        assert world.sky is not None
        kinds.update(set(world.kinds))
    wanted = {
        "car",
        "building",
        "tree",
        "person",
        "bicycle",
        "street lamp",
        "sign",
        "fence",
        "wire",
    }
    assert wanted <= set(kinds)
    assert kinds["building"] > 25


@pytest.mark.parametrize("layout", [squares.plaza, squares.yard, squares.alley, squares.car_park])
def test_every_place_between_houses_is_built(layout, check_sound, shares):
    check_sound(layout, range(6))
    near, _, _ = shares(layout, range(6))
    assert near.max() < 0.05


def test_a_driver_sits_in_a_lane_at_the_height_of_a_car():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        cut = sample_section(rng, town=True)
        view = street._driver(rng, cut)
        assert 1.2 <= -view.eye[1] <= 2.0
        assert abs(view.eye[0]) < cut.road
        assert cut.road <= cut.walk < cut.front


def test_a_bent_street_stays_where_the_camera_is_and_keeps_true_normals():
    reach = 50.0
    shape = reach**2 * (np.sqrt(1 + (CUTS / reach) ** 2) - 1)
    bend = RoadBend(shape / 200, shape / 800)
    builder = WorldBuilder()
    builder.add(quad([1.0, 0.5, 84.0], [4.0, 1.0, 3.0], [1.0, -2.0, 9.0]), Material())
    builder.add(quad([-1, 0, -1], [2.0, 0, 0], [0, 0, 2.0]), Material())
    bent = bend.apply(builder.finish(Light()))
    a, b, c = bent.vertices[bent.faces[0]]
    true = np.cross(b - a, c - a)
    true /= np.linalg.norm(true)
    # Between two cuts a bend is a shear, so a flat sheet stays flat.
    assert abs(true @ bent.normals[bent.faces[0][0]]) > 0.98
    assert np.abs(bent.vertices[4:].mean(0)).max() < 0.05, "the ground under the camera stays"
