"""`sightline scenes`, for real, and what happens when it is stopped or its workers are killed."""

import json
import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest
from PIL import Image

from sightline.cli import main
from sightline.scenes.storage import finished_indexes

linux_only = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks into /proc")


@pytest.fixture
def made(tmp_path):
    out = tmp_path / "scenes"
    words = ["--count", "6", "--size", "32x24", "--seed", "4", "--workers", "1"]
    assert main(["scenes", "make", *words, "--out", str(out)]) == 0
    return out


def test_make_writes_the_folder(made):
    assert finished_indexes(made) == set(range(6))
    names = {path.name for path in made.iterdir()}
    assert {"scenes.json", "index.csv", "000005.jpg", "000005.mask.png"} <= names
    assert len(names) == 6 * 4 + 2
    with Image.open(made / "000000.jpg") as picture:
        assert picture.size == (32, 24)


def test_make_again_does_nothing_and_more_goes_on(made, capsys):
    words = [
        "scenes",
        "make",
        "--size",
        "32x24",
        "--seed",
        "4",
        "--workers",
        "1",
        "--out",
        str(made),
    ]
    capsys.readouterr()
    assert main([*words, "--count", "6"]) == 0
    assert capsys.readouterr().out.startswith("0 made, 6 made before in ")
    assert main([*words, "--count", "3", "--start", "20"]) == 0
    assert capsys.readouterr().out.startswith("3 made in ")
    assert finished_indexes(made) == {*range(6), 20, 21, 22}
    assert len((made / "index.csv").read_text().splitlines()) == 10


def test_kinds(tmp_path):
    words = ["--count", "5", "--size", "32x24", "--kinds", "street,objects", "--workers", "1"]
    assert main(["scenes", "make", *words, "--out", str(tmp_path)]) == 0
    kinds = {json.loads(p.read_text())["kind"] for p in tmp_path.glob("0*.json")}
    assert kinds <= {"street", "objects"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--count", "0"], "scenes are numbered from 0"),
        (["--count", "3", "--start", "-1"], "scenes are numbered from 0"),
        (["--count", "3", "--start", "999999"], "scenes are numbered from 0 to 999,999"),
        (["--count", "3", "--size", "big"], "width x height"),
        (["--count", "3", "--kinds", "room,moon"], "no kind of scene is called 'moon'"),
        (["--count", "3", "--seed", "-2"], "seed must be"),
        (["--count", "3", "--workers", "0"], "workers must be at least 1"),
        (["--count", "3", "--textures", "missing"], "no such folder of textures"),
        (["--count", "3", "--address", "auto"], "--address is that of a cluster"),
        ([], "count"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["scenes", "make", *words, "--out", "scenes"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_another_seed_is_refused(made, capsys):
    words = ["--count", "1", "--size", "32x24", "--seed", "5", "--out", str(made)]
    assert main(["scenes", "make", *words]) == 2
    assert "holds scenes with seed = 4, not 5" in capsys.readouterr().err


def test_show_a_folder(made, tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    capsys.readouterr()
    assert main(["scenes", "show", str(made), "--out", str(sheet), "--count", "4"]) == 0
    assert capsys.readouterr().out.strip() == str(sheet)
    with Image.open(sheet) as picture:
        assert min(picture.size) > 180


def test_show_fresh_ones(tmp_path):
    sheet = tmp_path / "sheet.png"
    words = ["--count", "2", "--size", "32x24", "--kinds", "objects", "--out", str(sheet)]
    assert main(["scenes", "show", *words]) == 0
    with Image.open(sheet) as picture:
        assert min(picture.size) > 180


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["missing"], "no folder of scenes"),
        (["--count", "0"], "count must be at least 1"),
        (["--out", "sheet.jpg"], "is written as .png"),
    ],
)
def test_show_refuses(tmp_path, monkeypatch, capsys, words, message):
    monkeypatch.chdir(tmp_path)
    assert main(["scenes", "show", *words]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.usefixtures("made")  # so that the renderer is compiled: its cache needs room, too
def test_a_disk_without_room(sightline, tmp_path):
    """A limit on the size of files stands in for a full disk: writing fails half way."""
    out = tmp_path / "out"
    words = ["scenes", "make", "--count", "2", "--seed", "4", "--out", out, "--workers", "1"]
    result = sightline(
        *words, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    )
    assert result.returncode == 1
    assert "could not be written" in result.stderr.splitlines()[-1]
    assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
    assert finished_indexes(out) == set()


def start(command, environment, *words) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, "scenes", "make", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        # A background job starts with Ctrl-C ignored, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def wait_for(out, number, process):
    """Wait until scene `number` is there."""
    import time

    deadline = time.monotonic() + 100
    while not (out / f"{number:06d}.json").exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def workers_of(parent):
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(c) for c in children if b"spawn_main" in Path(f"/proc/{c}/cmdline").read_bytes()]


@linux_only
@pytest.mark.slow
def test_killed_workers_cost_nothing(command, environment, sightline, tmp_path):
    words = ["--count", 120, "--size", "64x48", "--out"]
    process = start(command, environment, *words, tmp_path / "killed", "--workers", 2)
    wait_for(tmp_path / "killed", 10, process)
    for worker in workers_of(process.pid):
        os.kill(worker, signal.SIGKILL)
    output, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    assert output.startswith("120 made in ")
    assert sightline("scenes", "make", *words, tmp_path / "whole", timeout=300).returncode == 0
    for path in (tmp_path / "whole").iterdir():
        assert path.read_bytes() == (tmp_path / "killed" / path.name).read_bytes(), path.name


@linux_only
@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_then_the_same_command(command, environment, sightline, tmp_path, workers):
    out = tmp_path / "out"
    words = ["--count", 200, "--size", "64x48", "--out", out, "--workers", workers]
    process = start(command, environment, *words)
    wait_for(out, 10, process)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = errors.splitlines()
    assert line.startswith("sightline: stopped with")
    assert [p.name for p in out.glob(".*")] == []
    done = len(finished_indexes(out))
    assert 10 <= done < 200
    result = sightline("scenes", "make", *words, timeout=300)
    assert result.returncode == 0
    assert f"{200 - done} made, {done} made before" in result.stdout
