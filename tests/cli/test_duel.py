"""`sightline duel`, run as a user runs it."""

import json

import numpy as np
import pytest

from sightline.cli import main
from sightline.io.rgbd import read_rgbd


@pytest.fixture
def maps(rgbd_folder, tmp_path, rng):
    """Two folders of plain arrays: disparity of a good and of a bad model."""
    for name, noise in (("good", 0.01), ("bad", 0.5)):
        for truth in read_rgbd(rgbd_folder):
            path = tmp_path / name / truth.sample / "image.npy"
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, truth.disparity * np.exp(rng.normal(0, noise, truth.disparity.shape)))
    return tmp_path / "good", tmp_path / "bad"


def test_two_folders_of_maps(rgbd_folder, maps, tmp_path, capsys):
    good, bad = (f"{folder}@disparity" for folder in maps)
    out = tmp_path / "out"
    assert main(["duel", good, bad, "--sets", str(rgbd_folder), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("protocol")
    assert "cannot judge: median: good has an unknown shift" in text
    assert text.splitlines()[-1].startswith("rgbd; 3 pictures")
    found = json.loads((out / "duel.json").read_text())
    assert set(found["models"]) == {"good", "bad"}
    assert (out / "duel.md").is_file()
    assert (out / "duel.html").is_file()


def test_disparity_given_as_depth_ends_with_one_line(rgbd_folder, maps, capsys):
    good, bad = maps
    words = ["duel", f"{good}@depth", f"{bad}@disparity", "--sets", f"rgbd={rgbd_folder}"]
    assert main(words) == 2
    assert "the maps of good run the wrong way" in capsys.readouterr().err


def test_a_missing_map_is_named(rgbd_folder, maps, capsys):
    good, bad = maps
    (good / "a1" / "image.npy").unlink()
    words = ["duel", f"{good}@disparity", f"{bad}@disparity", "--sets", str(rgbd_folder)]
    assert main(words) == 2
    assert "a1 by good: " in capsys.readouterr().err
    assert main([*words, "--keep-going"]) == 0
    assert "left out: a1 by good" in capsys.readouterr().out
