import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes import materials
from sightline.scenes.lighting import indoor_light, sky_outside
from sightline.scenes.sampling import between, chance, pick, randint, random_sign, weighted
from sightline.scenes.world import Material

MAKERS = [
    function
    for module in (materials,)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__
    and function.__annotations__.get("return") == "Material"
]


@pytest.mark.parametrize("maker", MAKERS, ids=lambda f: f.__name__)
def test_materials_are_in_range(maker):
    more = {"screen": {"width": 0.5}}.get(maker.__name__, {})
    seen = set()
    for seed in range(60):
        material = maker(np.random.default_rng(seed), **more)
        seen.add(material)
        assert isinstance(material, Material)
        assert (
            0 <= min(*material.tint, *material.second) <= max(*material.tint, *material.second) <= 1
        )
        for share in (material.gloss, material.mirror, material.clear):
            assert 0 <= share <= 1
        assert material.scale > 0
        assert material.glow >= 0
    assert len(seen) > 50


@given(st.integers(0, 1000), st.floats(0, 0.5), st.floats(0.5, 1))
def test_color_stays_in_its_ranges(seed, low, high):
    import colorsys

    rgb = materials.color(
        np.random.default_rng(seed), hue=(0.3, 0.4), saturation=(low, high), value=(low, high)
    )
    h, s, v = colorsys.rgb_to_hsv(*(c ** (1 / 2.2) for c in rgb))
    assert low - 1e-6 <= v <= high + 1e-6
    if v > 1e-3:
        assert low - 1e-5 <= s <= high + 1e-5
    if s > 0.05 and v > 0.05:
        assert 0.3 - 1e-4 <= h <= 0.4 + 1e-4


def test_draws():
    rng = np.random.default_rng(0)
    values = [between(rng, 2, 3) for _ in range(500)]
    assert 2 <= min(values) < 2.05
    assert 2.95 < max(values) <= 3
    assert {randint(rng, 1, 3) for _ in range(100)} == {1, 2, 3}
    assert {pick(rng, "abc") for _ in range(100)} == set("abc")
    assert {random_sign(rng) for _ in range(50)} == {-1.0, 1.0}
    assert 0.2 < np.mean([chance(rng, 0.3) for _ in range(2000)]) < 0.4
    drawn = [weighted(rng, (("a", 3.0), ("b", 1.0), ("never", 0.0))) for _ in range(4000)]
    assert "never" not in drawn
    assert 0.7 < drawn.count("a") / 4000 < 0.8


def test_light_indoors():
    for seed in range(40):
        rng = np.random.default_rng(seed)
        light = indoor_light(
            rng, 4.0, 5.0, 2.6, sun=seed % 2 == 0, lamps=[(0.0, -2.0, 1.0)] * (seed % 3)
        )
        assert light.lamps.shape == light.lamp_power.shape
        assert light.to_sun is not None or len(light.lamps) >= 1
        if light.to_sun is not None:
            assert seed % 2 == 0
            assert np.linalg.norm(light.to_sun) == pytest.approx(1)
            assert light.to_sun[1] < 0
        sky = sky_outside(rng)
        assert 0 <= sky.clouds <= 1
