"""`sightline depth` as a user meets it: real processes, real files, a small real network."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.cli.batch import report
from sightline.io.depth_files import read_depth
from sightline.jobs.naming import BatchJob
from sightline.jobs.task import BatchOutcome


def files_in(folder: Path) -> set[str]:
    """Everything below a folder but the manifest."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix() for path in found} - {".sightline.json"}


def lines(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines()]


def test_one_picture(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    out = tmp_path / "out"
    result = sightline("depth", picture, "--out", out, "--model", model)
    assert (result.returncode, result.stderr) == (0, "")
    assert files_in(out) == {"photo000.npz", "photo000_color.png"}
    assert result.stdout.splitlines()[1:] == [
        f"  {out / 'photo000.npz'}",
        f"  {out / 'photo000_color.png'}",
    ]
    with Image.open(picture) as image:
        width, height = image.size
    with np.load(out / "photo000.npz", allow_pickle=False) as data:
        assert data["values"].dtype == np.float32
        assert data["values"].shape == data["valid"].shape == (height, width)
        assert str(data["kind"]) == "relative_disparity"
        assert data["K"].shape == (3, 3)


def test_every_format_and_option(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    out = tmp_path / "out"
    words = ["--save", "npz,png,exr,color,ply,glb,normals", "--fov", "90", "--sigma", "--tiles"]
    words += ["--palette", "turbo", "--size", "96", "--engine", "openvino", "--threads", "1"]
    result = sightline("depth", picture, "--out", out, "--model", model, *words, "--json")
    assert result.returncode == 0, result.stderr
    (line,) = lines(result.stdout)
    assert line["camera"] == "given"
    assert (line["kind"], line["unit"]) == ("relative_disparity", "")
    assert set(line["outputs"]) == {"npz", "png", "exr", "color", "ply", "glb", "normals"}
    assert all(Path(path).is_file() for path in line["outputs"].values())
    depth = read_depth(out / "photo000.npz")
    assert depth.sigma is not None
    assert depth.camera is not None
    assert depth.camera.focal == pytest.approx(depth.width / 2)
    assert (line["width"], line["height"]) == (depth.width, depth.height)


def test_bad_files_with_keep_going(sightline, model, mixed, tmp_path):
    out = tmp_path / "out"
    result = sightline("depth", mixed[0].parent, "--out", out, "--model", model, "--keep-going")
    assert result.returncode == 2
    assert len(files_in(out)) == 2 * 18
    head, *rest = result.stderr.splitlines()
    assert head.startswith("18 done, 2 failed")
    assert len(rest) == 2
    assert mixed[5].name in rest[0]
    assert mixed[12].name in rest[1]


def test_bad_files_without_keep_going(sightline, model, mixed, tmp_path):
    out = tmp_path / "out"
    result = sightline("depth", mixed[0].parent, "--out", out, "--model", model)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert str(mixed[5]) in line
    assert {f"photo{n:03d}.npz" for n in range(5)} <= files_in(out)
    assert "photo013.npz" not in files_in(out)


def test_json_is_all_there_is_on_the_standard_output(sightline, model, mixed, tmp_path):
    words = ["--out", tmp_path / "out", "--model", model, "--keep-going", "--json"]
    result = sightline("depth", mixed[0].parent, *words)
    printed = lines(result.stdout)
    assert [line["file"] for line in printed] == [str(path) for path in mixed]
    bad = [line for line in printed if "error" in line]
    assert [line["exit_code"] for line in bad] == [2, 2]
    good = next(line for line in printed if "error" not in line)
    assert good["seconds"] > 0
    assert good["camera"] == "assumed"


def test_resume_does_only_what_is_missing(sightline, model, pictures, tmp_path):
    paths = pictures(4)
    out = tmp_path / "out"
    words = ["depth", paths[0].parent, "--out", out, "--model", model, "--resume", "--json"]
    assert sightline(*words).returncode == 0
    before = {path: path.stat().st_mtime_ns for path in out.glob("*.npz")}
    (out / "photo001_color.png").unlink()
    os.utime(paths[2], (1, 1))
    second = lines(sightline(*words).stdout)
    assert {Path(line["file"]).stem for line in second if not line.get("skipped")} == {
        "photo001",
        "photo002",
    }
    untouched = out / "photo000.npz"
    assert untouched.stat().st_mtime_ns == before[untouched]
    third = lines(sightline(*words, "--size", "96").stdout)
    assert not any(line.get("skipped") for line in third)


def test_same_stems_and_subfolders(sightline, model, pictures, tmp_path):
    first, second = pictures(2)
    folder = first.parent
    shutil.copy(first, folder / "a.jpg")
    shutil.copy(second, folder / "a.png")
    (folder / "sub").mkdir()
    shutil.copy(first, folder / "sub" / "a.jpg")
    out = folder / "results"
    words = ["depth", folder, "--recursive", "--out", out, "--model", model, "--save", "npz"]
    for _ in range(2):  # the second time round, results must not be taken for inputs
        assert sightline(*words).returncode == 0
        assert files_in(out) == {
            "photo000.npz",
            "photo001.npz",
            "a.jpg.npz",
            "a.png.npz",
            "sub/a.npz",
        }


def test_results_beside_the_pictures(sightline, model, pictures):
    paths = pictures(2)  # a jpg and a png
    originals = [path.read_bytes() for path in paths]
    folder = paths[0].parent
    words = ["depth", folder, "--out", folder, "--model", model, "--save", "png,color"]
    for _ in range(2):
        result = sightline(*words)
        assert result.returncode == 0, result.stderr
        assert files_in(folder) == {path.name for path in paths} | {
            "photo000.png",
            "photo000_color.png",
            "photo001.png.png",
            "photo001.png_color.png",
        }
    assert [path.read_bytes() for path in paths] == originals


def test_a_quoted_glob(sightline, model, pictures, tmp_path):
    folder = pictures(5)[0].parent
    out = tmp_path / "out"
    words = ["--out", out, "--model", model, "--save", "npz"]
    assert sightline("depth", f"{folder}/*.jpg", *words).returncode == 0
    assert files_in(out) == {"photo000.npz", "photo004.npz"}


def test_a_name_that_is_not_text(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    odd = picture.with_name(os.fsdecode(b"caf\xe9.jpg"))
    try:
        picture.rename(odd)
    except OSError:
        pytest.skip("this file system takes only UTF-8 names")
    result = sightline("depth", odd, "--out", tmp_path / "out", "--model", model)
    assert result.returncode == 0, result.stderr
    assert "caf\\udce9.npz" in result.stdout


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--model", "no-such-model"], "no-such-model"),
        (["--fov", "200"], "field of view"),
    ],
)
def test_wrong_settings_stop_before_any_work(sightline, model, pictures, tmp_path, words, part):
    (picture,) = pictures(1)
    if "--model" not in words:
        words = [*words, "--model", model]
    result = sightline("depth", picture, "--out", tmp_path / "out", *words)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert part in line
    assert not (tmp_path / "out").exists()


def test_too_many_pixels(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    words = ["--out", tmp_path / "out", "--model", model, "--max-pixels", "100"]
    result = sightline("depth", picture, *words)
    assert result.returncode == 2
    assert str(picture) in result.stderr


@pytest.mark.parametrize(
    ("out", "part"),
    [
        ("taken", "taken/photo000.npz: a folder is in the way of this file"),
        ("loop/out", "a link leads back to itself"),
        ("loop", "a file is in the way of this folder"),
        ("x" * 300, "the name is too long"),
    ],
)
def test_results_that_cannot_go_there(model, pictures, tmp_path, capsys, out, part):
    (picture,) = pictures(1)
    (tmp_path / "taken" / "photo000.npz").mkdir(parents=True)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    code = main(["depth", str(picture), "--out", str(tmp_path / out), "--model", str(model)])
    (line,) = capsys.readouterr().err.splitlines()
    assert (code, part in line) == (2, True), line


def test_a_summary(tmp_path, capsys):
    clip = BatchJob(Path("a\nb.mp4"), True, "a", (("color", tmp_path / "a.mp4"),))
    outcomes = [BatchOutcome(clip, warnings=("breaks off",)), BatchOutcome(clip, skipped=True)]
    assert report(outcomes, tmp_path, 1.0) == 0
    printed = capsys.readouterr()
    assert printed.out == f"1 done, 1 done before in 1.0 s, results in {tmp_path}\n"
