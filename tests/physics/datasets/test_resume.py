"""Killed outright, or out of room half way: every kind of data set goes on to the same bytes."""

import os
import resource
import signal
import subprocess
import sys
import time

import pytest

from sightline.errors import InputError, SightlineError
from sightline.physics.combinatorial.store import CombinatorialSpec
from sightline.physics.datasets import making
from sightline.physics.datasets.making import Step, iter_make_dataset
from sightline.physics.datasets.spec import BLOCK, DataSpec

SPECS = {
    "rle.h5": DataSpec("collision", 2 * BLOCK + 20, size=16, seed=5),
    "a.h5": DataSpec("collision", 2 * BLOCK + 20, size=16, seed=5, video="standard"),
    "scenes.h5": CombinatorialSpec((10003, 10061), tasks=2, trials=2, size=32, frames=4, limit=7),
}
BLOCKS = {"rle.h5": [125, 125, 20], "a.h5": [125, 125, 20], "scenes.h5": [2, 2, 2, 1]}

SCRIPT = """
import sys, time
from sightline.errors import SightlineError
from sightline.physics.combinatorial.store import CombinatorialSpec
from sightline.physics.datasets.making import iter_make_dataset
from sightline.physics.datasets import making
from sightline.physics.datasets.parts import Parts
from sightline.physics.datasets.spec import DataSpec
making.PART_SECONDS = 0.0
real = Parts.write
def write(self, number, blocks):
    time.sleep(number and {delay})
    real(self, number, blocks)
Parts.write = write
if __name__ == "__main__":
    try:
        list(iter_make_dataset({spec!r}, sys.argv[1], workers={workers}))
    except SightlineError as error:
        print(error.exit_code, error)
"""


@pytest.fixture(autouse=True, scope="module")
def _every_block_is_a_part():
    """Tests have few videos; whole data sets of them would be a single part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "PART_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Data sets that nothing happened to."""
    folder = tmp_path_factory.mktemp("whole")
    for name, spec in SPECS.items():
        steps = list(iter_make_dataset(spec, folder / name, workers=1))
        assert [step.videos for step in steps] == BLOCKS[name]
    return folder


@pytest.fixture
def script(tmp_path_factory):
    """Write a script that makes a data set, with some seconds before each part but the first."""

    def write(spec, delay=0, workers=1):
        path = tmp_path_factory.mktemp("script") / "run.py"
        path.write_text(SCRIPT.format(spec=spec, delay=delay, workers=workers))
        return [sys.executable, str(path)]

    return write


def names(folder):
    return [path.name for path in folder.iterdir()]


@pytest.mark.parametrize("name", SPECS)
def test_a_run_killed_outright_goes_on(whole, tmp_path, script, name):
    out, spec = tmp_path / name, SPECS[name]
    child = subprocess.Popen([*script(spec, delay=60), str(out)])
    first = tmp_path / f"{name}.parts" / "000000-000000.part"
    deadline = time.monotonic() + 120
    while not first.exists():
        assert child.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    with pytest.raises(InputError, match="another run is making this data set"):
        list(iter_make_dataset(spec, out))
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    assert not out.exists()
    made = first.stat().st_mtime_ns
    steps = iter_make_dataset(spec, out, workers=1)
    assert next(steps) == Step(BLOCKS[name][0], skipped=True)
    assert first.stat().st_mtime_ns == made
    assert list(steps) == [Step(videos) for videos in BLOCKS[name][1:]]
    assert out.read_bytes() == (whole / name).read_bytes()
    assert names(tmp_path) == [name]


def limited(command, out, most):
    """Run a script that may write files of so many bytes: a stand-in for a full disk."""
    done = subprocess.run(
        [*command, str(out)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )
    assert done.stdout.startswith("1 ")
    assert "could not" in done.stdout
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", SPECS)
def test_a_disk_that_fills_up_while_parts_are_put_together(whole, tmp_path, script, name):
    out, size = tmp_path / name, (whole / name).stat().st_size
    limited(script(SPECS[name]), out, size - 1000)
    assert names(tmp_path) == [f"{name}.parts"]
    steps = list(iter_make_dataset(SPECS[name], out))
    assert steps == [Step(videos, skipped=True) for videos in BLOCKS[name]]
    assert out.read_bytes() == (whole / name).read_bytes()
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["rle.h5", "scenes.h5"])
def test_a_disk_without_room_for_a_part(tmp_path, script, name, workers):
    limited(script(SPECS[name], workers=workers), tmp_path / name, 8192)
    assert names(tmp_path) == []


def test_a_name_that_is_taken_meanwhile(tmp_path):
    out = tmp_path / "rle.h5"
    steps = iter_make_dataset(SPECS["rle.h5"], out, workers=1)
    next(steps)
    out.mkdir()
    with pytest.raises(SightlineError, match="folder"):
        list(steps)
    out.rmdir()
    list(iter_make_dataset(SPECS["rle.h5"], out))
    assert names(tmp_path) == ["rle.h5"]
