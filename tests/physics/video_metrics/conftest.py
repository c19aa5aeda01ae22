"""Short videos of real photographs, and weights that are only used where they have been fetched."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.physics.video_metrics.frame_metrics import NotAvailable


@pytest.fixture(scope="session")
def clips() -> list[np.ndarray]:
    """Six videos of 9 frames of 64 px: a camera that moves over photographs, some slowly, some fast."""
    import cv2
    from skimage import data

    photographs = [cv2.resize(p, (240, 160)) for p in (data.astronaut(), data.coffee(), data.cat())]
    videos = []
    for number in range(6):
        photograph, step = photographs[number % 3], 1 + number
        corners = [(5 * number + frame * step, 9 * number) for frame in range(9)]
        videos.append(np.stack([photograph[y : y + 64, x : x + 64] for x, y in corners]))
    return videos


def _here(value):
    if isinstance(value, NotAvailable):
        pytest.skip(str(value))
    return value


@pytest.fixture(scope="session")
def i3d():
    """I3D with its weights; skips with the command that fetches them."""
    from sightline.physics.video_metrics.fvd import load_i3d

    return _here(load_i3d())


@pytest.fixture(scope="session")
def alex() -> str:
    """The name of LPIPS's smaller network, if its weights are here."""
    from sightline.physics.video_metrics.lpips import load_lpips

    return _here(load_lpips("alex")).net


@pytest.fixture(scope="session", params=["alex", "vgg"])
def net(request: pytest.FixtureRequest) -> str:
    """The name of either network of LPIPS, if its weights are here."""
    from sightline.physics.video_metrics.lpips import load_lpips

    return _here(load_lpips(request.param)).net


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has fetched nothing."""
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path))
    return tmp_path
