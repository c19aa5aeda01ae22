"""Convolutions over time: as the flat ones at first, and never ahead."""

import pytest
import torch
from torch import nn

from sightline.video_model.autoencoders.inflated import (
    AlsoInTime,
    CausalConvolution,
    DoubleTime,
    HalveTime,
    TemporalResidual,
    inflate_convolutions,
)


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)


def shaken(module):
    """Give every kernel something to do."""
    for value in module.parameters():
        nn.init.normal_(value)
    return module


def frames(count=6):
    return torch.randn(count, 3, 5, 7)


@pytest.mark.parametrize("settings", [{"padding": 1}, {"stride": 2}, {"padding": 1, "bias": False}])
def test_at_first_it_is_the_flat_one(settings):
    flat = nn.Conv2d(3, 4, 3, **settings)
    shown = frames()
    torch.testing.assert_close(CausalConvolution(flat)(shown), flat(shown))


@pytest.mark.parametrize(
    "module", [CausalConvolution(nn.Conv2d(3, 4, 3, padding=1)), TemporalResidual(3)]
)
def test_a_change_is_seen_from_its_frame_on_and_for_three_frames(module):
    shaken(module)
    shown, changed = (x := frames()), x.clone()
    changed[2] += 1
    moved = (module(shown) - module(changed)).abs().amax(dim=(1, 2, 3)) > 1e-4
    assert moved.tolist() == [False, False, True, True, True, False]


def test_before_the_first_frame_it_is_repeated():
    module = shaken(CausalConvolution(nn.Conv2d(3, 4, 3, padding=1)))
    still = frames()[:1].expand(5, -1, -1, -1)
    made = module(still)
    torch.testing.assert_close(made, made[:1].expand_as(made))


def test_a_residual_adds_nothing_at_first_and_can_learn():
    module, shown = TemporalResidual(3), frames()
    assert torch.equal(module(shown), shown)
    module(shown).square().sum().backward()
    assert module.inner.weight.grad.abs().min() > 0


def test_time_is_halved_and_doubled():
    shown = frames(7)
    half = HalveTime(3)
    torch.testing.assert_close(half(shown), shown[::2])
    assert torch.equal(DoubleTime()(shown[:3]), shown[[0, 1, 1, 2, 2]])
    shaken(half)
    changed = shown.clone()
    changed[3] += 1  # belongs to the third of four
    moved = (half(shown) - half(changed)).abs().amax(dim=(1, 2, 3)) > 1e-4
    assert moved.tolist() == [False, False, True, False]
    assert half(shown[:1]).shape == (1, 3, 5, 7)


def test_only_kernels_larger_than_a_pixel_are_inflated():
    block = nn.Sequential(
        nn.Conv2d(3, 4, 1), nn.Sequential(nn.Conv2d(4, 3, (1, 3), padding=(0, 1)))
    )
    shown = frames()
    before = block(shown)
    made = AlsoInTime(block, 3)
    torch.testing.assert_close(made(shown), before)
    assert isinstance(block[0], nn.Conv2d)
    assert isinstance(block[1][0], CausalConvolution)
    assert block[1][0].inner.weight.shape == (3, 4, 3, 1, 3)
    inflate_convolutions(block)
    assert isinstance(block[1][0].inner, nn.Conv3d), "what is inflated stays as it is"
