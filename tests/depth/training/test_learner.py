import pytest
import torch

from sightline.depth import losses
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.network import build
from sightline.depth.spec import ModelSpec
from sightline.depth.training.learner import Learner, LossConfig, encoder_of, freeze_statistics
from sightline.depth.training.stream import Batch, make_batch
from sightline.types import Kind

from .helpers import small_stream, two_sources

VITS = ModelSpec("vits", size=56)


def loss_of(learner, batch):
    return float(learner(batch).detach())


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
        Learner(vit, VITS, LossConfig())(vit_batch()).backward()
        for name in ("pretrained.blocks.0.attn.qkv.weight", "depth_head.projects.0.weight"):
            assert float(vit.get_parameter(name).grad.abs().sum()) > 0, name
    finally:
        vit.zero_grad()
        with torch.no_grad():
            vit.depth_head.scratch.output_conv2[2].bias.fill_(0.0)


def test_only_pseudo_labels_are_trimmed(vit, monkeypatch):
    seen = []
    real = losses.trimmed

    def spy(residual, mask, share):
        seen.append(share.tolist())
        return real(residual, mask, share)

    monkeypatch.setattr(losses, "trimmed", spy)
    Learner(vit, VITS, LossConfig(trim=0.1))(vit_batch())
    assert seen == [[0.0, pytest.approx(0.1)]]


def test_feature_alignment_is_zero_at_the_start_and_pulls_back_later(vit):
    batch = vit_batch()
    plain = Learner(vit, VITS, LossConfig())
    learner = Learner(vit, VITS, LossConfig(feature_weight=1.0))
    assert loss_of(learner, batch) == pytest.approx(loss_of(plain, batch), rel=1e-5)
    moved = build(VITS)  # other random weights: features point elsewhere
    learner.network = moved
    plain.network = moved
    assert loss_of(learner, batch) > loss_of(plain, batch) + 0.1
    assert not any(p.requires_grad for p in learner.frozen.parameters())
    measured = vit_batch(pseudo=False)
    assert loss_of(learner, measured) == pytest.approx(loss_of(plain, measured), rel=1e-5)


def test_bfloat16_changes_little(vit):
    batch = vit_batch()
    exact = Learner(vit, VITS, LossConfig())
    fast = Learner(vit, VITS, LossConfig(), bfloat16=True)
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


def test_a_metric_learner_compares_metres():
    torch.manual_seed(0)
    spec = compact_spec(Kind.METRIC_DEPTH, 20.0)
    learner = Learner(CompactDepth(spec).eval(), spec, LossConfig(variance_focus=0.0))
    metres = learner.network(torch.zeros(1, 3, 32, 32)).detach()
    batch = metric_batch(disparity=0.5, unit=0.5)  # 1/m = 0.25: four metres
    expected = (torch.log(torch.tensor(4.0)) - metres.log()).square().mean().sqrt()
    assert loss_of(learner, batch) == pytest.approx(float(expected), rel=1e-5)
    assert loss_of(learner, metric_batch(0.5, unit=0.01)) == 0.0, "200 m: beyond what it can say"
    assert loss_of(learner, metric_batch(0.0, unit=1.0)) == 0.0, "sky has no metres"
    assert loss_of(learner, metric_batch(0.5, unit=float("nan"))) == 0.0, "nobody knows its unit"


def test_statistics_of_the_encoder_stay_as_pretrained():
    network = CompactDepth().train()
    freeze_statistics(encoder_of(network))
    before = network.encoder.stem_norm.running_mean.clone()
    network(torch.randn(2, 3, 64, 64))
    assert torch.equal(network.encoder.stem_norm.running_mean, before)
    with pytest.raises(TypeError, match="no encoder"):
        encoder_of(torch.nn.Linear(1, 1))
