from __future__ import annotations

import json
import pickle

import pytest

from sightline.physics.video_metrics.frame_metrics import NotAvailable, as_json

MISSING = NotAvailable("FVD", "no weights", "sightline models get x")


def test_it_travels_where_a_number_would():
    assert f"{MISSING:.3f}" == f"{MISSING:>8.2f}" == "not available"
    assert str(MISSING) == "FVD: not available (no weights; run `sightline models get x`)"
    assert f"{MISSING}" == str(MISSING)
    assert pickle.loads(pickle.dumps(MISSING)) == MISSING
    text = json.dumps({"fvd": as_json(MISSING), "psnr": as_json(30.5)}, allow_nan=False)
    assert json.loads(text) == {
        "fvd": {"not_available": "no weights", "metric": "FVD", "remedy": "sightline models get x"},
        "psnr": 30.5,
    }


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_json_stays_strict(value: float):
    assert as_json(value) is None


def test_it_cannot_slip_into_a_mean():
    with pytest.raises(TypeError):
        sum([1.0, MISSING])
    with pytest.raises(TypeError):
        float(MISSING)
