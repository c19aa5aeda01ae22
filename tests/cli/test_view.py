"""`sightline view`: from results to a page."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.examples import example_photograph
from sightline.io.depth_files import write_depth
from sightline.io.inputs import Source
from sightline.jobs.manifest import NAME, VERSION, Manifest
from sightline.jobs.naming import plan
from sightline.types import DepthMap, Kind


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


_ODD_RECORD = json.dumps(
    {
        "version": VERSION,
        "results": {
            "a": {
                "source": 5,
                "size": 1,
                "mtime": 1,
                "settings": "",
                "outputs": ["a.npz"],
                "done": ["a.npz"],
            }
        },
    }
)


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A folder of two results."""
    values = np.linspace(1, 2, 48, dtype=np.float32).reshape(6, 8)
    for name in ("a.npz", "b.npz"):
        write_depth(tmp_path / "out" / name, DepthMap(values, Kind.RELATIVE_DISPARITY))
    return tmp_path / "out"


def test_a_bad_result_among_many_is_left_out_and_reported(results, capsys):
    (results / "a.npz").write_bytes(b"no result")
    assert main(["view", str(results)]) == 2
    printed = capsys.readouterr()
    assert printed.out == f"{results / 'index.html'}\n"
    (line,) = printed.err.splitlines()
    assert line.startswith(f"left out: {results / 'a.npz'}: ")
    page = (results / "index.html").read_text()
    assert page.count("<article") == 1


def test_only_bad_results_make_no_page(results, capsys):
    for path in results.iterdir():
        path.write_bytes(b"no result")
    assert main(["view", str(results)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"sightline: {results / 'a.npz'}: ")
    assert not (results / "index.html").exists()


@pytest.mark.parametrize("content", [b"no picture any more", b""])
def test_a_photograph_that_is_no_picture_any_more(results, content):
    picture = results.parent / "a.jpg"
    picture.write_bytes(content)
    (job,) = plan([Source(picture, Path("a.jpg"), is_video=False)], results, ("npz",))
    manifest = Manifest(results)
    with manifest.working([job], "settings"):
        manifest.finish(job)
    assert Manifest(results).source_of(results / "a.npz") == picture
    assert main(["view", str(results)]) == 0
    text = (results / "index.html").read_text()
    assert text.count("<article") == 2
    assert 'class="photo"' not in text


@pytest.mark.parametrize("content", [_ODD_RECORD, "[" * 200_000], ids=["record", "depth"])
def test_a_hostile_manifest_is_none(results, content):
    (results / NAME).write_text(content)
    assert main(["view", str(results)]) == 0


def test_a_result_whose_name_is_not_text(results):
    odd = results / os.fsdecode(b"caf\xe9.npz")
    try:
        (results / "a.npz").rename(odd)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    assert main(["view", str(results)]) == 0
    assert 'href="caf%E9.npz"' in (results / "index.html").read_text()


def test_a_device_is_not_spoken_of_as_a_folder(capsys):
    assert main(["view", os.devnull]) == 2
    assert "folder" not in capsys.readouterr().err


def test_a_page_of_somebody_else_is_left_alone(results, capsys):
    (results / "index.html").write_text("mine")
    assert main(["view", str(results)]) == 2
    assert "no page of Sightline's" in capsys.readouterr().err
    assert (results / "index.html").read_text() == "mine"
    assert main(["view", str(results), "--out", str(results / "index.html")]) == 0  # by name
    assert main(["view", str(results)]) == 0  # ours by now


def test_a_page_where_a_folder_is(results, capsys):
    assert main(["view", str(results), "--out", str(results)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{results}: a folder is in the way of this file" in line


def test_results_without_npz_are_shown_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    photo = str(example_photograph())
    assert main(["depth", photo, "--save", "png,exr,color", "--out", str(out)]) == 0
    Image.new("RGB", (4, 4)).save(out / "holiday.png")  # somebody else's
    assert main(["view", str(out)]) == 0
    page = (out / "index.html").read_text(encoding="utf-8")
    assert page.count('class="exhibit sheet"') == 1
    assert "left out" not in capsys.readouterr().err


def test_a_folder_of_films_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from fractions import Fraction

    from sightline.io.video_writing import ColorVideoWriter

    with ColorVideoWriter(tmp_path / "clip.mp4", 64, 48, Fraction(10)) as writer:
        writer.write(np.zeros((48, 64, 3), np.uint8))
    out = tmp_path / "out"
    assert main(["depth", str(tmp_path / "clip.mp4"), "--out", str(out)]) == 0
    assert main(["view", str(out)]) == 2
    assert "holds films only; open clip_color.mp4 in a player" in capsys.readouterr().err
