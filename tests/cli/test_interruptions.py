"""What happens when things go wrong in the middle: Ctrl-C, kill, full disk, several processes."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

linux_only = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks into /proc")


def start(command, environment, *words) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        # A background job starts with Ctrl-C ignored, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def worker_processes(parent: int) -> list[int]:
    """Return the ids of worker processes, without multiprocessing's own helper."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    found = []
    for child in children:
        if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
            found.append(int(child))
    return found


def assert_all_whole(out: Path, expected: int | None = None) -> int:
    """Every result can be read and no leftovers lie about; return how many there are."""
    leftovers = [p.name for p in out.rglob(".*") if p.name != ".sightline.json"]
    assert leftovers == []
    results = sorted(out.glob("*.npz"))
    for path in results:
        with np.load(path, allow_pickle=False) as data:
            assert data["values"].ndim == 2
    assert expected is None or len(results) == expected
    return len(results)


@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_half_way_then_resume(command, environment, sightline, model, pictures, workers):
    folder = pictures(150)[0].parent
    out = folder.parent / "out"
    words = ["depth", folder, "--out", out, "--model", model, "--workers", workers, "--json"]
    process = start(command, environment, *words)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does: to the whole group
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = errors.splitlines()
    assert line.startswith("sightline: stopped with")
    assert "--resume" in line
    done = assert_all_whole(out)
    assert 3 <= done < 150
    result = sightline(*words, "--resume")
    assert result.returncode == 0
    skipped = sum("skipped" in json.loads(line) for line in result.stdout.splitlines())
    assert skipped >= 3
    assert_all_whole(out, 150)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_stopped_results_beside_the_pictures_are_no_inputs(
    command, environment, sightline, model, pictures, how
):
    paths = pictures(40)
    folder = paths[0].parent
    words = ["depth", folder, "--out", folder, "--model", model, "--save", "png,color", "--json"]
    process = start(command, environment, *words)
    assert process.stdout is not None
    assert process.stdout.readline()
    os.killpg(process.pid, how)
    process.communicate(timeout=60)
    result = sightline(*words, "--resume")
    assert result.returncode == 0, result.stderr
    files = [json.loads(line)["file"] for line in result.stdout.splitlines()]
    # What was done before is reported first.
    assert sorted(files) == sorted(str(path) for path in paths)


def test_a_polite_kill_cleans_up_too(command, environment, model, pictures):
    folder = pictures(150)[0].parent
    out = folder.parent / "out"
    process = start(command, environment, "depth", folder, "--out", out, "--model", model, "--json")
    assert process.stdout is not None
    assert process.stdout.readline()
    process.terminate()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    (line,) = errors.splitlines()
    assert line.startswith("sightline: stopped with")
    assert_all_whole(out)


def test_same_bytes_with_one_worker_and_two(sightline, model, mixed, tmp_path):
    contents = []
    for workers in (1, 2):
        out = tmp_path / f"out{workers}"
        words = ["--out", out, "--model", model, "--save", "npz,png,color,glb", "--keep-going"]
        result = sightline("depth", mixed[0].parent, *words, "--workers", workers)
        assert result.returncode == 2, result.stderr
        assert result.stderr.startswith("18 done, 2 failed")
        found = [path for path in out.rglob("*") if path.name != ".sightline.json"]
        contents.append({path.name: path.read_bytes() for path in found})
    assert len(contents[0]) == 18 * 4
    assert contents[0].keys() == contents[1].keys()
    assert [name for name in contents[0] if contents[0][name] != contents[1][name]] == []


@linux_only
def test_killed_workers_cost_nothing(command, environment, model, pictures):
    folder = pictures(80)[0].parent
    out = folder.parent / "out"
    words = ["--out", out, "--model", model, "--workers", "2", "--json"]
    process = start(command, environment, "depth", folder, *words)
    assert process.stdout is not None
    first = process.stdout.readline()
    for worker in worker_processes(process.pid):
        os.kill(worker, signal.SIGKILL)
    rest = (
        process.stdout.read()
    )  # communicate() forgets the lines that were read ahead with the first
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    printed = [json.loads(line) for line in (first + rest).splitlines()]
    assert len(printed) == 80
    assert not any("error" in line for line in printed)
    assert len(list(out.glob("[!.]*.npz"))) == 80
    for path in out.glob(
        "[!.]*.npz"
    ):  # what a killed process was writing is hidden, not half a result
        np.load(path, allow_pickle=False).close()


@linux_only
def test_workers_end_with_a_parent_that_is_killed(command, environment, model, pictures):
    folder = pictures(150)[0].parent
    words = ["--out", folder.parent / "out", "--model", model, "--workers", "2", "--json"]
    process = start(command, environment, "depth", folder, *words)
    assert process.stdout is not None
    process.stdout.readline()
    workers = worker_processes(process.pid)
    process.kill()
    process.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{worker}").exists() for worker in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)


def test_a_model_that_does_not_load_in_the_workers(sightline, pictures, tmp_path):
    folder = pictures(3)[0].parent
    broken = tmp_path / "broken.onnx"
    broken.write_bytes(b"not a network")
    words = ["--out", tmp_path / "out", "--model", broken, "--workers", "2"]
    result = sightline("depth", folder, *words)
    assert result.returncode == 2
    line = result.stderr.splitlines()[-1]  # OpenVINO has its own say before
    assert line.startswith(f"sightline: {broken}: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("workers", [1, 2])
def test_a_disk_without_room(sightline, model, pictures, tmp_path, workers):
    """A limit on the size of files stands in for a full disk: writing fails half way."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    folder = pictures(3)[0].parent
    out = tmp_path / "out"
    words = ["--out", out, "--model", model, "--workers", workers]
    result = sightline("depth", folder, *words, preexec_fn=no_room)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert "could not be written" in line
    assert [path.name for path in out.rglob("*")] == []


def test_a_file_in_the_way_of_the_folder(sightline, model, pictures, tmp_path):
    (picture,) = pictures(1)
    (tmp_path / "out").write_text("in the way")
    result = sightline("depth", picture, "--out", tmp_path / "out", "--model", model)
    assert result.returncode == 2
    assert "a file is in the way" in result.stderr
