"""Videos channels first, against NumPy's own transpose."""

import numpy as np
import pytest

from sightline.physics.rendering import to_planes


@pytest.mark.parametrize("mirror", [False, True])
def test_planes(rng, mirror):
    frames = rng.integers(0, 256, (3, 5, 7, 3)).astype(np.uint8)
    wanted = (frames[:, :, ::-1] if mirror else frames).transpose(3, 0, 1, 2)
    found = to_planes(frames, mirror=mirror)
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found, wanted)
    floats = to_planes(frames, floats=True, mirror=mirror)
    assert floats.dtype == np.float32
    np.testing.assert_allclose(floats, wanted / 127.5 - 1, atol=1e-7)


def test_ends_and_strides():
    frames = np.zeros((1, 4, 4, 3), np.uint8)
    frames[:, ::2] = 255
    assert to_planes(frames[:, ::2], floats=True).min() == 1
    assert to_planes(frames[:, 1::2], floats=True).max() == -1
