"""The power that straightens a network: found again where it was put in."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sightline.models.entry import ModelSpec
from sightline.types import DepthMap, Kind

RECIPES = Path(__file__).parents[2] / "recipes" / "cpu"


@pytest.fixture
def curve(monkeypatch):
    monkeypatch.syspath_prepend(str(RECIPES))
    yield importlib.import_module("curve")
    for name in ("curve", "publish"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("architecture", ["vits", "compact"])
@pytest.mark.parametrize("entered", [1.0, 1.5])
def test_the_power_that_was_put_in_is_the_best(curve, architecture, entered):
    """A network that says the root of 1.3 of inverse depth, whatever power is entered for it now."""
    spec = ModelSpec(architecture, curve=entered, size=64, multiple=14)
    zero = 0.0 if architecture == "compact" else 1.0
    inverse = np.random.default_rng(0).uniform(0.05, 2.0, (20, 30))
    inverse[:2] = 0  # not judged

    def infer(_pixels):
        said = zero + (inverse ** (1 / 1.3)) ** entered
        return DepthMap(said.astype(np.float32), Kind.RELATIVE_DISPARITY)

    estimator = SimpleNamespace(spec=spec, infer=infer)
    found = curve.scores(estimator, iter([(None, inverse)]))
    assert curve.POWERS[int(found[:, 0].argmin())] == 1.3
    assert found[2, 0] < 1e-4
    assert found[2, 1] == 1.0
    assert found[0, 0] > 0.02
