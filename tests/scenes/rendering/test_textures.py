"""Patterns: in range, smooth where they should be, without aliasing, and photographs as textures."""

from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sightline.errors import InputError
from sightline.scenes.meshes import quad
from sightline.scenes.rendering import noise, textures
from sightline.scenes.rendering.photo_textures import SRGB_TO_LINEAR, PhotoTextures, photo_color
from sightline.scenes.rendering.renderer import render
from sightline.scenes.rendering.textures import CODES, pattern, pattern_code
from sightline.scenes.world import Light, Material, Pattern, WorldBuilder
from sightline.types import Camera

PATTERNS = get_args(Pattern)


def looks(name, u, v, *, seed=3, width=0.0, scale=0.5):
    """(N, 3) albedo of a pattern at (N,) places on a surface, without a scene."""
    code, tint, second = pattern_code(name, 0, 0), np.array([0.8, 0.6, 0.4]), [0.1, 0.2, 0.3]
    found = [
        pattern(code, float(x), float(y), width / scale, seed)
        for x, y in zip(u / scale, v / scale, strict=True)
    ]
    mix, shade, _ = np.array(found).T
    colors = (tint + mix[:, None] * (second - tint)) * shade[:, None]
    return np.clip(colors, 0, 1)


def test_the_kernel_counts_patterns_as_the_interface_does():
    for name in PATTERNS:
        assert getattr(textures, name.upper()) == CODES[name]


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns_vary_and_stay_in_range(name):
    u, v = np.random.default_rng(0).uniform(-5, 5, (2, 4000))
    found = looks(name, u, v)
    assert found.shape == (4000, 3)
    assert 0 <= found.min() <= found.max() <= 1
    assert found[:, 0].std() > (0.003 if name in ("plain", "skin") else 0.02)
    np.testing.assert_array_equal(found, looks(name, u, v))
    assert not np.array_equal(found, looks(name, u, v, seed=4))


@pytest.mark.parametrize("name", [name for name in PATTERNS if name != "photo"])
def test_a_wide_footprint_averages_the_pattern(name):
    """Far away a pattern keeps its mean color and loses its detail: no sparkle, no jump."""
    u, v = np.random.default_rng(0).uniform(-40, 40, (2, 6000))
    near, far = looks(name, u, v), looks(name, u, v, width=4.0)
    assert far.std(0).max() < 0.5 * near.std(0).max() + 0.01
    np.testing.assert_allclose(far.mean(0), near.mean(0), atol=0.1)


@given(st.floats(-1e4, 1e4), st.floats(-1e4, 1e4), st.integers(0, 2**31 - 1))
def test_noise_is_smooth_and_in_range(x, y, seed):
    here, beside = noise.value_noise(x, y, seed), noise.value_noise(x + 1e-3, y, seed)
    assert 0 <= here <= 1
    assert abs(here - beside) < 2e-3
    assert 0 <= noise.fractal_noise(x, y, seed, 5, 0.0) <= 1


def test_noise_is_spread():
    values = np.array(
        [noise.lattice_value(i, j, 7) for i in range(-50, 50) for j in range(-50, 50)]
    )
    assert values.mean() == pytest.approx(0.5, abs=0.02)
    assert values.std() == pytest.approx(np.sqrt(1 / 12), abs=0.01)
    grid = values.reshape(100, 100) - values.mean()
    for other in (np.roll(grid, 1, 0), np.roll(grid, 1, 1), np.roll(grid, (1, 1), (0, 1))):
        assert abs((grid * other).mean()) < 0.003, "neighbors know nothing of each other"


@given(st.floats(-50, 50), st.floats(0.01, 0.45), st.floats(0, 3))
def test_lines_keep_their_share(x, half, width):
    assert 0 <= noise.line_coverage(x, half, width) <= 1
    along = np.linspace(0, 1, 400, endpoint=False) + x
    share = np.mean([noise.line_coverage(a, half, width) for a in along])
    assert share == pytest.approx(2 * half, abs=0.02 + 0.5 * min(width, 0.3))


def test_without_pictures_a_photo_is_another_pattern():
    assert pattern_code("photo", 3, pictures=5) == CODES["photo"]
    instead = {pattern_code("photo", k, pictures=0) for k in range(10)}
    assert CODES["photo"] not in instead
    assert len(instead) > 2


@pytest.fixture
def folder(tmp_path):
    half = np.zeros((40, 60, 3), np.uint8)
    half[:20] = (255, 0, 0)
    half[20:] = (0, 0, 255)
    (tmp_path / "sub").mkdir()
    Image.fromarray(half).save(tmp_path / "sub" / "b.png")
    Image.fromarray(np.full((9, 9, 3), 128, np.uint8)).save(tmp_path / "a.png")
    (tmp_path / "notes.txt").write_text("no picture")
    return tmp_path


def test_photographs_come_in_the_order_of_their_names(folder):
    found = PhotoTextures(folder)
    assert [p.name for p in found.paths] == ["a.png", "b.png"]
    assert len(found) == 2
    assert len(PhotoTextures(folder, limit=1)) == 1
    np.testing.assert_allclose(photo_color(found.sheets, 0, 0.3, 0.7, 0.0), SRGB_TO_LINEAR[128])
    for y, color in ((0.2, (1, 0, 0)), (0.8, (0, 0, 1)), (1.2, (0, 0, 1)), (-0.2, (1, 0, 0))):
        np.testing.assert_allclose(photo_color(found.sheets, 1, 0.5, y, 0.001), color, atol=0.01)
    # The smallest size is the mean light.
    np.testing.assert_allclose(
        photo_color(found.sheets, 1, 0.5, 0.2, 9.0), (0.5, 0, 0.5), atol=0.02
    )


def test_a_photograph_hangs_upright_whichever_way_its_surface_runs(folder):
    pictures = PhotoTextures(folder)
    even = Light(above=(1, 1, 1), below=(1, 1, 1))
    for origin, down in (([-1, -1, 3], [0, 2, 0]), ([-1, 1, 3], [0, -2, 0])):
        b = WorldBuilder()
        b.add(quad(origin, [2, 0, 0], down), Material("photo", scale=2.0, photo=1))
        found = render(b.finish(even), Camera.from_fov(40, 32, 32), np.eye(4), textures=pictures)
        upper, lower = found.pixels[8, 16].astype(int), found.pixels[24, 16].astype(int)
        assert upper[0] > 5 * upper[2] + 50
        assert lower[2] > 5 * lower[0] + 50


def test_a_folder_without_pictures_is_refused(tmp_path):
    with pytest.raises(InputError, match="no pictures"):
        PhotoTextures(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        PhotoTextures(tmp_path / "absent")
