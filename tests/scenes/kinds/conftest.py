"""Checks that every kind of scene must pass."""

from collections.abc import Callable

import numpy as np
import pytest

from sightline.scenes.camera import place_camera
from sightline.scenes.world import CameraView, SceneWorld

Build = Callable[[np.random.Generator], tuple[SceneWorld, CameraView]]


def check_sound(build: Build, seeds: range) -> None:
    """Geometry, materials, instances and views of many seeds are whole."""
    for seed in seeds:
        world, view = build(np.random.default_rng(seed))
        count = len(world.vertices)
        assert world.vertices.shape == world.normals.shape == (count, 3), seed
        assert world.uv.shape == (count, 2), seed
        assert np.isfinite(world.vertices).all(), seed
        assert np.isfinite(world.uv).all(), seed
        assert np.abs(np.linalg.norm(world.normals, axis=1) - 1).max() < 1e-6, seed
        assert 0 <= world.faces.min() <= world.faces.max() < count, seed
        faces = len(world.faces)
        assert world.material.shape == world.instance.shape == (faces,), seed
        assert 0 <= world.material.min() <= world.material.max() < len(world.materials), seed
        assert 0 <= world.instance.min() <= world.instance.max() <= len(world.kinds), seed
        assert set(range(1, len(world.kinds) + 1)) <= set(np.unique(world.instance).tolist()), seed
        assert faces <= 45_000, seed
        assert 35 <= view.fov <= 100, seed
        assert view.eye[1] < 0, seed
        assert np.linalg.norm(np.subtract(view.target, view.eye)) > 0.01, seed


def check_repeats(build: Build, seed: int) -> None:
    """The same seed gives the same world to the last bit, another seed another."""
    (a, seen), (b, again) = (build(np.random.default_rng(seed)) for _ in range(2))
    other, _ = build(np.random.default_rng(seed + 1))
    assert seen == again
    for part in ("vertices", "faces", "normals", "uv", "material", "instance"):
        np.testing.assert_array_equal(getattr(a, part), getattr(b, part))
    assert a.materials == b.materials
    assert a.kinds == b.kinds
    assert len(other.vertices) != len(a.vertices) or not np.array_equal(other.vertices, a.vertices)


def shares(build: Build, seeds: range) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each seed: share of the picture nearer than 0.2 m, share that is void, range of depth."""
    from sightline.rasterize import nearest_faces

    near, void, spread = [], [], []
    for seed in seeds:
        world, view = build(np.random.default_rng(seed))
        camera, pose = place_camera(view, 64, 48)
        points = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
        nearness, face = nearest_faces(points, world.faces, camera, near=0.02)
        near.append((nearness > 1 / 0.2).mean())
        void.append((face < 0).mean() if world.sky is None else 0.0)
        seen = nearness[face >= 0]
        low, high = np.percentile(seen, (3, 97)) if len(seen) else (1.0, 1.0)
        spread.append(high / max(low, 1e-6))
    return np.array(near), np.array(void), np.array(spread)


@pytest.fixture(name="check_sound")
def _check_sound():
    return check_sound


@pytest.fixture(name="check_repeats")
def _check_repeats():
    return check_repeats


@pytest.fixture(name="shares")
def _shares():
    return shares
