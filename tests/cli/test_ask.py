"""`sightline ask` and `sightline tokens` from the command line, with random models: form, not wits."""

import io
import json
import shutil

import numpy as np
import pytest
import torch
from PIL import Image

from sightline.cli import main
from sightline.io.images import read_picture
from sightline.perception.codebook import DepthCodebook, DepthTokenizer, write_codebook
from sightline.perception.options import LoraOptions
from sightline.perception.tokens import to_text
from sightline.perception.vlm.lora import add_lora
from sightline.perception.vlm.model import load_vlm, save_vlm


@pytest.fixture(scope="module")
def codebook(random_codebook):
    return random_codebook


@pytest.fixture(scope="module")
def model(hub_folder, codebook, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "adapter"
    options = LoraOptions(rank=2, alpha=2, pixels=True)
    vlm = add_lora(load_vlm(hub_folder), options, DepthTokenizer(codebook).sha256)
    save_vlm(vlm, folder)
    return folder


@pytest.fixture
def photo(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    path = tmp_path / "photo.png"
    Image.fromarray(pixels).save(path)
    return path


def run(capsys, *words):
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_a_question_is_answered_with_its_steps(capsys, photo, model, codebook, tmp_path):
    code, out, _ = run(
        capsys, "ask", photo, "which is nearest?", "--points", "A=10,10", "B=70,50",
        "--model", model, "--codebook", codebook, "--picture", tmp_path / "reply.png",
    )  # fmt: skip
    assert code == 0
    assert out.startswith("A at 10,10")
    assert out.rstrip().splitlines()[-1].startswith(("Answer: ", "No answer"))
    assert read_picture(tmp_path / "reply.png").height == 160
    code, _, err = run(
        capsys, "ask", photo, "which is nearest?", "--points", "A=10,10", "B=70,50",
        "--model", model, "--codebook", codebook, "--picture", tmp_path / "reply.png",
    )  # fmt: skip
    assert code == 2
    assert "is there already" in err


def test_json_for_programs(capsys, photo, model, codebook):
    code, out, _ = run(
        capsys, "ask", photo, "how many cups?", "--model", model, "--codebook", codebook, "--json"
    )
    assert code == 0
    found = json.loads(out)
    assert found["asked"] == "count"
    assert found["kind"] == "cups"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("which is nearest?", "--points", "A=10,10", "B=90,10"), "outside"),
        (("which is nearest?", "--points", "A=10,10"), "at least two points"),
        (("sing a song",), "unsupported kind"),
        (("which is nearest?", "--points", "A=10,10", "B=oops"), "cannot be parsed"),
        (("how many cups?", "--map", "map.png"), "have no depth map; leave out --map"),
    ],
)
def test_mistakes_are_told_in_a_line(capsys, photo, model, words, says):
    code, out, err = run(capsys, "ask", photo, *words, "--model", model)
    assert code == 2
    assert says in err
    assert not out
    assert err.count("\n") == 1


def test_a_folder_of_another_kind_of_model(capsys, photo, tmp_path):
    """Without a config transformers would build its default, of billions of weights."""
    (tmp_path / "model.safetensors").write_bytes(b"weights of something else")
    code, _, err = run(capsys, "ask", photo, "depth map", "--model", tmp_path)
    assert code == 2
    assert "is not a LLaVA-type model: there is no config.json; give one with" in err
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    code, _, err = run(capsys, "ask", photo, "depth map", "--model", tmp_path)
    assert code == 2
    assert "is not a LLaVA-type model but 'bert'" in err
    (tmp_path / "config.json").write_text("[")
    code, _, err = run(capsys, "ask", photo, "depth map", "--model", tmp_path)
    assert code == 2
    assert "config.json: cannot be understood" in err


def test_an_answer_is_not_lost_with_its_picture(capsys, photo, model, codebook):
    words = ("--points", "A=10,10", "B=70,10", "--picture", "/proc/x/answer.png")
    code, out, err = run(
        capsys, "ask", photo, "which is nearest?", *words, "--model", model, "--codebook", codebook
    )
    assert code == 2
    assert "A at 10,10" in out
    assert "/proc/x: this folder cannot be made" in err


def test_a_model_without_tokens_and_a_foreign_codebook(
    capsys, photo, hub_folder, model, codebook, tmp_path
):
    asked = ("which is nearest?", "--points", "A=10,10", "B=70,10")
    code, _, err = run(capsys, "ask", photo, *asked, "--model", hub_folder, "--codebook", codebook)
    assert code == 2
    assert "no depth tokens" in err
    torch.manual_seed(1)
    write_codebook(DepthCodebook().eval(), tmp_path / "other.onnx")
    code, _, err = run(
        capsys, "ask", photo, *asked, "--model", model, "--codebook", tmp_path / "other.onnx"
    )
    assert code == 2
    assert "was trained with codebook" in err


def test_tokens_there_and_back(capsys, codebook, tmp_path):
    ramp = np.linspace(0, 255, 64).astype(np.uint8)[None].repeat(48, 0)
    Image.fromarray(ramp).save(tmp_path / "gray.png")
    code, out, _ = run(
        capsys, "tokens", "encode", tmp_path / "gray.png", "--depth", "--codebook", codebook
    )
    assert code == 0
    assert out.count("<DEPTH_") == 102
    (tmp_path / "tokens.txt").write_text(f"It is {out} indeed")
    for number, given in enumerate((out.strip(), tmp_path / "tokens.txt")):
        path = tmp_path / f"map{number}.png"
        code, said, _ = run(
            capsys, "tokens", "decode", given, "--out", path, "--size", "64x48",
            "--codebook", codebook,
        )  # fmt: skip
        assert code == 0
        assert said.strip() == str(path)
        assert read_picture(path).pixels.shape == (48, 64, 3)
    code, _, err = run(
        capsys, "tokens", "decode", tmp_path / "gray.png", "--out", tmp_path / "x.png",
        "--codebook", codebook,
    )  # fmt: skip
    assert code == 2
    assert "no depth map in the text" in err


def test_tokens_from_the_standard_input(capsys, codebook, tmp_path, monkeypatch):
    text = to_text(np.zeros((10, 10), np.int64))
    monkeypatch.setattr("sys.stdin", io.StringIO(text))
    path = tmp_path / "map.png"
    code, _, err = run(capsys, "tokens", "decode", "-", "--out", path, "--codebook", codebook)
    assert code == 0, err
    assert path.is_file()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--out", "x.png", "--size", "0x0"), "--size must be"),
        (("--out", "x.png", "--size", "100000x100000"), "--size must be"),
        (("--out", "x.png", "--size", f"{'9' * 5000}x1"), "a size is"),
        (("--out", "x.jpg"), "--out writes PNG"),
        (("--out", "."), "--out writes PNG"),
    ],
)
def test_what_cannot_be_written(capsys, words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "tokens", "decode", to_text(np.zeros((10, 10), np.int64)), *words)
    assert code == 2
    assert says in err
    assert err.count("\n") == 1


def test_an_exr_without_a_word_and_digits_of_others(capsys, tmp_path):
    (tmp_path / "coffee.exr").write_bytes(b"v/1\x01")
    code, _, err = run(capsys, "tokens", "encode", tmp_path / "coffee.exr")
    assert code == 2
    assert "add --depth" in err
    text = to_text(np.zeros((10, 10), np.int64)).replace("<DEPTH_0>", "<DEPTH_٣>", 1)
    code, _, err = run(capsys, "tokens", "decode", text, "--out", tmp_path / "x.png")
    assert code == 2
    assert "between the codes" in err


@pytest.mark.parametrize("option", ["--picture", "--map"])
def test_targets_are_checked_before_the_model_is_loaded(capsys, photo, tmp_path, option):
    (tmp_path / "file").write_text("")
    asked = ("ask", photo, "depth map", "--model", tmp_path / "no-model", option)
    for target, says in (("x.jpg", f"{option} writes PNG"), ("file/x.png", f"another {option}")):
        code, _, err = run(capsys, *asked, tmp_path / target)
        assert code == 2
        assert says in err


def test_a_codebook_that_cannot_be_checked(capsys, photo, model, codebook, tmp_path):
    folder = shutil.copytree(model, tmp_path / "adapter")
    notes = json.loads((folder / "perception.json").read_text())
    (folder / "perception.json").write_text(json.dumps(notes | {"codebook": None}))
    code, _, err = run(capsys, "ask", photo, "depth map", "--model", folder, "--codebook", codebook)
    assert code == 0
    assert "caution: the model does not name the codebook" in err
