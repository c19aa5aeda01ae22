"""Gain and floor are found again from errors made with known ones."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.depth.uncertainty import (
    CALIBRATIONS,
    Calibration,
    calibrate,
    coverage,
    store_calibration,
    stored_calibration,
)
from sightline.errors import InputError, SightlineError


def made(gain: float, floor: float, count: int = 20_000, seed: int = 0):
    rng = np.random.default_rng(seed)
    doubt = rng.gamma(1.5, 0.05, count)
    return doubt, rng.normal(0, np.hypot(gain * doubt, floor))


@settings(max_examples=20)
@given(st.floats(0.5, 4), st.floats(0.02, 0.2), st.integers(0, 5))
def test_known_gain_and_floor_come_back(gain, floor, seed):
    doubt, error = made(gain, floor, seed=seed)
    fit = calibrate(doubt, error)
    # Where one of the two hardly matters it is hardly determined; the sigma they give always is.
    where = np.quantile(doubt, [0.05, 0.5, 0.95])
    np.testing.assert_allclose(
        np.hypot(fit.gain * where, fit.floor), np.hypot(gain * where, floor), rtol=0.1
    )
    test = made(gain, floor, seed=seed + 100)
    inside = coverage(fit, *test)
    assert inside[0] == pytest.approx(0.683, abs=0.02)
    assert inside[1] == pytest.approx(0.954, abs=0.02)


def test_a_few_gross_errors_do_not_widen_the_bars():
    doubt, error = made(1.5, 0.05)
    error[::50] = 30.0
    fit = calibrate(doubt, error)
    assert fit.gain == pytest.approx(1.5, rel=0.15)
    assert fit.floor == pytest.approx(0.05, rel=0.15)


def test_weights_decide_who_counts():
    small, large = made(0.0, 0.05, seed=1), made(0.0, 0.5, seed=2)
    doubt, error = (np.concatenate(pair) for pair in zip(small, large, strict=True))
    weights = np.repeat([1.0, 1e-6], len(small[0]))
    assert calibrate(doubt, error, weights).floor == pytest.approx(0.05, rel=0.1)
    assert calibrate(doubt, error, weights[::-1]).floor == pytest.approx(0.5, rel=0.1)
    assert coverage(Calibration(0, 0.05), doubt, error, weights)[0] == pytest.approx(0.68, abs=0.02)


def test_one_sigma_holds_68_percent_of_the_fitted_data_whatever_they_are(rng):
    doubt, error = rng.uniform(0, 1, 5000), rng.standard_cauchy(5000)
    fit = calibrate(doubt, error)
    assert coverage(fit, doubt, error)[0] == pytest.approx(0.6827, abs=0.001)


def test_degenerate_samples():
    fit = calibrate(np.zeros(100), np.zeros(100))
    assert fit.gain + fit.floor > 0
    assert calibrate(np.array([0.1]), np.array([0.2])).floor >= 0
    with pytest.raises(InputError, match="no pixel"):
        calibrate(np.full(3, np.nan), np.zeros(3))
    with pytest.raises(InputError, match="3 disagreements, 2 errors"):
        calibrate(np.zeros(3), np.zeros(2))
    with pytest.raises(InputError, match="negative"):
        Calibration(-1, 0.1)


def test_stored_and_found_again_for_the_same_weights_only(tmp_path):
    one = Calibration(1.25, 0.0625, "0123456789ab", 0.68, 0.95, "by hand")
    assert stored_calibration("tiny", "0123456789abcdef", tmp_path) is None
    path = store_calibration("tiny", one, tmp_path)
    store_calibration("other", Calibration(1, 1), tmp_path)
    assert path.name == CALIBRATIONS
    assert stored_calibration("tiny", "0123456789abcdef", tmp_path) == one
    assert stored_calibration("tiny", "f" * 64, tmp_path) is None
    assert stored_calibration("other", "f" * 64, tmp_path) == Calibration(1, 1)
    assert list(json.loads(path.read_text())) == ["other", "tiny"]


def test_a_broken_table_is_named(tmp_path):
    for text in ("{", "[]", '{"tiny": {"gain": 1}}', '{"tiny": {"gain": -1, "floor": 0}}'):
        (tmp_path / CALIBRATIONS).write_text(text)
        with pytest.raises(SightlineError, match=r"calibration\.json"):
            stored_calibration("tiny", "", tmp_path)
