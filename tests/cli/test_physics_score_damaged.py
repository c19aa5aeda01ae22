"""Files that are not what they should be: one line, nothing hangs, nothing is left or overwritten."""

import json
import os
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from sightline.cli import main
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.scoring import run


@pytest.fixture(scope="module")
def data_sets(tmp_path_factory):
    """Make the same small data set in both formats."""
    folder = tmp_path_factory.mktemp("data")
    for name, quality in {"rle.h5": "rle", "mp4.h5": "standard"}.items():
        words = ["physics", "make", "uniform", "--count", "4", "--quality", quality]
        words += ["--out", str(folder / name)]
        assert main(words) == 0
    return folder


def cut_in_half(source):
    return lambda path: path.write_bytes(source.read_bytes()[: source.stat().st_size // 2])


def pickled(path):
    np.savez(path, np.array([{"a": 1}], dtype=object))


def bomb(path):
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("frames.npy", "w") as member,
    ):
        np.lib.format.write_array_header_1_0(
            member, {"descr": "|u1", "fortran_order": False, "shape": (4000, 1024, 1024, 3)}
        )
        member.write(bytes(50_000_000))


DAMAGED = {
    "half-rle.h5": lambda folder: cut_in_half(folder / "rle.h5"),
    "half-mp4.h5": lambda folder: cut_in_half(folder / "mp4.h5"),
    "empty.h5": lambda _: Path.touch,
    "text.h5": lambda _: lambda path: path.write_text("hello"),
    "pipe.h5": lambda _: os.mkfifo,
    "folder.h5": lambda _: Path.mkdir,
    "00001.mp4": lambda _: lambda path: path.write_text("hello\n" * 100),
    "00002.mp4": lambda _: os.mkfifo,
    "00003.mp4": lambda _: Path.touch,
    "00001.npz": lambda _: pickled,
    "00002.npz": lambda _: bomb,
}


@pytest.fixture(params=DAMAGED)
def damaged(request, data_sets, tmp_path):
    path = tmp_path / request.param
    DAMAGED[request.param](data_sets)(path)
    return path


def refused(capsys, words, path):
    """Run, and check that one line names the file."""
    code = main(words)
    printed = capsys.readouterr()
    assert code == 2
    (line,) = printed.err.splitlines()
    assert path.name in line
    assert printed.out == ""


def test_damaged_videos_are_refused(damaged, data_sets, tmp_path, capsys):
    words = ["physics", "score", str(damaged), "--truth", str(data_sets / "rle.h5")]
    refused(capsys, [*words, "--out", str(tmp_path / "s")], damaged)
    assert not (tmp_path / "s").exists()


def test_a_damaged_truth_is_refused(damaged, data_sets, tmp_path, capsys):
    words = ["physics", "score", str(data_sets / "rle.h5"), "--truth", str(damaged)]
    refused(capsys, [*words, "--out", str(tmp_path / "s")], damaged)
    assert not (tmp_path / "s").exists()


def test_a_damaged_data_set_is_refused_by_run(damaged, tmp_path, capsys):
    words = ["physics", "run", "--model", "json:loads", "--data", str(damaged)]
    refused(capsys, [*words, "--out", str(tmp_path / "v")], damaged)
    assert not (tmp_path / "v").exists()


def test_a_file_in_the_place_of_the_results_is_left_alone(data_sets, tmp_path, capsys):
    there = tmp_path / "file"
    there.write_text("mine")
    truth = str(data_sets / "rle.h5")
    for out in (there, there / "below"):
        refused(capsys, ["physics", "score", truth, "--truth", truth, "--out", str(out)], there)
    assert there.read_text() == "mine"


def test_a_part_of_the_truth_that_cannot_be_read_costs_its_own_videos(tmp_path):
    truth, videos = tmp_path / "u.h5", tmp_path / "videos"
    assert main(["physics", "make", "uniform", "--count", "126", "--out", str(truth)]) == 0
    videos.mkdir()
    with open_dataset(truth) as data:
        for k in (0, 1, 125):
            np.savez(videos / f"{k}.npz", data.video(k))
    with h5py.File(truth) as file:
        last = file["rle_streams/00000"][125].tobytes()
    content = bytearray(truth.read_bytes())
    content[content.index(last) + len(last) // 2] ^= 255
    truth.write_bytes(content)
    words = ["physics", "score", str(videos), "--truth", str(truth), "--out", str(tmp_path / "s")]
    assert main(words) == 2
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    assert [row["name"] for row in found["samples"]["model"]] == ["0", "1"]
    assert [row["name"] for row in found["left_out"]] == ["125"]


def test_a_failure_of_ours_in_every_video_is_told_as_one(data_sets, tmp_path, monkeypatch, capsys):
    def broken(*_):
        raise ZeroDivisionError("our mistake")

    monkeypatch.setattr(run, "buckets_of", broken)
    truth = str(data_sets / "rle.h5")
    words = ["physics", "score", truth, "--truth", truth, "--out", str(tmp_path / "s")]
    assert main([*words, "--workers", "1"]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "00000: ZeroDivisionError: our mistake" in line
    assert not (tmp_path / "s").exists()


def test_videos_that_are_damaged_among_others_are_named(data_sets, tmp_path):
    videos = tmp_path / "videos"
    videos.mkdir()
    with open_dataset(data_sets / "rle.h5") as data:
        np.savez(videos / "00000.npz", data.video(0))
    for name in ("00001.mp4", "00002.npz", "00003.mp4"):
        DAMAGED[name](data_sets)(videos / name)
    words = ["physics", "score", str(videos), "--truth", str(data_sets / "rle.h5")]
    assert main([*words, "--out", str(tmp_path / "s")]) == 2
    found = json.loads((tmp_path / "s" / "scores.json").read_text())
    assert [row["name"] for row in found["left_out"]] == ["00001", "00002", "00003"]
