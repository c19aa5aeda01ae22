"""Fixtures that every room's tests share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# A loaded machine is no reason for a property to fail.
settings.register_profile("sightline", deadline=None, max_examples=50)
settings.load_profile("sightline")

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real photographs and depth beside the repository; tests that need them skip without."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the real photographs and depth of ../shared/data, which are not here")
    return SHARED_DATA


@pytest.fixture(scope="session")
def photo() -> np.ndarray:
    """A real photograph, (400, 600, 3) uint8."""
    from skimage import data

    return np.asarray(data.coffee())


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)
