"""`sightline demo`: the page is made with whatever is installed, and says what is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sightline.cli import main
from sightline.errors import InputError
from sightline.io.depth_files import read_depth
from sightline.io.pointclouds import read_pointcloud

#: What only extras bring.
EXTRAS = ("torch", "numba", "transformers", "peft", "safetensors", "h5py", "pymunk", "fastapi")


def check_depth(result, out: Path) -> None:
    assert result.returncode == 0, result.stderr
    for name in ("coffee_color.png", "coffee.npz", "coffee.glb", "index.html"):
        assert str(out / name) in result.stdout
    assert read_depth(out / "coffee.npz").values.shape == (400, 600)
    assert read_pointcloud(out / "coffee.glb").faces is not None
    assert 'class="photo"' in (out / "index.html").read_text()


def test_depth_alone(sightline, model, tmp_path):
    out = tmp_path / "demo"
    result = sightline("demo", "--out", out, "--model", model, "--only", "depth")
    check_depth(result, out)
    assert (out / "index.html").as_uri() in result.stdout
    assert "serve --open" in result.stdout


def test_the_embedded_model(sightline, tmp_path):
    """The saucer's near edge is nearer than the table behind the cup."""
    out = tmp_path / "demo"
    check_depth(sightline("demo", "--out", out, "--only", "depth"), out)
    depth = read_depth(out / "coffee.npz")
    near, far = depth.values[330:, 200:400].mean(), depth.values[:40, :150].mean()
    assert (near > far) == depth.kind.larger_is_nearer


def test_with_the_core_alone(sightline, environment, without, tmp_path):
    """Depth is shown; every other part says in a line what to install."""
    out = tmp_path / "demo"
    lacking = {**environment, **without(*EXTRAS)}
    result = sightline("demo", "--out", out, "--model", "tiny", env=lacking)
    check_depth(result, out)
    page = (out / "index.html").read_text()
    said = re.findall(r'class="missing">(.*?)</p>', page)
    extras = ("metric", "perception", "perception,physics")
    assert [line.partition(" run: ")[2] for line in said] == [
        f"pip install &#39;sightline[{extra}]&#39;" for extra in extras
    ]
    for extra in extras:
        assert f"pip install 'sightline[{extra}]'" in result.stdout


def test_networks_that_cannot_be_fetched(tmp_path, capsys, monkeypatch):
    from sightline.metric.people import blazepose

    def unreachable(*_args, **_settings):
        raise InputError("pose-detection cannot be fetched", remedy="connect to the network")

    monkeypatch.setattr(blazepose, "BlazePoseFinder", unreachable)
    words = ["demo", "--out", str(tmp_path), "--model", "tiny", "--only", "depth", "meters"]
    assert main(words) == 0
    assert "pose-detection cannot be fetched" in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text()
    assert "pose-detection cannot be fetched; connect to the network" in page
    assert page.count('class="cloud"') == 1


def test_a_part_that_fails_costs_the_others_nothing(tmp_path, capsys, monkeypatch):
    from sightline.metric.people import blazepose

    def stumble(*_args, **_settings):
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(blazepose, "BlazePoseFinder", stumble)
    words = ["demo", "--out", str(tmp_path), "--model", "tiny", "--only", "depth", "meters"]
    assert main(words) == 1
    said = capsys.readouterr()
    last = said.err.splitlines()[-1]
    assert last.startswith("sightline: a part of the demo failed (meters: ZeroDivisionError")
    assert str(tmp_path / "index.html") in said.out
    page = (tmp_path / "index.html").read_text()
    assert page.count('class="cloud"') == 1  # depth
    assert "This part failed, which is a mistake of ours (ZeroDivisionError" in page
    assert main([*words[:5], "--only", "depth"]) == 0  # a page of ours is replaced


@pytest.mark.parametrize(
    "words", [["demo", "--model", "tiny", "--only", "depth"], ["video", "demo"]]
)
def test_a_page_of_somebody_else_is_left_alone(tmp_path, capsys, words):
    mine = tmp_path / "index.html"
    mine.write_text("<!doctype html><title>mine</title>")
    assert main([*words, "--out", str(tmp_path)]) == 2
    assert "no page of Sightline's; give another --out" in capsys.readouterr().err
    assert mine.read_text() == "<!doctype html><title>mine</title>"
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


@pytest.mark.parametrize(
    ("words", "says"),
    [(["--only", "smells"], "smells"), (["--model", "nothing.onnx", "--only", "depth"], "nothing")],
)
def test_mistakes(tmp_path, capsys, words, says):
    assert main(["demo", "--out", str(tmp_path), *words]) == 2
    assert says in capsys.readouterr().err


def test_a_file_in_the_way(tmp_path, capsys):
    (tmp_path / "out").write_text("mine")
    assert main(["demo", "--out", str(tmp_path / "out"), "--only", "depth"]) == 2
    assert "a file is in the way of this folder; choose another --out" in capsys.readouterr().err
    assert (tmp_path / "out").read_text() == "mine"
