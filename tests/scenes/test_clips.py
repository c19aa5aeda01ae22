"""Rendered scenes: exact depth, true poses, the same bytes for the same seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.geometry import project, unproject
from sightline.scenes.camera import look_at
from sightline.scenes.clips import AMBIENT, PAINTS, ROOM, path_pose, room_clip, textured_room
from sightline.scenes.meshes import quad
from sightline.scenes.rendering.renderer import render
from sightline.scenes.world import Light, Material, WorldBuilder
from sightline.types import Camera


@pytest.fixture(scope="module")
def clip():
    return list(room_clip(6, width=160, height=120, seed=1))


def test_frames_are_whole_and_lit(clip):
    for frame in clip:
        assert frame.pixels.shape == (120, 160, 3)
        assert frame.pixels.dtype == np.uint8
        assert frame.depth.valid.all(), "a closed room has no holes"
        assert frame.depth.values.min() > 0.1
        assert frame.depth.values.max() < np.linalg.norm(ROOM)
        assert 40 < frame.pixels.mean() < 220
        assert frame.pixels.std() > 15, "a network needs something to look at"
        assert (frame.pixels == 255).mean() < 0.02


def test_the_camera_moves_at_walking_pace(clip):
    steps = [np.linalg.norm(b.pose[:3, 3] - a.pose[:3, 3]) for a, b in pairwise(clip)]
    assert min(steps) > 0
    assert max(steps) < 1.5 / 24
    for seconds in np.linspace(0, 60, 200):
        pose = path_pose(seconds, 3)
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-12)
        assert np.linalg.det(pose[:3, :3]) == pytest.approx(1)
        assert abs(pose[0, 3]) < ROOM[0] / 2
        assert -ROOM[1] < pose[1, 3] < 0
        assert abs(pose[2, 3]) < ROOM[2] / 2


def test_depth_and_poses_agree(clip):
    """A surface point of one frame lies where depth and pose of another frame say."""
    first, last = clip[0], clip[-1]
    points = unproject(first.depth.values, first.camera).reshape(-1, 3).astype(np.float64)
    motion = np.linalg.inv(last.pose) @ first.pose
    moved = points @ motion[:3, :3].T + motion[:3, 3]
    place = project(moved, last.camera)
    x, y = np.round(place).astype(int).T
    inside = (x >= 0) & (x < 160) & (y >= 0) & (y < 120)
    seen = last.depth.values[y[inside], x[inside]]
    off = np.abs(seen - moved[inside, 2]) / moved[inside, 2]
    assert inside.mean() > 0.7
    assert np.median(off) < 0.005
    assert (off < 0.03).mean() > 0.9  # the rest is hidden by then


def test_same_seed_same_bytes(clip):
    again = list(room_clip(2, width=160, height=120, seed=1))
    for a, b in zip(clip[:2], again, strict=True):
        assert a.pixels.tobytes() == b.pixels.tobytes()
        assert a.depth.values.tobytes() == b.depth.values.tobytes()
    other = next(iter(room_clip(1, width=160, height=120, seed=2)))
    assert np.abs(other.depth.values - clip[0].depth.values).mean() > 0.1


def test_supersampling_changes_color_only():
    camera = Camera.from_fov(70, 64, 48)
    scene, pose = textured_room(0), path_pose(0.0, 0)
    plain, fine = (render(scene, camera, pose, supersample=n) for n in (1, 3))
    assert plain.depth.values.tobytes() == fine.depth.values.tobytes()
    assert np.abs(plain.pixels.astype(int) - fine.pixels).mean() < 12
    assert (plain.pixels != fine.pixels).any()


def slanted_plane(camera, *, slope, distance):
    """One endless textured plane z = distance + slope[0]·x − slope[1]·y: linear disparity."""
    far = 400.0
    u, v = np.array([1.0, 0.0, slope[0]]), np.array([0.0, 1.0, -slope[1]])
    tint, second, scale = PAINTS["checker"]
    builder = WorldBuilder()
    sheet = quad(-far * (u + v) + [0, 0, distance], 2 * far * u, 2 * far * v)
    builder.add(sheet, Material("checker", tint, second, scale, 0))
    lamps, power = np.array([[0.0, -1.0, 0.0]]), np.full((1, 3), 2.0)
    world = builder.finish(Light(lamps=lamps, lamp_power=power, above=AMBIENT, below=AMBIENT))
    return render(world, camera, np.eye(4))


def test_slanted_plane_has_linear_disparity():
    camera = Camera.from_fov(60, 80, 60)
    frame = slanted_plane(camera, slope=(0.3, 0.5), distance=3.0)
    points = unproject(frame.depth.values, camera).astype(np.float64)
    expected = 3.0 + 0.3 * points[..., 0] - 0.5 * points[..., 1]
    np.testing.assert_allclose(frame.depth.values, expected, rtol=1e-4)
    disparity = 1 / frame.depth.values.astype(np.float64)
    np.testing.assert_allclose(np.diff(disparity, 2, axis=1), 0, atol=1e-6)


def test_looking_at_something_puts_it_in_the_middle():
    pose = look_at([1.0, -1.5, -2.0], [0.3, -0.4, 3.0], roll=10.0)
    seen = np.linalg.inv(pose) @ [0.3, -0.4, 3.0, 1.0]
    np.testing.assert_allclose(seen[:2], 0, atol=1e-12)
    assert seen[2] > 0
    up = np.linalg.inv(look_at([0, -1, 0], [0, -1, 5]))[:3, :3] @ [0, -1, 0]
    np.testing.assert_allclose(up, [0, -1, 0], atol=1e-12)


def test_bad_clips_are_refused():
    with pytest.raises(InputError, match="must be positive"):
        next(room_clip(0))
