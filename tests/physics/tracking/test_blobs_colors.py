import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.rendering import render
from sightline.physics.tracking.blobs import INK, find_colors, find_ink, mixes, words_of


def _ink(frames):
    data = frames.reshape(-1)
    room = np.empty(data.size // 3, np.int32)
    return room[: find_ink(data, words_of(data), room)]


@given(st.integers(1, 4), st.integers(1, 9), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_ink_is_every_pixel_with_a_dark_channel(frames, height, width, seed):
    random = np.random.default_rng(seed)
    video = np.where(
        random.random((frames, height, width, 3)) < 0.7,
        255,
        random.integers(0, 256, (frames, height, width, 3)),
    ).astype(np.uint8)
    expected = np.flatnonzero((video < INK).any(axis=3).ravel())
    np.testing.assert_array_equal(_ink(video), expected)


def test_colors_of_bodies_but_not_of_their_edges(world, spoil):
    motion = world([(3, 3, 1, 0, 0.8), (3, 7, 1, 0, 1.2)])
    for way in spoil.values():
        frames = way(render(motion, 128))
        colors = find_colors(frames.reshape(-1), _ink(frames), 128, 128)
        assert len(colors) == 2
        np.testing.assert_allclose(colors[0], (0, 0, 255), atol=12)  # the larger body
        np.testing.assert_allclose(colors[1], (255, 0, 0), atol=12)


@given(st.floats(0, 1), st.floats(0, 1))
def test_mixed_pixels_are_taken_apart(one, two):
    two *= 1 - one
    colors = np.array([[255.0, 0, 0], [20, 40, 230]])
    pixel = (1 - one - two) * 255 + one * colors[0] + two * colors[1]
    mix = mixes(colors)
    np.testing.assert_allclose(mix[0, 1] @ (255 - pixel), [one, two], atol=1e-9)
    np.testing.assert_allclose(mix[1, 0] @ (255 - pixel), [two, one], atol=1e-9)


def test_mix_of_a_color_alone():
    mix = mixes(np.array([[255.0, 0, 0], [255.0, 127, 127]]))
    for k in range(2):
        for j in range(2):  # both lie on one line with white, so neither can be told from the other
            assert (mix[k, j, 1] == 0).all()
    assert mix[0, 0, 0] @ (255 - np.array([255.0, 127.5, 127.5])) == pytest.approx(0.5)
