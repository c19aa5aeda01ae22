"""Open country: sound worlds, a camera above the ground and the water, sky at the horizon."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.rasterise import nearest_faces
from sightline.scenes.camera import place
from sightline.scenes.kinds import nature
from sightline.scenes.parts import barrens, biomes, shores
from sightline.scenes.parts.wilds import level


def look(world, view):
    camera, pose = place(view, 64, 48)
    seen_from = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(seen_from, world.faces, camera, near=0.02)
    return np.where(face >= 0, 1 / np.maximum(nearness, 1e-9), np.inf)


@pytest.mark.parametrize("start", range(0, 200, 40))
def test_two_hundred_landscapes_are_sound_and_in_view(start):
    skies = []
    for seed in range(start, start + 40):
        world, view = nature.build(np.random.default_rng([3, seed]))
        assert np.isfinite(world.vertices).all()
        assert np.isfinite(world.uv).all()
        assert np.abs(np.linalg.norm(world.normals, axis=1) - 1).max() < 1e-6
        assert world.faces.min() >= 0
        assert world.faces.max() < len(world.vertices)
        assert world.instance.max() <= len(world.kinds)
        assert len(world.faces) < 45_000
        assert 35 <= view.fov <= 100
        depth = look(world, view)
        assert (depth < 0.2).mean() < 0.08, f"seed {seed}: the camera stands inside something"
        assert np.isinf(depth).mean() < 0.9, f"seed {seed}: nothing but sky"
        skies.append(np.isinf(depth).any())
    assert np.mean(skies) > 0.4


def test_the_same_seed_gives_the_same_country():
    (one, view), (other, again) = (nature.build(np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.vertices, other.vertices)
    assert np.array_equal(one.faces, other.faces)
    assert view == again
    assert one.kinds == other.kinds


@pytest.mark.parametrize(
    "biome",
    [
        biomes.meadow, biomes.forest, biomes.mountains, biomes.park,
        barrens.desert, barrens.snow, shores.lake, shores.beach,
    ],
)  # fmt: skip
def test_every_biome_has_ground_under_the_camera(biome):
    for seed in range(4):
        rng = np.random.default_rng([9, seed])
        land, _ = biome(rng)
        for close in (True, False):
            view = nature._view(rng, land, close=close)
            ground = level(land.height, view.eye[0], view.eye[2])
            assert -view.eye[1] > ground + 0.15
            if land.water is not None:
                assert -view.eye[1] > land.water


def test_water_shows_where_there_is_a_lake():
    found = 0
    for seed in range(60):
        world, view = nature.build(np.random.default_rng([4, seed]))
        if "water" not in world.kinds:
            continue
        number = 1 + world.kinds.index("water")
        faces = world.faces[world.instance == number]
        level_of = world.vertices[faces][..., 1]
        assert np.ptp(level_of) < 1e-9, "water is level"
        assert view.eye[1] < level_of.max(), "the camera is above the water"
        mirrors = {world.materials[m].mirror for m in world.material[world.instance == number]}
        assert min(mirrors) > 0.3
        found += 1
    assert found >= 3
