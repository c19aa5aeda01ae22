"""Jobs on Ray. One script with a Ray of its own does all of them: starting Ray takes seconds."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys

import pytest

from sightline.errors import InputError
from sightline.runtime.ray_map import map_on_ray

SCRIPT = '''
import json
import logging
import os
import signal
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import ray

from sightline.runtime.ray_map import map_on_ray
from sightline.errors import InputError, SightlineError
from sightline.runtime.parallel import AbortMap

folder = Path(sys.argv[1])


def square(number):
    return number * number


def refuse_three(folder, number):
    with (folder / "calls").open("a") as calls:
        calls.write(f"{number}\\n")
    if number == 3:
        raise InputError("three is not wanted", path="three.jpg")
    if number == 4:
        raise ValueError("four")
    return number


def die_at_two(folder, times, number):
    """Kill this process the first few times that it sees number 2."""
    if number == 2 and len(list(folder.glob("died*"))) < times:
        (folder / f"died{os.getpid()}").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def full_disk_at_five(number):
    if number == 5:
        raise AbortMap(SightlineError("the disk is full"))
    return number


class Counter:
    """Has state: how often it was called where it is."""

    def __init__(self):
        self.calls = 0

    def __call__(self, number):
        self.calls += 1
        return os.getpid(), self.calls


def run(function, count, **options):
    answers = list(map_on_ray(function, range(count), workers=2, **options))
    return {a.item: a.result if a.failure is None else str(a.failure) for a in answers}


found = {}
found["alone"] = run(square, 5)
found["left"] = not ray.is_initialized()
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
found["none"] = run(square, 0)
found["exceptions"] = run(partial(refuse_three, folder), 6)
found["calls"] = sorted((folder / "calls").read_text().split())
found["killed once"] = run(partial(die_at_two, folder, 1), 6)
found["killed always"] = run(partial(die_at_two, folder, 99), 6, retries=1)
found["deaths"] = len(list(folder.glob("died*")))
found["state"] = list(run(Counter(), 12).values())
try:
    run(full_disk_at_five, 1000)
except SightlineError as error:
    found["end of run"] = str(error)
with closing(map_on_ray(square, range(1000), workers=8)) as answers:
    found["stopped early"] = next(answers).failure is None
found["still there"] = ray.is_initialized()
(folder / "found.json").write_text(json.dumps(found))
'''


@pytest.mark.slow
def test_jobs_on_a_ray_of_this_machine(tmp_path):
    pytest.importorskip("ray", reason="needs the extra `cluster`")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    subprocess.run(
        [sys.executable, script, tmp_path], check=True, timeout=300, env=environment, cwd=tmp_path
    )
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["alone"] == {str(n): n * n for n in range(5)}
    assert found["left"]
    assert found["none"] == {}
    assert found["exceptions"] == {
        **{str(n): n for n in (0, 1, 2, 5)},
        "3": "three.jpg: three is not wanted",
        "4": "4: ValueError: four",
    }
    assert found["calls"] == list("012345")  # none was tried twice
    assert found["killed once"] == {str(n): n for n in range(6)}
    killed = found["killed always"]
    assert killed.pop("2").startswith("2: 2 workers were killed over it")
    assert killed == {str(n): n for n in (0, 1, 3, 4, 5)}
    assert found["deaths"] == 1 + 2
    assert len({pid for pid, _ in found["state"]}) == 2
    assert max(calls for _, calls in found["state"]) > 1
    assert found["end of run"] == "the disk is full"
    assert found["stopped early"]
    assert found["still there"]


@pytest.mark.parametrize("address", ["127.0.0.1:{port}", "ray://127.0.0.1:{port}"])
def test_a_cluster_that_is_not_there(address):
    pytest.importorskip("ray", reason="needs the extra `cluster`")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # taken, but nobody listens
        place = address.format(port=free.getsockname()[1])
        with pytest.raises(InputError, match=f"no Ray cluster at {place}") as caught:
            next(map_on_ray(str, [1], address=place))
    assert "ray start --head" in str(caught.value)


def test_without_ray_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(InputError, match=r"pip install 'sightline\[cluster\]'"):
        next(map_on_ray(str, [1]))
