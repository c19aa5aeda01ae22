"""Inputs and outputs on remote storage, from the command line."""

import json
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from sightline.cli import build, main
from sightline.examples import example_photograph
from sightline.io.atomic import write_bytes
from sightline.io.depth_files import read_depth
from sightline.io.paths import listing, to_path
from sightline.io.pointclouds import read_pointcloud


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    """No local folder called `s3:` or `memory:` is made."""
    monkeypatch.chdir(tmp_path)
    yield
    assert not list(tmp_path.iterdir())


@pytest.fixture
def photos(remote_folder):
    data = example_photograph().read_bytes()
    for name in ("a.jpg", "deep/b.jpg"):
        write_bytes(f"{remote_folder}/photos/{name}", data)
    return f"{remote_folder}/photos"


def test_depth_from_and_to_urls(photos, remote_folder, conv_onnx, capsys):
    out = f"{remote_folder}/out"
    words = ["depth", photos, "--recursive", "--out", out, "--model", str(conv_onnx)]
    assert main([*words, "--save", "npz,color,glb"]) == 0
    names = {entry.inner for entry in listing(out, recursive=True)}
    stems = ("a", "deep/b")
    assert names == {f"{stem}{end}" for stem in stems for end in (".npz", "_color.png", ".glb")}
    assert f"results in {out}" in capsys.readouterr().out
    depth = read_depth(to_path(out) / "a.npz")
    assert np.array_equal(depth.values, read_depth(to_path(out) / "deep/b.npz").values)
    assert len(read_pointcloud(to_path(out) / "a.glb")) > 1000
    before = (to_path(out) / "a.npz").stat().st_mtime
    assert main([*words, "--save", "npz,color,glb", "--resume", "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(rows) == 2
    assert (to_path(out) / "a.npz").stat().st_mtime == before


def test_meters_to_urls(remote_folder):
    words = ["--model", "tiny", "--no-sigma", "--threads", "1", "--no-people"]
    words += ["--length", "200,200,330,200=8cm", "--save", "npz"]
    assert main(["metric", str(example_photograph()), "--out", f"{remote_folder}/m", *words]) == 0
    names = {entry.inner for entry in listing(f"{remote_folder}/m")}
    assert names == {"coffee.npz", "coffee.json"}
    assert read_depth(to_path(f"{remote_folder}/m/coffee.npz")).unit == "m"


def test_labels_to_urls(photos, s3, conv_onnx):
    if not photos.startswith("s3:"):
        pytest.skip("other processes do not see the memory of this one")
    out = f"{photos}-labels"
    assert main(["label", photos, "--recursive", "--out", out, "--model", str(conv_onnx)]) == 0
    names = [entry.inner for entry in listing(out, recursive=True)]
    assert names == ["a.png", "deep/b.png", "labels.json"]


def arguments(app=None, chain=()):
    """Yield the words of every command with each of its arguments."""
    app = app or build()
    for name in app:
        if not name.startswith("-"):
            yield from arguments(app[name], (*chain, name))
    if app.default_command is not None:
        for argument in app.assemble_argument_collection():
            yield chain, argument


def is_local(hint):
    """Whether a type is a local path, or several of them."""
    return hint is Path or any(is_local(part) for part in get_args(hint))


LOCAL = [(chain, one.name) for chain, one in arguments() if one.name and is_local(one.hint)]


def test_every_output_is_a_url_or_a_local_path():
    outputs = {(" ".join(chain), one.name) for chain, one in arguments() if one.name == "--out"}
    local = {(" ".join(chain), name) for chain, name in LOCAL}
    assert outputs - local == {(name, "--out") for name in ("depth", "metric", "label")}
    files = {("bench", "--json"), ("bench", "--markdown"), ("quiz", "--json"), ("ask", "--map")}
    assert files < local
    assert len(outputs & local) > 20


@pytest.mark.parametrize("place", ["memory://folder/out", "s3://bucket/out", "hf://datasets/a/b"])
@pytest.mark.parametrize(
    ("chain", "name"), LOCAL, ids=lambda part: part if isinstance(part, str) else "-".join(part)
)
def test_a_url_where_a_local_path_is_needed(chain, name, place, capsys):
    words = [name, place] if name.startswith("--") else [place]
    if chain in {("bench",), ("quiz",)} and name == "DIR":
        words = ["rgbd", place]  # behind the name of the set
    assert main([*chain, *words]) == 2
    said = capsys.readouterr().err
    assert f"must be on a local disk, got {place}; give a local path" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("data", ["pairs:s3://bucket/pairs", "shards:memory://folder/shards"])
@pytest.mark.parametrize("command", ["train teacher", "tokens train"])
def test_training_data_at_a_url(command, data, tmp_path_factory, capsys):
    out = tmp_path_factory.mktemp("run") / "run"
    assert main([*command.split(), "--data", data, "--out", str(out)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()
