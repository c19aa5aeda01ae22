from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from sightline.errors import InputError, SightlineError
from sightline.models.cache import file_sha256
from sightline.models.download import resolve
from sightline.models.entry import Int8Gate, ModelSpec
from sightline.models.registry import (
    INDEX,
    SIZE_LIMIT,
    embedded_entries,
    embedded_folder,
    forget,
    record,
)

SPEC = ModelSpec("compact", size=256, multiple=32, resize="area")


def test_every_embedded_file_is_what_the_index_says():
    index = json.loads((embedded_folder() / INDEX).read_text())
    listed = {}
    for model in index["models"]:
        for part in (model, *model["parts"]):
            listed[part["file"]] = (part["bytes"], part["sha256"])
    here = [p for p in embedded_folder().iterdir() if p.suffix not in (".json", ".md")]
    assert listed == {p.name: (p.stat().st_size, file_sha256(p)) for p in here}
    entries = embedded_entries()
    assert all((entry.spec is not None) == (entry.purpose == "depth") for entry in entries)
    int8 = [entry for entry in entries if entry.format == "openvino"]
    assert all(entry.int8_gate is not None and entry.int8_gate.passed for entry in int8)
    assert resolve("default").path.is_file()


def test_what_is_no_depth_network_has_a_purpose_and_no_spec(tmp_path: Path):
    (tmp_path / "book.onnx").write_bytes(b"codes")
    words = {"summary": "tokens", "trained_on": "maps", "note": "one", "folder": tmp_path}
    record("book", "book.onnx", None, purpose="tokens", **words)
    (entry,) = embedded_entries(tmp_path)
    assert (entry.purpose, entry.spec) == ("tokens", None)
    assert not entry.answers_to("default"), "the default is a depth network"


def test_embedded_files_together_fit_a_package():
    total = sum(path.stat().st_size for path in embedded_folder().rglob("*") if path.is_file())
    assert total < SIZE_LIMIT


def test_record_measures_the_file_and_reads_back(tmp_path: Path):
    (tmp_path / "tiny.onnx").write_bytes(b"first")
    gate = Int8Gate(spearman=0.998, relative_deviation=0.01, pictures=20, passed=True)
    words = {"summary": "small", "trained_on": "pictures", "folder": tmp_path}
    record("tiny", "tiny.onnx", SPEC, note="one", aliases=("small",), **words)
    (tmp_path / "tiny8.onnx").write_bytes(b"eight")
    record("tiny-int8", "tiny8.onnx", SPEC, note="int8", int8_gate=gate, **words)
    tiny, int8 = embedded_entries(tmp_path)
    assert (tiny.name, tiny.bytes, tiny.spec) == ("tiny", 5, SPEC)
    assert tiny.sha256 == hashlib.sha256(b"first").hexdigest()
    assert tiny.aliases == ("default", "small")
    assert (int8.aliases, int8.int8_gate) == ((), gate)


def test_a_new_version_replaces_the_old_and_keeps_its_history(tmp_path: Path):
    words = {"summary": "small", "trained_on": "pictures", "folder": tmp_path}
    for data, note in ((b"one", "first"), (b"two!", "again"), (b"two!", "better")):
        (tmp_path / "tiny.onnx").write_bytes(data)
        record("tiny", "tiny.onnx", SPEC, note=note, **words)
    (entry,) = embedded_entries(tmp_path)
    assert entry.bytes == 4
    (model,) = json.loads((tmp_path / INDEX).read_text())["models"]
    assert [item["note"] for item in model["history"]] == ["first", "better"]
    assert model["history"][-1]["sha256"] == entry.sha256


def test_the_default_moves_only_when_asked(tmp_path: Path):
    words = {"summary": "s", "trained_on": "p", "folder": tmp_path, "note": "n"}
    for name, default in (("a", False), ("b", False), ("c", True)):
        (tmp_path / f"{name}.onnx").write_bytes(name.encode())
        record(name, f"{name}.onnx", SPEC, default=default, **words)
    answers = [entry.name for entry in embedded_entries(tmp_path) if entry.answers_to("default")]
    assert answers == ["c"]


def test_the_weights_beside_a_graph_are_measured_too(tmp_path: Path):
    (tmp_path / "a.xml").write_bytes(b"graph")
    words = {"summary": "s", "trained_on": "p", "folder": tmp_path, "note": "n"}
    with pytest.raises(InputError, match=r"a\.bin: no such model file"):
        record("a", "a.xml", SPEC, **words)
    (tmp_path / "a.bin").write_bytes(b"weights")
    record("a", "a.xml", SPEC, **words)
    (model,) = json.loads((tmp_path / INDEX).read_text())["models"]
    digest = hashlib.sha256(b"weights").hexdigest()
    assert model["parts"] == [{"file": "a.bin", "bytes": 7, "sha256": digest}]
    (entry,) = embedded_entries(tmp_path)
    assert (entry.format, entry.bytes, entry.parts_bytes) == ("openvino", 5, 7)
    forget("a", tmp_path)
    forget("a", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [INDEX]
    assert embedded_entries(tmp_path) == ()


def test_missing_files_and_broken_indices_are_told(tmp_path: Path):
    assert embedded_entries(tmp_path) == ()
    with pytest.raises(InputError, match="no such model file"):
        record("x", "x.onnx", SPEC, summary="", trained_on="", note="", folder=tmp_path)
    for text in ("{", "[]", '{"models": [{}]}'):
        (tmp_path / INDEX).write_text(text)
        with pytest.raises(SightlineError, match=INDEX):
            embedded_entries(tmp_path)
