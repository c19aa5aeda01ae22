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


def test_a_flat_target_wants_a_flat_prediction():
    """Divided by its own spread, a faint ramp would cost as much as a steep one."""
    ramp = torch.linspace(0, 1, 24, dtype=torch.float64)[None, :, None].expand(1, 24, 32)
    flat, mask = torch.full((1, 24, 32), 0.7, dtype=torch.float64), torch.ones(1, 24, 32).bool()
    steep, faint, none = (
        float(losses.relative_terms(k * ramp + 5, flat, mask)) for k in (1.0, 0.1, 0.0)
    )
    assert steep == pytest.approx(10 * faint)
    assert none == 0
    slope = (0.3 * ramp).requires_grad_()
    losses.relative_loss(slope, flat, mask).backward()
    assert slope.grad[0, 0].sum() < 0 < slope.grad[0, -1].sum()


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


def test_normalize_gives_median_zero_and_mean_deviation_one():
    a, _, mask = maps(0)
    n = losses.normalize(a, mask)
    for one, inside in zip(n, mask, strict=True):
        assert float(one[inside].median()) == pytest.approx(0, abs=1e-12)
        assert float(one[inside].abs().mean()) == pytest.approx(1)


def test_ssi_in_closed_form():
    # Normalized: target (-1, 0, …, 2)/s; worked by hand on three pixels, median 1, deviations 1, 0, 2.
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


@given(seeds, st.floats(0.05, 20))
def test_silog_of_a_wrong_scale_in_closed_form(seed, factor):
    a, _, mask = maps(seed)
    depth = 0.5 + 5 * a
    # g is the same everywhere: sqrt(g² − λ g²).
    expected = abs(torch.log(torch.tensor(factor, dtype=torch.float64))) * (1 - 0.5) ** 0.5
    found = losses.silog(depth * factor, depth, mask)
    torch.testing.assert_close(found, expected.expand(2), rtol=1e-5, atol=1.1e-4)
    assert float(losses.silog(depth * factor, depth, mask, variance_focus=1.0).max()) < 2e-4


@given(seeds)
def test_silog_without_focus_is_the_root_mean_square_of_logarithms(seed):
    a, b, mask = maps(seed)
    a, b = a + 0.1, b + 0.1
    found = losses.silog(a, b, mask, variance_focus=0.0)
    for one, (p, t, m) in zip(found, zip(a, b, mask, strict=True), strict=True):
        g = torch.log(t[m]) - torch.log(p[m])
        assert float(one) == pytest.approx(float((g * g).mean().sqrt()))


def test_silog_has_a_finite_gradient_where_it_is_zero():
    depth = torch.full((1, 8, 8), 2.0)
    prediction = depth.clone().requires_grad_()
    losses.metric_loss(prediction, depth, torch.ones_like(depth, dtype=torch.bool)).backward()
    assert torch.isfinite(prediction.grad).all()


def test_feature_alignment_counts_only_what_drifted_beyond_the_margin():
    frozen = torch.zeros((1, 2, 1, 3))
    frozen[:, 0] = 1.0
    angles = torch.tensor([0.1, 1.0, 2.0])  # cosines 0.995 (inside the margin), 0.540, −0.416
    features = torch.stack([angles.cos(), angles.sin()])[None, :, None]
    expected = ((1 - angles[1].cos()) + (1 - angles[2].cos())) / 2
    assert float(losses.feature_alignment(5 * features, frozen)) == pytest.approx(float(expected))
    assert float(losses.feature_alignment(frozen, frozen)) == 0.0
    # Nothing pulls at a place that is inside the margin.
    moving = features.clone().requires_grad_()
    losses.feature_alignment(moving, frozen).sum().backward()
    assert torch.equal(moving.grad[..., 0], torch.zeros(1, 2, 1))
    assert float(moving.grad[..., 1].abs().sum()) > 0


@given(seeds, st.floats(0.1, 10), st.floats(-5, 5))
def test_a_pasted_piece_has_a_scale_of_its_own(seed, scale, shift):
    a, _, _ = maps(seed, height=32)
    mask = torch.ones_like(a, dtype=torch.bool)
    pasted = torch.zeros_like(mask)
    pasted[:, 4:20, 6:24] = True
    two_scales = torch.where(pasted, scale * a + shift, a)
    assert float(losses.relative_loss(a, two_scales, mask, pasted=pasted)) < 1e-8


@given(seeds)
def test_pasted_parts_count_by_their_area(seed):
    a, b, mask = maps(seed, count=1, height=32)
    pasted = torch.zeros_like(mask)
    pasted[:, :8] = True
    inside = losses.relative_loss(a, b, mask & pasted)
    outside = losses.relative_loss(a, b, mask & ~pasted)
    whole = losses.relative_loss(a, b, mask, pasted=pasted)
    torch.testing.assert_close(whole, 0.25 * inside + 0.75 * outside)


@given(seeds)
def test_weights_of_zero_and_one_are_a_mask_for_the_terms(seed):
    a, b, mask = maps(seed)
    trust = torch.ones_like(a)
    torch.testing.assert_close(
        losses.relative_terms(a, b, mask, trust), losses.relative_terms(a, b, mask)
    )
    wrong = b.clone()
    wrong[:, 10:12] += 100
    # Distrusted rows do not count, but for the median and spread that they disturb by rank only.
    trust[:, 10:12] = 0
    distrusted = losses.relative_terms(a, wrong, mask, trust)
    assert bool((distrusted < losses.relative_terms(a, wrong, mask)).all())


def test_each_map_is_trimmed_by_its_own_share():
    a, _, _ = maps(3, height=10, width=10)
    mask = torch.ones_like(a, dtype=torch.bool)
    kept = losses.trimmed(a, mask, torch.tensor([0.0, 0.1]))
    assert kept.flatten(1).sum(1).tolist() == [100, 90]
    assert float(a[1][kept[1]].max()) < float(a[1][~kept[1]].min())
