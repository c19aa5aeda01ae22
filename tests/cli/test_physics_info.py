"""`sightline physics info`: what a file holds, and one line about files that are not whole."""

import os
import shutil

import h5py
import numpy as np
import pytest

from sightline.cli import main
from sightline.physics.combinatorial.store import CombinatorialSpec
from sightline.physics.datasets.making import iter_make_dataset
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.datasets.spec import DataSpec

SPECS = {
    "rle.h5": DataSpec("collision", 3, size=16, seed=5, split="ood"),
    "a.h5": DataSpec("collision", 3, size=16, seed=5, split="ood", video="standard"),
    "b.h5": DataSpec("uniform", 3, size=16, seed=6, level="30K", video="lossless"),
    "probe.h5": DataSpec("probe:visual-ambiguity", 2, size=16, part="test"),
    "scenes.h5": CombinatorialSpec((10003, 10061), tasks=1, trials=2, size=16, frames=3, limit=3),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, spec in SPECS.items():
        list(iter_make_dataset(spec, folder / name, workers=1))
    return folder


def info(path, capsys):
    assert main(["physics", "info", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    return {line[:12].strip(): line[12:] for line in lines}


def test_what_a_file_says_of_itself(files, capsys):
    said = info(files / "rle.h5", capsys)
    assert said["scenario"] == "collision"
    assert said["videos"] == "3"
    assert said["each"] == "32 frames of 16×16, one every 0.1 s"
    assert said["pixels"] == "lossless"
    assert (said["split"], said["seed"], said["bodies"]) == ("ood", "5", "2")
    assert said["init"].startswith("r1 ")
    assert said["made with"].startswith("preset code, mode exact, shard_seed false, sightline ")
    with open_dataset(files / "rle.h5") as data:
        assert said["digest"] == data.digest
    assert info(files / "a.h5", capsys)["pixels"] == "mp4 of standard quality"


def test_levels_and_probes(files, capsys):
    said = info(files / "b.h5", capsys)
    assert (said["level"], said["seed"], said["pixels"]) == ("30K", "6", "mp4, lossless")
    assert "split" not in said
    said = info(files / "probe.h5", capsys)
    assert (said["probe"], said["part"], said["seed"]) == ("visual-ambiguity", "test", "0")
    assert "split" not in said
    assert said["made with"].startswith("sightline ")


def test_scenes(files, capsys):
    said = info(files / "scenes.h5", capsys)
    assert (said["videos"], said["templates"], said["tasks"]) == ("3", "10003, 10061", "2")
    assert said["made with"].startswith("trials 2, first_trial 0, sightline ")


def test_a_released_file(files, tmp_path, capsys):
    path = tmp_path / "a.h5"
    shutil.copy(files / "a.h5", path)
    with h5py.File(path, "a") as file:
        del file.attrs["sightline"]
    said = info(path, capsys)
    assert (said["scenario"], said["pixels"]) == ("collision", "mp4 of unknown quality")
    assert "seed" not in said


def refused(path, capsys):
    """Say what is said about a file: one line that names it."""
    assert main(["physics", "info", str(path)]) == 2
    out, err = capsys.readouterr()
    (line,) = err.splitlines()
    assert out == ""
    assert path.name in line
    return line


@pytest.mark.parametrize("name", SPECS)
def test_every_cut_is_refused(files, tmp_path, capsys, name):
    whole, path = (files / name).read_bytes(), tmp_path / name
    places = {*range(1, 64, 7), *np.linspace(64, len(whole) - 1, 40).astype(int)}
    for length in sorted(places):
        path.write_bytes(whole[:length])
        refused(path, capsys)


def test_what_is_no_data_set(files, tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.h5")
    assert "is a pipe" in refused(tmp_path / "pipe.h5", capsys)
    (tmp_path / "folder.h5").mkdir()
    assert "is a folder" in refused(tmp_path / "folder.h5", capsys)
    (tmp_path / "empty.h5").touch()
    assert "is empty" in refused(tmp_path / "empty.h5", capsys)
    (tmp_path / "loop.h5").symlink_to("loop.h5")
    refused(tmp_path / "loop.h5", capsys)
    for name, content in {"a.mp4": b"\0\0\0\x18ftypmp42" * 9, "b.h5": b"hello"}.items():
        (tmp_path / name).write_bytes(content)
        assert "is not an HDF5 data set" in refused(tmp_path / name, capsys)
    shutil.copy(files / "a.h5", tmp_path / "c.data")
    assert info(tmp_path / "c.data", capsys)["format"].startswith("HDF5")


def empty(file):
    for name in file:
        del file[name]
        file.create_group(name)


def no_rows(file):
    for name in file:
        rows = file[name]["00000"]
        kind, shape = rows.dtype, rows.shape[1:]
        del file[name]["00000"]
        file.create_dataset(f"{name}/00000", (0, *shape), kind)


def links(file):
    del file["init_streams"]
    file["init_streams"] = h5py.ExternalLink("/dev/zero", "/")


def dangling(file):
    file["object_streams"] = h5py.SoftLink("/nowhere")


def renamed(file):
    file.attrs["sightline"] = np.bytes_('{"scenario": "combinatorial"}')


def huge_time(file):
    file.attrs["sightline"] = np.bytes_('{"frame_time": 1' + "0" * 400 + "}")


def many_bodies(file):
    for name, shape in (("position", (3, 2, 1000, 2)), ("velocity", (3, 2, 1000, 2))):
        del file[f"{name}_streams/00000"]
        file[f"{name}_streams/00000"] = np.zeros(shape)
    for name in ("size", "shape", "color"):
        del file[f"{name}_streams"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file: file.__delitem__("init_streams"), "has no init_streams"),
        (empty, "holds no video"),
        (no_rows, "holds no video"),
        (links, "links are not followed"),
        (dangling, "object_streams: a data set of combinatorial worlds"),
        (renamed, "is called combinatorial and holds samples of moving balls"),
        (huge_time, "the attribute sightline cannot be read"),
        (many_bodies, "1,000 bodies"),
    ],
)
def test_hdf5_that_holds_something_else(files, tmp_path, capsys, change, message):
    path = tmp_path / "bad.h5"
    shutil.copy(files / "a.h5", path)
    with h5py.File(path, "a") as file:
        change(file)
    assert message in refused(path, capsys)


def test_words_of_strangers_stay_on_their_line(files, tmp_path, capsys):
    path = tmp_path / "a.h5"
    shutil.copy(files / "a.h5", path)
    with h5py.File(path, "a") as file:
        made = '{"split": "ood\\nseed 7", "seed": "\\u001b[2J", "x\\ty": [' + "1, " * 200 + "1]}"
        file.attrs["sightline"] = np.bytes_(f'{{"scenario": "a\\u009bb", "made": {made}}}')
    said = info(path, capsys)
    assert (said["split"], said["seed"]) == (r"ood\nseed 7", r"\x1b[2J")
    assert said["scenario"] == r"a\x9bb"
    assert said["made with"].startswith(r"x\ty [1, 1,")
    assert said["made with"].endswith("…")
