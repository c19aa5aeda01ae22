"""What `sightline physics score` refuses before it begins: another truth, options without effect."""

import json

import numpy as np
import pytest

from sightline.cli import main
from sightline.physics.datasets.mp4 import encode
from sightline.physics.datasets.reader import open_dataset

COUNT = 6


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Make a data set, once."""
    folder = tmp_path_factory.mktemp("data")

    def make(scenario, *more):
        path = folder / f"{'-'.join((scenario, *more)).replace(':', '')}.h5"
        if not path.exists():
            words = ["physics", "make", scenario, "--count", str(COUNT), "--out", str(path), *more]
            assert main(words) == 0
        return path

    return make


@pytest.fixture
def score(tmp_path, capsys):
    """Score and return exit code and the error stream; what it leaves is in tmp_path / `s`."""

    def call(videos, truth, *more):
        words = ["physics", "score", str(videos), "--truth", str(truth), "--workers", "1"]
        capsys.readouterr()
        code = main([*words, "--out", str(tmp_path / "s"), *more])
        return code, capsys.readouterr().err

    return call


def save(folder, truth, change, offset=0):
    """Write videos of a data set, each changed in some way, as npz; return the folder."""
    folder.mkdir()
    with open_dataset(truth) as data:
        for k in range(len(data)):
            np.savez(folder / f"{k + offset:05d}.npz", change(data.video(k)))
    return folder


def gray(frames):
    return frames.mean(axis=3, keepdims=True).repeat(3, 3).astype(np.uint8)


@pytest.mark.parametrize(
    ("scenario", "more"),
    [
        ("parabola", ()),
        ("collision", ()),
        ("uniform", ("--seed", "5")),
        ("uniform", ("--split", "ood")),
    ],
)
def test_videos_of_another_data_set_are_refused(made, score, tmp_path, scenario, more):
    other = made(scenario, *more)
    code, errors = score(made("uniform"), other)
    assert code == 2
    (line,) = errors.splitlines()
    assert "uniform.h5: these do not begin like samples of" in line
    assert str(other) in line
    assert "give their own data set" in line
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("change", "offset", "hint"),
    [
        (lambda frames: frames[:, ::-1], 0, "upside down"),
        (lambda frames: frames[3:], 0, "lack the given frames"),
        (lambda frames: frames[1:], 0, "begin 1 frame late"),
        (lambda frames: frames, 1, "one too large"),
        (lambda frames: frames[..., ::-1], 0, "red and blue are swapped"),
        (lambda frames: 255 - frames, 0, "negatives"),
        (gray, 0, "without color"),
        (lambda frames: (frames * 0.6).astype(np.uint8), 0, "their colors are not those"),
    ],
)
def test_a_common_slip_is_named(made, score, tmp_path, change, offset, hint):
    truth = made("uniform", "--seed", "3")
    code, errors = score(save(tmp_path / "v", truth, change, offset), truth)
    assert code == 2
    assert hint in errors


def test_a_video_of_another_sample_is_left_out_and_named(made, score, tmp_path):
    truth = made("uniform")
    videos = save(tmp_path / "v", truth, lambda frames: frames)
    (videos / "00004.npz").write_bytes((videos / "00001.npz").read_bytes())
    code, _ = score(videos, truth)
    assert code == 2
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    (row,) = found["left_out"]
    assert row["name"] == "00004"
    assert "does not begin like sample 4" in row["reason"]
    assert len(found["samples"]["model"]) == COUNT - 1


def test_other_sizes_codecs_and_lengths_are_of_the_same_data_set(made, score, tmp_path):
    large = made("uniform", "--size", "256", "--quality", "standard")
    assert score(large, made("uniform"))[0] == 0
    folder = tmp_path / "v"
    folder.mkdir()
    with open_dataset(large) as data:
        for k in range(COUNT):
            (folder / f"{k}.mp4").write_bytes(encode(data.video(k)[:31]))
    assert score(folder, made("uniform"), "--force")[0] == 0


def test_videos_that_lost_everything_are_scored(made, score, tmp_path):
    truth = made("uniform")

    def lose(frames):
        frames[3:] = 255
        return frames

    videos = save(tmp_path / "v", truth, lose)
    assert score(videos, truth)[0] == 0
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    assert found["summary"]["model"]["in"]["abnormal"] == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--address", "auto"), "add --cluster"),
        (("--panel", "left"), "a data set has no panels"),
        (("--pictures", ","), "names no metric"),
        (("--level", "30K", "--training", "x.h5"), "leave one out"),
        (("--training", "no-such.h5"), "no such file"),
        (("--condition", "31"), "give 1 to 30"),
        (("--fps", "nan"), "fps must be"),
        (("--fps", "24"), "make them at 10, 20, 30"),
        (("--fps", "5"), "make them at 10, 20, 30"),
    ],
)
def test_options_without_effect_are_refused(made, score, tmp_path, more, said):
    code, errors = score(made("uniform"), made("uniform"), *more)
    assert code == 2
    (line,) = errors.splitlines()
    assert said in line
    assert not (tmp_path / "s").exists()


def test_a_training_set_of_another_world_is_refused(made, score):
    code, errors = score(made("uniform"), made("uniform"), "--training", str(made("collision")))
    assert code == 2
    assert "holds collision, the data set to be scored uniform" in errors


def test_a_world_without_ranges_takes_none(made, score):
    gate = made("probe:visual-ambiguity", "--part", "test")
    for more in (("--level", "30K"), ("--preset", "code"), ("--training", str(gate))):
        code, errors = score(gate, gate, *more)
        assert code == 2
        assert f"{more[0]} would have no effect on" in errors


def test_ranges_are_those_of_the_data_set(made, score, tmp_path):
    paper = made("uniform", "--preset", "paper")
    assert score(paper, paper)[0] == 0
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    assert found["provenance"]["ranges"] == "paper"
