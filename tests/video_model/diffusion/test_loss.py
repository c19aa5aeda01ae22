"""The target is the velocity at each sample's own step; given frames do not count."""

import pytest
import torch

from sightline.video_model.diffusion.loss import noisy_and_target, velocity_loss
from sightline.video_model.diffusion.schedule import make_schedule

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
