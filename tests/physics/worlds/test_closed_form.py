"""Laws in closed form: straight lines, parabolas, momentum and energy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.worlds import closed_form as exact
from sightline.physics.worlds.simulation import sample

speeds = st.floats(0.0, 8.0)
radii = st.floats(0.1, 2.4)


def pair(r1, r2, v1, v2, gap):
    starts = np.array([[[2.0, 5.0], [2.0 + r1 + r2 + gap, 5.0]]])
    velocities = np.array([[[v1, 0.0], [-v2, 0.0]]])
    return starts, velocities, np.array([[r1, r2]])


def test_frames_are_at_the_reference_times():
    times = exact.frame_times()
    assert len(times) == 32
    assert times[0] == 0.01
    assert times[-1] == pytest.approx(3.11)


def test_a_free_ball_moves_in_a_straight_line(rng):
    starts, velocities = rng.uniform(0, 10, (20, 1, 2)), rng.uniform(-4, 4, (20, 1, 2))
    positions, held = exact.free(starts, velocities, falling=False)
    t = exact.frame_times()[:, None, None]
    np.testing.assert_allclose(positions, starts[:, None] + velocities[:, None] * t, atol=1e-12)
    assert (held == velocities[:, None]).all()


def test_a_falling_ball_keeps_its_energy(rng):
    starts, velocities = rng.uniform(0, 10, (20, 1, 2)), rng.uniform(-4, 4, (20, 1, 2))
    positions, held = exact.free(starts, velocities, falling=True)
    energy = 0.5 * (held**2).sum(-1) + 2.5 * positions[..., 1]
    before = 0.5 * (velocities**2).sum(-1) + 2.5 * starts[..., 1]
    np.testing.assert_allclose(energy, np.broadcast_to(before[:, None], energy.shape), rtol=1e-12)
    falls = np.diff(positions[..., 0, 1], 2, axis=1) / 0.1**2
    np.testing.assert_allclose(falls, -2.5, atol=1e-9)


@given(r1=radii, r2=radii, v1=speeds, v2=speeds, gap=st.floats(0.0, 8.0))
def test_a_collision_keeps_momentum_and_energy(r1, r2, v1, v2, gap):
    positions, velocities = exact.pair(*pair(r1, r2, v1, v2, gap))
    m = np.array([r1, r2]) ** 2
    momentum = velocities[0, :, :, 0] @ m
    energy = velocities[0, :, :, 0] ** 2 @ m / 2
    scale = max(m @ np.array([v1, v2]), 1e-9)
    np.testing.assert_allclose(momentum, m[0] * v1 - m[1] * v2, atol=1e-12 * scale)
    np.testing.assert_allclose(energy, (m[0] * v1**2 + m[1] * v2**2) / 2, rtol=1e-10, atol=1e-12)
    center = positions[0, :, :, 0] @ m / m.sum()
    drift = (m[0] * v1 - m[1] * v2) / m.sum()
    np.testing.assert_allclose(np.diff(center), 0.1 * drift, atol=1e-10)
    assert (positions[0, :, 1, 0] - positions[0, :, 0, 0] >= r1 + r2 - 1e-9).all()


@given(r1=radii, r2=radii, v1=speeds, v2=st.floats(0.5, 8.0), time=st.floats(0.05, 3.0))
def test_a_collision_happens_when_it_should(r1, r2, v1, v2, time):
    starts, velocities, sizes = pair(r1, r2, v1, v2, time * (v1 + v2))
    assert exact.collision_times(starts, velocities, sizes)[0] == pytest.approx(time)
    _, held = exact.pair(starts, velocities, sizes)
    t = exact.frame_times()
    before, after = t < time - 1e-9, t > time + 1e-9
    assert (held[0, before, 0, 0] == v1).all()
    apart = held[0, after, 1, 0] - held[0, after, 0, 0]
    np.testing.assert_allclose(apart, v1 + v2, rtol=1e-9)


def test_equal_balls_swap_their_velocities():
    _, held = exact.pair(*pair(1.0, 1.0, 3.0, 1.0, 2.0))
    np.testing.assert_allclose(held[0, -1, :, 0], [-1.0, 3.0])


def test_balls_that_move_apart_never_meet():
    starts, velocities, sizes = pair(1.0, 1.0, 0.0, 0.0, 1.0)
    velocities[0, 1, 0] = 1.0
    assert exact.collision_times(starts, velocities, sizes)[0] == np.inf
    _, held = exact.pair(starts, velocities, sizes)
    assert (held[0, :, :, 0] == [0.0, 1.0]).all()


@pytest.mark.parametrize(
    # A parabola of semi-implicit steps runs g h t / 2 below the true one. A collision is found up to
    # one sub-step late, and its overlap is pushed apart on top.
    ("scenario", "most"),
    [("uniform", 1e-3), ("parabola", 0.04), ("collision", 0.2)],
)
def test_the_integrator_is_close_to_the_truth(scenario, most):
    truth = sample(scenario, 500, seed=3)
    stepped = sample(scenario, 500, seed=3, mode="box2d")
    assert np.abs(truth.positions - stepped.positions).max() < most
    if scenario == "collision":
        # A ball that a collision all but stops falls asleep in the integrator: 0.01 at most.
        assert np.abs(truth.velocities[:, -1] - stepped.velocities[:, -1]).max() < 0.01
        assert np.median(np.abs(truth.velocities[:, -1] - stepped.velocities[:, -1])) < 1e-6
