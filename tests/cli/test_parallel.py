"""Commands that map over inputs write the same bytes in one process, in several, and on Ray."""

from __future__ import annotations

import os
import re

import pytest
from PIL import Image

from sightline.cli import main

COMMANDS = ("bench", "depth-questions", "hardblink", "quiz-depth", "quiz-vlm", "video-sample")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory, photo):
    """Photographs, a HardBLINK set of twelve questions, a set of point pairs, and videos."""
    folder = tmp_path_factory.mktemp("inputs")
    photos = folder / "photos"
    photos.mkdir()
    for number in range(3):
        Image.fromarray(photo[:, 60 * number : 60 * number + 400]).save(photos / f"{number}.jpg")
    rows = "".join(f"photos/{n}.jpg,10,10,300,200,point2\n" for n in range(3))
    (folder / "pairs.csv").write_text("image,row1,col1,row2,col2,closer\n" + rows)
    words = f"questions hardblink {photos} --out {folder}/hard --model tiny --points 2 3 4 5"
    assert main(words.split()) == 0
    words = f"physics make uniform --out {folder}/a.h5 --count 3 --size 64 --workers 1"
    assert main(words.split()) == 0
    return folder


@pytest.fixture(scope="module")
def words(inputs, random_codebook):
    """Words of each command but for where it writes and runs."""
    return {
        "bench": f"bench points {inputs} --model tiny --json {{out}}/report.json",
        "depth-questions": f"questions depth {inputs}/photos --model tiny --asked-share 1 "
        f"--codebook {random_codebook} --out {{out}}/set",
        "hardblink": f"questions hardblink {inputs}/photos --model tiny --out {{out}}/set",
        "quiz-depth": f"quiz hardblink {inputs}/hard --depth tiny --json {{out}}/quiz.json",
        "quiz-vlm": f"quiz hardblink {inputs}/hard --model perception-vlm --direct "
        "--json {out}/quiz.json",
        "video-sample": f"video sample --data {inputs}/a.h5 --batch 1 --steps 2 --device cpu "
        "--out {out}/videos",
    }


def written(folder):
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "quiz-vlm")) for name in COMMANDS],
)
def test_two_workers_write_what_one_process_writes(name, words, tmp_path, capsys):
    found = []
    for count in (1, 2):
        folder = tmp_path / str(count)
        assert main(f"{words[name].format(out=folder)} --workers {count}".split()) == 0
        said = re.sub(re.escape(str(folder)), "", capsys.readouterr().out)
        found.append((written(folder), said))
    assert found[0] == found[1]
    assert found[0][0]


@pytest.mark.slow
def test_ray_writes_what_one_process_writes(words, tmp_path, sightline):
    pytest.importorskip("ray", reason="needs the extra `cluster`")
    alone = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    for name in COMMANDS:
        plain, cluster = tmp_path / name / "plain", tmp_path / name / "cluster"
        assert main(words[name].format(out=plain).split()) == 0
        more = ["--cluster", "--workers", "2"]
        ended = sightline(*words[name].format(out=cluster).split(), *more, env=alone, timeout=300)
        assert ended.returncode == 0, ended.stderr
        assert written(cluster) == written(plain)


@pytest.mark.parametrize("name", COMMANDS)
def test_an_address_needs_a_cluster(name, words, tmp_path, capsys):
    assert main([*words[name].format(out=tmp_path).split(), "--address", "auto"]) == 2
    assert "--address is used only with --cluster" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())
