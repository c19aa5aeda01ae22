"""Streets, squares and yards: sound worlds, the same by the same seed, with a camera that sees them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from sightline.rasterise import nearest_faces
from sightline.scenes.camera import place
from sightline.scenes.kinds import street
from sightline.scenes.parts import backlots, courts
from sightline.scenes.parts.roads import CUTS, Bend, section
from sightline.scenes.shapes import quad
from sightline.scenes.world import Builder, Light, Material


def check_world(world, view):
    """What holds for every world; shared by the tests of the other kinds outdoors."""
    assert np.isfinite(world.vertices).all()
    assert np.isfinite(world.uv).all()
    assert np.abs(np.linalg.norm(world.normals, axis=1) - 1).max() < 1e-6
    assert world.faces.min() >= 0
    assert world.faces.max() < len(world.vertices)
    assert len(world.faces) == len(world.material) == len(world.instance)
    assert world.material.max() < len(world.materials)
    assert set(np.unique(world.instance)) - {0} <= set(range(1, len(world.kinds) + 1))
    assert all(kind == kind.lower() and kind for kind in world.kinds)
    assert 35 <= view.fov <= 100
    assert len(world.faces) < 70_000
    assert world.sky is not None


def look(world, view):
    """(48, 64) depth [m] (inf in the sky) and instances, as the camera sees them."""
    camera, pose = place(view, 64, 48)
    seen_from = (world.vertices - pose[:3, 3]) @ pose[:3, :3]
    nearness, face = nearest_faces(seen_from, world.faces, camera, near=0.02)
    depth = np.where(face >= 0, 1 / np.maximum(nearness, 1e-9), np.inf)
    return depth, np.where(face >= 0, world.instance[face], 0)


def same(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("vertices", "faces", "normals", "uv", "material", "instance")
    )


@pytest.mark.parametrize("start", range(0, 200, 40))
def test_two_hundred_streets_are_sound_and_in_view(start):
    seen = []
    for seed in range(start, start + 40):
        world, view = street.build(np.random.default_rng([3, seed]))
        check_world(world, view)
        depth, instance = look(world, view)
        assert (depth < 0.25).mean() < 0.05, f"seed {seed}: the camera stands inside something"
        assert np.isinf(depth).mean() < 0.9, f"seed {seed}: nothing but sky"
        seen.append(len(np.unique(instance)) - 1)
    assert np.mean(seen) > 5, "a street has many things in it"


def test_streets_hold_what_streets_hold():
    kinds: Counter[str] = Counter()
    for seed in range(40):
        kinds.update(set(street.build(np.random.default_rng([4, seed]))[0].kinds))
    wanted = {"car", "building", "tree", "person", "bicycle", "street lamp", "sign", "fence", "wire"}
    assert wanted <= set(kinds)
    assert kinds["building"] > 25


def test_the_same_seed_gives_the_same_street():
    (one, view), (other, again) = (street.build(np.random.default_rng(5)) for _ in range(2))
    assert same(one, other)
    assert view == again
    assert one.materials == other.materials
    different, _ = street.build(np.random.default_rng(6))
    assert not same(one, different)


@pytest.mark.parametrize("layout", [courts.plaza, courts.yard, backlots.alley, backlots.car_park])
def test_every_place_between_houses_is_built(layout):
    for seed in range(6):
        world, view = layout(np.random.default_rng([8, seed]))
        check_world(world, view)
        depth, _ = look(world, view)
        assert (depth < 0.25).mean() < 0.05


def test_a_driver_sees_the_road_before_the_car():
    rng = np.random.default_rng(1)
    cut = section(rng, town=True)
    view = street._driver(rng, cut)
    assert 1.2 <= -view.eye[1] <= 2.0
    assert abs(view.eye[0]) < cut.road


def test_a_bent_street_stays_where_the_camera_is_and_keeps_true_normals():
    rng = np.random.default_rng(2)
    reach = 50.0
    shape = reach**2 * (np.sqrt(1 + (CUTS / reach) ** 2) - 1)
    bend = Bend(shape / 200, shape / 800)
    builder = Builder()
    corner = rng.uniform([-3, -1, 82], [3, 1, 84])
    builder.add(quad(corner, [4.0, 1.0, 3.0], [1.0, -2.0, 9.0]), Material())
    builder.add(quad([-1, 0, -1], [2.0, 0, 0], [0, 0, 2.0]), Material())
    bent = bend.apply(builder.finish(Light()))
    a, b, c = bent.vertices[bent.faces[0]]
    true = np.cross(b - a, c - a)
    true /= np.linalg.norm(true)
    # Between two cuts a bend is a shear, so a flat sheet stays flat.
    assert abs(abs(true @ bent.normals[bent.faces[0][0]]) - 1) < 0.02
    middle = bent.vertices[4:].mean(0)
    assert np.abs(middle).max() < 0.05
