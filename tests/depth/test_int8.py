"""int8 versions are let out only if they say the same as the float network."""

import json

import numpy as np
import pytest

import sightline
from sightline.depth.quantization import GATE_KEY, make_int8
from sightline.errors import InputError, SightlineError
from sightline.models.entry import Int8Gate
from sightline.runtime.openvino import openvino_core


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
    stored = openvino_core().read_model(out).get_rt_info(GATE_KEY).value
    assert Int8Gate(**json.loads(stored)) == verdict
    float_map = sightline.load(conv_onnx).infer(pictures[1])
    int8_map = sightline.load(out).infer(pictures[1])
    assert int8_map.kind is float_map.kind
    close = np.abs(int8_map.values - float_map.values).mean() / np.abs(float_map.values).mean()
    assert 0 < close < 0.03
    assert capsys.readouterr().out == ""


def test_an_unfaithful_one_leaves_nothing(conv_onnx, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.depth.quantization.LEAST_SPEARMAN", 1.01)
    with pytest.raises(SightlineError, match="strays too far from conv") as caught:
        make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    assert not isinstance(caught.value, InputError)
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def earlier(tmp_path):
    """An int8 model from before, .xml and .bin, with what they hold."""
    held = {tmp_path / f"small.{suffix}": suffix.encode() for suffix in ("xml", "bin")}
    for path, content in held.items():
        path.write_bytes(content)
    return held


def contents(folder):
    return {path: path.read_bytes() for path in folder.iterdir()}


def test_an_earlier_model_survives_a_failed_gate(
    conv_onnx, pictures, tmp_path, earlier, monkeypatch
):
    monkeypatch.setattr("sightline.depth.quantization.LEAST_SPEARMAN", 1.01)
    with pytest.raises(SightlineError, match="strays too far"):
        make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    assert contents(tmp_path) == earlier


def test_nothing_lies_at_its_place_before_the_gate(
    conv_onnx, pictures, tmp_path, earlier, monkeypatch
):
    def interrupt(reference, candidate, pictures, size):
        assert candidate.is_file()
        assert {path: path.read_bytes() for path in earlier} == earlier
        raise KeyboardInterrupt

    monkeypatch.setattr("sightline.depth.quantization.gate", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    assert contents(tmp_path) == earlier


def test_a_passed_gate_replaces_an_earlier_model(conv_onnx, pictures, tmp_path, earlier):
    make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    now = contents(tmp_path)
    assert now.keys() == earlier.keys()
    assert not any(now[path] == earlier[path] for path in now)


def test_an_int8_model_is_not_quantized_again(conv_onnx, pictures, tmp_path):
    make_int8(conv_onnx, pictures, tmp_path / "small.xml")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=r"small\.xml: is an int8 model already; give the float"):
        make_int8(tmp_path / "small.xml", pictures, tmp_path / "smaller.xml")
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"\x08\x09\x12" + b"garbage" * 40, "not a whole ONNX"), (b"<html>", "a web page")],
)
def test_junk_instead_of_a_model(pictures, tmp_path, content, words):
    (tmp_path / "junk.onnx").write_bytes(content)
    with pytest.raises(InputError, match=rf"junk\.onnx: .*{words}"):
        make_int8(tmp_path / "junk.onnx", pictures, tmp_path / "small.xml")
    assert [path.name for path in tmp_path.iterdir()] == ["junk.onnx"]


def test_a_place_that_cannot_be_written_shows_at_once(conv_onnx, pictures, tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.depth.quantization.quantize", None)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="choose another --out"):
        make_int8(conv_onnx, pictures, tmp_path / "file" / "small.xml")


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
