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


def test_a_stage_that_there_is_not(tmp_path):
    command = [sys.executable, str(ROOT / "recipes" / "cpu"), "--work", str(tmp_path), "--smoke"]
    done = subprocess.run(
        [*command, "--only", "nostage"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "no stage is called nostage; there are scenes, " in done.stderr


def refresh(*words):
    command = [sys.executable, str(ROOT / "recipes" / "cpu" / "refresh.py"), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_plan_of_a_refresh_names_scripts_and_commands_that_exist(tmp_path):
    done = refresh("--data", "data", "--work", str(tmp_path), "--plan")
    assert done.returncode == 0, done.stderr
    plan = {
        name: command for name, _, command in (x.partition(" ") for x in done.stdout.splitlines())
    }
    order = ["calibration", "labels", "codebook", "publish-codebook", "vlm", "publish-vlm"]
    assert [name for name in plan if name in order] == order
    for command in plan.values():
        program, script = command.split()[:2]
        assert program == "sightline" or (ROOT / script).is_file()
    assert list(tmp_path.iterdir()) == []


def test_a_refresh_on_little_data(tmp_path):
    done = refresh("--work", str(tmp_path), "--smoke")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert "tiny" in json.loads((tmp_path / "calibration.json").read_text())
    assert len(list((tmp_path / "labels").rglob("*.png"))) == 4
    assert "| tiny@" in (tmp_path / "quality.md").read_text()
    assert "mean " in done.stdout  # of the metric prior


#: Commands of each script, by their names.
SCRIPTS = {
    "shards": ["shards"] * 5,
    **{name: [name] for name in ("teacher", "label", "student", "metric")},
    "video": ["codec", *["study"] * 7],
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_commands_of_the_paper_are_understood(tmp_path, name):
    """Each script runs with `sightline` and torchrun replaced by programs that only parse."""
    parse = (
        f"#!{sys.executable}\nimport sys\nfrom sightline.cli import build\nwords = sys.argv[1:]\n"
        "if sys.argv[0].endswith('torchrun'):\n"
        "    from torch.distributed.run import parse_args\n"
        "    launch = parse_args(words)\n"
        "    assert (launch.module, launch.training_script) == (True, 'sightline')\n"
        "    words = launch.training_script_args\n"
        "command, bound, *_ = build().parse_args(words, exit_on_error=False)\n"
        "print(command.__name__, *bound.arguments)\n"
    )
    for program in ("sightline", "torchrun"):
        (tmp_path / program).write_text(parse)
        (tmp_path / program).chmod(0o755)
    done = subprocess.run(
        [shutil.which("sh"), str(ROOT / "recipes" / "paper" / f"{name}.sh")],
        env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[0] for line in lines] == SCRIPTS[name]
    assert all("out" in line.split() for line in lines)
