"""A score that is stopped half way: one line, and nothing is left."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from sightline.cli import main

pytestmark = pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks into /proc")


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Make videos that take some seconds to score."""
    path = tmp_path_factory.mktemp("many") / "collisions.h5"
    assert main(["physics", "make", "collision", "--count", "1500", "--out", str(path)]) == 0
    return path


def workers_of(parent):
    """Return the ids of worker processes, without multiprocessing's own helper."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [int(child) for child in children if b"spawn_main" in command_of(child)]


def command_of(process):
    """Return the command line of a process; nothing once it has ended."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@pytest.mark.parametrize("after", [0.0, 0.1, 1.5])
@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("reach", [os.kill, os.killpg])
def test_a_stop_of_two_workers_is_one_line_and_leaves_nothing(
    command, environment, many, tmp_path, after, how, code, reach
):
    words = ["physics", "score", many, "--truth", many, "--out", tmp_path / "a" / "s"]
    process = subprocess.Popen(
        [*command, *map(str, words), "--workers", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
    )
    while not workers_of(process.pid):
        assert process.poll() is None
        time.sleep(0.005)
    time.sleep(after)
    reach(process.pid, how)
    printed, errors = process.communicate(timeout=60)
    assert (process.returncode, printed, errors) == (code, "", "sightline: stopped\n")
    assert list(tmp_path.iterdir()) == []
