import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.laws.table import check_laws


def _falling(gravity, frames=24):
    time = 0.1 * np.arange(frames)
    return np.stack([2 + 1.5 * time, 9 - 0.5 * gravity * time**2], axis=-1)[:, None]


@given(gravity=st.floats(-1, 3))
def test_gravity_is_found(gravity, tracks_of):
    path = _falling(gravity) if gravity > 0 else _falling(gravity) - np.array([0, 3])
    scores = check_laws(tracks_of(path, [0.5]), None, "parabola")
    assert scores.values["gravity"] == pytest.approx(gravity, abs=1e-6)
    assert scores.violates("gravity") == (abs(gravity - 2.5) > 0.25)


def test_the_interval_covers(tracks_of):
    """Over many noisy videos the 95 % interval holds the truth in about 95 % of them."""
    random = np.random.default_rng(0)
    hits, widths = 0, []
    for _ in range(300):
        noisy = _falling(2.5) + random.normal(0, 0.01, (24, 1, 2))
        scores = check_laws(tracks_of(noisy, [0.5], sigma=0.01), None, "parabola")
        low, high = scores.intervals["gravity"]
        hits += low <= 2.5 <= high
        widths.append(high - low)
        assert not scores.violates("gravity")
    assert 0.91 < hits / 300 < 0.99
    assert 0.01 < np.mean(widths) < 0.1


@given(at=st.integers(6, 25), more=st.floats(0.8, 3))
def test_inertia_finds_a_push(at, more, tracks_of):
    time = 0.1 * np.arange(32)
    x = 1.2 + 0.9 * time + np.maximum(time - 0.1 * at, 0) * more
    path = np.stack([x, np.full(32, 5.0)], axis=-1)[:, None]
    tracks = tracks_of(path, [0.6])
    scores = check_laws(tracks, None, "uniform")
    if tracks.whole[at + 3, 0]:
        found = next(v for v in scores.violations if v.law == "inertia")
        assert found.size == pytest.approx(more, rel=1e-6)
        assert (found.frame, found.body) == (at, 0)
        jump = next((v for v in scores.violations if v.law == "jump"), None)
        assert jump is not None
        assert jump.frame == at


def test_a_free_path_has_no_drift(tracks_of, straight):
    scores = check_laws(tracks_of(straight, [0.7]), None, "uniform")
    assert scores.values["inertia"] == pytest.approx(0, abs=1e-9)
    assert scores.values["jump"] == pytest.approx(0, abs=1e-9)
    scores = check_laws(tracks_of(_falling(2.5), [0.5]), None, "parabola")
    assert scores.values["inertia"] == pytest.approx(0, abs=1e-9)
    # The same path where nothing should fall:
    assert check_laws(tracks_of(_falling(2.5), [0.5]), None, "uniform").violates("inertia")


def test_a_collision_is_a_cause(tracks_of, bounce):
    scores = check_laws(tracks_of(*bounce()), None, "collision")
    assert not scores.violates("inertia")
    assert not scores.violates("jump")


def test_turning_without_touch_is_not(tracks_of, bounce):
    positions, sizes = bounce()
    positions[:, 0, 0] -= 1.0  # they turn a world unit apart
    positions[:, 1, 0] += 0.5
    scores = check_laws(tracks_of(positions, sizes), None, "collision")
    assert {v.body for v in scores.violations if v.law == "inertia"} == {0, 1}


def test_a_leap_during_the_touch(tracks_of, bounce):
    positions, sizes = bounce()
    positions[16:, 0, 1] += 2.0
    scores = check_laws(tracks_of(positions, sizes), None, "collision")
    found = next(v for v in scores.violations if v.law == "jump")
    assert found.body == 0
    assert found.frame == 15
    assert found.size > 10
