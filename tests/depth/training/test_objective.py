"""Losses of depth networks in training."""

import pytest
import torch

from sightline.depth import losses
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.network import build
from sightline.depth.training.objective import (
    DepthObjective,
    LossConfig,
    encoder_of,
    freeze_statistics,
)
from sightline.models.entry import ModelSpec
from sightline.training.data.stream import Batch, make_batch
from sightline.types import Kind

from .helpers import small_stream, two_sources

VITS = ModelSpec("vits", size=56)


def loss_of(objective, batch):
    return float(objective(batch).detach())


def vit_batch(pseudo=True):
    return make_batch(two_sources(pseudo=pseudo), 0, VITS, small_stream(56))


@pytest.fixture(scope="module")
def vit():
    torch.manual_seed(0)
    return build(VITS)


def test_gradients_reach_the_encoder_and_the_head_even_where_relu_would_be_zero(vit):
    with torch.no_grad():
        vit.depth_head.scratch.output_conv2[2].bias.fill_(-100.0)
    try:
        DepthObjective(vit, VITS, LossConfig())(vit_batch()).backward()
        for name in ("pretrained.blocks.0.attn.qkv.weight", "depth_head.projects.0.weight"):
            assert float(vit.get_parameter(name).grad.abs().sum()) > 0, name
    finally:
        vit.zero_grad()
        with torch.no_grad():
            vit.depth_head.scratch.output_conv2[2].bias.fill_(0.0)


def test_bfloat16_is_close_and_its_output_is_not_rounded(vit):
    image = vit_batch().image
    plain, both = (
        DepthObjective(
            vit, VITS, LossConfig(), dtype=torch.bfloat16 if on else None, bfloat16_head=on
        ).predict(image)[0]
        for on in (False, True)
    )
    assert both.dtype == torch.float32
    assert torch.corrcoef(torch.stack([both, plain]).flatten(1).detach())[0, 1] > 0.95
    assert (both != both.bfloat16().float()).float().mean() > 0.5


def test_only_pseudo_labels_are_trimmed(vit, monkeypatch):
    seen = []
    real = losses.trimmed

    def spy(residual, mask, share):
        seen.append(share.tolist())
        return real(residual, mask, share)

    monkeypatch.setattr(losses, "trimmed", spy)
    DepthObjective(vit, VITS, LossConfig(trim=0.1))(vit_batch())
    assert seen == [[0.0, pytest.approx(0.1)]]


def test_feature_alignment_is_zero_at_the_start_and_pulls_back_later(vit):
    batch = vit_batch()
    plain = DepthObjective(vit, VITS, LossConfig())
    objective = DepthObjective(vit, VITS, LossConfig(feature_weight=1.0))
    assert loss_of(objective, batch) == pytest.approx(loss_of(plain, batch), rel=1e-5)
    moved = build(VITS)  # other random weights: features point elsewhere
    objective.network = moved
    plain.network = moved
    assert loss_of(objective, batch) > loss_of(plain, batch) + 0.1
    assert not any(p.requires_grad for p in objective.frozen.parameters())
    measured = vit_batch(pseudo=False)
    assert loss_of(objective, measured) == pytest.approx(loss_of(plain, measured), rel=1e-5)


def test_bfloat16_changes_little(vit):
    batch = vit_batch()
    exact = DepthObjective(vit, VITS, LossConfig())
    fast = DepthObjective(vit, VITS, LossConfig(), dtype=torch.bfloat16)
    with torch.no_grad():
        a, b = exact.predict(batch.image)[0], fast.predict(batch.image)[0]
    assert a.dtype == b.dtype == torch.float32
    assert float((a - b).abs().mean()) < 0.05 * float(a.std())
    assert not torch.equal(a, b)


def metric_batch(disparity, unit):
    shape = (1, 32, 32)
    return Batch(
        torch.zeros(1, 3, 32, 32),
        torch.full(shape, disparity),
        torch.ones(shape, dtype=torch.bool),
        torch.ones(shape),
        torch.tensor([unit]),
        torch.tensor([False]),
    )


def test_a_metric_objective_compares_meters():
    torch.manual_seed(0)
    spec = compact_spec(Kind.METRIC_DEPTH, 20.0)
    objective = DepthObjective(CompactDepth(spec).eval(), spec, LossConfig(variance_focus=0.0))
    meters = objective.network(torch.zeros(1, 3, 32, 32)).detach()
    batch = metric_batch(disparity=0.5, unit=0.5)  # 1/m = 0.25: four meters
    expected = (torch.log(torch.tensor(4.0)) - meters.log()).square().mean().sqrt()
    assert loss_of(objective, batch) == pytest.approx(float(expected), rel=1e-5)
    assert loss_of(objective, metric_batch(0.5, unit=0.01)) == 0.0, "200 m: beyond what it can say"
    assert loss_of(objective, metric_batch(0.0, unit=1.0)) == 0.0, "sky has no meters"
    assert loss_of(objective, metric_batch(0.5, unit=float("nan"))) == 0.0, "nobody knows its unit"


def test_statistics_of_the_encoder_stay_as_pretrained():
    network = CompactDepth().train()
    freeze_statistics(encoder_of(network))
    before = network.encoder.stem_norm.running_mean.clone()
    network(torch.randn(2, 3, 64, 64))
    assert torch.equal(network.encoder.stem_norm.running_mean, before)
    with pytest.raises(TypeError, match="no encoder"):
        encoder_of(torch.nn.Linear(1, 1))
