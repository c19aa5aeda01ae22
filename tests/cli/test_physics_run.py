"""`sightline physics run`: somebody's model continues videos, which are then scored."""

import json
import os
import signal
import subprocess
import time

import pytest

from sightline.cli import main

MODEL = """
import sys
import numpy as np

class Frozen:
    def predict(self, condition, mask, n):
        frames = condition.copy()
        frames[~mask] = condition[mask][-1]
        return frames

class Moody(Frozen):
    calls = 0
    def predict(self, condition, mask, n):
        Moody.calls += 1
        if Moody.calls == 2:
            raise RuntimeError("not today")
        return super().predict(condition, mask, n)

class Leaving(Frozen):
    calls = 0
    def predict(self, condition, mask, n):
        Leaving.calls += 1
        if Leaving.calls == 2:
            sys.exit(0)
        return super().predict(condition, mask, n)

class Wrong:
    def predict(self, condition, mask, n):
        return condition[:4].astype(np.float32)

class Slow(Frozen):
    def predict(self, condition, mask, n):
        import time
        print("at work", flush=True)
        time.sleep(600)
"""


@pytest.fixture(scope="module")
def collisions(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "collisions.h5"
    assert main(["physics", "make", "collision", "--count", "12", "--out", str(path)]) == 0
    return path


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "my_models.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(__import__("sys").modules, "my_models", raising=False)
    return "my_models"


def words(model, data, out, *more):
    return ["physics", "run", "--model", model, "--data", str(data), "--out", str(out), *more]


def run(model, data, out, *more):
    return main(words(model, data, out, *more))


def test_a_model_is_run_and_scored(collisions, model, tmp_path, capsys):
    out, truth = tmp_path / "v", ["--truth", str(collisions)]
    assert run(f"{model}:Frozen", collisions, out, "--count", "6") == 0
    assert "6 videos in" in capsys.readouterr().out
    assert main(["physics", "score", str(out), *truth, "--out", str(tmp_path / "s")]) == 0
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    frozen, baseline = (
        found["summary"][who]["in"]["laws"]["velocity_steps"]["mean"]
        for who in ("model", "copy-last")
    )
    assert frozen == pytest.approx(baseline, rel=1e-6)
    assert found["samples_without_video"] == 6


def test_a_model_is_run_and_scored_in_one_go(collisions, model, tmp_path, capsys):
    report = tmp_path / "s"
    more = ("--count", "4", "--condition", "5", "--score", str(report))
    assert run(f"{model}:Frozen", collisions, tmp_path / "v", *more) == 0
    assert "copy-last" in capsys.readouterr().out
    found = json.loads((report / "scores.json").read_text())
    assert found["provenance"]["condition_frames"] == 5
    assert len(found["samples"]["model"]) == 4
    assert (report / "report.html").is_file()


@pytest.mark.parametrize(
    ("name", "said"), [("Moody", "RuntimeError: not today"), ("Leaving", "SystemExit: 0")]
)
def test_a_sample_that_fails_costs_itself_and_is_made_later(
    collisions, model, tmp_path, capsys, name, said
):
    out = tmp_path / "v"
    assert run(f"{model}:{name}", collisions, out, "--count", "3") == 2
    assert f"sample 1: {said}" in capsys.readouterr().err
    assert sorted(p.name for p in out.glob("*.mp4")) == ["00000.mp4", "00002.mp4"]
    assert run(f"{model}:{name}", collisions, out, "--count", "3") == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "my_models:Wrong",
            "sample 0: predict returned float32 of shape (4, 128, 128, 3); expected",
        ),
        ("my_models:Nothing", "no factory"),
        ("my_models:MODEL", "no factory"),
        ("my_models", "module:factory"),
        ("no_such_module:A", "cannot be imported"),
    ],
)
def test_models_that_are_none_are_refused(collisions, model, tmp_path, capsys, name, said):
    assert run(name, collisions, tmp_path / "v", "--count", "1") == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


def test_one_video_is_one_video(collisions, model, tmp_path, capsys):
    assert run(f"{model}:Frozen", collisions, tmp_path / "v", "--count", "1") == 0
    assert "1 video in" in capsys.readouterr().out


def test_videos_of_another_model_are_not_taken_for_this_ones(collisions, model, tmp_path, capsys):
    assert run(f"{model}:Frozen", collisions, tmp_path / "v", "--count", "1") == 0
    for other in ([f"{model}:Moody"], [f"{model}:Frozen", "--condition", "5"]):
        assert run(other[0], collisions, tmp_path / "v", "--count", "2", *other[1:]) == 2
        assert "another model" in capsys.readouterr().err


def test_videos_are_scored_with_the_condition_that_they_were_made_with(
    collisions, model, tmp_path, capsys
):
    out = tmp_path / "v"
    assert run(f"{model}:Frozen", collisions, out, "--count", "2", "--condition", "5") == 0
    score = ["physics", "score", str(out), "--truth", str(collisions), "--out", str(tmp_path / "s")]
    assert main(score) == 2
    assert "use --condition 5" in capsys.readouterr().err
    assert main([*score, "--condition", "5"]) == 0


@pytest.mark.parametrize(
    "asked",
    [("--count", "13"), ("--start", "11", "--count", "2"), ("--start", "12"), ("--start", "-1")],
)
def test_samples_that_there_are_not_are_refused(collisions, model, tmp_path, capsys, asked):
    assert run(f"{model}:Frozen", collisions, tmp_path / "v", *asked) == 2
    assert "it has 12 samples, which count from 0" in capsys.readouterr().err
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_within_the_model_leaves_nothing(
    collisions, model, tmp_path, command, environment, how, code
):
    process = subprocess.Popen(
        [*command, *words(f"{model}:Slow", collisions, tmp_path / "v")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "at work\n"
    time.sleep(0.2)
    os.killpg(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert errors == "sightline: stopped after 0 of 12 videos; the same command goes on\n"
    assert not (tmp_path / "v").exists()
