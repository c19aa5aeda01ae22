"""Small pictures and predictors that the tests of the sets share."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from sightline.benchmarks.run import run
from sightline.types import DepthMap, Kind


class Fixed:
    """Predicts what it is told: a function of the item and the pixels."""

    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def source(self, items):
        return "fixed@000000000000"

    def predict(self, item, pixels, camera=None):
        self.asked.append(item.name)
        return self.answer(item, pixels)


@pytest.fixture
def fixed():
    return Fixed


@pytest.fixture
def oracle():
    """Predicts an affine copy of the truth's disparity, and so is perfect after alignment."""

    def answer(item, _pixels):
        return DepthMap(3 * item.load().disparity + 2, Kind.RELATIVE_DISPARITY)

    return Fixed(answer)


@pytest.fixture
def ramp():
    """(12, 20) meters from 1 to 8, with a step in the middle."""
    depth = np.tile(np.linspace(1, 4, 20, dtype=np.float32), (12, 1))
    depth[:, 10:] *= 2
    return depth


@pytest.fixture
def save_picture(photo):
    """Write a cut of a real photograph of the given height and width."""

    def save(path, height=12, width=20):
        path.parent.mkdir(parents=True, exist_ok=True)
        image = Image.fromarray(photo[100 : 100 + height, 200 : 200 + width])
        image.save(path, format="JPEG" if path.suffix.lower() in (".jpg", ".jpeg") else None)
        return path

    return save


@pytest.fixture
def perfect_run(oracle):
    """Run the oracle over a tiny folder of a set; it must be perfect and say how small that is."""

    def check(benchmark, folder, count):
        report = run(benchmark, folder, oracle, keep_going=True)
        assert len(report.scored) == count
        assert report.overall["abs_rel"] == pytest.approx(0, abs=1e-3)
        assert report.overall["delta1"] == 1
        assert f"{count} pictures of the set's {benchmark.expected:,}" in report.line
        return report

    return check
