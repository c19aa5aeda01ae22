"""`sightline measure` in a picture and in a map of it that was saved."""

import json

import pytest

from sightline.cli import main
from sightline.examples import example_person, example_photograph

FAST = ["--model", "tiny", "--no-sigma", "--threads", "1", "--no-people"]
CUP = ["--length", "200,200,330,200=8cm"]
WHERE = ["--from", "200,200", "--to", "400,300"]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A map of the cup in meters, with its record beside it."""
    out = tmp_path_factory.mktemp("meters")
    words = [*FAST, *CUP, "--out", str(out), "--save", "npz"]
    assert main(["metric", str(example_photograph()), *words]) == 0
    return out / "coffee.npz"


def printed(capsys, *words):
    assert main(["measure", *words]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_saved_map_measures_like_its_picture(saved, capsys):
    picture = printed(capsys, str(example_photograph()), *FAST, *CUP, *WHERE)
    numbers = [line for line in picture if not line.startswith(("by ", "note: "))]
    assert [line for line in printed(capsys, str(saved), *WHERE) if "by " not in line] == numbers


def test_without_its_record_it_says_that_errors_are_of_single_pixels(saved, capsys, tmp_path):
    alone = tmp_path / "alone.npz"
    alone.write_bytes(saved.read_bytes())
    assert any("errors are taken pixel by pixel" in x for x in printed(capsys, str(alone), *WHERE))
    record = json.loads(saved.with_suffix(".json").read_text())
    record["median_depth_m"] *= 2  # of another map
    alone.with_suffix(".json").write_text(json.dumps(record))
    assert any("pixel by pixel" in line for line in printed(capsys, str(alone), *WHERE))


@pytest.mark.parametrize(
    "words", [["--fov", "20"], CUP, ["--model", "tiny"], ["--camera-height", "1m"]]
)
def test_a_saved_map_takes_nothing_that_makes_meters(saved, capsys, words):
    assert main(["measure", str(saved), *WHERE, *words]) == 2
    said = capsys.readouterr().err
    assert "holds meters already" in said
    assert f"leave out {words[0]}" in said


def test_no_heights_over_a_chest(capsys):
    words = [*FAST, "--depth-at", "230,300=1m", "--from", "100,300", "--to", "300,300"]
    lines = printed(capsys, str(example_person()), *words)
    assert any(line.startswith("distance") for line in lines)
    assert not any("over the floor" in line for line in lines)
