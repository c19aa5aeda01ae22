"""int8 versions are let out only if they say the same as the float network."""

import json

import numpy as np
import openvino
import pytest

import sightline
from sightline.depth.int8 import GATE_KEY, make_int8
from sightline.errors import InputError, SightlineError
from sightline.weights.entry import Gate


@pytest.fixture(scope="module")
def pictures(photo):
    """Ten different pieces of a real photograph."""
    starts = np.random.default_rng(0).integers(0, 200, (10, 2))
    return [np.ascontiguousarray(photo[y : y + 96, x : x + 128]) for y, x in starts]


def test_a_faithful_version_is_kept_with_its_figures(conv_onnx, pictures, tmp_path, capsys):
    out = tmp_path / "small.xml"
    verdict = make_int8(conv_onnx, pictures, out)
    assert verdict.passed
    assert verdict.pictures == 5
    stored = openvino.Core().read_model(out).get_rt_info(GATE_KEY).value
    assert Gate(**json.loads(stored)) == verdict
    float_map = sightline.load(conv_onnx).infer(pictures[1])
    int8_map = sightline.load(out).infer(pictures[1])
    assert int8_map.kind is float_map.kind
    close = np.abs(int8_map.values - float_map.values).mean() / np.abs(float_map.values).mean()
    assert 0 < close < 0.03
    assert capsys.readouterr().out == ""


def test_an_unfaithful_one_leaves_nothing(conv_onnx, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.depth.quantise.LEAST_SPEARMAN", 1.01)
    with pytest.raises(SightlineError, match="strays too far from conv") as caught:
        make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    assert not isinstance(caught.value, InputError)
    assert list(tmp_path.iterdir()) == []


def test_too_few_pictures(conv_onnx, pictures, tmp_path):
    with pytest.raises(InputError, match="at least 8 pictures"):
        make_int8(conv_onnx, pictures[:7], tmp_path / "small.xml")


def test_the_command(conv_onnx, pictures, tmp_path, capsys):
    from PIL import Image

    from sightline.cli import main

    folder = tmp_path / "pictures"
    folder.mkdir()
    for number, pixels in enumerate(pictures):
        Image.fromarray(pixels).save(folder / f"{number}.png")
    out = tmp_path / "out" / "small.xml"
    words = ["models", "int8", str(conv_onnx), "--pictures", str(folder), "--out", str(out)]
    assert main(words) == 0
    assert "Spearman" in capsys.readouterr().out
    assert out.is_file()
    assert main([*words[:-1], str(tmp_path / "small.onnx")]) == 2
    assert "name it .xml" in capsys.readouterr().err
