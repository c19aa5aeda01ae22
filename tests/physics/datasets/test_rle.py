"""Runs of pixels: there and back without loss, and damage that is noticed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.errors import InputError
from sightline.physics.datasets import rle
from sightline.physics.rendering import Canvas, render_samples

few_colors = arrays(np.uint8, (2, 5, 5, 3), elements=st.sampled_from([0, 7, 255]))


@given(few_colors)
def test_any_picture_comes_back(frames):
    np.testing.assert_array_equal(rle.decode(rle.encode(frames), 2, 5), frames)


def test_boxes_change_nothing_but_the_time(samples):
    canvas = Canvas(64, 5)
    for index in range(len(samples)):
        frames = canvas.paint(samples[index])
        data = rle.encode(frames, canvas.boxes)
        assert data == rle.encode(frames)
        np.testing.assert_array_equal(rle.decode(data, 5, 64), frames)
    assert len(data) < frames.nbytes / 20


def test_a_white_video_is_one_number():
    white = np.full((32, 128, 128, 3), 255, np.uint8)
    data = rle.encode(white)
    assert len(data) == 3
    np.testing.assert_array_equal(rle.decode(data, 32, 128), white)
    assert rle.encode(white, np.zeros((32, 2, 4), np.int32)) == data


def test_noise_fits_into_its_room(rng):
    noise = rng.integers(0, 255, (3, 20, 20, 3)).astype(np.uint8)
    np.testing.assert_array_equal(rle.decode(rle.encode(noise), 3, 20), noise)


def test_not_contiguous(pair):
    frames = render_samples(pair, 32)[0][:, ::-1]
    np.testing.assert_array_equal(rle.decode(rle.encode(frames), 5, 32), frames)


@given(st.binary(max_size=60))
def test_garbage_is_refused_or_a_video(data):
    try:
        frames = rle.decode(data, 2, 16)
    except InputError:
        return
    np.testing.assert_array_equal(rle.decode(rle.encode(frames), 2, 16), frames)


@pytest.mark.parametrize(
    "damage", [b"", b"\x80", b"\xff" * 9, b"\x03\x01", b"\xff\xff\xff\xff\x7f"]
)
def test_damage_is_refused(damage):
    with pytest.raises(InputError, match="damaged"):
        rle.decode(damage, 2, 16)


def test_a_cut_video_is_refused(pair):
    data = rle.encode(render_samples(pair, 32)[0])
    for end in (1, len(data) // 2, len(data) - 1):
        with pytest.raises(InputError, match="damaged"):
            rle.decode(data[:end], 5, 32)
