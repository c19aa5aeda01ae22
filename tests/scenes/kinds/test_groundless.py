"""Kinds without a ground, in which lower in the picture is not nearer."""

import numpy as np
import pytest

from sightline.scenes.camera import place_camera
from sightline.scenes.generate import make_scene
from sightline.scenes.kinds import DEFAULT_KINDS, KINDS, ceiling, nadir, sky, table, tilted, wall
from sightline.scenes.rendering.renderer import render

NAMES = ("sky", "wall", "nadir", "table", "ceiling", "tilted")


def render_seed(build, seed, size=(48, 40)):
    world, view = build(np.random.default_rng(seed))
    camera, pose = place_camera(view, *size)
    return render(world, camera, pose, supersample=1, shadows=False), view


def slope(frame):
    """Correlation of inverse depth with the row number, 0 where it is flat."""
    values = frame.disparity.astype(float)
    rows = np.arange(len(values))[:, None] + 0.0 * values
    if np.ptp(values) < 1e-6 * max(values.max(), 1e-6):
        return 0.0
    return float(np.corrcoef(rows.ravel(), values.ravel())[0, 1])


def test_they_are_not_in_the_default_mix():
    assert not set(NAMES) & set(DEFAULT_KINDS)


@pytest.mark.parametrize("name", NAMES)
def test_worlds_are_sound(name, check_sound):
    check_sound(KINDS[name].build, range(25))


@pytest.mark.parametrize("build", [wall.build, nadir.build, tilted.build])
def test_same_seed_same_world(build, check_repeats):
    check_repeats(build, 5)


def test_sky_fills_the_picture():
    for seed in range(12):
        frame, _ = render_seed(sky.build, seed)
        assert frame.sky.all()
        assert frame.disparity.max() == 0


def test_walls_fill_the_picture_and_lean_to_any_side():
    slopes = []
    for seed in range(40):
        frame, _ = render_seed(wall.build, seed)
        assert frame.depth.valid.mean() > 0.999
        slopes.append(slope(frame))
    assert min(slopes) < -0.6
    assert max(slopes) > 0.6
    assert abs(np.mean(slopes)) < 0.3
    assert sum(s == 0 for s in slopes) >= 3  # from the front, without decor


@pytest.mark.parametrize("build", [nadir.build, table.build, ceiling.build])
def test_depth_from_above_does_not_follow_the_rows(build):
    slopes = [slope(render_seed(build, seed)[0]) for seed in range(24)]
    assert abs(np.mean(slopes)) < 0.3


def test_nadir_looks_straight_down():
    for seed in range(10):
        _, view = render_seed(nadir.build, seed, (16, 12))
        ahead = np.subtract(view.target, view.eye)
        assert ahead[1] / np.linalg.norm(ahead) > 0.99


@pytest.mark.parametrize("name", NAMES)
def test_each_kind_makes_a_scene(name):
    scene = make_scene(4, 1, width=48, height=40, kinds=[name])
    assert scene.kind == name
    assert scene.frame.pixels.shape == (40, 48, 3)
