"""Every maker of pieces over several seeds: sound geometry, a plausible size, the same by seed."""

import inspect
from types import ModuleType

import numpy as np
import pytest

from sightline.scenes.parts import (
    animals,
    bath,
    birds,
    clutter,
    contraptions,
    crockery,
    decor,
    fixtures,
    foods,
    gadgets,
    kitchen,
    lamps,
    pot_plants,
    seats,
    shelves,
    stationery,
    statues,
    storage,
    tables,
    toys,
)

MODULES = (
    animals,
    bath,
    birds,
    clutter,
    contraptions,
    crockery,
    decor,
    fixtures,
    foods,
    gadgets,
    kitchen,
    lamps,
    pot_plants,
    seats,
    shelves,
    stationery,
    statues,
    storage,
    tables,
    toys,
)
#: What makers need besides a generator.
MORE = {
    "units": {"width": 2.4},
    "stairs": {"height": 2.6},
    "standing_lamp": {"on": True},
    "table_lamp": {"on": False},
    "hanging_lamp": {"on": True},
    "ceiling_lamp": {"on": True},
    "small": {"set_": clutter.ANY},
}
SEEDS = range(8)


def makers(module: ModuleType):
    for name, function in inspect.getmembers(module, inspect.isfunction):
        own = function.__module__ == module.__name__ and not name.startswith("_")
        if own and function.__annotations__.get("return") == "Piece":
            yield pytest.param(function, id=f"{module.__name__.rpartition('.')[2]}.{name}")


@pytest.mark.parametrize("maker", [m for module in MODULES for m in makers(module)])
def test_maker(maker):
    more = MORE.get(maker.__name__, {})
    for seed in SEEDS:
        piece = maker(np.random.default_rng(seed), **more)
        again = maker(np.random.default_rng(seed), **more)
        assert piece.kind
        assert piece.kind == piece.kind.lower().strip()
        assert piece.size == again.size
        assert min(piece.size) > 0.0005
        assert max(piece.size) < 8
        assert sum(len(shape.faces) for shape, _ in piece.parts) < 7000
        for (shape, material), (twin, same) in zip(piece.parts, again.parts, strict=True):
            assert material == same
            np.testing.assert_array_equal(shape.vertices, twin.vertices)
            assert np.isfinite(shape.vertices).all()
            np.testing.assert_allclose(np.linalg.norm(shape.normals, axis=1), 1, atol=1e-6)
            assert shape.faces.min() >= 0
            assert shape.faces.max() < len(shape.vertices)
            assert shape.uv.shape == (len(shape.vertices), 2)
            colours = np.array([material.tint, material.second])
            assert colours.min() >= 0
            assert colours.max() <= 1
            assert material.scale > 0
        for top in piece.tops:
            scale = piece.scale or (1, 1, 1)
            assert 0 < top.height <= piece.size[1] * max(1, scale[1]) + 0.3


GROUNDED = (animals, birds, contraptions, crockery, seats, statues, storage, tables, toys)


@pytest.mark.parametrize("maker", [m for module in GROUNDED for m in makers(module)])
def test_stands_on_the_ground(maker):
    for seed in SEEDS:
        piece = maker(np.random.default_rng(seed), **MORE.get(maker.__name__, {}))
        low = max(float(shape.vertices[:, 1].max()) for shape, _ in piece.parts)
        assert abs(low) < 0.12 * piece.size[1] + 0.02


def test_variety():
    """Chairs of different seeds are different chairs."""
    sizes = {seats.chair(np.random.default_rng(k)).size for k in range(20)}
    faces = {
        sum(len(s.faces) for s, _ in seats.chair(np.random.default_rng(k)).parts) for k in range(20)
    }
    assert len(sizes) == 20
    assert len(faces) > 8
