"""What is asked for: patches that fit every codec, and numbers that no training takes."""

import pytest

from sightline.errors import InputError
from sightline.video_model.options import BuildOptions, VideoTraining, fitting_patch


@pytest.mark.parametrize(
    ("latents", "stride", "patch"),
    [
        ((32, 1, 1), 64, (4, 1, 1)),  # a vector for each frame
        ((31, 1, 1), 64, (1, 1, 1)),
        ((30, 1, 1), 64, (2, 1, 1)),
        ((32, 8, 8), 8, (1, 4, 4)),  # maps of latents
        ((16, 32, 32), 8, (1, 4, 4)),
        ((32, 6, 6), 8, (1, 2, 2)),
        ((32, 7, 7), 8, (1, 1, 1)),
        ((32, 8, 8), 4, (1, 8, 8)),
        ((32, 64, 64), 1, (1, 16, 16)),  # pixels
        ((32, 2, 2), 48, (1, 1, 1)),
    ],
)
def test_a_patch_fits(latents, stride, patch):
    assert fitting_patch(*latents, stride) == patch
    assert all(side % step == 0 for side, step in zip(latents, patch, strict=True))


@pytest.mark.parametrize(
    ("kind", "wrong", "words"),
    [
        (BuildOptions, {"gain": float("inf")}, "gain must be a number above 0"),
        (BuildOptions, {"noise_steps": 10**9}, "noise_steps must be 2 to 100,000"),
        (VideoTraining, {"seed": 2**63}, "seed must be a number from 0"),
        (VideoTraining, {"seed": -1}, "seed must be a number from 0"),
        (VideoTraining, {"threads": 0}, "threads must be at least 1"),
        (VideoTraining, {"rate": 1e38}, "rate must be a number from 0 to 1"),
        (VideoTraining, {"decay": 2.0}, "decay must be from 0 to 1"),
    ],
)
def test_numbers_that_cannot_be_meant(kind, wrong, words):
    with pytest.raises(InputError, match=words):
        kind(**wrong)
