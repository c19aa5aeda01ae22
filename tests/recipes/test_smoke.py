"""Benchmarks run from end to end on a little embedded or rendered data.

Smoke runs elsewhere: `metric_prior.py` and `quality.py` in test_recipes.py, `service_load.py` in
tests/server. `perception.py` and `service.py` have none yet.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.examples import example_person, example_photograph
from sightline.models import registry
from sightline.models.download import locate
from sightline.training.data.items import is_held_out

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script(monkeypatch):
    """Load a script as a module of a name of its own: two folders have a perception.py."""

    def load(path: str, **constants):
        file = ROOT / path
        monkeypatch.syspath_prepend(file.parent)
        spec = importlib.util.spec_from_file_location(f"smoke_{file.stem}", file)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        for name, value in constants.items():
            assert hasattr(module, name)
            monkeypatch.setattr(module, name, value)

        def run(*words: object) -> None:
            monkeypatch.setattr(sys, "argv", [str(file), *map(str, words)])
            module.main()

        module.run = run
        return module

    return load


def held_out_name(number: int = 0) -> str:
    """Return the name of a photograph that training leaves out."""
    names = (f"photo{k}.png" for k in range(10_000))
    return [name for name in names if is_held_out(name)][number]


def rows_of(text: str) -> list[str]:
    """Return the rows of Markdown tables, without rules."""
    return [line for line in text.splitlines() if line.startswith("|") and "---" not in line]


@pytest.fixture
def data(tmp_path):
    """`photos` and `rgbd`: the embedded photographs; the depth is a ramp."""
    folder = tmp_path / "data"
    (folder / "photos").mkdir(parents=True)
    picture = Image.open(example_photograph()).convert("RGB")
    picture.save(folder / "photos" / held_out_name())
    rows = []
    for name, path in (("cup", example_photograph()), ("person", example_person())):
        picture = Image.open(path).convert("RGB")
        sample = folder / "rgbd" / name
        sample.mkdir(parents=True)
        picture.save(sample / "image.jpg")
        width, height = picture.size
        ramp = np.linspace(6, 2, height, dtype=np.float32)[:, None].repeat(width, 1)
        camera = np.array([[width, 0, width / 2], [0, width, height / 2], [0, 0, 1]], np.float64)
        np.savez(sample / "truth.npz", depth=ramp, K=camera)
        rows.append({"sample": name, "set": "photographs", "kind": "dense"})
    (folder / "rgbd" / "index.json").write_text(json.dumps(rows))
    (folder / "rgbd_train").mkdir()
    header = "id,source,kind,real,fx\n"
    (folder / "rgbd_train" / "index.csv").write_text(header)
    return folder


@pytest.mark.slow
def test_depth_benchmark(script, capsys, tmp_path):
    script("benchmarks/depth.py").run("--smoke", "--threads", 1, "--write", tmp_path / "t.md")
    text = capsys.readouterr().out
    assert "ViT-S at 70 px" in text
    assert "Cold start to first result" in text
    assert (tmp_path / "t.md").read_text() == text


def test_depth_benchmark_names_a_missing_peer(script, capsys):
    module = script("benchmarks/depth.py", PEERS=("transformers", "nosuchpackage"))
    with pytest.raises(SystemExit) as ended:
        module.run("--smoke")
    assert ended.value.code == 2
    assert "the comparison needs nosuchpackage" in capsys.readouterr().err


def test_flicker_benchmark(script, capsys):
    script("benchmarks/flicker.py").run("--model", "tiny", "--frames", 3, "--seeds", 0)
    assert len(rows_of(capsys.readouterr().out)) == 4


def test_flow_files_benchmark(script, capsys):
    script("benchmarks/flow_files.py").run("--smoke")
    flow, called, loaded = capsys.readouterr().out.splitlines()[-1].split()
    assert flow == "depth"
    assert 0 < int(called) <= int(loaded)


def test_bodies_benchmark(script, capsys, monkeypatch):
    module = script("benchmarks/bodies.py")
    monkeypatch.setattr(module, "CASES", module.CASES[:2])
    module.run("--count", 1)
    text = capsys.readouterr().out
    assert len(rows_of(text)) == 3
    assert "silhouette of" in text
    assert module.sheet(1).shape == (360, 3 * 720, 3)


def test_people_benchmark(script, data, capsys, tmp_path):
    names = ("pose-detection", "pose-full")
    if any(locate(registry.get(name)) is None for name in names):
        pytest.skip(f"not on this machine: sightline models get {' '.join(names)}")
    module = script("benchmarks/people.py")
    module.run("--data", data, "--threads", 1, "--sheet", tmp_path / "sheet.png")
    assert "2 pictures" in rows_of(capsys.readouterr().out)[0]


def test_vanishing_benchmark(script, data, capsys):
    module = script("benchmarks/vanishing.py", WIDTH=160, HEIGHT=120, COUNTS={"room": 1})
    module.run("--real", data / "rgbd")
    names = [row.split("|")[1].strip() for row in rows_of(capsys.readouterr().out)]
    assert names == ["pictures", "room", "real: photographs"]


def test_meters_benchmark(script, capsys, tmp_path):
    module = script("benchmarks/meters.py", COUNTS=(1, 2), SEEDS=2)
    words = ("--model", "tiny", "--scenes", 1, "--often", 1, "--paintings", 2, "--workers", 1)
    module.run("--work", tmp_path, *words)
    text = capsys.readouterr().out
    assert "| ours |" in text
    assert "ln(distance by the scene's line / true), 1 scenes" in text


def test_physics_benchmark():
    # In a process of its own: its workers import it by its name.
    pytest.importorskip("Box2D")
    counts = ["--rounds", "1", "--few", "1", "--many", "2", "--shared", "100", "--judged", "6"]
    command = [sys.executable, str(ROOT / "benchmarks/physics.py"), *counts]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(rows_of(done.stdout)) == 8
    assert "videos/s" in done.stdout


def test_video_model_benchmark(script, capsys):
    pytest.importorskip("diffusers")
    module = script("benchmarks/video_model.py")
    module.run("--rounds", 1, "--batch", 1, "--moments")
    assert len(rows_of(capsys.readouterr().out)) == 5
    module.run("--steps", 1, "--count", 1)
    assert len(rows_of(capsys.readouterr().out.rpartition("Embedded model")[2])) == 2
