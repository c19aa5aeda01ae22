"""A real server in a process of its own, and things to send to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from PIL import Image

from sightline.examples import example_person, example_photograph

#: How long anything may take on a machine that has other things to do, in [s].
PATIENCE = 120.0


@dataclass
class Live:
    """A server that runs.

    Attributes:
        process: its own.
        address: where it listens.
        client: that talks to it.
        spool: the folder that it makes its temporary folder in.
        seconds: from its start until it listened.
    """

    process: subprocess.Popen[str]
    address: str
    client: httpx.Client
    spool: Path
    seconds: float

    def worker(self) -> int:
        """Process of its worker."""
        return self.workers()[0]

    def workers(self) -> list[int]:
        """Processes of its workers; the tracker of resources is none."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        found = []
        for pid in children.read_text().split():
            words = Path(f"/proc/{pid}/cmdline").read_bytes()
            if b"spawn_main" in words:
                found.append(int(pid))
        return found

    def left(self) -> list[Path]:
        """Everything in its temporary folder."""
        walked = os.walk(self.spool)  # what is removed meanwhile is no error to it
        return [Path(folder) / name for folder, _, names in walked for name in names]

    def metric(self, name: str) -> float:
        """Sum of a figure of /metrics."""
        lines = self.client.get("/metrics").text.splitlines()
        return sum(
            float(line.split()[-1]) for line in lines if line.startswith(f"sightline_{name}")
        )

    def wait_ready(self) -> None:
        wait_for(lambda: self.client.get("/healthz").json()["status"] == "ok")

    def wait_idle(self) -> None:
        """Until nothing is being worked on, and nothing is left of it."""
        wait_for(lambda: self.client.get("/healthz").json()["queue"] == 0)


def wait_for(true: Callable[[], Any], seconds: float = PATIENCE) -> Any:
    late = time.monotonic() + seconds
    while time.monotonic() < late:
        found = true()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("it never happened")


@contextmanager
def running(folder: Path, *words: object, **environment: str) -> Iterator[Live]:
    """Start a server, wait until it listens, and end it politely."""
    spool = folder / "tmp"
    spool.mkdir()
    start = time.monotonic()
    with (folder / "errors.txt").open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "sightline", "serve", "--port", "0", "--threads", "1"]
            + [str(word) for word in words],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, "TMPDIR": str(spool), **environment},
        )
    try:
        line = process.stdout.readline()
        assert "listens on" in line, (folder / "errors.txt").read_text()
        seconds = time.monotonic() - start
        address = line.split()[3].rstrip("/")
        with httpx.Client(base_url=address, timeout=PATIENCE) as client:
            yield Live(process, address, client, spool, seconds)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()
            process.stdout.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory) -> Iterator[Live]:
    """One server with the smallest model and small limits, for all tests that can share it."""
    words = (
        *(
            "--model",
            "tiny",
            "--rate",
            0,
            "--max-queue",
            4,
            "--max-body-mb",
            4,
            "--max-pixels",
            1_000_000,
        ),
        *("--max-video-seconds", 30, "--max-video-frames", 300, "--max-video-pixels", 500_000),
    )
    with running(tmp_path_factory.mktemp("server"), *words) as live:
        live.wait_ready()
        live.client.post("/v1/physics/world", json={}, timeout=600)  # laws are compiled first
        yield live


@pytest.fixture
def client(server) -> httpx.Client:
    return server.client


@pytest.fixture(scope="session")
def coffee() -> bytes:
    """A real photograph, 600 × 400."""
    return example_photograph().read_bytes()


@pytest.fixture(scope="session")
def person() -> bytes:
    """A real photograph of a person, 512 × 512."""
    return example_person().read_bytes()


@pytest.fixture(scope="session")
def small_photo(photo) -> bytes:
    """The same photograph, 150 × 100: for what is sent many times."""
    buffer = BytesIO()
    Image.fromarray(photo[::4, ::4]).save(buffer, "JPEG")
    return buffer.getvalue()


def film(photo: np.ndarray, frames: int, side: int = 96) -> bytes:
    """A pan over a photograph as mp4."""
    from sightline.physics.datasets.mp4 import encode

    moves = [photo[100 : 100 + side, k % 200 : k % 200 + side] for k in range(frames)]
    return encode(np.stack(moves))


@pytest.fixture(scope="session")
def short_film(photo) -> bytes:
    return film(photo, 4)


@pytest.fixture(scope="session")
def long_film(photo) -> bytes:
    """A film that keeps a worker busy for a while."""
    return film(photo, 290, 384)


@pytest.fixture(scope="session")
def world_film() -> bytes:
    """A ball in uniform motion, as it should be."""
    from sightline.physics.datasets.mp4 import encode
    from sightline.physics.rendering import render
    from sightline.physics.worlds.simulation import sample

    return encode(render(sample("uniform", 1)[0], 128))
