"""AURORA's recipe from the command line, with a LLaVA of a few thousand weights."""

import shutil

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.perception.codebook import DepthTokenizer
from sightline.perception.questions.records import Record, write_llava
from sightline.perception.questions.sets import depth_image, write_depth_sets
from sightline.perception.vlm.model import load_vlm
from sightline.types import DepthMap, Kind


@pytest.fixture(scope="module")
def made(tmp_path_factory, random_codebook):
    """A codebook and a set of questions."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(random_codebook, folder / "codebook.onnx")
    slope = np.linspace(1, 2, 60, dtype=np.float32)[None].repeat(40, 0)
    seen = [
        depth_image(
            f"p{k}", np.full((40, 60, 3), k, np.uint8), DepthMap(slope, Kind.RELATIVE_DISPARITY)
        )
        for k in range(4)
    ]
    tokenizer = DepthTokenizer(folder / "codebook.onnx")
    write_depth_sets(seen, folder / "set", tokenizer.to_text, asked_share=1.0)
    return folder


def words(hub_folder, made, out, *more):
    return [
        *("train", "vlm", "--model", str(hub_folder), "--questions", str(made / "set")),
        *("--codebook", str(made / "codebook.onnx"), "--out", str(out), "--rank", "2"),
        *("--alpha", "4", "--batch", "2", "--size", "4", "--epochs", "2", *more),
    ]


def test_an_adapter_that_can_be_asked(hub_folder, made, tmp_path, capsys):
    code = main(words(hub_folder, made, tmp_path / "run", "--reconstruction", "1"))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    adapter = tmp_path / "run" / "adapter"
    assert captured.out.strip() == str(adapter)
    vlm = load_vlm(adapter)
    vlm.check_codebook(DepthTokenizer(made / "codebook.onnx").sha256)
    Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / "photo.png")
    code = main(
        [
            *(
                "ask",
                str(tmp_path / "photo.png"),
                "which is nearest?",
                "--points",
                "A=1,1",
                "B=9,9",
            ),
            *("--model", str(adapter), "--codebook", str(made / "codebook.onnx")),
        ]
    )
    assert code == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith(("Answer: ", "No answer"))


def test_mistakes_are_told(hub_folder, made, tmp_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    given = words(hub_folder, made, tmp_path / "run")
    given[given.index(str(made / "set"))] = str(empty)
    assert main(given) == 2
    assert "no questions of perception alone" in capsys.readouterr().err
    given = words(hub_folder, made, tmp_path / "run")
    given[given.index("--batch") + 1] = "99"
    assert main(given) == 2
    assert "do not fill a batch" in capsys.readouterr().err


def test_the_same_command_gives_the_same_adapter(hub_folder, made, tmp_path, capsys):
    found = []
    for name in ("a", "b"):
        assert main(words(hub_folder, made, tmp_path / name, "--checkpointing", "--seed", "3")) == 0
        found.append((tmp_path / name / "adapter" / "adapter_model.safetensors").read_bytes())
    assert found[0] == found[1]
    capsys.readouterr()


def test_pixel_tokens_alone_and_one_path_of_several_processes(
    hub_folder, made, tmp_path, capsys, monkeypatch
):
    given = words(hub_folder, made, tmp_path / "run", "--no-depth", "--pixels")
    assert main(given) == 2
    assert "has depth tokens, which the model is not given" in capsys.readouterr().err
    boxes = [Record("images/p0.jpg", "where?", "<PIXEL_1><PIXEL_2><PIXEL_3><PIXEL_4>", "boxes")]
    folder = tmp_path / "set"
    shutil.copytree(made / "set" / "images", folder / "images")
    write_llava(folder / "boxes.json", boxes)
    write_llava(folder / "counting.json", [Record("images/p0.jpg", "how many?", "1", "direct")])
    given[given.index(str(made / "set"))] = str(folder)
    given[given.index("--codebook") + 1] = str(tmp_path / "no-codebook")
    monkeypatch.setenv("RANK", "1")  # not the first
    code = main(given)
    captured = capsys.readouterr()
    assert code == 0, captured.err
    assert not captured.out
    vlm = load_vlm(tmp_path / "run" / "adapter")
    assert len(vlm.vocabulary.pixels) == 336
    assert vlm.vocabulary.start is None
    given.remove("--pixels")
    assert main(given) == 2
    assert "add --pixels" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--threads", "0"), "threads must be at least 1"),
        (("--clip", "0"), "clip must be a number above 0"),
        (("--conclusion", "0"), "conclusion must be a number above 0"),
        (("--longest", "9"), "the conversation about images/p"),
    ],
)
def test_options_out_of_range(hub_folder, made, tmp_path, capsys, more, says):
    assert main(words(hub_folder, made, tmp_path / "run", *more)) == 2
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("name", ["size", "epochs"])
def test_samples_are_named(hub_folder, made, tmp_path, capsys, name):
    given = words(hub_folder, made, tmp_path / "run")
    given[given.index(f"--{name}") + 1] = "0"
    assert main(given) == 2
    assert f"{name} must be at least 1" in capsys.readouterr().err
