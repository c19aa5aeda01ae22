"""Learning from a teacher's features."""

import numpy as np
import pytest
import torch

from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CONTEXT_WIDTHS, CompactDepth, compact_spec
from sightline.depth.network import build
from sightline.depth.training.config import DepthTrainConfig, StudentTrainConfig
from sightline.depth.training.objective import DepthObjective, FeatureGuide, LossConfig
from sightline.depth.training.task import DepthTrainingTask, train_depth
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.training.data.stream import make_batch
from sightline.training.trainer import Trainer

from .helpers import small_stream, two_sources

VITS = ModelSpec("vits", size=56)


@pytest.fixture(scope="module")
def teacher():
    torch.manual_seed(0)
    return build(VITS).eval()


def guided(teacher, seed=0, weight=2.0):
    torch.manual_seed(seed)
    network = CompactDepth()
    guide = FeatureGuide(teacher, network.spec, VITS, CONTEXT_WIDTHS)
    return DepthObjective(network, network.spec, LossConfig(guide_weight=weight), guide=guide)


def test_the_teacher_sees_the_same_pixels_in_its_own_normalization(teacher):
    guide = FeatureGuide(teacher, compact_spec(), VITS, CONTEXT_WIDTHS)
    pixels = np.random.default_rng(0).uniform(0, 1, (1, 3, 1, 1)).astype(np.float32)
    flat = torch.from_numpy(pixels).expand(1, 3, 64, 64)

    def normalized(spec):
        mean, std = (torch.tensor(x)[:, None, None] for x in (spec.mean, spec.std))
        return (flat - mean) / std

    given = guide.features(normalized(compact_spec()))
    sides = 2 * (round(64 * 7 / 6 / 14) * 14,)
    shown = normalized(VITS)[..., :1, :1].expand(1, 3, *sides)
    with torch.no_grad():
        (wanted,) = teacher.encoder(shown, teacher.taps[-1:])
    assert given.shape == wanted.shape
    torch.testing.assert_close(given, wanted, atol=1e-4, rtol=1e-3)


def test_maps_that_are_the_teachers_features_cost_nothing_and_others_about_one(teacher):
    guide = FeatureGuide(teacher, compact_spec(), VITS, (384,))
    with torch.no_grad():
        guide.projections[0].weight.copy_(torch.eye(384)[..., None, None])
        guide.projections[0].bias.zero_()
    image = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    features = guide.features(image)
    spread, mean = torch.std_mean(features, dim=(0, 2, 3), keepdim=True)
    with torch.no_grad():
        assert float(guide(image, [(features - mean) / spread])) == pytest.approx(0, abs=1e-4)
    other = torch.randn(features.shape, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        assert float(guide(image, [other])) == pytest.approx(1, abs=0.1)


def test_only_the_student_and_the_projections_learn(teacher):
    learner = guided(teacher)
    batch = make_batch(two_sources(), 0, learner.spec, small_stream())
    learner(batch).backward()
    assert all(p.grad is not None for p in learner.guide.parameters())
    assert float(learner.network.encoder.stem.weight.grad.abs().sum()) > 0
    assert not any(p.requires_grad for p in teacher.encoder.parameters())
    names = {name.split(".")[0] for name, _ in learner.guide.named_parameters()}
    assert names == {"projections"}, "the teacher is no part of what is saved"


def test_the_weight_scales_what_the_guide_adds(teacher):
    batch = make_batch(two_sources(), 0, compact_spec(), small_stream())
    with torch.no_grad():
        none, one, two = (float(guided(teacher, weight=w).eval()(batch)) for w in (0.0, 1.0, 2.0))
    assert two - none == pytest.approx(2 * (one - none), rel=1e-3)
    assert one > none


def test_guided_runs_resume_exactly(teacher, tmp_path):
    def trainer(name, seed=0):
        config = StudentTrainConfig(
            start="nothing", short_side=64, steps=3, save_every=1, validate_every=3, warmup=1
        )
        task = DepthTrainingTask("student", config, guided(teacher, seed), two_sources())
        return Trainer(task, tmp_path / name, report=lambda _: None)

    whole = trainer("a")
    whole.fit()
    first = trainer("b")
    real = first.update

    def cut(batches):
        if first.step == 2:
            raise RuntimeError("power cut")
        return real(batches)

    first.update = cut
    with pytest.raises(RuntimeError, match="power cut"):
        first.fit()
    second = trainer("b", seed=9)
    assert second.resume()
    assert second.step == 2
    second.fit()
    ours = second.task.state_dict()
    for name, value in whole.task.state_dict().items():
        assert torch.equal(value, ours[name]), name
    assert any(name.startswith("guide.projections") for name in ours)


def test_a_stage_takes_its_guide_from_a_file(teacher, tmp_path):
    write_checkpoint(tmp_path / "teacher.safetensors", teacher.state_dict(), VITS)
    options = StudentTrainConfig(
        start="nothing", steps=1, short_side=64, guide=str(tmp_path / "teacher.safetensors")
    )
    model = train_depth(
        "student", two_sources(), tmp_path / "run", options, score=None, report=lambda _: None
    )
    assert model.is_file()


def test_what_cannot_guide_is_refused(tmp_path):
    network = CompactDepth()
    write_checkpoint(tmp_path / "compact.safetensors", network.state_dict(), network.spec)
    with pytest.raises(InputError, match="no ViT"):
        read_vit(str(tmp_path / "compact.safetensors"))
    with pytest.raises(InputError, match="for the compact network"):
        DepthTrainConfig(guide="small")
