"""Whole stages: a folder in, a model out; stopped by kill -9 they end with the same weights."""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from sightline.depth.checkpoints import load_network, read_checkpoint
from sightline.depth.export import export_onnx
from sightline.depth.network.vit import ROW_RMS
from sightline.depth.training.config import (
    DepthTrainConfig,
    MetricTrainConfig,
    StudentTrainConfig,
)
from sightline.depth.training.task import finished, train_depth
from sightline.depth.training.weights import OUTPUT_SHIFT, make_network, spec_for
from sightline.errors import InputError

from .helpers import two_sources

QUICK = {"steps": 3, "short_side": 64, "warmup": 1, "validate_every": 2, "save_every": 1}


def run(stage, out, options, **changes):
    return train_depth(
        stage,
        two_sources(unit=0.5, focal=100.0),
        out,
        options,
        score=None,
        report=lambda _: None,
        **changes,
    )


def test_a_student_ends_as_a_model_that_loads(tmp_path):
    options = StudentTrainConfig(start="nothing", **QUICK)
    seen = []
    model = train_depth(
        "student",
        two_sources(pseudo=True),
        tmp_path,
        options,
        score=lambda estimator: seen.append(estimator.infer(PICTURE)) or {"figure": 1.0},
        report=lambda _: None,
    )
    assert [depth.values.shape for depth in seen] == [(40, 60)] * 2
    assert load_network(model).spec.architecture == "compact"
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [2, 3]
    assert rows[0]["figure"] == 1.0
    assert rows[0]["samples"] == 4


PICTURE = (torch.rand((40, 60, 3), generator=torch.Generator().manual_seed(0)) * 255).byte().numpy()


def test_a_compact_metric_stage_takes_all_of_a_relative_model_but_its_last_layer(tmp_path):
    base = run("student", tmp_path / "a", StudentTrainConfig(start="nothing", **QUICK))
    options = MetricTrainConfig(start=str(base), **{**QUICK, "steps": 1}, max_depth=8.0)
    spec = spec_for(options)
    network, old = make_network(options, spec).state_dict(), load_file(base)
    differing = {name for name in old if not torch.equal(network[name], old[name])}
    assert differing == {"last.weight", "last.bias"}
    model = run("metric", tmp_path / "b", options)
    meters = load_network(model)(torch.zeros(1, 3, 64, 64)).detach()
    assert 0 < float(meters.min()) <= float(meters.max()) < 8.0


def test_a_second_run_goes_on_and_another_is_refused(tmp_path):
    options = StudentTrainConfig(start="nothing", **QUICK)
    run("student", tmp_path, options, data={"data": ["a"]})
    lines = []
    train_depth(
        "student",
        two_sources(),
        tmp_path,
        replace(options, steps=4),
        score=None,
        report=lines.append,
        data={"data": ["a"]},
    )
    assert lines[0] == "resuming at step 3 of 4"
    for changes, data, named in (
        ({"rate": 0.5}, ["a"], "other rate"),
        ({}, ["b"], "other data"),
    ):
        with pytest.raises(InputError, match=named):
            run("student", tmp_path, replace(options, **changes), data={"data": data})


def test_what_cannot_begin_leaves_the_folder_to_a_better_try(tmp_path):
    with pytest.raises(InputError, match="nofile"):
        run(
            "student",
            tmp_path / "a",
            StudentTrainConfig(start=str(tmp_path / "nofile.pth"), **QUICK),
        )
    assert run("student", tmp_path / "a", StudentTrainConfig(start="nothing", **QUICK)).is_file()
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="in the way"):
        run("student", tmp_path / "file", StudentTrainConfig(start="nothing", **QUICK))


def test_other_weights_under_the_same_name_make_another_run(tmp_path):
    base = run("student", tmp_path / "a", StudentTrainConfig(start="nothing", **QUICK))
    options = StudentTrainConfig(start=str(base), **QUICK)
    run("student", tmp_path / "b", options)
    run("student", tmp_path / "c", StudentTrainConfig(start="nothing", seed=1, **QUICK))
    base.write_bytes((tmp_path / "c" / "model.safetensors").read_bytes())
    with pytest.raises(InputError, match="a run with other weights"):
        run("student", tmp_path / "b", replace(options, steps=4))


def test_a_run_that_has_more_steps_is_not_shortened(tmp_path):
    options = StudentTrainConfig(start="nothing", **QUICK)
    run("student", tmp_path, options)
    with pytest.raises(InputError, match="has 3 steps already, 2 were requested"):
        run("student", tmp_path, replace(options, steps=2))


def test_what_a_kill_while_saving_left_behind_goes(tmp_path):
    left = tmp_path / ".checkpoint.0123456789abcdef.part.pt"
    left.write_bytes(b"half")
    run("student", tmp_path, StudentTrainConfig(start="nothing", **QUICK))
    assert not left.exists()


@pytest.mark.parametrize("start", ["dinov2-s", "evil.pth"])
def test_what_is_no_encoder_of_the_compact_network(tmp_path, start):
    if start == "evil.pth":
        start = str(tmp_path / start)
        torch.save({"_conv_stem.weight": print}, start)
    with pytest.raises(InputError, match=r"EfficientNet-Lite0 weight file|do not fit the network"):
        run("student", tmp_path / "a", StudentTrainConfig(start=start, **QUICK))


def test_weights_of_another_network_are_refused(tmp_path):
    base = run("student", tmp_path / "a", StudentTrainConfig(start="nothing", **QUICK))
    with pytest.raises(InputError, match="a compact network, not vits"):
        run("teacher", tmp_path / "b", DepthTrainConfig(start=str(base), **QUICK))


def test_a_relative_vit_is_lifted_above_its_relu():
    spec = spec_for(DepthTrainConfig())
    state = {"depth_head.scratch.output_conv2.2.bias": torch.tensor([-0.25])}
    assert float(*finished(state, spec).values()) == OUTPUT_SHIFT - 0.25
    metric = spec_for(MetricTrainConfig(network="vits", start="dinov2-s"))
    assert float(*finished(state, metric).values()) == -0.25


def test_training_goes_on_from_an_exported_model_as_it_was(tmp_path):
    """The output shift and the merged LayerScale are undone."""
    base = run("teacher", tmp_path / "a", DepthTrainConfig(start="nothing", **QUICK))
    spec = read_checkpoint(base).spec
    assert (spec.zero, spec.replicate_edge) == (OUTPUT_SHIFT, True)
    network = load_network(base)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("gamma"):  # as DINOv2's are: from tiny to large
                parameter.copy_(torch.logspace(-3, 0.5, len(parameter)))
    export_onnx(network, spec, tmp_path / "model.onnx", store="full")
    again = make_network(DepthTrainConfig(start=str(tmp_path / "model.onnx"), **QUICK), spec).eval()
    image = torch.randn(1, 3, 70, 98, generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        assert torch.allclose(again.raw(image) + OUTPUT_SHIFT, network.raw(image), atol=1e-4)
    rows = again.encoder.blocks[0].mlp.fc2.weight.square().mean(1).sqrt()
    assert torch.allclose(rows, torch.full_like(rows, ROW_RMS))


def test_frozen_blocks_do_not_learn(tmp_path):
    start = run("teacher", tmp_path / "a", DepthTrainConfig(start="nothing", **QUICK))
    more = DepthTrainConfig(start=str(start), frozen_blocks=6, random_grids=True, roll=0.5, **QUICK)
    before, after = (
        read_checkpoint(path).state for path in (start, run("teacher", tmp_path / "b", more))
    )

    def same(name):
        return torch.equal(before[name], after[name])

    assert same("pretrained.blocks.5.mlp.fc2.weight")
    assert same("pretrained.pos_embed")
    assert not same("pretrained.blocks.6.mlp.fc2.weight")
    assert not same("depth_head.projects.0.weight")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("steps", 0), ("trim", 1.5), ("rate", float("nan")), ("seed", -1), ("cutmix", -0.1)),
        *(("weight_decay", -1), ("weight_decay", float("nan")), ("threads", -2), ("warmup", -5)),
        *(("power", -3), ("short_side", 10**8), ("size", 10**8)),
    ],
)
def test_options_out_of_range_are_refused(field, value):
    with pytest.raises(InputError, match=field):
        DepthTrainConfig(**{field: value})


def test_options_that_mean_nothing_together_are_refused():
    with pytest.raises(InputError, match="a compact network has none"):
        StudentTrainConfig(feature_weight=1.0)
    for value in (7.0, float("nan")):
        with pytest.raises(InputError, match="variance_focus"):
            MetricTrainConfig(variance_focus=value)


SCRIPT = """
import sys
from pathlib import Path
import torch
sys.path.insert(0, {tests!r})
from helpers import two_sources
from sightline.depth.training.config import StudentTrainConfig
from sightline.depth.training.task import train_depth
torch.set_num_threads(1)
options = StudentTrainConfig(start="nothing", steps=8, short_side=64, warmup=1, validate_every=4,
                         save_every=2, threads=1, precision="float32")
train_depth("student", two_sources(share=2), Path({out!r}), options, score=None,
          report=lambda line: print(line, flush=True))
"""


def script(tmp_path, name):
    tests = os.fspath(os.path.dirname(__file__))  # noqa: PTH120 - handed to another process
    return SCRIPT.format(tests=tests, out=str(tmp_path / name))


def start(command, log, **changes):
    """Start a process that writes what it says to a file."""
    with log.open("wb") as file:
        return subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, **changes)


def test_killed_minus_nine_and_resumed_equals_unbroken(tmp_path):
    log = tmp_path / "log.txt"
    whole = start([sys.executable, "-c", script(tmp_path, "whole")], log)
    assert whole.wait(300) == 0, log.read_text()
    victim = start([sys.executable, "-c", script(tmp_path, "cut")], log)
    deadline = time.monotonic() + 300
    while not (tmp_path / "cut" / "checkpoint.pt").is_file():
        assert time.monotonic() < deadline
        assert victim.poll() is None, log.read_text()
        time.sleep(0.01)
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    assert not (tmp_path / "cut" / "model.safetensors").exists()
    second = start([sys.executable, "-c", script(tmp_path, "cut")], log)
    assert second.wait(300) == 0, log.read_text()
    assert "resuming at step" in log.read_text()
    a, b = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(value, b[name]) for name, value in a.items())


def test_two_processes_learn_as_one_does(tmp_path):
    """Each takes every second sample and gradients are averaged: the same up to rounding.

    The ViT has no batch statistics, which would be those of a process's own half.
    """
    losses = []
    for name, count in (("one", 1), ("two", 2)):
        path = tmp_path / f"{name}.py"
        text = script(tmp_path, name).replace(
            "StudentTrainConfig(", 'StudentTrainConfig(network="vits", '
        )
        path.write_text(
            text.replace("short_side=64", "short_side=28").replace("steps=8", "steps=4")
        )
        launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(count)]
        log = tmp_path / f"{name}.txt"
        job = start([*launch, str(path)], log, env={**os.environ, "OMP_NUM_THREADS": "1"})
        assert job.wait(300) == 0, log.read_text()
        rows = (tmp_path / name / "log.jsonl").read_text().splitlines()
        losses.append([json.loads(row)["loss"] for row in rows])
    assert losses[0] == pytest.approx(losses[1], rel=2e-3)
