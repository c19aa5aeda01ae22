"""The target is the velocity at each sample's own step; given frames do not count."""

import pytest
import torch

from sightline.video_model.diffusion import (
    LEAST_SIGMA,
    add_noise,
    levels,
    make_schedule,
    noisy_and_target,
    velocity,
    velocity_from_video,
    velocity_loss,
    video_loss,
)

GAMMAS = make_schedule("cosine", 50)


def test_each_sample_has_its_own_step():
    video, noise = torch.randn(2, 3, 2, 4, 5, 5, generator=torch.Generator().manual_seed(0))
    t = torch.tensor([0, 20, 49])
    noisy, target = noisy_and_target(video, noise, t, GAMMAS)
    for n in range(3):
        alpha, sigma = float(GAMMAS[t[n]].sqrt()), float((1 - GAMMAS[t[n]]).sqrt())
        assert torch.allclose(noisy[n], alpha * video[n] + sigma * noise[n], atol=1e-6)
        assert torch.allclose(target[n], alpha * noise[n] - sigma * video[n], atol=1e-6)
    # At the last step the noisy video tells nothing of the video.
    assert torch.equal(noisy[2], noise[2])
    assert torch.equal(target[2], -video[2])


def test_the_loss_is_a_mean_over_what_is_not_given():
    said, target = torch.zeros(2, 1, 4, 2, 2), torch.ones(2, 1, 4, 2, 2)
    target[:, :, 0] = 10
    assert velocity_loss(said, target).tolist() == [103 / 4, 103 / 4]
    given = torch.tensor([[True, False, False, False], [False, False, True, True]])
    assert velocity_loss(said, target, given).tolist() == [1, 101 / 2]
    assert velocity_loss(said, target, torch.ones_like(given)).tolist() == [0, 0]


def test_the_loss_is_exact_for_bfloat16():
    said = torch.full((1, 1, 2, 3, 3), 1.0, dtype=torch.bfloat16)
    loss = velocity_loss(said, torch.full((1, 1, 2, 3, 3), 1.001))
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(1e-6, rel=1e-3)


def test_an_error_of_the_video_counts_as_that_of_the_velocity_it_makes():
    torch.manual_seed(3)
    video, said, noise = (torch.randn(4, 2, 6, 3, 3, dtype=torch.float64) for _ in range(3))
    gammas = make_schedule(steps=100)
    t = torch.tensor([60, 75, 90, 99])
    alpha, sigma = levels(gammas, t, video)
    noisy = add_noise(video, noise, alpha, sigma)
    given = torch.arange(6).expand(4, -1) < 2
    found = video_loss(said, video, sigma, given)
    wanted = velocity_loss(
        velocity_from_video(noisy, said, alpha, sigma),
        velocity(video, noise, alpha, sigma),
        given,
    )
    assert torch.allclose(found, wanted, rtol=1e-4)
    # Where almost all is given it counts for no more than at `LEAST_SIGMA`.
    early = levels(gammas, torch.tensor([0]), video[:1])[1]
    plain = velocity_loss(said[:1], video[:1])
    assert torch.allclose(video_loss(said[:1], video[:1], early), plain / LEAST_SIGMA**2)
