"""How a server starts and ends: quickly, cleanly, and with nothing left of it."""

from __future__ import annotations

import json
import os
import signal
import tempfile
from pathlib import Path

import httpx
import pytest

from sightline.server.jobs import make_job_root

from .conftest import running, wait_for


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody has asked about yet has."""
    status = Path(f"/proc/{pid}/status")
    try:
        return "State:\tZ" in status.read_text()
    except FileNotFoundError:
        return True


def test_ctrl_c_in_the_middle_of_a_job(tmp_path, long_film):
    with running(tmp_path, "--model", "tiny") as live:
        live.wait_ready()
        job = live.client.post("/v1/depth?wait=false", files={"video": long_film}).json()
        wait_for(lambda: live.client.get(f"/v1/jobs/{job['id']}").json()["state"] == "running")
        workers = live.workers()
        assert live.left()
        live.process.send_signal(signal.SIGINT)
        assert live.process.wait(30) == 0
    assert (tmp_path / "errors.txt").read_text().strip() == "stopped"
    assert not list(live.spool.iterdir())
    wait_for(lambda: all(map(gone, workers)), 30)


def test_whoever_waits_is_told_that_the_server_stops(tmp_path, long_film):
    with running(tmp_path, "--model", "tiny") as live:
        live.wait_ready()
        job = live.client.post("/v1/depth?wait=false", files={"video": long_film}).json()
        with live.client.stream("GET", f"/v1/jobs/{job['id']}/events") as stream:
            lines = (line for line in stream.iter_lines() if line.startswith("data: "))
            wait_for(lambda: '"running"' in next(lines))
            live.process.send_signal(signal.SIGTERM)
            last = json.loads(list(lines)[-1].removeprefix("data: "))
        assert (last["state"], last["status"]) == ("failed", 503)
        assert last["error"] == "The server is being stopped."
        assert live.process.wait(30) == 0
    assert (tmp_path / "errors.txt").read_text().strip() == "stopped"


def test_workers_do_not_outlive_a_server_that_was_killed(tmp_path):
    with running(tmp_path, "--model", "tiny") as live:
        live.wait_ready()
        workers = live.workers()
        live.process.kill()
        wait_for(lambda: all(map(gone, workers)), 30)
        assert list(live.spool.iterdir())  # nobody was there to remove it …
        live.process.wait(30)
    (tmp_path / "next").mkdir()
    environment = {"TMPDIR": str(live.spool)}
    with running(tmp_path / "next", "--model", "tiny", **environment):
        assert len(list(live.spool.iterdir())) == 1  # … but the next server does


def test_a_port_that_is_taken(server, tmp_path, sightline_words):
    done = sightline_words("--port", server.address.rpartition(":")[2])
    assert done.returncode == 2
    assert "choose another --port" in done.stderr
    assert server.client.get("/healthz").status_code == 200


@pytest.fixture
def sightline_words():
    import subprocess
    import sys

    def run(*words):
        command = [sys.executable, "-m", "sightline", "serve", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_folders_of_servers_that_live_are_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    alive = tmp_path / f"sightline-serve-{os.getpid()}-abc"
    dead = tmp_path / "sightline-serve-999999999-abc"
    other = tmp_path / "sightline-serve-notes"
    for folder in (alive, dead, other):
        folder.mkdir()
    made = make_job_root()
    assert made.stat().st_mode & 0o777 == 0o700
    assert alive.is_dir()
    assert other.is_dir()
    assert not dead.exists()


@pytest.mark.slow
def test_it_starts_in_five_seconds(tmp_path):
    """With the models compiled before, and a machine that has nothing else to do."""
    with running(tmp_path, "--model", "default") as first:
        first.wait_ready()
    (tmp_path / "again").mkdir()
    with running(tmp_path / "again", "--model", "default") as live:
        print(f"listens after {live.seconds:.2f} s")
        assert live.seconds < 5
        assert httpx.get(f"{live.address}/healthz").status_code == 200
