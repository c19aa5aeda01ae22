"""The floor of codecs: none for pixels, that of what is done to them for others."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.physics.rendering import render
from sightline.physics.scoring.sample import Case, score_video
from sightline.physics.worlds.simulation import sample
from sightline.video_model.autoencoders.codec import PixelCodec
from sightline.video_model.autoencoders.floor import reconstruction_floor

SIZE = 64
#: World units of a pixel.
UNIT = 10 / (SIZE - 1)


class Shifting(PixelCodec):
    """Moves the picture of frame t to the right by so many pixels."""

    def __init__(self, by):
        self.by = by

    def decode(self, latents):
        moved = latents.clone()
        for frame in range(latents.shape[2]):
            moved[:, :, frame] = latents[:, :, frame].roll(self.by(frame), dims=-1)
        return moved


class Halving(PixelCodec):
    """Takes an odd number of frames."""

    frame_stride = 2

    def decode(self, latents):
        assert latents.shape[2] == 31
        return latents


@pytest.fixture(scope="module")
def samples():
    return sample("uniform", 3, seed=4)


def own_floor(samples):
    """The truth's own errors, from the scorer."""
    rows = []
    for number in range(len(samples)):
        motion = samples[number]
        case = Case(number, "in", (), motion, samples.scenario, 3)
        values = score_video("", render(motion, SIZE), case).values
        rows.append([values[law] for law in ("velocity_steps", "velocity_code", "position")])
    return np.mean(rows, axis=0)


@pytest.mark.parametrize("scenario", ["uniform", "collision", "parabola"])
def test_pixels_cost_nothing(scenario):
    samples = sample(scenario, 3, seed=4)
    floor = reconstruction_floor(PixelCodec(), samples, SIZE)
    assert floor.coded == floor.truth
    assert (floor.scenario, floor.size, floor.frames, floor.videos) == (scenario, SIZE, 32, 3)
    found = floor.truth
    assert [found.velocity, found.mean_velocity, found.position] == pytest.approx(
        own_floor(samples)
    )
    assert 0 < floor.truth.velocity < 0.1
    assert floor.truth.coverage == 1


def test_a_picture_that_is_shifted_is_in_the_wrong_place_at_the_right_speed(samples):
    floor = reconstruction_floor(Shifting(lambda _: 2), samples, SIZE)
    assert floor.coded.position == pytest.approx(2 * UNIT, abs=0.03)
    assert floor.truth.position < 0.03
    assert floor.coded.velocity == pytest.approx(floor.truth.velocity, abs=0.02)


def test_a_picture_that_trembles_is_wrong_in_speed(samples):
    """A pixel to and fro is a pixel per frame."""
    floor = reconstruction_floor(Shifting(lambda frame: frame % 2), samples, SIZE)
    assert floor.coded.velocity == pytest.approx(UNIT / 0.1, rel=0.1)
    assert floor.truth.velocity < 0.1
    assert floor.coded.mean_velocity < 0.2 * floor.coded.velocity


def test_a_body_that_is_lost_shows(samples):
    class White(PixelCodec):
        def decode(self, latents):
            return torch.ones_like(latents)

    floor = reconstruction_floor(White(), samples, SIZE)
    assert floor.coded.coverage < 0.1
    assert floor.coded.velocity > 0.5


def test_frames_that_a_codec_cannot_take_are_left_out(samples):
    floor = reconstruction_floor(Halving(), samples, SIZE)
    assert floor.frames == 31
    assert floor.coded == floor.truth


def test_more_videos_than_are_coded_at_a_time():
    samples = sample("uniform", 18, seed=1)
    floor = reconstruction_floor(PixelCodec(), samples, 32)
    assert floor.videos == 18
    assert floor.coded == floor.truth


def test_videos_in_which_nothing_counts(samples):
    outside = replace(samples, positions=samples.positions + 100)
    with pytest.raises(InputError, match="none of 3 videos has a frame that counts"):
        reconstruction_floor(PixelCodec(), outside, SIZE)
    positions = samples.positions.copy()
    positions[0] += 100
    floor = reconstruction_floor(PixelCodec(), replace(samples, positions=positions), SIZE)
    assert floor.videos == 2
