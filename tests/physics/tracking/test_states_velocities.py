import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.tracking.states import difference, slopes

speed = st.floats(-5, 5)


@given(speed, speed, speed, st.integers(4, 40))
def test_parabolas_are_exact(x, y, fall, frames):
    time = np.arange(frames) * 0.1
    path = np.stack([x * time, y * time + fall * time**2], axis=-1)[:, None]
    velocity = np.stack([np.full(frames, x), y + 2 * fall * time], axis=-1)[:, None]
    measured = np.ones((frames, 1), bool)
    np.testing.assert_allclose(slopes(path, measured, 0.1), velocity, atol=1e-6)


def test_a_kink_is_not_smeared():
    time = np.arange(20) * 0.1
    path = np.stack([np.abs(time - 1.04), 0 * time], axis=-1)[:, None]
    velocity = slopes(path, np.ones((20, 1), bool), 0.1)[:, 0, 0]
    np.testing.assert_allclose(np.abs(velocity), 1, atol=0.45)
    np.testing.assert_allclose(velocity[:10], -1, atol=1e-6)
    np.testing.assert_allclose(velocity[12:], 1, atol=1e-6)


def test_what_is_not_measured_has_no_say():
    time = np.arange(12) * 0.1
    path = np.stack([2 * time, 0 * time], axis=-1)[:, None]
    measured = np.ones((12, 1), bool)
    measured[5] = False
    path[5] = 100
    velocity = slopes(path, measured, 0.1)
    np.testing.assert_allclose(velocity[:, 0, 0], 2, atol=1e-6)


def test_differences_look_forward():
    path = np.array([0.0, 1, 3, 6])[:, None, None] * np.ones(2)
    np.testing.assert_allclose(difference(path, 0.5)[:, 0, 0], [2, 4, 6, 6])
    assert (difference(path[:1], 0.5) == 0).all()


def test_too_few_frames_for_a_line():
    path = np.array([[[0.0, 0.0]], [[1.0, 2.0]]])
    np.testing.assert_allclose(slopes(path, np.ones((2, 1), bool), 0.1), [[[10, 20]]] * 2)
    assert (slopes(path[:1], np.ones((1, 1), bool), 0.1) == 0).all()
