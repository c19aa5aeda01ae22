"""A step as one program: the same lessons and bytes, and a clear line where there is no compiler."""

import os
import shutil
import subprocess
import sys

import pytest
import torch

from sightline.video_model import training
from sightline.video_model.data import open_mixture
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.training import train_video_model

#: Torch's compiler warns of parts of torch as it comes in.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

needs_compiler = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "g++")) is None, reason="there is no C++ compiler here"
)

PACE = {"batch": 4, "warm_up": 2, "save_every": 3, "validate_every": 6, "shown": 0, "sampling": 2}


def train(out, codec, *, report=lambda _: None, **options):
    return train_video_model(
        open_mixture(["uniform"], 32, count=20),
        codec,
        out,
        BuildOptions(network="nano", patch=(1, 4, 4), says="video"),
        VideoTraining(steps=6, device="cpu", **(PACE | options)),
        report=report,
    )


def test_without_a_compiler_a_line_says_so_and_training_goes_on(tmp_path, codec, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("\nNo working C++ compiler found.\nMore of it.")

    monkeypatch.setattr(torch, "compile", broken)
    lines = []
    made = train(tmp_path / "a", codec, compile=True, report=lines.append)
    assert lines[0].startswith("not compiled, No working C++ compiler found; training goes on")
    plain = train(tmp_path / "b", codec)
    assert all(
        torch.equal(a, b)
        for a, b in zip(made.network.parameters(), plain.network.parameters(), strict=True)
    )


@pytest.mark.slow
def test_a_machine_without_a_compiler_is_found_out(tmp_path):
    code = (
        "import torch; from sightline.video_model.compiling import why_not; "
        "print(why_not(torch.device('cpu')))"
    )
    where = {"CXX": str(tmp_path / "none"), "TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    told = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | where,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0
    assert "compiler" in told.stdout.lower()


@needs_compiler
@pytest.mark.slow
def test_a_compiled_run_that_was_broken_ends_with_the_bytes_of_an_unbroken_one(
    tmp_path, codec, monkeypatch
):
    lines = []
    train(tmp_path / "a", codec, compile=True, report=lines.append)
    assert not any("not compiled" in line for line in lines)
    real = training.draw_noise

    def plug(seed, numbers, shape):
        if numbers[0] == 5 * PACE["batch"]:
            raise OSError("the plug was pulled")
        return real(seed, numbers, shape)

    with monkeypatch.context() as patch:
        patch.setattr(training, "draw_noise", plug)
        with pytest.raises(OSError, match="plug"):
            train(tmp_path / "b", codec, compile=True)
    train(tmp_path / "b", codec, compile=True, report=lines.append)
    assert "resuming at step 3 of 6" in lines
    one, two = (tmp_path / run / "model.safetensors" for run in "ab")
    assert one.read_bytes() == two.read_bytes()


@needs_compiler
@pytest.mark.slow
def test_compiled_steps_learn_what_plain_ones_do(tmp_path, codec):
    quick, plain = (train(tmp_path / str(c), codec, compile=c) for c in (True, False))
    pairs = zip(quick.network.parameters(), plain.network.parameters(), strict=True)
    assert all(torch.allclose(a, b, atol=1e-4) for a, b in pairs)
