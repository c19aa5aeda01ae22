"""DDIM against closed forms: a point, a Gaussian; and against another implementation."""

import math

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.diffusion import (
    draw_noise,
    make_schedule,
    sample,
    trailing_steps,
    velocity_from_video,
)

GAMMAS = make_schedule("cosine", 1000)


class Gaussian:
    """The best model of data with this mean and deviation: E[v | x_t] in closed form."""

    def __init__(self, mean, deviation):
        self.mean, self.variance = mean, deviation**2
        self.asked = []

    def __call__(self, noisy, t, condition):
        assert condition == "known"
        self.asked.append((noisy, t))
        gamma = float(GAMMAS[t[0]])
        alpha, sigma = math.sqrt(gamma), math.sqrt(1 - gamma)
        gain = alpha * self.variance / (gamma * self.variance + 1 - gamma)
        video = self.mean + gain * (noisy - alpha * self.mean)
        return velocity_from_video(noisy, video, alpha, sigma)


def noise_of(count, *shape):
    return draw_noise(0, range(count), shape).double()


def test_steps_begin_at_the_last_and_are_even():
    assert trailing_steps(1000, 4) == [999, 749, 499, 249]
    assert trailing_steps(1000, 1) == [999]
    assert trailing_steps(10, 10) == list(range(9, -1, -1))
    for total in (7, 100, 1000):
        for count in range(1, min(total, 60) + 1):
            steps = trailing_steps(total, count)
            assert steps[0] == total - 1
            assert steps[-1] >= 0
            gaps = [a - b for a, b in zip(steps, [*steps[1:], -1], strict=True)]
            assert max(gaps) - min(gaps) <= 1
            assert min(gaps) >= 1


@pytest.mark.parametrize("steps", [0, 1001])
def test_impossible_numbers_of_steps_are_refused(steps):
    with pytest.raises(InputError, match=rf"{steps} sampling steps .* give 1 to 1000"):
        sample(Gaussian(0, 1), noise_of(1, 1), "known", GAMMAS, steps=steps)


@pytest.mark.parametrize("steps", [1, 3, 50])
def test_a_point_is_reached_exactly_along_the_solution_of_the_equation(steps):
    point = torch.tensor([2.0, -0.5, 0.25], dtype=torch.float64)
    model, noise = Gaussian(point, 0.0), noise_of(4, 3)
    result = sample(model, noise, "known", GAMMAS, steps=steps)
    assert torch.allclose(result, point.expand(4, 3), atol=1e-12)
    assert [int(t[0]) for _, t in model.asked] == trailing_steps(1000, steps)
    # The solution keeps its noise: x_t = α·x + σ·ε all the way.
    for noisy, t in model.asked:
        gamma = GAMMAS[t[0]]
        assert torch.allclose(noisy, gamma.sqrt() * point + (1 - gamma).sqrt() * noise, atol=1e-10)


@pytest.mark.parametrize("steps", [1, 5, 40])
def test_steps_on_a_gaussian_are_the_closed_form(steps):
    """From one level to the next, x_t − α·μ shrinks by (α'·α·s² + σ'·σ) / (α²·s² + σ²)."""
    mean, deviation, factor = 1.5, 0.3, 1.0
    chosen = trailing_steps(1000, steps)
    for t, following in zip(chosen, [*chosen[1:], None], strict=True):
        now = float(GAMMAS[t])
        then = 1.0 if following is None else float(GAMMAS[following])
        cosine = math.sqrt(now * then) * deviation**2 + math.sqrt((1 - now) * (1 - then))
        factor *= cosine / (now * deviation**2 + 1 - now)
    noise = noise_of(6, 2)
    result = sample(Gaussian(mean, deviation), noise, "known", GAMMAS, steps=steps)
    assert torch.allclose(result, mean + factor * noise, atol=1e-10)


def test_many_steps_reproduce_a_gaussian():
    noise, mean, deviation = noise_of(2000, 2), 0.7, 0.4
    wrong = []
    for steps in (50, 100, 1000):
        result = sample(Gaussian(mean, deviation), noise, "known", GAMMAS, steps=steps)
        # The exact solution of the equation is μ + s·ε.
        wrong.append(float((result - mean - deviation * noise).abs().max()))
    assert wrong[2] < 0.005
    assert wrong[0] > 1.8 * wrong[1] > 1.8 * 5 * wrong[2]
    assert float(result.mean()) == pytest.approx(mean, abs=0.02)
    assert float(result.std()) == pytest.approx(deviation, rel=0.03)


def test_a_sample_does_not_know_its_batch():
    def model(noisy, t, condition):
        return torch.tanh(noisy) * (1 + t.view(-1, 1, 1) / 1000)

    numbers = [5, 0, 9, 3]
    together = sample(model, draw_noise(1, numbers, (4, 4)), None, GAMMAS, steps=7)
    for place, number in enumerate(numbers):
        alone = sample(model, draw_noise(1, [number], (4, 4)), None, GAMMAS, steps=7)
        assert torch.equal(alone[0], together[place])


def test_kept_values_are_there_at_every_step():
    mask = torch.tensor([True, False, False])
    kept = torch.tensor([[0.9, 5.0, 5.0]], dtype=torch.float64)
    model, noise = Gaussian(0.0, 1.0), noise_of(3, 3)
    result = sample(model, noise, "known", GAMMAS, steps=10, keep=(kept, mask))
    assert torch.equal(result[:, 0], kept[:, 0].expand(3))
    for noisy, t in model.asked:
        gamma = GAMMAS[t[0]]
        path = gamma.sqrt() * 0.9 + (1 - gamma).sqrt() * noise[:, 0]
        assert torch.allclose(noisy[:, 0], path, atol=1e-10)
    free = sample(Gaussian(0.0, 1.0), noise, "known", GAMMAS, steps=10)
    assert torch.allclose(result[:, 1:], free[:, 1:])


def test_the_limit_holds():
    noise = noise_of(200, 2)
    free = sample(Gaussian(0.8, 0.5), noise, "known", GAMMAS, steps=20)
    held = sample(Gaussian(0.8, 0.5), noise, "known", GAMMAS, steps=20, limit=1.0)
    assert float(free.max()) > 1.2
    assert float(held.abs().max()) == 1.0


def test_no_gradients_are_kept():
    weight = torch.ones((), requires_grad=True)
    result = sample(lambda noisy, t, _: noisy * weight, torch.ones(1, 1), None, GAMMAS, steps=2)
    assert not result.requires_grad


def test_another_implementation_agrees():
    from diffusers.schedulers.scheduling_ddim import DDIMScheduler

    theirs = DDIMScheduler(
        beta_schedule="linear",
        prediction_type="v_prediction",
        rescale_betas_zero_snr=True,
        timestep_spacing="trailing",
        clip_sample=False,
    )
    theirs.set_timesteps(20)
    gammas = make_schedule("linear", 1000)
    assert torch.allclose(theirs.alphas_cumprod.double(), gammas, atol=1e-5)

    def model(noisy, t, condition):
        return 0.3 * noisy.sin() + t.view(-1, 1) / 3000

    noise = draw_noise(2, range(3), (8,))
    video = noise
    for t in theirs.timesteps:
        video = theirs.step(model(video, t.expand(3), None), t, video, eta=0.0).prev_sample
    assert torch.allclose(sample(model, noise, None, gammas, steps=20), video, atol=2e-3)
