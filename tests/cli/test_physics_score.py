"""`sightline physics score`, from the command line to the report."""

import json
import os
import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from sightline.cli import main
from sightline.physics.datasets.mp4 import encode
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.rendering import render
from sightline.physics.scoring.baselines import constant_velocity


@pytest.fixture(scope="module")
def collisions(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "collisions.h5"
    assert main(["physics", "make", "collision", "--count", "12", "--out", str(path)]) == 0
    return path


def score(videos, truth, out, *more, workers=1):
    words = ["physics", "score", str(videos), "--truth", str(truth), "--out", str(out)]
    code = main([*words, "--workers", str(workers), *more])
    done = (out / "scores.json").exists()
    found = json.loads((out / "scores.json").read_text()) if done else None
    return code, found


def figure(found, who, law, bucket="in"):
    return found["summary"][who][bucket]["laws"][law]["mean"]


def test_the_truth_scores_the_floor(collisions, tmp_path, capsys):
    code, found = score(collisions, collisions, tmp_path / "s")
    assert code == 0
    assert figure(found, "model", "velocity_steps") == figure(found, "truth", "velocity_steps")
    assert figure(found, "model", "velocity_steps") < 0.01
    assert found["summary"]["model"]["in"]["abnormal"] == 0
    assert figure(found, "model", "restitution") == pytest.approx(1, abs=0.01)
    printed = capsys.readouterr().out
    assert "velocity_steps" in printed
    assert "nearest-case" in printed


def test_constant_velocity_is_wrong_only_after_the_impact(collisions, tmp_path):
    videos = tmp_path / "videos"
    videos.mkdir()
    with open_dataset(collisions) as data:
        made = constant_velocity(data.samples, 3)
        for k in range(len(data)):
            np.savez(videos / f"{k:05d}.npz", render(made[k], 128))
    code, found = score(videos, collisions, tmp_path / "s", "--pictures", "psnr,ssim")
    assert code == 0
    assert figure(found, "model", "velocity_steps") > 2
    assert figure(found, "model", "velocity_before") < 0.01
    assert figure(found, "model", "penetration") > 0.5
    assert found["summary"]["model"]["in"]["abnormal"] == 1
    assert found["summary"]["model"]["in"]["pictures"]["psnr"] < 40
    assert found["provenance"]["data_set_sha256"]


@pytest.mark.parametrize("scenario", ["uniform", "collision"])
def test_the_nearest_case_is_good_in_distribution_only(tmp_path, scenario):
    errors = {}
    for split in ("id", "ood"):
        path = tmp_path / f"{split}.h5"
        main(["physics", "make", scenario, "--split", split, "--count", "24", "--out", str(path)])
        _, found = score(path, path, tmp_path / split)
        errors[split] = figure(found, "nearest-case", "velocity_steps", "all")
    assert errors["id"] < 0.15
    assert errors["ood"] > 5 * errors["id"]


def test_the_report_is_one_well_formed_file(collisions, tmp_path):
    score(collisions, collisions, tmp_path / "s", "--title", "<b>me & you</b>")
    page = (tmp_path / "s" / "report.html").read_text()
    assert "&lt;b&gt;me &amp; you&lt;/b&gt;" in page
    assert not re.search(r"(src|href)=\"(?!data:|#)", page)
    for svg in re.findall(r"<svg.*?</svg>", page, re.S):
        ET.fromstring(svg)
    assert page.count("data:image/png") == 6


def test_bad_videos_are_left_out_and_named(collisions, tmp_path, capsys):
    videos = tmp_path / "videos"
    videos.mkdir()
    with open_dataset(collisions) as data:
        (videos / "00000.mp4").write_bytes(encode(data.video(0)))
        whole = encode(data.video(1))
        (videos / "00001.mp4").write_bytes(whole[: len(whole) // 2])
        np.savez(videos / "00002.npz", data.video(2)[:4])
        np.savez(videos / "00003.npz", data.video(3)[:, :64])
        np.savez(videos / "00004.npz", data.video(4)[:31])
    (videos / "00005.mp4").write_bytes(b"")
    np.savez(videos / "00099.npz", np.zeros((4, 8, 8, 3), np.uint8))
    code, found = score(videos, collisions, tmp_path / "s")
    assert code == 2
    named = {row["name"] for row in found["left_out"]}
    assert named == {"00001", "00002", "00003", "00005", "00099"}
    assert [row["name"] for row in found["samples"]["model"]] == ["00000", "00004"]
    assert "31 compared" in found["samples"]["model"][1]["note"]
    assert found["samples_without_video"] == 6
    told = capsys.readouterr().err
    assert "00002: left out: " in told
    assert "too few" in told
    assert "00003: left out: frames of 128×64 pixels are not square" in told


def test_baselines_go_through_the_codec_of_the_data_set(tmp_path):
    path = tmp_path / "a.h5"
    words = ["physics", "make", "uniform", "--count", "12", "--quality", "standard"]
    main([*words, "--out", str(path)])
    _, found = score(path, path, tmp_path / "s")
    floor = figure(found, "truth", "velocity_steps", "all")
    assert 0.5 * floor < figure(found, "constant-velocity", "velocity_steps", "all") < 2 * floor


def test_names_in_another_encoding_are_kept(collisions, tmp_path):
    videos = tmp_path / "videos"
    videos.mkdir()
    with open_dataset(collisions) as data:
        np.savez(videos / "00000.npz", data.video(0))
    (videos / os.fsdecode(b"b\xff00001.mp4")).write_bytes(b"nothing")
    code, found = score(videos, collisions, tmp_path / "s")
    assert code == 2
    assert [row["name"] for row in found["left_out"]] == [os.fsdecode(b"b\xff00001")]
    assert "b\\udcff00001" in (tmp_path / "s" / "report.html").read_text()


def test_a_report_does_not_go_among_the_videos(collisions, tmp_path, capsys):
    assert score(tmp_path, collisions, tmp_path)[0] == 2
    assert "choose another --out" in capsys.readouterr().err


def test_a_score_is_not_overwritten_unless_told(collisions, tmp_path, capsys):
    assert score(collisions, collisions, tmp_path / "s")[0] == 0
    before = (tmp_path / "s" / "scores.json").read_bytes()
    (tmp_path / "s" / "report.html").unlink()
    assert score(collisions, collisions, tmp_path / "s", "--condition", "5")[0] == 2
    assert "--force" in capsys.readouterr().err
    assert (tmp_path / "s" / "scores.json").read_bytes() == before
    assert score(collisions, collisions, tmp_path / "s", "--condition", "5", "--force")[0] == 0


def test_two_workers_give_the_same_scores(collisions, tmp_path):
    _, one = score(collisions, collisions, tmp_path / "one")
    _, two = score(collisions, collisions, tmp_path / "two", workers=2)
    assert one == two


def test_a_video_that_turns_gray_is_scored_as_one_without_its_balls(collisions, tmp_path):
    videos = tmp_path / "videos"
    videos.mkdir()
    with open_dataset(collisions) as data:
        frames = data.video(0)
    frames[3:] = frames[3:].mean(axis=3, keepdims=True)
    np.savez(videos / "00000.npz", frames)
    code, found = score(videos, collisions, tmp_path / "s")
    assert code == 0
    assert found["summary"]["model"]["in"]["abnormal"] == 1
