"""Depth training: same seed, same weights, however often it was stopped."""

from dataclasses import replace

import pytest
import torch

from sightline.depth.training.config import DepthTrainConfig, StudentTrainConfig
from sightline.depth.training.task import DepthTrainingTask, make_objective
from sightline.errors import SightlineError
from sightline.training.distributed import Distributed
from sightline.training.logging import JsonlLog
from sightline.training.trainer import Trainer, TrainingStopped

from .helpers import two_sources

CONFIG = StudentTrainConfig(
    start="nothing", short_side=64, steps=4, save_every=1, validate_every=2, warmup=1
)
VIT = DepthTrainConfig(start="nothing", short_side=28, steps=2, warmup=1, precision="float32")


def trainer(folder, config=CONFIG, score=None, share=1, **changes):
    task = DepthTrainingTask(
        "student",
        config,
        make_objective(config, Distributed()),
        two_sources(share=share),
        score=score,
    )
    return Trainer(task, folder, report=lambda _: None, **changes)


def fit(folder, config=CONFIG, **changes):
    one = trainer(folder, config, **changes)
    one.fit()
    return one.task.state_dict()


def same(a, b):
    return all(torch.equal(value, b[name]) for name, value in a.items())


def test_stopped_and_resumed_equals_unbroken(tmp_path):
    whole = trainer(tmp_path / "a", score=lambda _: {"score": 1.0})
    whole.fit()

    def cut(_):
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError, match="power cut"):
        fit(tmp_path / "b", score=cut)
    second = trainer(tmp_path / "b", score=lambda _: {"score": 1.0})
    with torch.no_grad():
        second.task.network.last.bias.fill_(7.0)
    assert second.resume()
    assert second.step == 1, "the checkpoint before the validation that was cut"
    second.fit()
    assert same(whole.task.state_dict(), second.task.state_dict())
    assert same(whole.ema.weights, second.ema.weights)
    rows = [JsonlLog(tmp_path / name / "log.jsonl").rows() for name in "ab"]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [2, 4]


def test_a_stop_ends_after_the_step_and_saves(tmp_path):
    asked = []
    one = trainer(tmp_path, stop=lambda: asked.append(0) or len(asked) == 2)
    with pytest.raises(TrainingStopped, match="stopped at step 2 of 4"):
        one.fit()
    again = trainer(tmp_path, replace(CONFIG, seed=0))
    assert again.resume()
    assert again.step == 2
    assert same(again.task.state_dict(), one.task.state_dict())


def test_a_loss_that_is_not_finite_stops_the_run_and_spares_the_checkpoint(tmp_path):
    one = trainer(tmp_path)
    one.save()
    before = (tmp_path / "checkpoint.pt").read_bytes()
    with torch.no_grad():
        one.task.network.last.bias.fill_(float("nan"))
    one.resume = lambda: False
    with pytest.raises(SightlineError, match="the loss is not finite at step 0"):
        one.fit()
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_parts_of_a_batch_are_the_batch(tmp_path):
    """Losses agree; AdamW's first steps turn rounding of tiny gradients into steps of full length."""
    for name, config in (("a", VIT), ("b", replace(VIT, accumulate=2))):
        fit(tmp_path / name, config, share=2)
    one, two = (JsonlLog(tmp_path / name / "log.jsonl").rows()[-1]["loss"] for name in "ab")
    assert one == pytest.approx(two, rel=1e-4)


def test_recomputed_activations_change_nothing(tmp_path):
    plain = fit(tmp_path / "a", VIT)
    thrifty = fit(tmp_path / "b", replace(VIT, checkpointing=True))
    for name, value in plain.items():
        torch.testing.assert_close(thrifty[name], value, rtol=1e-4, atol=1e-5)
