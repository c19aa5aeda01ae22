"""Every maker of pieces over several seeds: sound geometry, a plausible size, the same by seed."""

import inspect
from types import ModuleType

import numpy as np
import pytest

from sightline.scenes.indoor import (
    animals,
    arrangements,
    cabinets,
    desk_items,
    floor_items,
    furniture,
    houseplants,
    kitchen_bathroom,
    lamps_decor,
    sculptures,
    tableware,
    windows_doors,
)

MODULES = (
    animals,
    arrangements,
    cabinets,
    desk_items,
    floor_items,
    furniture,
    houseplants,
    kitchen_bathroom,
    lamps_decor,
    sculptures,
    tableware,
    windows_doors,
)
#: What makers need besides a generator.
MORE = {
    "units": {"width": 2.4},
    "stairs": {"height": 2.6},
    "standing_lamp": {"on": True},
    "table_lamp": {"on": False},
    "hanging_lamp": {"on": True},
    "ceiling_lamp": {"on": True},
    "sample_item": {"set_": arrangements.ANY},
}
SEEDS = range(8)


def makers(module: ModuleType):
    for name, function in inspect.getmembers(module, inspect.isfunction):
        own = function.__module__ == module.__name__ and not name.startswith("_")
        if own and function.__annotations__.get("return") == "Prop":
            yield pytest.param(function, id=f"{module.__name__.rpartition('.')[2]}.{name}")


@pytest.mark.parametrize("maker", [m for module in MODULES for m in makers(module)])
def test_maker(maker):
    more = MORE.get(maker.__name__, {})
    for seed in SEEDS:
        prop = maker(np.random.default_rng(seed), **more)
        again = maker(np.random.default_rng(seed), **more)
        assert prop.kind
        assert prop.kind == prop.kind.lower().strip()
        assert prop.size == again.size
        assert min(prop.size) > 0.0005
        assert max(prop.size) < 8
        assert sum(len(shape.faces) for shape, _ in prop.parts) < 7000
        for (shape, material), (twin, same) in zip(prop.parts, again.parts, strict=True):
            assert material == same
            np.testing.assert_array_equal(shape.vertices, twin.vertices)
            assert np.isfinite(shape.vertices).all()
            np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1, atol=1e-6)
            assert shape.faces.min() >= 0
            assert shape.faces.max() < len(shape.vertices)
            assert shape.uv.shape == (len(shape.vertices), 2)
            colors = np.array([material.tint, material.second])
            assert colors.min() >= 0
            assert colors.max() <= 1
            assert material.scale > 0
        for top in prop.tops:
            scale = prop.scale or (1, 1, 1)
            assert 0 < top.height <= prop.size[1] * max(1, scale[1]) + 0.3


GROUNDED = (animals, sculptures, furniture, floor_items, tableware)


@pytest.mark.parametrize("maker", [m for module in GROUNDED for m in makers(module)])
def test_stands_on_the_ground(maker):
    for seed in SEEDS:
        prop = maker(np.random.default_rng(seed), **MORE.get(maker.__name__, {}))
        low = max(float(shape.vertices[:, 1].max()) for shape, _ in prop.parts)
        assert abs(low) < 0.12 * prop.size[1] + 0.02


def test_variety():
    """Chairs of different seeds are different chairs."""
    sizes = {furniture.chair(np.random.default_rng(k)).size for k in range(20)}
    faces = {
        sum(len(s.faces) for s, _ in furniture.chair(np.random.default_rng(k)).parts)
        for k in range(20)
    }
    assert len(sizes) == 20
    assert len(faces) > 8
