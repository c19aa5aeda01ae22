import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.laws.evidence import collision_step, counted_steps, valid_frames
from sightline.physics.laws.table import check_laws
from sightline.physics.laws.velocity_error import velocity_error_code, velocity_error_steps
from sightline.physics.types import RED, Motion
from sightline.physics.worlds.simulation import sample


def _uniform(speed, size=1.0, start=2.0):
    path = np.stack([start + speed * 0.1 * np.arange(32), np.full(32, 5.0)], axis=-1)[:, None]
    return Motion(
        path,
        np.broadcast_to([speed, 0.0], path.shape).copy(),
        np.array([size]),
        np.array([RED], np.uint8),
        np.zeros(1, np.uint8),
    )


@given(st.floats(0.2, 2), st.floats(-1, 1), st.floats(-1, 1))
def test_known_errors(speed, more, up):
    """A constant error of velocity is found as it is, by both definitions."""
    truth = _uniform(speed)
    time = 0.1 * np.arange(32)[:, None, None]
    parsed = truth.positions + time * np.array([more, up])
    assert velocity_error_steps(parsed, truth, "uniform") == pytest.approx(
        np.hypot(more, up), abs=1e-9
    )
    assert velocity_error_code(parsed, truth, "uniform") == pytest.approx(abs(more), abs=1e-9)


def test_definitions_differ_on_jitter():
    """The paper's counts every step, the code's forgives what averages out."""
    truth = _uniform(1.0)
    parsed = truth.positions.copy()
    parsed[::2, :, 0] += 0.01
    assert velocity_error_steps(parsed, truth, "uniform") == pytest.approx(0.1)
    assert velocity_error_code(parsed, truth, "uniform") < 0.01


def test_valid_frames_are_inside_from_the_fourth_on():
    truth = _uniform(2.0, size=1.0, start=1.5)  # its right side is at 10 after 3.75 s
    valid = valid_frames(truth, "uniform")
    assert not valid[:3].any()
    assert valid[3:].all()
    fast = valid_frames(_uniform(4.0, start=1.5), "uniform")
    assert np.flatnonzero(fast)[-1] == 18  # 1.5 + 0.4 · 18 = 8.7, then 9.1 with a radius of 1
    assert velocity_error_steps(np.zeros((32, 1, 2)), _uniform(1.0, start=12.0), "uniform") is None


def test_collisions_look_at_the_outer_sides_only():
    truth = sample("collision", 1, seed=2)[0]
    truth.positions[10:, 0, 1] = 11.0  # above the picture
    assert valid_frames(truth, "collision")[10]
    truth.positions[10:, 0, 0] = 0.1
    assert not valid_frames(truth, "collision")[10:].any()


@pytest.mark.parametrize("mode", ["exact", "box2d"])
def test_collision_step_is_where_the_truth_turns(mode):
    samples = sample("collision", 20, seed=1, mode=mode)
    for index in range(20):
        truth = samples[index]
        valid = valid_frames(truth, "collision")
        step = collision_step(truth, valid)
        change = np.abs(np.diff(np.diff(truth.positions[..., 0], axis=0) / 0.1, axis=0)).max(axis=1)
        assert change[step - 1] > 0.1
        assert (change[3 : step - 1] <= 0.1).all()
        before, after = counted_steps(truth, "collision")
        assert before.max() < step < after.min()


def test_post_collision_frames_only():
    truth = sample("collision", 1, seed=1)[0]
    step = collision_step(truth, valid_frames(truth, "collision"))
    parsed = truth.positions.copy()
    parsed[: step - 1] += np.random.default_rng(0).normal(size=parsed[: step - 1].shape)
    assert velocity_error_steps(parsed, truth, "collision") == pytest.approx(0, abs=1e-9)
    constant = truth.positions[0] + 0.1 * np.arange(32)[:, None, None] * truth.velocities[0]
    assert velocity_error_steps(constant, truth, "collision") > 1
    assert velocity_error_code(constant, truth, "collision") > 1


def test_law_rows(tracks_of, motion_of, straight):
    truth = motion_of(straight, (1.5, 0), [1.0])
    slow = straight.copy()
    slow[:, :, 0] -= 0.04 * np.arange(32)[:, None]
    scores = check_laws(tracks_of(slow, [1.0]), truth, "uniform")
    assert scores.values["velocity_steps"] == pytest.approx(0.4)
    assert scores.values["velocity_code"] == pytest.approx(0.4)
    assert scores.values["position"] == pytest.approx(0.04 * np.arange(3, 32).mean())
    worst = next(v for v in scores.violations if v.law == "position")
    assert (worst.frame, worst.body) == (31, 0)
    assert worst.size == pytest.approx(0.04 * 31)
    assert worst.unit == "units"
