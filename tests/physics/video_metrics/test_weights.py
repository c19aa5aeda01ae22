from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import install
from sightline.models.registry import get
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import fvd
from sightline.physics.video_metrics.lpips import lpips
from sightline.physics.video_metrics.weights import fetched, lacking

VIDEO = np.zeros((9, 64, 64, 3), np.uint8)


@pytest.fixture
def fetch_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail as soon as anything is downloaded."""

    def refuse(*_: object) -> None:
        pytest.fail("a metric must not download")

    monkeypatch.setattr("sightline.models.download.download_archive", refuse)


@pytest.mark.usefixtures("empty_cache", "fetch_refused")
def test_without_weights_the_metric_says_so_and_how_to_get_them():
    assert lpips(VIDEO, VIDEO) == NotAvailable(
        "LPIPS (alex)",
        "the weights lpips-alex are not on this machine",
        "sightline models get lpips-alex",
    )
    assert isinstance(lpips(VIDEO, VIDEO, "vgg"), NotAvailable)
    found = fvd([VIDEO] * 2, [VIDEO] * 2)
    assert isinstance(found, NotAvailable)
    assert found.remedy == "sightline models get i3d-kinetics400"


@pytest.mark.usefixtures("fetch_refused")
def test_damaged_weights_are_not_used(empty_cache: Path):
    entry = get("lpips-alex")
    path = empty_cache / "weights" / entry.cache_name
    path.parent.mkdir()
    with path.open("wb") as stream:
        stream.truncate(entry.bytes)
    found = fetched("LPIPS", "lpips-alex")
    assert isinstance(found, NotAvailable)
    assert "damaged" in found.reason


def test_without_torch_the_metric_says_so(monkeypatch: pytest.MonkeyPatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *rest: None if name == "torch" else find(name)
    )
    assert lacking("FVD", "numpy") is None
    for found in (lpips(VIDEO, VIDEO), fvd([VIDEO], [VIDEO])):
        assert isinstance(found, NotAvailable)
        assert found.reason == "torch is not installed"
        assert found.remedy == install("train")
