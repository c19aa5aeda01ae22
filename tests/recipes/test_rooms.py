"""Photographs of rooms in meters."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.items import is_held_out

RECIPES = Path(__file__).parents[2] / "recipes" / "cpu"


@pytest.fixture
def rooms(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))
    yield importlib.import_module("rooms")
    sys.modules.pop("rooms", None)


def test_shape_by_one_scale_by_the_other(rooms):
    """Relative depth of fine detail takes the meters of a coarse map, also where that is blind."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(1.0, 6.0, (40, 50)).astype(np.float32)
    truth[:5] = 30.0  # through a window
    relative = (0.7 / truth + 0.2).astype(np.float32)
    coarse = np.minimum(truth, 10.0) * rng.uniform(0.95, 1.05, truth.shape).astype(np.float32)
    meters, differs = rooms.meters_of(relative, coarse)
    np.testing.assert_allclose(meters[5:], truth[5:], rtol=0.03)
    assert (meters[:5] == 0).all(), "beyond what the coarse network has seen"
    assert differs < 0.2
    _, upside_down = rooms.meters_of(-relative, coarse)
    assert upside_down > rooms.AGREE


def test_what_is_kept_out_of_training_stays_out(rooms, tmp_path):
    names = [f"room{number}.jpg" for number in range(300)]
    for name in names:
        (tmp_path / name).touch()
    found = [path.name for path in rooms.photographs([tmp_path])]
    kept_out = {name for name in names if is_held_out(name)}
    assert kept_out
    assert set(found) == set(names) - kept_out
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no photographs"):
        list(rooms.photographs([tmp_path / "empty"]))
