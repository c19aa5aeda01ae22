"""Laws are compiled once per machine, beside requests; those that need them wait and are told."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from sightline.server.tasks import laws
from sightline.server.tasks.laws import LawCompiler, compile_all, is_compiled


@pytest.fixture
def cold(tmp_path, monkeypatch):
    """A machine that has compiled nothing."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "numba"))
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    assert not is_compiled()


class Heard:
    """What a job would be told."""

    def __init__(self):
        self.steps = []
        self.told = threading.Event()

    def __call__(self, share, step, *, counted=True):
        self.steps.append((step, counted))
        self.told.set()


def test_whoever_comes_meanwhile_waits_without_being_charged(cold, tmp_path, monkeypatch):
    heard = Heard()
    monkeypatch.setattr(laws, "compile_all", lambda: heard.told.wait(30))
    one = LawCompiler(tmp_path)
    one.start()
    one.wait(heard)
    assert set(heard.steps) == {("compiling the physics kernels, once per machine", False)}
    assert is_compiled()
    one.wait(heard)  # nothing to wait for any more
    other = LawCompiler(tmp_path)
    monkeypatch.setattr(laws, "compile_all", lambda: pytest.fail("it was compiled before"))
    other.start()
    count = len(heard.steps)
    other.wait(heard)
    assert len(heard.steps) == count


def test_of_two_workers_one_compiles(cold, tmp_path, monkeypatch):
    times, gate = [], threading.Event()

    def compile_slowly():
        times.append(1)
        gate.wait(30)

    monkeypatch.setattr(laws, "compile_all", compile_slowly)
    workers = [LawCompiler(tmp_path), LawCompiler(tmp_path)]
    for one in workers:
        one.start()
    gate.set()
    for one in workers:
        one.wait(Heard())
    assert times == [1]


def test_a_failure_is_left_to_whoever_asks(cold, tmp_path, monkeypatch, capsys):
    def fail():
        raise ValueError("no compiler")

    monkeypatch.setattr(laws, "compile_all", fail)
    one = LawCompiler(tmp_path)
    one.start()
    one.wait(Heard())
    assert "no compiler" in capsys.readouterr().err
    assert not is_compiled()


def test_new_sources_are_compiled_anew(cold, tmp_path, monkeypatch):
    home = tmp_path / "physics"
    home.mkdir()
    (home / "law.py").write_text("x = 1")
    monkeypatch.setattr(laws, "_source_folder", lambda: home)
    laws.mark_compiled()
    assert is_compiled()
    (home / "law.py").write_text("x = 22")
    assert not is_compiled()


def test_everything_that_a_score_needs_is_compiled():
    """After it, a score compiles nothing: no function gets a signature that it did not have."""
    code = """
import sys
import numpy as np
from numba.core.dispatcher import Dispatcher
from sightline.server.tasks.laws import compile_all
def signatures():
    return {
        (value.__name__, str(one))
        for name, module in list(sys.modules.items()) if name.startswith("sightline")
        for value in vars(module).values() if isinstance(value, Dispatcher)
        for one in value.signatures
    }
compile_all()
before = signatures()
assert len(before) > 5
from sightline.server.tasks.physics import score_video, simulate_world
from sightline.physics.datasets.mp4 import encode
from sightline.physics.tracking import parse
from sightline.physics.rendering import render
for scenario, radii, speeds in (("uniform", [0.5], [5.0]), ("parabola", [0.8], [1.0]),
                                ("collision", [0.7, 1.2], [3.0, -1.0])):
    fields = dict(scenario=scenario, radii=radii, speeds=[abs(s) for s in speeds])
    motion = simulate_world({**fields, "seed": 3, "direction": "right"})
    frames = render(motion, 256)
    noisy = np.clip(frames.astype(int) + np.random.default_rng(0).normal(0, 9, frames.shape), 0, 255)
    for shown in (frames, noisy.astype(np.uint8), frames[:, ::2, ::2]):
        score_video(shown, motion, scenario, 0.1, 3)
        score_video(shown, None, scenario, 0.1, 3)
print(sorted(signatures() - before))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


def test_compiling_is_done_by_playing(monkeypatch):
    """`compile_all` goes the way of a request; all three worlds are played."""
    from sightline.server.tasks import physics

    seen, score_video = set(), physics.score_video

    def note(frames, motion, scenario, *rest):
        seen.add((scenario, motion is None))
        return score_video(frames, motion, scenario, *rest)

    monkeypatch.setattr(physics, "score_video", note)
    compile_all()
    assert seen == {
        (name, alone) for name in ("uniform", "parabola", "collision") for alone in (True, False)
    }
