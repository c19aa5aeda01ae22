import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.depth import losses

seeds = st.integers(0, 2**31 - 1)


def maps(seed, count=2, height=24, width=32):
    generator = torch.Generator().manual_seed(seed)
    a, b = torch.rand((2, count, height, width), generator=generator, dtype=torch.float64)
    mask = torch.rand((count, height, width), generator=generator) < 0.8
    return a, b, mask


@given(seeds, st.floats(0.01, 100), st.floats(-100, 100))
def test_relative_losses_ignore_scale_and_shift(seed, scale, shift):
    a, b, mask = maps(seed)
    for loss in (losses.scale_shift_invariant, losses.gradient_matching):
        expected = loss(a, b, mask)
        torch.testing.assert_close(loss(a * scale + shift, b, mask), expected, rtol=1e-6, atol=1e-8)
        torch.testing.assert_close(loss(a, b * scale + shift, mask), expected, rtol=1e-6, atol=1e-8)


@given(seeds)
def test_relative_losses_vanish_exactly_on_affine_copies(seed):
    a, _, mask = maps(seed)
    assert float(losses.relative_loss(3 * a + 7, a, mask)) < 1e-9
    assert float(losses.relative_loss(-a, a, mask)) > 1.0


@given(seeds)
def test_pixels_outside_the_mask_do_not_matter(seed):
    a, b, mask = maps(seed)
    spoilt = torch.where(mask, a, torch.full_like(a, 1e6))
    torch.testing.assert_close(
        losses.relative_loss(spoilt, b, mask, trim=0.1), losses.relative_loss(a, b, mask, trim=0.1)
    )


def test_normalise_gives_median_zero_and_mean_deviation_one():
    a, _, mask = maps(0)
    n = losses.normalise(a, mask)
    for one, inside in zip(n, mask, strict=True):
        assert float(one[inside].median()) == pytest.approx(0, abs=1e-12)
        assert float(one[inside].abs().mean()) == pytest.approx(1)


def test_ssi_in_closed_form():
    # Normalised: target (-1, 0, …, 2)/s; worked by hand on three pixels, median 1, deviations 1, 0, 2.
    target = torch.tensor([[[0.0, 1.0, 3.0]]])
    prediction = torch.tensor([[[0.0, 1.0, 2.0]]])
    mask = torch.ones((1, 1, 3), dtype=torch.bool)
    # target → (-1, 0, 2), prediction → (-1.5, 0, 1.5): differences 0.5, 0, 0.5.
    assert float(losses.scale_shift_invariant(prediction, target, mask)) == pytest.approx(1 / 3)


def test_trimming_drops_the_worst_tenth():
    a, _, _ = maps(1, count=1, height=10, width=10)
    mask = torch.ones_like(a, dtype=torch.bool)
    wrong = a.clone()
    wrong.view(-1)[:5] += 50
    whole = losses.scale_shift_invariant(wrong, a, mask)
    trimmed = losses.scale_shift_invariant(wrong, a, mask, trim=0.1)
    assert float(trimmed) < 0.6 * float(whole)


def test_gradient_matching_prefers_a_sharp_edge_to_a_blurred_one():
    target = torch.zeros((1, 32, 64))
    target[:, :, 20:] = 1
    soft = torch.clamp((torch.arange(64.0) - 16) / 8, 0, 1).expand(1, 32, 64)
    mask = torch.ones_like(target, dtype=torch.bool)
    noise = 0.02 * torch.sin(torch.arange(64.0) / 7).expand(1, 32, 64)
    sharp = losses.gradient_matching(target + noise, target, mask)
    assert float(losses.gradient_matching(soft, target, mask)) > 3 * float(sharp)


def test_the_anchor_fixes_scale_and_shift():
    a, _, mask = maps(5)
    assert float(losses.relative_loss(2 * a, a, mask)) < 1e-9
    assert float(losses.relative_loss(2 * a, a, mask, anchor_weight=1.0)) > 0.1


def test_an_empty_mask_costs_nothing_and_keeps_gradients_finite():
    a, b, mask = maps(2)
    mask[0] = False
    a.requires_grad_()
    loss = losses.relative_loss(a, b, mask, trim=0.1)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(a.grad).all()
    assert float(a.grad[0].abs().sum()) == 0


def test_a_flat_prediction_keeps_gradients_finite():
    _, b, mask = maps(3)
    a = torch.zeros_like(b, requires_grad=True)
    losses.relative_loss(a, b, mask, trim=0.1).backward()
    assert torch.isfinite(a.grad).all()
