"""What follows from the strides of a codec; bytes and floats."""

from types import SimpleNamespace

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import (
    Codec,
    PixelCodec,
    check_latents,
    check_video,
    latent_shape,
    to_bytes,
    to_floats,
    usable_frames,
)
from sightline.video_model.autoencoders.frames import FrameCodec

EVEN = SimpleNamespace(side=None, channels=4, stride=8, frame_stride=1)
HALF = SimpleNamespace(side=None, channels=4, stride=8, frame_stride=2)


def test_all_codecs_are_codecs():
    assert isinstance(PixelCodec(), Codec)
    assert isinstance(FrameCodec(), Codec)
    assert not isinstance(HALF, Codec)


def test_frames_that_can_be_taken():
    assert usable_frames(EVEN, 32) == 32
    assert usable_frames(HALF, 32) == 31  # as many as the released evaluator compares
    assert usable_frames(HALF, 31) == 31
    assert usable_frames(HALF, 1) == 1


def test_shapes_of_latents():
    assert latent_shape(EVEN, 32, 64) == (4, 32, 8, 8)
    assert latent_shape(HALF, 31, 32, 40) == (4, 16, 4, 5)
    assert latent_shape(HALF, 1, 8) == (4, 1, 1, 1)


@pytest.mark.parametrize(
    ("codec", "shape", "words"),
    [
        (EVEN, (32, 60), "60 × 60 px are no multiples of 8 px"),
        (EVEN, (32, 64, 20), "64 × 20 px are no multiples"),
        (EVEN, (32, 0), "0 × 0 px"),
        (EVEN, (0, 64), "0 frames"),
        (HALF, (32, 64), "32 frames cannot be coded 2 at a time after the first; give 31 or 33"),
    ],
)
def test_videos_that_cannot_be_taken(codec, shape, words):
    with pytest.raises(InputError, match=words):
        latent_shape(codec, *shape)


@pytest.mark.parametrize(
    ("video", "words"),
    [
        (
            torch.zeros(1, 3, 2, 8, 8, dtype=torch.uint8),
            r"torch.uint8; turn it into floats",
        ),
        (torch.zeros(3, 2, 8, 8), r"shape \(3, 2, 8, 8\), expected \(N, 3, T, H, W\)"),
        (torch.zeros(1, 4, 2, 8, 8), r"shape \(1, 4, 2, 8, 8\)"),
        (torch.zeros(1, 3, 2, 8, 12), "8 × 12 px are no multiples"),
    ],
)
def test_wrong_videos_are_refused(video, words):
    with pytest.raises(InputError, match=words):
        check_video(EVEN, video)
    with pytest.raises(InputError, match=words):
        FrameCodec().encode(video)


@pytest.mark.parametrize("shape", [(1, 3, 2, 8, 8), (4, 2, 8, 8), (1, 4, 0, 8, 8)])
def test_wrong_latents_are_refused(shape):
    with pytest.raises(InputError, match=r"expected \(N, 4, t, h, w\)"):
        check_latents(EVEN, torch.zeros(shape))


def test_bytes_there_and_back():
    every = torch.arange(256, dtype=torch.uint8)
    floats = to_floats(every)
    assert (floats[0], floats[255]) == (-1, 1)
    assert torch.equal(to_bytes(floats), every)
    assert to_bytes(torch.tensor([-3.0, 9.0])).tolist() == [0, 255]
    with pytest.raises(InputError, match="expected bytes"):
        to_floats(floats)
