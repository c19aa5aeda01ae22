"""Open country: sound worlds, a camera above the ground and the water."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.scenes.kinds import nature
from sightline.scenes.outdoor import landscapes
from sightline.scenes.outdoor.ground_cover import ground_level


def test_two_hundred_landscapes_are_sound(check_sound):
    check_sound(nature.build, range(200))


def test_the_same_seed_gives_the_same_country(check_repeats):
    check_repeats(nature.build, 5)


def test_the_camera_stands_free_and_sees_depth(shares):
    near, _, spread = shares(nature.build, range(300, 360))
    assert near.max() < 0.08, "the camera stands inside something"
    assert np.median(spread) > 5
    assert (spread > 1.1).all()


@pytest.mark.parametrize(
    "biome",
    [
        landscapes.meadow, landscapes.forest, landscapes.mountains, landscapes.park,
        landscapes.desert, landscapes.snow, landscapes.lake, landscapes.beach,
    ],
)  # fmt: skip
def test_every_biome_has_ground_under_the_camera(biome):
    for seed in range(4):
        rng = np.random.default_rng([9, seed])
        land, _ = biome(rng)
        for close in (True, False):
            view = nature._sample_view(rng, land, close=close)
            assert -view.eye[1] > ground_level(land.height, view.eye[0], view.eye[2]) + 0.15
            assert land.water is None or -view.eye[1] > land.water


def test_water_is_level_mirrors_and_lies_below_the_camera():
    found = 0
    for seed in range(60):
        world, view = nature.build(np.random.default_rng([4, seed]))
        if "water" not in world.kinds:
            continue
        own = world.instance == 1 + world.kinds.index("water")
        depth_below = world.vertices[world.faces[own]][..., 1]
        assert np.ptp(depth_below) < 1e-9
        assert view.eye[1] < depth_below.max()
        assert min(world.materials[m].mirror for m in world.material[own]) > 0.3
        found += 1
    assert found >= 3
