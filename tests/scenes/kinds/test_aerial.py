"""Drone views: sound worlds, the ground far below, both straight down and aslant."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.rasterise import nearest_faces
from sightline.scenes.camera import place
from sightline.scenes.kinds import aerial


def look(world, view):
    camera, pose = place(view, 64, 48)
    seen_from = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(seen_from, world.faces, camera, near=0.02)
    return np.where(face >= 0, 1 / np.maximum(nearness, 1e-9), np.inf)


def pitch(view):
    x, y, z = (b - a for a, b in zip(view.eye, view.target, strict=True))
    return np.degrees(np.arctan2(-y, np.hypot(x, z)))


@pytest.mark.parametrize("start", range(0, 200, 50))
def test_two_hundred_flights_are_sound_and_clear(start):
    pitches = []
    for seed in range(start, start + 50):
        world, view = aerial.build(np.random.default_rng([3, seed]))
        assert np.isfinite(world.vertices).all()
        assert np.isfinite(world.uv).all()
        assert np.abs(np.linalg.norm(world.normals, axis=1) - 1).max() < 1e-6
        assert world.faces.min() >= 0
        assert world.faces.max() < len(world.vertices)
        assert world.instance.max() <= len(world.kinds)
        assert len(world.faces) < 60_000
        assert 10 <= -view.eye[1] <= 150
        depth = look(world, view)
        assert depth.min() > 0.5, f"seed {seed}: something is in the drone's way"
        assert np.isinf(depth).mean() < 0.6
        pitches.append(pitch(view))
    assert min(pitches) < -75
    assert max(pitches) > -40


def test_the_same_seed_gives_the_same_flight():
    (one, view), (other, again) = (aerial.build(np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.vertices, other.vertices)
    assert np.array_equal(one.material, other.material)
    assert view == again


def test_towns_fields_and_coasts_all_occur():
    kinds = set()
    for seed in range(40):
        kinds |= set(aerial.build(np.random.default_rng([4, seed]))[0].kinds)
    assert {"building", "tree", "car", "hedge", "water", "boat", "container"} <= kinds
