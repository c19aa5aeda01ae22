"""The trainer on a small task: exact resume, accumulation, precision, stopping, bad numbers."""

import json
import os
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from sightline.errors import InputError, SightlineError
from sightline.training.checkpoint import load_checkpoint
from sightline.training.config import TrainConfig, read_toml
from sightline.training.logging import JsonlLog
from sightline.training.trainer import Trainer, TrainingStopped

from .small_task import SmallTask, quiet, same

CONFIG = TrainConfig(steps=6, save_every=2, validate_every=3)


def train(out, task=None, **changes):
    trainer = Trainer(task or SmallTask(CONFIG), out, report=quiet, **changes)
    trainer.fit()
    return trainer


def state(trainer):
    return trainer.task.network.state_dict()


@pytest.mark.parametrize("prefetch", [0, 3])
def test_a_broken_run_ends_with_the_same_weights(tmp_path, prefetch):
    whole = train(tmp_path / "a")
    cut = SmallTask(CONFIG, fail_at=5)
    cut.prefetch = prefetch
    with pytest.raises(OSError, match="plug"):
        train(tmp_path / "b", cut)
    assert load_checkpoint(tmp_path / "b")["step"] == 4
    lines = []
    again = Trainer(SmallTask(CONFIG, seed=9), tmp_path / "b", report=lines.append)
    again.task.prefetch = prefetch
    again.fit()
    assert lines[0] == "resuming at step 4 of 6"
    assert same(state(whole), state(again)), "dropout, order and average are restored"
    rows = [JsonlLog(tmp_path / name / "log.jsonl").rows() for name in "ab"]
    assert rows[0] == rows[1]
    assert [row["step"] for row in rows[0]] == [3, 6]
    assert rows[0][1]["samples"] == 48


def test_a_finished_run_is_only_exported_again(tmp_path):
    first = train(tmp_path)
    task = SmallTask(CONFIG, fail_at=0)
    again = train(tmp_path, task)
    assert same(state(first), state(again))
    assert (tmp_path / "exported.txt").read_text() == "done"


def test_accumulated_parts_are_the_batch(tmp_path):
    """Gradients of two half batches, added, are those of the whole batch."""
    whole = SmallTask(CONFIG, dropout=0.0)
    parts = SmallTask(replace(CONFIG, accumulate=2), dropout=0.0)
    uneven = SmallTask(replace(CONFIG, accumulate=3), dropout=0.0)
    results = [state(train(tmp_path / str(n), t)) for n, t in enumerate((whole, parts, uneven))]
    for other in results[1:]:
        for name, value in results[0].items():
            torch.testing.assert_close(other[name], value, rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError, match="too small for 1 processes and 9 accumulation steps"):
        train(tmp_path / "c", SmallTask(replace(CONFIG, accumulate=9)))


def test_twice_the_accumulation_is_twice_the_batch(tmp_path):
    small = SmallTask(replace(CONFIG, accumulate=1), dropout=0.0, batch_size=16)
    large = SmallTask(replace(CONFIG, accumulate=2), dropout=0.0, batch_size=16)
    one, two = (state(train(tmp_path / str(n), t)) for n, t in enumerate((small, large)))
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, rtol=1e-5, atol=1e-6)
    assert [len(x) for x, _ in small.seen[:2]] == [16, 16]
    assert [len(x) for x, _ in large.seen[:2]] == [8, 8]


def test_recomputed_activations_change_nothing(tmp_path):
    plain = train(tmp_path / "a")
    thrifty = train(tmp_path / "b", SmallTask(replace(CONFIG, checkpointing=True)))
    for name, value in state(plain).items():
        torch.testing.assert_close(state(thrifty)[name], value, rtol=1e-6, atol=1e-7)
    assert thrifty.task.network[0].forward_calls > plain.task.network[0].forward_calls
    without = SmallTask(replace(CONFIG, checkpointing=True))
    without.blocks = lambda: ()
    with pytest.raises(InputError, match="no blocks for activation checkpointing"):
        train(tmp_path / "c", without)


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
def test_mixed_precision_learns_and_resumes(tmp_path, precision):
    config = replace(CONFIG, precision=precision)
    exact, half = train(tmp_path / "a"), train(tmp_path / "b", SmallTask(config))
    assert not same(state(exact), state(half))
    assert all(value.dtype == torch.float32 for value in state(half).values())
    with pytest.raises(OSError, match="plug"):
        train(tmp_path / "c", SmallTask(config, fail_at=3))
    assert same(state(half), state(train(tmp_path / "c", SmallTask(config, seed=4))))


def test_a_stop_is_obeyed_between_steps(tmp_path):
    asked = []
    with pytest.raises(TrainingStopped, match="stopped at step 3 of 6"):
        train(tmp_path, stop=lambda: asked.append(0) or len(asked) == 3)
    assert load_checkpoint(tmp_path)["step"] == 3
    whole = train(tmp_path / "whole")
    assert same(state(whole), state(train(tmp_path)))


def test_a_stop_between_the_parts_of_a_batch_changes_nothing(tmp_path):
    config, asked = replace(CONFIG, accumulate=4), []

    def stop():
        asked.append(0)
        return len(asked) == 10  # of four a step: between the second and third part of the third

    with pytest.raises(TrainingStopped, match="stopped at step 2 of 6"):
        train(tmp_path / "b", SmallTask(config), stop=stop)
    assert load_checkpoint(tmp_path / "b")["step"] == 2
    whole = train(tmp_path / "a", SmallTask(config, dropout=0.0))
    asked.clear()
    with pytest.raises(TrainingStopped):
        train(tmp_path / "c", SmallTask(config, dropout=0.0), stop=stop)
    again = train(tmp_path / "c", SmallTask(config, dropout=0.0))
    assert same(state(whole), state(again))


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path):
    with pytest.raises(
        SightlineError,
        match="the loss is not finite at step 3, on batch 3; the checkpoint of step 2 is kept",
    ):
        train(tmp_path, SmallTask(CONFIG, poison_at=3))
    found = load_checkpoint(tmp_path)
    assert found["step"] == 2
    assert all(torch.isfinite(value).all() for value in found["model"].values())


def test_a_gradient_that_is_not_finite_stops_the_run(tmp_path):
    task = SmallTask(CONFIG)
    task.module.loss = lambda y, _: (y - y.detach()).abs().sum().sqrt()  # no slope at 0
    before = {k: v.clone() for k, v in task.network.state_dict().items()}
    with pytest.raises(
        SightlineError, match=r"the gradient is not finite at step 0.* no checkpoint"
    ):
        train(tmp_path, task)
    assert same(before, task.network.state_dict())


def test_weights_that_are_not_finite_are_not_saved(tmp_path):
    trainer = train(tmp_path)
    before = (tmp_path / "checkpoint.pt").read_bytes()
    with torch.no_grad():
        trainer.task.network[1].bias.fill_(float("inf"))
    with pytest.raises(SightlineError, match=r"a weight is not finite .* step 6 is kept"):
        trainer.save()
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_checkpoints_that_do_not_fit_are_refused(tmp_path):
    trainer = train(tmp_path)
    torch.save({"model": {"x": torch.zeros(1)}}, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="does not fit this run"):
        trainer.resume()
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        trainer.resume()


def test_the_folder_says_what_the_run_is(tmp_path):
    train(tmp_path)
    found = read_toml(tmp_path / "config.toml")
    assert found["task"] == "small"
    assert found["options"]["steps"] == 6
    with pytest.raises(InputError, match="other seed"):
        train(tmp_path, SmallTask(replace(CONFIG, seed=1)))
    with pytest.raises(InputError, match="other steps"):
        train(tmp_path, SmallTask(replace(CONFIG, steps=7)))


def test_a_longer_run_is_not_shortened(tmp_path):
    train(tmp_path)
    task = SmallTask(replace(CONFIG, steps=4))
    task.may_change = task.may_change | {"steps"}
    with pytest.raises(InputError, match="has 6 steps already, 4 were requested"):
        train(tmp_path, task)


def test_validation_sees_the_average_and_the_training_goes_on_without(tmp_path):
    task = SmallTask(CONFIG)
    trainer = train(tmp_path, task)
    assert same(task.validated[-1], state(trainer)), "the average is the result"
    assert not same(load_checkpoint(tmp_path)["model"], state(trainer))


SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from small_task import SmallTask
from sightline.training.config import TrainConfig
from sightline.training.distributed import join_processes
from sightline.training.trainer import Trainer
config = TrainConfig(steps=4, save_every=2, validate_every=4, device="cpu"{more})
with join_processes("cpu") as distributed:
    Trainer(SmallTask(config, dropout=0.0), Path({out!r}), distributed=distributed).fit()
"""


def launch(tmp_path, name, count, more=""):
    path = tmp_path / f"{name}.py"
    tests = os.fspath(os.path.dirname(__file__))  # noqa: PTH120 - for another process
    path.write_text(SCRIPT.format(tests=tests, out=str(tmp_path / name), more=more))
    words = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
    done = subprocess.run(
        [*words, str(path)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / name / "log.jsonl").read_text().splitlines()
    return json.loads(rows[-1])["loss"], load_checkpoint(tmp_path / name)["model"]


def test_two_processes_learn_as_one_does(tmp_path):
    loss, weights = launch(tmp_path, "one", 1)
    other_loss, other = launch(tmp_path, "two", 2, ", accumulate=2")
    assert loss == pytest.approx(other_loss, rel=1e-5)
    for name, value in weights.items():
        torch.testing.assert_close(other[name], value, rtol=1e-4, atol=1e-6)
