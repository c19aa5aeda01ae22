"""Schedules are what their papers say, and leave nothing at the last step."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.video_model.diffusion import (
    cosine_schedule,
    end_at_zero,
    levels,
    linear_schedule,
    make_schedule,
)


def test_linear_is_the_product_of_what_ddpm_leaves():
    left, expected = 1.0, []
    for step in range(1000):
        left *= 1 - (1e-4 + (0.02 - 1e-4) * step / 999)
        expected.append(left)
    assert torch.allclose(linear_schedule(1000), torch.tensor(expected, dtype=torch.float64))
    # What little of the video the usual schedule leaves at its end, and why it is repaired.
    assert math.sqrt(expected[-1]) == pytest.approx(0.006353, abs=1e-6)


def test_fewer_linear_steps_leave_about_as_much():
    few, many = float(linear_schedule(250)[-1]), float(linear_schedule(1000)[-1])
    assert math.log(few) == pytest.approx(math.log(many), rel=0.05)


def test_cosine_is_its_formula():
    def formula(step):
        return math.cos((step / 1000 + 0.008) / 1.008 * math.pi / 2) ** 2

    expected = [formula(step) / formula(0) for step in range(1, 1000)]
    gammas = cosine_schedule(1000)
    assert torch.allclose(gammas[:-1], torch.tensor(expected, dtype=torch.float64))
    # The last step would take all; it may take 0.999 of what is left.
    assert gammas[-1] == pytest.approx(0.001 * expected[-1])


@given(st.sampled_from(["cosine", "linear"]), st.integers(2, 1200))
def test_nothing_is_left_at_the_end(name, steps):
    gammas = make_schedule(name, steps)
    assert gammas.shape == (steps,)
    assert gammas.dtype == torch.float64
    assert gammas[-1] == 0
    assert bool((gammas[:-1] > 0).all())
    assert bool((gammas < 1).all())
    assert bool((gammas.diff() < 0).all())


@pytest.mark.parametrize("usual", [linear_schedule(1000), cosine_schedule(300)])
def test_the_repair_shifts_and_stretches_alpha(usual):
    before, after = usual.sqrt(), end_at_zero(usual).sqrt()
    assert after[0] == pytest.approx(before[0])
    slopes = after.diff() / before.diff()
    assert torch.allclose(slopes, slopes[:1].expand_as(slopes), rtol=1e-6)
    assert slopes[0] > 1


def test_levels_are_on_the_circle_and_broadcast():
    gammas = make_schedule("cosine", 100)
    like = torch.zeros(3, 2, 4, 5, 5)
    alpha, sigma = levels(gammas, torch.tensor([0, 50, 99]), like)
    assert alpha.shape == sigma.shape == (3, 1, 1, 1, 1)
    assert alpha.dtype == torch.float32
    assert torch.allclose(alpha**2 + sigma**2, torch.ones_like(alpha))
    assert alpha[1] == pytest.approx(math.sqrt(gammas[50]))
    assert (alpha[2], sigma[2]) == (0, 1)


def test_bad_schedules_are_refused():
    with pytest.raises(InputError, match="no schedule is called 'square'; give cosine or linear"):
        make_schedule("square")
    with pytest.raises(InputError, match="at least 2 steps, got 1"):
        make_schedule("linear", 1)
