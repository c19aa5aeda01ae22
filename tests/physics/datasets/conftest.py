"""Samples of two kinds for the tests of data sets."""

from __future__ import annotations

import pytest

from sightline.physics.types import Samples, Shape

from .helpers import one_body, two_balls


@pytest.fixture(params=["two balls", "one body"])
def samples(request) -> Samples:
    return two_balls() if request.param == "two balls" else one_body()


@pytest.fixture
def pair() -> Samples:
    return two_balls()


@pytest.fixture
def single() -> Samples:
    made = one_body()
    assert len(set(made.shapes.ravel())) == len(Shape)
    return made
