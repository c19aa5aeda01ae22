"""`sightline physics make` and `info`, for real."""

import os
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest

from sightline.cli import main
from sightline.physics.datasets.reader import open_dataset


def make(*words):
    return main(["physics", "make", *map(str, words)])


def test_make_and_info(tmp_path, capsys):
    out = tmp_path / "a.h5"
    words = ["parabola", "--split", "ood-v", "--count", 5, "--size", 32, "--seed", 3]
    assert make(*words, "--out", out) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("5 videos in ")
    assert printed.rstrip().endswith(str(out))
    assert main(["physics", "info", str(out)]) == 0
    said = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert said["scenario"] == "parabola"
    assert said["videos"] == "5"
    assert said["each"] == "32 frames of 32×32, one every 0.1 s"
    with open_dataset(out) as data:
        assert said["digest"] == data.digest
        assert data.made["split"] == "ood-v"


def test_the_layout_of_the_reference(tmp_path, capsys):
    out = tmp_path / "a.hdf5"
    words = ["uniform", "--count", 3, "--size", 32, "--quality", "lossless"]
    assert make(*words, "--out", out) == 0
    with h5py.File(out) as file:
        assert file["position_streams/00000"].shape == (3, 32, 2)
        assert file["init_streams/00000"].shape == (3, 2)
        assert len(file["video_streams/00000"][0]) > 500
    assert make(*words, "--layout", "shard", "--out", tmp_path / "b.h5") == 0
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["position_streams"].shape == (3, 32, 2)
    with open_dataset(out) as one, open_dataset(tmp_path / "b.h5") as two:
        np.testing.assert_array_equal(one.video(2), two.video(2))
    assert main(["physics", "info", str(out)]) == 0
    assert "layout (merged)" in capsys.readouterr().out


def test_a_probe(tmp_path):
    out = tmp_path / "a.h5"
    words = ["probe:conflict-size-square", "--part", "train", "--count", 2, "--size", 16]
    assert make(*words, "--out", out) == 0
    with open_dataset(out) as data:
        assert (len(data), data.made["part"]) == (2, "train")


def test_again_only_with_force(tmp_path, capsys):
    out = tmp_path / "a.h5"
    words = ["uniform", "--count", 2, "--size", 16, "--out", out]
    assert make(*words) == 0
    before = out.stat().st_mtime_ns
    assert make(*words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "is there already" in line
    assert "--force" in line
    assert out.stat().st_mtime_ns == before
    assert make(*words, "--force") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["moon", "--count", "3"], "no scenario is called 'moon'"),
        (
            ["moon", "--part", "test"],
            "use uniform, parabola, collision, combinatorial, or probe:NAME",
        ),
        (["uniform", "--count", "0"], "1 to 100,000,000"),
        (["uniform", "--count", "3", "--split", "moon"], "has no split called 'moon'"),
        (["uniform", "--count", "3", "--level", "5K"], "5K"),
        (["uniform", "--count", "3", "--mode", "newton"], "newton"),
        (["uniform", "--count", "3", "--size", "4"], "16 to 1024"),
        (["uniform", "--count", "3", "--workers", "0"], "workers must be at least 1"),
        (["uniform", "--count", "3", "--address", "auto"], "--address is that of a cluster"),
        (
            ["probe:moon", "--count", "3"],
            "no probe is called 'moon'; sightline physics probes lists",
        ),
        (["probe:memorisation", "--count", "3"], "did you mean memorization or memorization-flip?"),
        (["probe:conflict-size-square", "--count", "3"], "add --part train or --part test"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tmp_path, capsys, words, message):
    assert make(*words, "--out", tmp_path / "a.h5") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


PROBE = ["probe:memorization", "--part", "test"]
SCENES = ["combinatorial", "--templates", "6"]


@pytest.mark.parametrize(
    ("words", "name", "message"),
    [
        (["uniform", "--level", "30K", "--split", "ood"], "a.h5", "leave one out"),
        (["uniform", "--level", "30K", "--split", "id"], "a.h5", "leave one out"),
        (["uniform", "--part", "test"], "a.h5", "--part is for probe:NAME; leave it out"),
        ([*SCENES, "--part", "test"], "a.h5", "--part is for probe:NAME; leave it out"),
        (["uniform", "--templates", "6"], "a.h5", "--templates is for combinatorial; leave it out"),
        (["uniform", "--tasks", "1", "--trials", "1"], "a.h5", "--tasks and --trials are for"),
        ([*PROBE, "--tasks", "1"], "a.h5", "--tasks is for combinatorial"),
        (
            ["uniform", "--address", "auto"],
            "a.h5",
            "--address is that of a cluster; add --cluster",
        ),
        *(
            ([*scenario, *option], "a.h5", f"{option[0]} is for uniform, parabola and collision")
            for scenario in (PROBE, SCENES)
            for option in (
                ["--split", "id"],
                ["--level", "30K"],
                ["--preset", "code"],
                ["--mode", "exact"],
                ["--shard-seed"],
            )
        ),
    ],
)
def test_an_option_without_effect_is_refused(tmp_path, capsys, words, name, message):
    assert make(*words, "--out", tmp_path / name) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_one_video_is_not_videos(tmp_path, capsys):
    for quality in ("rle", "standard"):
        out = tmp_path / f"{quality}.h5"
        words = ["--count", 1, "--size", 16, "--quality", quality, "--out", out]
        assert make("uniform", *words) == 0
        assert capsys.readouterr().out.startswith("1 video in ")
        with open_dataset(out) as data:
            assert data.video(0).shape == (32, 16, 16, 3)


def test_options_that_have_their_defaults(tmp_path):
    """Given or not, the same bytes."""
    words = ["uniform", "--count", 2, "--size", 16, "--out"]
    given = ["--split", "id", "--preset", "code", "--mode", "exact"]
    given += ["--quality", "rle", "--layout", "merged"]
    assert make(*words, tmp_path / "a.h5") == make(*words, tmp_path / "b.h5", *given) == 0
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_no_suffix_and_no_file(tmp_path, capsys):
    assert make("uniform", "--count", 3, "--out", tmp_path / "a.zip") == 2
    assert "no format has the suffix '.zip'" in capsys.readouterr().err
    for name, content in {"missing.h5": None, "text.h5": b"hello"}.items():
        if content is not None:
            (tmp_path / name).write_bytes(content)
        assert main(["physics", "info", str(tmp_path / name)]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert name in line


def start(command, environment, *words):
    return subprocess.Popen(
        [*command, "physics", "make", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        # A background job starts with Ctrl-C ignored, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize(
    ("scenario", "some", "count"),
    [
        ("collision", ["--count", 700, "--quality", "standard"], 700),
        ("combinatorial", ["--templates", 6, "--count", 250], 250),
    ],
)
def test_stopped_then_the_same_command(
    command, environment, sightline, tmp_path, workers, how, scenario, some, count
):
    words = [scenario, *some, "--size", 64, "--workers", workers, "--out"]
    process = start(command, environment, *words, tmp_path / "a.h5")
    parts = tmp_path / "a.h5.parts"
    deadline = time.monotonic() + 100
    while not list(parts.glob("0*.part")):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert not (tmp_path / "a.h5").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        assert errors.splitlines()[-1].endswith(f"of {count} videos; the same command goes on")
    result = sightline("physics", "make", *words, tmp_path / "a.h5", timeout=300)
    assert result.returncode == 0, result.stderr
    assert "of them made before" in result.stdout
    assert sightline("physics", "make", *words, tmp_path / "b.h5", timeout=300).returncode == 0
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()
    assert {Path(path).name for path in tmp_path.iterdir()} == {"a.h5", "b.h5"}
