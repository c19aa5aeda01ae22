"""Pictures of people: whole worlds, people in view, a camera that stands free."""

import numpy as np
import pytest

from sightline.scenes.camera import place_camera
from sightline.scenes.kinds.people import build
from sightline.scenes.layout import PropLayout
from sightline.scenes.people.groups import PERSON_GROUPS
from sightline.scenes.world import Light


def test_two_hundred_worlds_are_whole():
    for seed in range(200):
        world, view = build(np.random.default_rng(seed))
        assert "person" in world.kinds
        assert np.isfinite(world.vertices).all()
        assert np.isfinite(world.uv).all()
        np.testing.assert_allclose(np.linalg.norm(world.normals, axis=1), 1.0, atol=1e-6)
        assert world.faces.min() >= 0
        assert world.faces.max() < len(world.vertices)
        assert world.instance.max() <= len(world.kinds)
        assert world.material.max() < len(world.materials)
        assert len(world.faces) < 60_000
        assert 35 <= view.fov <= 100
        assert -4 < view.eye[1] < -0.1


def test_people_are_seen_and_nothing_is_in_the_lens():
    from sightline.scenes.rendering.renderer import render

    people, crowded = [], []
    for seed in range(30):
        world, view = build(np.random.default_rng(seed))
        camera, pose = place_camera(view, 64, 64)
        frame = render(world, camera, pose, supersample=1, shadows=False)
        ids = [k + 1 for k, kind in enumerate(world.kinds) if kind == "person"]
        people.append(float(np.isin(frame.instance, ids).mean()))
        crowded.append(float((frame.depth.values[frame.depth.valid] < 0.25).mean()))
    people, crowded = np.array(people), np.array(crowded)
    assert np.median(people) > 0.08
    assert (people < 0.002).sum() <= 1
    assert (crowded > 0.2).sum() <= 1


def test_the_same_seed_gives_the_same_world():
    (a, view_a), (b, view_b) = (build(np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(a.vertices, b.vertices)
    assert a.materials == b.materials
    assert view_a == view_b


@pytest.mark.parametrize("cast", [cast for cast, _ in PERSON_GROUPS])
def test_casts_gather_where_they_are_asked_to(cast):
    for seed in range(8):
        layout = PropLayout()
        people = cast(layout, np.random.default_rng(seed), 3.0, -2.0, 120.0, "far")
        assert people
        middle = np.mean([p.foot for p in people], 0)
        assert np.hypot(middle[0] - 3.0, middle[2] + 2.0) < 9.0
        assert sum(p.prop.kind == "person" for p in layout.placed) == len(people)
        feet = np.array([p.foot for p in people])
        gaps = np.linalg.norm(feet[:, None] - feet[None], axis=-1) + np.eye(len(feet)) * 9
        assert gaps.min() > 0.2
        assert layout.builder.finish(Light()).kinds.count("person") == len(people)
