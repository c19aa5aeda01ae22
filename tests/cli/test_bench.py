"""`sightline bench`, run as a user runs it."""

import json
from typing import get_args

import numpy as np
import pytest
from PIL import Image

from sightline.benchmarks import protocol
from sightline.benchmarks.sets import SETS
from sightline.cli import bench, main
from sightline.io.depth_files import write_depth
from sightline.io.rgbd import read_rgbd
from sightline.types import DepthMap, Kind


@pytest.fixture
def predictions(rgbd_folder, tmp_path):
    """An affine copy of every truth, as `sightline depth` would lay them out."""
    folder = tmp_path / "predictions"
    for truth in read_rgbd(rgbd_folder):
        depth = DepthMap(2 * truth.disparity + 1, Kind.RELATIVE_DISPARITY)
        write_depth(folder / truth.sample / "image.npz", depth)
    return folder


def test_without_a_name_the_sets_are_listed(capsys):
    assert main(["bench"]) == 0
    out = capsys.readouterr().out
    for one in SETS:
        assert f"{one.name}: " in out
        assert one.source in out
    assert "DIR/annotations.json" in out


def test_the_choices_are_those_of_the_protocols():
    assert get_args(bench.Align) == get_args(protocol.Align)
    assert get_args(bench.Space) == get_args(protocol.Space)
    assert get_args(bench.Crop) == ("set", *get_args(protocol.Crop))


def test_a_folder_of_predictions(rgbd_folder, predictions, tmp_path, capsys):
    files = ["--json", str(tmp_path / "out/r.json"), "--markdown", str(tmp_path / "out/r.md")]
    words = ["bench", "rgbd", str(rgbd_folder), "--predictions", str(predictions)]
    assert main([*words, *files]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:5] == ["set", "pictures", "Spearman", "residual", "AbsRel"]
    assert lines[3].split()[:6] == ["overall", "3", "1.000", "1.000", "0.000", "1.000"]
    assert lines[-1].startswith("rgbd; affine-aligned in disparity")
    assert "model predictions@" in lines[-1]
    whole = json.loads((tmp_path / "out/r.json").read_text())
    assert whole["protocol"] == lines[-1]
    assert lines[-1] in (tmp_path / "out/r.md").read_text()


def test_the_protocol_can_be_chosen(rgbd_folder, predictions, capsys):
    words = ["bench", "rgbd", str(rgbd_folder), "--predictions", str(predictions)]
    chosen = ["--align", "depth", "--space", "disparity", "--cap", "12", "--crop", "garg"]
    assert main([*words, *chosen, "--every", "2"]) == 0
    line = capsys.readouterr().out.splitlines()[-1]
    assert "affine-aligned in depth" in line
    assert "errors in disparity, cap 12 m, Garg crop" in line
    assert "2 pictures (one in 2)" in line


def test_a_missing_prediction_is_listed_and_fatal_unless_told(rgbd_folder, predictions, capsys):
    (predictions / "a1/image.npz").unlink()
    words = ["bench", "rgbd", str(rgbd_folder), "--predictions", str(predictions)]
    assert main(words) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert "a1: " in caught.err
    assert "1 of 3 pictures of rgbd cannot be scored" in caught.err
    assert main([*words, "--keep-going"]) == 0
    caught = capsys.readouterr()
    assert "2 pictures, 1 could not be scored" in caught.out
    assert "a1: " in caught.err


def test_relative_maps_have_no_meters(rgbd_folder, predictions, capsys):
    words = ["bench", "rgbd", str(rgbd_folder), "--predictions", str(predictions)]
    assert main([*words, "--align", "none"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "use --align disparity, or a metric model" in error


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nothing", "."], "there is no benchmark 'nothing'"),
        (["rgbd"], "where is rgbd?"),
        (["rgbd", "gone"], "index.json: no such file"),
        (["kitti", "gone"], "no such folder"),
        (["nyu", "."], "splits.mat"),
        (["rgbd", ".", "--cap", "-3"], "leaves nothing"),
        (["rgbd", ".", "--align", "sideways"], "sideways"),
        (["rgbd", ".", "--predictions", "gone"], "no such folder of predictions"),
    ],
)
def test_mistakes_are_one_line(words, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_a_model_on_point_pairs(tmp_path, model, photo, capsys):
    (tmp_path / "street").mkdir()
    Image.fromarray(photo[:80, :100]).save(tmp_path / "street/a.png")
    row = {"point1": [70, 50], "point2": [5, 50], "closer_point": "point1"}
    (tmp_path / "pairs.json").write_text(json.dumps({"street/a.png": [row, row, row]}))
    assert main(["bench", "points", str(tmp_path), "--model", str(model)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["set", "pairs", "accuracy"]
    assert lines[1].split()[:2] == ["overall", "3"]
    assert "ties wrong" in lines[-1]
    assert "1 pictures with 3 pairs" in lines[-1]
    assert "model tiny-test@" in lines[-1]


def test_plain_arrays_say_what_they_are_by_a_flag(rgbd_folder, tmp_path, capsys):
    folder = tmp_path / "plain"
    folder.mkdir()
    for truth in read_rgbd(rgbd_folder):
        depth = 1 / np.where(truth.known, truth.disparity, 1)
        np.save(folder / f"{truth.sample}.npy", depth)
    words = ["bench", "rgbd", str(rgbd_folder), "--predictions", str(folder)]
    assert main(words) == 2
    assert "--predictions-kind" in capsys.readouterr().err
    assert main([*words, "--predictions-kind", "depth", "--align", "none"]) == 0
    assert "1 without meters left out" in capsys.readouterr().out
