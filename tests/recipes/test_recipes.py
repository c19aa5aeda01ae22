"""The recipes: the short run goes through all stages; the paper's commands are understood."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_the_whole_recipe_runs_end_to_end(tmp_path):
    done = subprocess.run(
        [sys.executable, str(ROOT / "recipes" / "cpu"), "--work", str(tmp_path), "--smoke"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    for stage in ("teacher", "student", "metric"):
        assert (tmp_path / stage / "model.safetensors").is_file()
        rows = (tmp_path / stage / "log.jsonl").read_text().splitlines()
        assert json.loads(rows[-1])["step"] == 2
    assert len(list((tmp_path / "labels").rglob("*.png"))) == 4
    assert "Spearman" in done.stdout


@pytest.mark.parametrize("name", ["shards", "teacher", "label", "student", "metric"])
def test_the_commands_of_the_paper_are_understood(tmp_path, name):
    """Each script runs with `sightline` replaced by a program that only parses what it is given."""
    parse = tmp_path / "parse.py"
    parse.write_text(
        "import sys\nfrom sightline.cli import build\n"
        "command, bound, *_ = build().parse_args(sys.argv[1:], exit_on_error=False)\n"
        "print(command.__name__, *bound.arguments)\n"
    )
    call = f"{sys.executable} {parse}"
    done = subprocess.run(
        [shutil.which("sh"), str(ROOT / "recipes" / "paper" / f"{name}.sh")],
        env={**os.environ, "SIGHTLINE": call, "TORCHRUN": call},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == (5 if name == "shards" else 1)
    assert all(line.startswith(name) for line in lines)
    assert all("out" in line.split() for line in lines)
