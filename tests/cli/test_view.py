"""`sightline view` and `sightline demo`: from results to a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.files.clouds import read_points
from sightline.files.depth_files import read_depth
from sightline.weights.catalogue import ENTRIES, find


def test_a_folder_of_results(sightline, model, pictures, tmp_path):
    folder = pictures(2)[0].parent
    out = tmp_path / "out"
    words = ["--out", out, "--model", model, "--save", "npz,glb"]
    assert sightline("depth", folder, *words).returncode == 0
    result = sightline("view", out)
    assert (result.returncode, result.stdout) == (0, f"{out / 'index.html'}\n")
    page = (out / "index.html").read_text()
    assert page.count("<article") == 2
    assert page.count('class="photo"') == 2  # found by way of the manifest
    assert 'href="photo001.glb"' in page


def test_a_result_whose_photograph_is_gone(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    out = tmp_path / "out"
    assert sightline("depth", picture, "--out", out, "--model", model).returncode == 0
    picture.unlink()
    page = tmp_path / "elsewhere" / "page.html"
    assert sightline("view", out / "photo000.npz", "--out", page).returncode == 0
    text = page.read_text()
    assert 'class="photo"' not in text
    assert 'href="../out/photo000.npz"' in text


def test_a_folder_without_results(sightline, tmp_path):
    result = sightline("view", tmp_path)
    assert result.returncode == 2
    assert "run sightline depth first" in result.stderr


def check_demo(result, out: Path) -> None:
    assert result.returncode == 0, result.stderr
    printed = [line.rsplit(maxsplit=1)[-1] for line in result.stdout.splitlines()]
    names = ["coffee_color.png", "coffee.npz", "coffee.glb", "index.html"]
    assert printed == [str(out / name) for name in names]
    depth = read_depth(out / "coffee.npz")
    assert depth.values.shape == (400, 600)
    assert read_points(out / "coffee.glb").faces is not None
    assert 'class="photo"' in (out / "index.html").read_text()


def test_demo(sightline, model, tmp_path):
    out = tmp_path / "demo"
    check_demo(sightline("demo", "--out", out, "--model", model), out)


@pytest.mark.skipif(
    find("default", ENTRIES) is None, reason="the embedded model is not in this tree"
)
def test_demo_with_the_embedded_model(sightline, tmp_path):
    """The saucer's near edge is nearer than the table behind the cup."""
    out = tmp_path / "demo"
    check_demo(sightline("demo", "--out", out), out)
    depth = read_depth(out / "coffee.npz")
    near, far = depth.values[330:, 200:400].mean(), depth.values[:40, :150].mean()
    assert (near > far) == depth.kind.larger_is_nearer
