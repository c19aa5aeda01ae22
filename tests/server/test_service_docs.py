"""What docs/service.md tells people to type works as it stands there."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs" / "service.md"

#: What the blocks of the page need: curl that fails where the server says no.
BEGIN = """
set -e
curl() { command curl -sS --fail-with-body "$@"; }
export -f curl
A=%s
"""


def blocks():
    return re.findall(r"```bash\n(.*?)```", DOCS.read_text(), re.DOTALL)


def typed(text, server, folder):
    script = BEGIN % server.address + text.replace("A=http://127.0.0.1:8765\n", "")
    return subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def folder(tmp_path, person, short_film):
    if shutil.which("curl") is None:
        pytest.skip("needs curl")
    (tmp_path / "photo.jpg").write_bytes(person)
    (tmp_path / "clip.mp4").write_bytes(short_film)
    return tmp_path


def test_requests_of_the_docs(server, folder):
    _, requests, _ = blocks()
    lines = requests.splitlines()
    without = [line for line in lines if not re.search(r"/v1/(ask|physics/predict)", line)]
    people = [line for line in without if "by people" in line]
    assert len(lines) - len(without) == 2
    assert len(people) == 1
    if not server.client.get("/v1/models").json()["defaults"]["people"]:
        without.remove(people[0])
    done = typed("\n".join(without), server, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    for name in ("depth.npz", "depth.glb", "depth.mp4", "world.mp4"):
        assert (folder / name).stat().st_size > 1000, name


def test_a_job_of_the_docs(server, folder):
    *_, job = blocks()
    if not server.client.get("/v1/models").json()["defaults"]["people"]:
        pytest.skip("needs the networks that find people")
    done = typed(job, server, folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "points.ply").stat().st_size > 1000
    assert '"state":"done"' in done.stdout


def test_limits_of_the_docs_are_those_of_the_code():
    from sightline.server.config import Limits

    text = DOCS.read_text()
    most = Limits()
    for value in (
        f"{most.max_body_mb:g}",
        f"{most.max_pixels:,}",
        f"{most.job_timeout:g}",
        f"{most.worker_memory_mb:g}",
    ):
        assert f"| {value}" in text, value
    for name in (
        "max-queue",
        "max-connections",
        "rate",
        "burst",
        "body-timeout",
        "keep-seconds",
        "max-kept-mb",
    ):
        assert f"--{name}" in text
        value = getattr(most, name.replace("-", "_"))
        assert value is not None
    assert f"{most.max_queue} waiting" in text
    assert f"{most.max_connections} concurrent" in text
    assert f"{most.rate:g} per minute, {most.burst} at once" in text
    video = f"{most.max_video_pixels:,}, {most.max_video_seconds:g}, {most.max_video_frames}"
    assert video in text
