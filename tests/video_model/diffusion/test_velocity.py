"""Video, noise and velocity follow from each other."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.video_model.diffusion import (
    add_noise,
    noise_from_velocity,
    velocity,
    velocity_from_noise,
    velocity_from_video,
    video_from_velocity,
)


def drawn(seed):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, 4, dtype=torch.float64, generator=generator).unbind(0)


@given(st.floats(0.01, math.pi / 2 - 0.01), st.integers(0, 99))
def test_there_and_back(angle, seed):
    (video, noise), alpha, sigma = drawn(seed), math.cos(angle), math.sin(angle)
    noisy, v = add_noise(video, noise, alpha, sigma), velocity(video, noise, alpha, sigma)
    assert torch.allclose(video_from_velocity(noisy, v, alpha, sigma), video)
    assert torch.allclose(noise_from_velocity(noisy, v, alpha, sigma), noise)
    assert torch.allclose(velocity_from_video(noisy, video, alpha, sigma), v)
    assert torch.allclose(velocity_from_noise(noisy, noise, alpha, sigma), v)


def test_velocity_is_the_derivative_by_the_angle():
    video, noise = drawn(0)
    angle, step = 0.7, 1e-5
    after = add_noise(video, noise, math.cos(angle + step), math.sin(angle + step))
    before = add_noise(video, noise, math.cos(angle - step), math.sin(angle - step))
    expected = velocity(video, noise, math.cos(angle), math.sin(angle))
    assert torch.allclose((after - before) / (2 * step), expected, atol=1e-8)


def test_at_the_last_step_velocity_is_minus_the_video():
    video, noise = drawn(1)
    assert torch.equal(velocity(video, noise, 0.0, 1.0), -video)
    assert torch.equal(video_from_velocity(noise, -video, 0.0, 1.0), video)
    assert torch.equal(noise_from_velocity(noise, -video, 0.0, 1.0), noise)


@pytest.mark.parametrize("alpha", [0.3, torch.tensor([[0.3], [0.8], [0.1]], dtype=torch.float64)])
def test_levels_may_be_numbers_or_one_for_each_sample(alpha):
    video, noise = drawn(2)
    sigma = (1 - alpha**2) ** 0.5
    v = velocity(video, noise, alpha, sigma)
    assert v[0, 1] == pytest.approx(0.3 * noise[0, 1] - math.sqrt(0.91) * video[0, 1])
