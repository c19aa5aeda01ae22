"""`sightline metric` where it must refuse, or say what it cannot know."""

import json

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.examples import example_person, example_photograph
from sightline.io.depth_files import read_depth
from sightline.models import registry
from sightline.models.download import locate

ALONE = ["--model", "tiny", "--no-sigma", "--threads", "1", "--no-people", "--save", "npz"]


def metric(out, *words, picture=None):
    return main(["metric", str(picture or example_photograph()), "--out", str(out), *ALONE, *words])


def found(out, stem="coffee"):
    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    return json.loads((out / f"{stem}.json").read_text(), parse_constant=refuse)


def test_a_chest_is_no_floor(tmp_path, capsys):
    words = ["--camera-height", "1.2m"]
    assert metric(tmp_path, *words, picture=example_person()) == 2
    assert "no floor was found" in capsys.readouterr().err
    assert not list(tmp_path.glob("*.npz"))


def test_a_gray_picture_has_no_meters(tmp_path, capsys):
    gray = tmp_path / "gray.png"
    Image.fromarray(np.full((120, 160, 3), 128, np.uint8)).save(gray)
    assert metric(tmp_path, "--camera-height", "1.2m", picture=gray) == 2
    assert "no floor was found: the picture is blank" in capsys.readouterr().err
    assert metric(tmp_path, "--depth-at", "80,60=2m", picture=gray) == 2


def test_kilometers_are_measured_like_meters(tmp_path, capsys):
    maps = []
    for depth in ("2m", "2km"):
        assert metric(tmp_path, "--depth-at", f"300,200={depth}") == 0
        maps.append(read_depth(tmp_path / "coffee.npz"))
        assert not found(tmp_path)["evidence"][0]["contradicts"]
    near, far = maps
    assert far.valid.mean() == near.valid.mean() > 0.9
    assert far.values == pytest.approx(1000 * near.values, rel=0.01)
    assert "contradicts" not in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    "words", [("--depth-at", "300,200=1e8m"), ("--length", "200,200,330,200=1e9m")]
)
def test_what_is_no_distance_is_refused_in_one_line(tmp_path, capsys, words):
    assert metric(tmp_path, *words) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "a length must lie between 0.1 mm and 100 km" in line
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("--depth-at", "300,200=2m±1mm", "--depth-at", "300,200=2.9m±1mm"),
        ("--length", "200,200,330,200=8cm±1mm", "--length", "200,200,330,200=9cm±1mm"),
    ],
)
def test_contradictions_about_one_place_are_named(tmp_path, capsys, words):
    assert metric(tmp_path, *words) == 0
    assert "contradict each other" in capsys.readouterr().err
    assert any("contradict each other" in line for line in found(tmp_path)["warnings"])


def test_a_length_from_rim_to_rim_is_read_on_the_thing(tmp_path, capsys):
    """A head 0.18 m wide, seen by a lens of 54°, is 0.65 m away, and so is all that is read of it."""
    words = ["--length", "155,70,299,70=0.18m"]
    assert metric(tmp_path, *words, picture=example_person()) == 0
    assert "lies on an edge: its nearer side was read" in capsys.readouterr().err
    depth = read_depth(tmp_path / "astronaut.npz")
    assert depth.values[70, 225] == pytest.approx(0.18 * depth.camera.focal / 144, rel=0.1)


def test_note_and_line_agree_on_a_fitted_lens(tmp_path, capsys):
    for name in ("face-detection", "face-landmarks", "iris-landmarks"):
        if locate(registry.get(name)) is None:
            pytest.skip(f"{name} is not here")
    words = ["--depth-at", "230,300=2m", "--iris"]
    assert metric(tmp_path, *words, picture=example_person()) == 0
    printed = capsys.readouterr()
    line = next(x for x in printed.out.splitlines() if x.startswith("  lens: "))
    assert line.endswith("° wide, estimated by the evidence")
    assert "the lens is a guess" not in printed.err
    said = found(tmp_path, "astronaut")
    assert said["focal_source"] == "estimated"
    assert said["focal_sigma"] <= 0.3
    width = line.split()[1]
    assert all(f"({width} wide" in x for x in printed.err.splitlines() if "the lens" in x)
