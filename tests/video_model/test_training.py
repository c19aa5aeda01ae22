"""Training of a video model: it learns, a broken run ends with the same weights, bad ends are clean."""

import json
import os
import signal
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from sightline.errors import InputError, SightlineError
from sightline.training.checkpoint import load_checkpoint
from sightline.training.config import read_toml, to_toml
from sightline.training.trainer import TrainingStopped
from sightline.video_model import training
from sightline.video_model.autoencoders.codec import PixelCodec
from sightline.video_model.data import open_mixture
from sightline.video_model.files import read_model
from sightline.video_model.learner import VideoObjective
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.training import train_video_model

SIZE = 32
BUILD = {"network": "micro", "patch": (1, 4, 4), "says": "video"}
PACE = {"batch": 4, "warm_up": 2, "save_every": 3, "validate_every": 4, "shown": 0, "sampling": 2}


def train(
    out,
    codec,
    build=None,
    words=("uniform", "collision"),
    report=None,
    stop=lambda: False,
    **options,
):
    return train_video_model(
        open_mixture(words, SIZE, count=20),
        codec,
        out,
        BuildOptions(**(BUILD | (build or {}))),
        VideoTraining(**(PACE | options)),
        report=report or (lambda _: None),
        stop=stop,
    )


def rows(out):
    return [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]


def same(one, other):
    return all(torch.equal(value, other[name]) for name, value in one.items())


def test_it_learns_and_writes_what_it_learned(tmp_path, codec):
    lines = []
    model = train(tmp_path, codec, steps=40, rate=3e-3, shown=2, report=lines.append)
    found = rows(tmp_path)
    assert [row["step"] for row in found] == list(range(4, 41, 4))
    assert found[-1]["loss"] < 0.7 * found[0]["loss"]
    assert found[-1]["samples"] == 160
    assert any("min left" in line for line in lines)
    written = read_model(tmp_path / "model.safetensors")
    half = {name: value.half().float() for name, value in model.network.state_dict().items()}
    assert same(half, written.network.state_dict())
    sheet = np.asarray(Image.open(tmp_path / "samples/0000040.png"))
    assert sheet.shape == (4 * (SIZE + 2) + 2, 8 * (SIZE + 2) + 2, 3)
    # What is given is shown as it is, in both rows.
    assert (sheet[2 : 2 + SIZE, 2 : 2 + SIZE] == sheet[36 : 36 + SIZE, 2 : 2 + SIZE]).all()


@pytest.mark.parametrize("says", ["video", "velocity"])
def test_a_broken_run_ends_with_the_same_weights(says, tmp_path, codec, monkeypatch):
    build = {"says": says}
    whole = train(tmp_path / "a", codec, build, steps=8, flip=True)
    real = training.draw_noise

    def plug(seed, numbers, shape):
        if numbers[0] == 5 * PACE["batch"]:
            raise OSError("the plug was pulled")
        return real(seed, numbers, shape)

    with monkeypatch.context() as patch:
        patch.setattr(training, "draw_noise", plug)
        with pytest.raises(OSError, match="plug"):
            train(tmp_path / "b", codec, build, steps=8, flip=True)
    lines = []
    again = train(tmp_path / "b", codec, build, steps=8, flip=True, keep=0, report=lines.append)
    assert "resuming at step 3 of 8" in lines
    assert same(whole.network.state_dict(), again.network.state_dict())
    one, two = (tmp_path / run / "model.safetensors" for run in "ab")
    assert one.read_bytes() == two.read_bytes()
    assert rows(tmp_path / "a") == rows(tmp_path / "b")
    other = train(tmp_path / "c", codec, build, steps=8, flip=True, seed=1)
    assert not same(whole.network.state_dict(), other.network.state_dict())


def command(out, codec_file, *more):
    words = "video train --data uniform --videos 20 --size 32 --network micro --patch 1 4 4"
    pace = "--batch 4 --steps 30 --save-every 5 --validate-every 30 --shown 0 --device cpu"
    where = ["--out", str(out), "--codec", str(codec_file)]
    return ["-m", "sightline", *words.split(), *pace.split(), *where, *more]


def start(arguments, log):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with log.open("wb") as file:
        return subprocess.Popen(
            [sys.executable, *arguments], stdout=file, stderr=subprocess.STDOUT, env=environment
        )


def test_thirty_steps_killed_minus_nine_and_resumed_equal_an_unbroken_run(tmp_path, codec_file):
    log = tmp_path / "log.txt"
    whole = start(command(tmp_path / "whole", codec_file), log)
    assert whole.wait(300) == 0, log.read_text()
    victim = start(command(tmp_path / "cut", codec_file), log)
    deadline = time.monotonic() + 300
    while not (tmp_path / "cut/checkpoint.pt").is_file():
        assert time.monotonic() < deadline
        assert victim.poll() is None, log.read_text()
        time.sleep(0.005)
    os.kill(victim.pid, signal.SIGKILL)
    assert victim.wait() == -signal.SIGKILL
    assert not (tmp_path / "cut/model.safetensors").exists()
    second = start(command(tmp_path / "cut", codec_file), log)
    assert second.wait(300) == 0, log.read_text()
    assert "resuming at step" in log.read_text()
    one, two = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert one.read_bytes() == two.read_bytes()
    states = [load_checkpoint(tmp_path / name)["model"] for name in ("whole", "cut")]
    assert same(*states)


def test_two_processes_learn_as_one_does(tmp_path, codec_file):
    """Each takes every second video and gradients are averaged: the same up to rounding."""
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2"]
    log = tmp_path / "log.txt"
    two = start([*launch, *command(tmp_path / "two", codec_file)], log)
    assert two.wait(300) == 0, log.read_text()
    one = start(command(tmp_path / "one", codec_file, "--accumulate", "2"), log)
    assert one.wait(300) == 0, log.read_text()
    losses = [rows(tmp_path / name)[-1]["loss"] for name in ("one", "two")]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    states = [load_file(tmp_path / name / "model.safetensors") for name in ("one", "two")]
    for name, value in states[0].items():
        assert torch.allclose(value.float(), states[1][name].float(), atol=5e-3), name


def test_a_loss_that_is_not_finite_stops_and_names_the_batch(tmp_path, codec, monkeypatch):
    real = training.draw_noise

    def poison(seed, numbers, shape):
        return real(seed, numbers, shape) * (float("nan") if numbers[0] == 20 else 1)

    with monkeypatch.context() as patch:
        patch.setattr(training, "draw_noise", poison)
        with pytest.raises(
            SightlineError,
            match=r"not finite at step 5, on batch 5 \(samples 20 to 23\); "
            "the checkpoint of step 3 is kept",
        ):
            train(tmp_path, codec, steps=9)
    state = load_checkpoint(tmp_path)
    assert state["step"] == 3
    assert all(torch.isfinite(value).all() for value in state["model"].values())
    assert not (tmp_path / "model.safetensors").exists()
    lines = []
    train(tmp_path, codec, steps=9, report=lines.append)
    assert "resuming at step 3 of 9" in lines


def longer(out, steps):
    """Let a run that has ended be one that has not."""
    run = read_toml(out / "config.toml")
    run["options"]["steps"] = steps
    (out / "config.toml").write_text(to_toml(run))


#: Kills its own process, as nothing can be helped, in the middle of the third checkpoint.
KILLER = """
import os, signal, sys, torch
real, saves = torch.save, []

def cut_short(state, path):
    saves.append(path)
    if len(saves) < 3:
        return real(state, path)
    real(state, path)
    with open(path, "r+b") as file:
        file.truncate(1000)
    os.kill(os.getpid(), signal.SIGKILL)

torch.save = cut_short
from sightline.cli import main
main(sys.argv[1:])
"""


def test_killed_in_the_middle_of_a_checkpoint(tmp_path, codec_file):
    log = tmp_path / "log.txt"
    words = command(tmp_path / "cut", codec_file)[2:]
    victim = start(["-c", KILLER, *words], log)
    assert victim.wait(300) == -signal.SIGKILL, log.read_text()
    assert len(list((tmp_path / "cut").glob(".checkpoint.*.part.pt"))) == 1  # half a file is left
    assert load_checkpoint(tmp_path / "cut")["step"] == 10  # and the one before it is whole
    second = start(command(tmp_path / "cut", codec_file), log)
    assert second.wait(300) == 0, log.read_text()
    assert "resuming at step 10 of 30" in log.read_text()
    assert not list((tmp_path / "cut").glob(".checkpoint.*.part.pt"))
    whole = start(command(tmp_path / "whole", codec_file), log)
    assert whole.wait(300) == 0, log.read_text()
    one, two = (tmp_path / name / "model.safetensors" for name in ("whole", "cut"))
    assert one.read_bytes() == two.read_bytes()


def test_a_stop_inside_a_step_is_minded_after_its_part(tmp_path, codec, monkeypatch):
    whole = train(tmp_path / "a", codec, steps=4, accumulate=4)
    real, seen = training.draw_noise, []

    def asked(seed, numbers, shape):
        seen.append(numbers[0])
        return real(seed, numbers, shape)

    with monkeypatch.context() as patch:
        patch.setattr(training, "draw_noise", asked)
        with pytest.raises(TrainingStopped, match="stopped at step 2 of 4"):
            train(
                *(tmp_path / "b", codec),
                steps=4,
                accumulate=4,
                # The second part of the third step.
                stop=lambda: seen[-1] == 2 * PACE["batch"] + 1,
            )
    assert seen[-1] == 2 * PACE["batch"] + 1
    assert load_checkpoint(tmp_path / "b")["step"] == 2
    again = train(tmp_path / "b", codec, steps=4, accumulate=4)
    assert same(whole.network.state_dict(), again.network.state_dict())


def test_a_full_disk_is_a_clear_line_and_loses_nothing(tmp_path, codec, monkeypatch):
    train(tmp_path, codec, steps=3)
    longer(tmp_path, 6)
    before = (tmp_path / "checkpoint.pt").read_bytes()

    def full(_, path):
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(torch, "save", full)
        with pytest.raises(SightlineError, match=r"checkpoint\.pt"):
            train(tmp_path, codec, steps=6)
    assert (tmp_path / "checkpoint.pt").read_bytes() == before


def test_the_folder_of_another_run(tmp_path, codec):
    train(tmp_path, codec, steps=2)
    with pytest.raises(InputError, match="holds a run with other rate"):
        train(tmp_path, codec, steps=2, rate=1e-5)
    with pytest.raises(InputError, match="holds a run with other build, transformer"):
        train(tmp_path, codec, {"network": "tiny"}, steps=2)
    with pytest.raises(InputError, match="holds a run with other data"):
        train(tmp_path, codec, words=("parabola",), steps=2)
    state = torch.load(tmp_path / "checkpoint.pt", weights_only=True)
    state["model"]["last.bias"] = torch.zeros(3)
    torch.save(state, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="does not fit this run"):
        train(tmp_path, codec, steps=2)
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        train(tmp_path, codec, steps=2)


def test_wrong_numbers_of_condition_frames(tmp_path, codec):
    with pytest.raises(InputError, match="32 condition frames of videos with 32 frames"):
        train(tmp_path, codec, {"condition": 32}, steps=2)
    with pytest.raises(InputError, match="condition must be at least 1"):
        train(tmp_path, codec, {"condition": 0}, steps=2)
    with pytest.raises(InputError, match="3 sampling steps of a schedule of 2"):
        train(tmp_path, codec, {"noise_steps": 2}, steps=2, sampling=3)
    assert not (tmp_path / "config.toml").exists()


def test_parts_of_a_batch_are_the_batch(tmp_path, codec):
    one = train(tmp_path / "a", codec, steps=3)
    two = train(tmp_path / "b", codec, steps=3, accumulate=3)
    for name, value in one.network.state_dict().items():
        assert torch.allclose(value, two.network.state_dict()[name], atol=2e-4), name
    with pytest.raises(InputError, match="no 5 parts"):
        train(tmp_path / "c", codec, steps=3, accumulate=5)


def test_given_frames_do_not_count(codec):
    network = torch.nn.Module()
    network.forward = lambda noisy, t, condition: torch.zeros_like(noisy)
    learner = VideoObjective(network, 3, BuildOptions(says="video"))
    video = torch.zeros(2, 4, 8, 2, 2)
    video[:, :, :3] = 100.0
    noise, t = torch.randn_like(video), torch.tensor([10, 999])
    assert learner(video, noise, t, None) == 0
    video[:, :, 3] = 1.0
    assert learner(video, noise, t, None) > 0


def test_pixels_numbers_and_flips(tmp_path):
    build = {"patch": (4, 16, 16), "numbers": True, "attention": "factorized"}
    model = train(tmp_path, PixelCodec(), build, steps=2, flip=True, shown=1, precision="bfloat16")
    assert model.network.options.channels == 3
    assert model.network.options.numbers == 4
    assert (tmp_path / "samples/0000002.png").is_file()


def test_tensorboard_where_it_is_installed(tmp_path, codec, monkeypatch):
    said = []

    class Writer:
        def __init__(self, folder):
            said.append(Path(folder).name)

        def add_scalar(self, name, value, step):
            said.append((name, step))

        def close(self):
            said.append("closed")

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = Writer
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    train(tmp_path, codec, steps=4)
    assert said == ["tensorboard", ("samples", 4), ("loss", 4), "closed"]


def test_figures_go_into_the_log_with_the_mean_weights(tmp_path, codec):
    seen = []

    def validate(model):
        seen.append({n: v.clone() for n, v in model.network.state_dict().items()})
        return {"figure": 0.5}

    model = train_video_model(
        *(open_mixture(["uniform"], SIZE, count=9), codec, tmp_path),
        *(BuildOptions(**BUILD), VideoTraining(**PACE, steps=6)),
        validate=validate,
        report=lambda _: None,
    )
    assert [row["figure"] for row in rows(tmp_path)] == [0.5, 0.5]
    assert same(seen[-1], model.network.state_dict())
    assert not same(load_checkpoint(tmp_path)["model"], model.network.state_dict())
