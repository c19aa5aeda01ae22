"""What is drawn belongs to the sample, not to who draws it."""

import numpy as np
import torch

from sightline.video_model.diffusion import draw_noise, draw_steps


def test_shares_of_workers_make_what_one_draws():
    steps, noise = draw_steps(7, range(12), 1000), draw_noise(7, range(12), (2, 3))
    for workers in (2, 3, 5):
        for rank in range(workers):
            own = range(rank, 12, workers)
            assert torch.equal(draw_steps(7, own, 1000), steps[rank::workers])
            assert torch.equal(draw_noise(7, own, (2, 3)), noise[rank::workers])


def test_seeds_and_numbers_all_differ():
    firsts = [draw_noise(seed, [n], (1,)).item() for seed in range(10) for n in range(10)]
    assert len(set(firsts)) == 100


def test_steps_are_all_equally_likely_from_first_to_last():
    counts = np.bincount(draw_steps(1, range(4000), 8), minlength=8)
    assert len(counts) == 8
    # χ² with 7 degrees of freedom exceeds 24.3 once in a thousand.
    assert ((counts - 500) ** 2 / 500).sum() < 24.3


def test_noise_is_standard_normal_and_has_nothing_to_do_with_the_step():
    noise, steps = draw_noise(3, range(4000), (5,)), draw_steps(3, range(4000), 1000)
    assert noise.dtype == torch.float32
    assert abs(float(noise.mean())) < 0.03
    assert abs(float(noise.std()) - 1) < 0.02
    assert abs(float(noise.pow(4).mean()) - 3) < 0.2
    both = torch.cat([noise.double(), steps[:, None].double()], dim=1)
    assert float((torch.corrcoef(both.T) - torch.eye(6)).abs().max()) < 0.06
