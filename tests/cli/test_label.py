"""`sightline label`, for real: killed workers, full disks, Ctrl-C, and a cluster."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import cv2
import pytest

from sightline.depth.labels import is_finished

linux_only = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks into /proc")


def start(command, environment, *words) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*command, "label", *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        # A background job starts with Ctrl-C ignored, and would hand that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )


def descendants(parent: int) -> Iterator[tuple[int, bytes]]:
    """Yield number and command line of every process below one."""
    for children in Path(f"/proc/{parent}/task").glob("*/children"):
        for child in children.read_text().split():
            try:
                words = Path(f"/proc/{child}/cmdline").read_bytes()
            except OSError:  # it has just ended
                continue
            yield int(child), words
            yield from descendants(int(child))


def checksum(out: Path) -> str:
    return json.loads((out / "labels.json").read_text())["sha256"]


def assert_all_whole(out: Path, expected: int | None = None) -> int:
    """Every label is whole; return how many there are."""
    labels = sorted(out.glob("[!.]*.png"))  # a killed process may leave a hidden part of one
    for path in labels:
        assert is_finished(path, checksum(out))
        assert cv2.imread(str(path), cv2.IMREAD_UNCHANGED).ndim == 2
    assert expected is None or len(labels) == expected
    return len(labels)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*")}


def test_label_then_nothing_to_do(sightline, model, pictures, tmp_path):
    folder, out = pictures(4)[0].parent, tmp_path / "labels"
    words = ["label", folder, "--model", model, "--out", out]
    first = sightline(*words)
    assert first.returncode == 0, first.stderr
    assert first.stdout.startswith("4 done in ")
    again = sightline(*words)
    assert again.returncode == 0
    assert again.stdout.startswith("0 done, 4 done before in ")
    assert again.stdout.endswith(f" s, labels in {out}\n")
    other = sightline("label", folder, "--model", "tiny", "--out", out)
    assert other.returncode == 2
    (line,) = other.stderr.splitlines()
    assert "labeled by another teacher, tiny-test" in line


def test_bad_pictures_are_named_at_the_end(sightline, model, mixed, tmp_path):
    out = tmp_path / "labels"
    words = ["--model", model, "--out", out, "--workers", "2"]
    result = sightline("label", mixed[0].parent, *words, "--json")
    assert result.returncode == 2
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(rows) == 20
    bad = {row["file"]: row["exit_code"] for row in rows if "error" in row}
    assert bad == {str(mixed[5]): 2, str(mixed[12]): 2}
    summary, *failures = result.stderr.splitlines()
    assert summary.startswith("18 done, 2 failed in ")
    assert len(failures) == 2
    assert_all_whole(out, 18)


@linux_only
def test_killed_workers_cost_nothing(command, environment, model, pictures, tmp_path):
    folder, out = pictures(60)[0].parent, tmp_path / "labels"
    words = ["--model", model, "--out", out, "--workers", "2", "--json"]
    process = start(command, environment, folder, *words)
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(2)]
    workers = [pid for pid, words in descendants(process.pid) if b"spawn_main" in words]
    assert len(workers) == 2
    for worker in workers:
        os.kill(worker, signal.SIGKILL)
    rest = process.stdout.read()  # communicate() forgets lines that were read ahead
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors
    assert len([*first, *rest.splitlines()]) == 60
    assert errors.startswith("60 done in ")
    assert_all_whole(out, 60)


def test_ctrl_c_and_go_on(command, environment, sightline, model, pictures, tmp_path):
    folder, out = pictures(120)[0].parent, tmp_path / "labels"
    words = [folder, "--model", model, "--out", out, "--workers", "2"]
    process = start(command, environment, *words, "--json")
    assert process.stdout is not None
    assert process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)  # what a terminal does: to the whole group
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    (line,) = errors.splitlines()
    assert line.startswith("sightline: stopped with")
    assert line.endswith("run the same command to continue")
    done = assert_all_whole(out)
    assert 1 <= done < 120
    assert [path for path in out.iterdir() if path.name.startswith(".")] == []
    result = sightline("label", *words)
    assert result.returncode == 0
    assert result.stdout.startswith(f"{120 - done} done, {done} done before")


def test_a_disk_without_room(sightline, model, pictures, tmp_path):
    """A limit on the size of files stands in for a full disk: writing fails half way."""

    def no_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    folder, out = pictures(30)[0].parent, tmp_path / "labels"
    words = ["label", folder, "--model", model, "--out", out, "--workers", "2"]
    result = sightline(*words, preexec_fn=no_room)
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()  # one line, not thirty
    assert "could not be written" in line
    assert [path.name for path in out.rglob("*")] == ["labels.json"]
    assert sightline(*words).returncode == 0
    assert_all_whole(out, 30)


@linux_only
@pytest.mark.slow
def test_two_hundred_pictures_on_ray_with_a_worker_killed(
    command, environment, sightline, pictures, tmp_path
):
    pytest.importorskip("ray", reason="needs the extra `cluster`")
    folder = pictures(200)[0].parent
    words = [folder, "--model", "tiny", "--size", "96"]
    local = sightline("label", *words, "--out", tmp_path / "local", timeout=300)
    assert local.returncode == 0, local.stderr
    out = tmp_path / "cluster"
    alone = {name: value for name, value in environment.items() if name != "RAY_ADDRESS"}
    more = ["--out", out, "--cluster", "--workers", "2", "--json"]
    process = start(command, alone, *words, *more)
    assert process.stdout is not None
    rows = [process.stdout.readline() for _ in range(60)]
    workers = [pid for pid, words in descendants(process.pid) if words.startswith(b"ray::_Holder")]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    rest = process.stdout.read()
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    found = [json.loads(line) for line in [*rows, *rest.splitlines()]]
    assert len(found) == 200
    assert not any("error" in row for row in found)
    assert_all_whole(out, 200)
    assert contents(out) == contents(tmp_path / "local")
