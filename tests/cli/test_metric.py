"""`sightline metric` and `sightline measure`, from the command line to the files."""

import json
import re

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.errors import InputError
from sightline.examples import example_person, example_photograph
from sightline.io.depth_files import read_depth
from sightline.models import registry
from sightline.models.download import locate

FAST = ["--model", "tiny", "--no-sigma", "--threads", "1"]
ALONE = [*FAST, "--no-people"]
CUP = "200,200,330,200=8cm"


def metric(out, *words, picture=None):
    return main(["metric", str(picture or example_photograph()), "--out", str(out), *words])


def found(out, stem="coffee"):
    return json.loads((out / f"{stem}.json").read_text())


def needs(*names):
    for name in names:
        if locate(registry.get(name)) is None:
            pytest.skip(f"{name} is not here: sightline models get {' '.join(names)}")


def test_a_length_makes_meters_with_a_stated_source(tmp_path, capsys):
    assert metric(tmp_path, *ALONE, "--length", CUP, "--save", "npz,color,ply,glb") == 0
    names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
    wanted = {"coffee.npz", "coffee_color.png", "coffee.ply", "coffee.glb", "coffee.json"}
    assert names >= wanted
    depth = read_depth(tmp_path / "coffee.npz")
    assert depth.unit == "m"
    assert depth.sigma is not None
    assert depth.camera is not None
    (yardstick,) = found(tmp_path)["evidence"]
    assert yardstick["kind"] == "length"
    assert yardstick["name"] == "length 200,200 to 330,200 = 0.08 m"
    assert abs(yardstick["residual"]) < 0.01
    assert "length 200,200 to 330,200 = 0.08 m" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["photo", "person"])
def test_a_given_length_is_measured_again(tmp_path, capsys, name):
    picture = example_photograph() if name == "photo" else example_person()
    words = [*ALONE, "--length", "150,200,330,210=0.4m±1cm", "--fov", "55"]
    assert main(["measure", str(picture), *words, "--from", "150,200", "--to", "330,210"]) == 0
    line = next(x for x in capsys.readouterr().out.splitlines() if x.startswith("distance"))
    value, sigma = (float(word) for word in line.split()[1:4:2])
    assert abs(value - 0.4) <= sigma
    assert sigma < 0.2


@pytest.mark.parametrize(
    "words",
    [
        ["--depth-at", "300,200=0.5m"],
        ["--depth-at", "300,200=0.5m", "--depth-at", "500,20=0.9m±10%"],
        ["--box", "150,60,420,330=9cm"],
        ["--camera-height", "0.4m"],
        ["--length", CUP, "--depth-at", "300,200=0.5m", "--camera-height", "0.4m"],
    ],
)
def test_every_yardstick_alone_and_together(tmp_path, words):
    assert metric(tmp_path, *ALONE, *words) == 0
    said = found(tmp_path)
    assert len(said["evidence"]) == sum(word.startswith("--") for word in words)
    assert 0.05 < said["median_depth_m"] < 20
    assert said["median_sigma_share"] > 0


def test_a_table_of_depths(tmp_path):
    table = tmp_path / "points.csv"
    table.write_text("x,y,depth\n# by laser\n300,200,0.5\n500,20,0.9,0.05\n\n40,380,0.4\n")
    assert metric(tmp_path, *ALONE, "--depth-at", str(table)) == 0
    names = [row["name"] for row in found(tmp_path)["evidence"]]
    assert names == [
        "depth at 300,200 = 0.5 m",
        "depth at 500,20 = 0.9 m",
        "depth at 40,380 = 0.4 m",
    ]


def test_a_measured_map(tmp_path):
    values = np.zeros((400, 600), np.uint16)
    values[50:350:60, 50:550:60] = 700
    values[50:100:60] = np.where(values[50:100:60] > 0, 1400, 0)
    Image.fromarray(values).save(tmp_path / "lidar.png")
    words = [*ALONE, "--measured", str(tmp_path / "lidar.png")]
    assert metric(tmp_path, *words) == 2  # nobody says what its numbers mean
    assert metric(tmp_path, *words, "--measured-unit", "mm") == 0
    assert 0.4 < found(tmp_path)["median_depth_m"] < 2
    assert all(row["kind"] == "point" for row in found(tmp_path)["evidence"])


def test_a_measured_map_of_one_depth_has_yardsticks_of_different_names(tmp_path):
    Image.fromarray(np.full((400, 600), 700, np.uint16)).save(tmp_path / "wall.png")
    words = [*ALONE, "--measured", str(tmp_path / "wall.png"), "--measured-unit", "mm"]
    assert metric(tmp_path, *words) == 0
    names = [row["name"] for row in found(tmp_path)["evidence"]]
    assert names[0] == "measured depth 1 of 8, 0.70 to 0.70 m"
    assert len(set(names)) == 8


def test_a_measured_map_of_8_bits_is_refused(tmp_path, capsys):
    Image.fromarray(np.full((400, 600), 70, np.uint8)).save(tmp_path / "gray.png")
    words = [*ALONE, "--measured", str(tmp_path / "gray.png"), "--measured-unit", "mm"]
    assert metric(tmp_path, *words) == 2
    assert "gray.png: is a PNG of 8 bits" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--length", "200,200,330,200=0.08"], True),
        (["--length", "200,200,330,200=0.08±2mm"], True),
        (["--camera-height", "0.4"], True),
        (["--length", "200,200,330,200=0.08m±5%"], False),
    ],
)
def test_a_number_without_unit_is_in_meters_and_that_is_said(tmp_path, capsys, words, said):
    assert metric(tmp_path, *ALONE, *words) == 0
    note = f"note: {words[1]} has no unit and is taken for meters"
    assert (note in capsys.readouterr().err) == said


def test_contradictions_are_named_and_not_averaged_away(tmp_path, capsys):
    words = ["--depth-at", "300,200=0.5m", "--depth-at", "310,210=5m", "--depth-at", "290,190=0.5m"]
    assert metric(tmp_path, *ALONE, *words) == 0
    assert "depth at 310,210 = 5 m contradicts the others" in capsys.readouterr().err
    assert found(tmp_path)["evidence"][1]["contradicts"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing of known size was given or found, so there are no meters"),
        (["--length", "1,1,1,1=2m"], "0.0 pixels apart"),
        (["--length", "10,10,90,10=0m"], "a length must be positive"),
        (["--length", "10,10,90,10=-3m"], "a length must be positive"),
        (["--length", "10,10,90,10"], "has no length"),
        (["--length", "10,10,90,10=3 parsecs"], "unknown unit"),
        (["--length", "10,10,9000,10=3m"], "outside the picture of 600×400"),
        (["--length", "-1,10,90,10=3m"], "-1,10 is outside the picture of 600×400; x runs from 0"),
        (["--depth-at", "10=3m"], "not 2 numbers"),
        (["--depth-at", "nan,3=3m"], "not 2 numbers"),
        (["--depth-at", "none.csv"], "no such file"),
        (["--box", "90,10,10,90=1m"], "left < right"),
        (["--camera-height", "0"], "a length must be positive"),
        (["--measured", "none.png"], "no such file"),
        (["--fov", "200", "--length", CUP], "field of view"),
    ],
)
def test_mistakes_get_one_line_and_leave_nothing(tmp_path, capsys, words, said):
    assert metric(tmp_path / "out", *ALONE, *words) == 2
    lines = capsys.readouterr().err.strip().splitlines()
    assert said in lines[-1] or any(said in line for line in lines)
    assert not list((tmp_path / "out").glob("*.npz"))


def test_bad_lines_of_a_table_are_named(tmp_path, capsys):
    table = tmp_path / "points.csv"
    table.write_text("1,2,3\n1,2,-3\n")
    assert metric(tmp_path, *ALONE, "--depth-at", str(table)) == 2
    assert "points.csv: line 2 is not a pixel with a depth" in capsys.readouterr().err
    table.write_bytes(b"\xff\xfe\x00")
    assert metric(tmp_path, *ALONE, "--depth-at", str(table)) == 2
    assert "is not text" in capsys.readouterr().err


def test_yardsticks_of_one_picture_are_not_for_two(tmp_path, capsys):
    words = [str(example_photograph()), str(example_person()), "--out", str(tmp_path)]
    assert main(["metric", *words, *ALONE, "--length", CUP]) == 2
    assert "apply to one image" in capsys.readouterr().err


def test_a_person_makes_meters_and_it_says_why(tmp_path, capsys):
    needs("pose-detection", "pose-full")
    assert metric(tmp_path, *FAST, picture=example_person()) == 0
    printed = capsys.readouterr()
    assert re.search(
        r", ± \d+% in total \(.*lens.*\), from\n  person 1 \(± \d+% by itself\)", printed.out
    )
    assert "lens: 54° wide, assumed" in printed.out
    assert "the lens is a guess" in printed.err
    said = found(tmp_path, "astronaut")
    assert [row["kind"] for row in said["evidence"]] == ["person"]
    assert 0.3 < said["median_depth_m"] < 5
    assert said["median_sigma_share"] > 0.2


def test_nobody_there(tmp_path, capsys):
    needs("pose-detection", "pose-full")
    assert metric(tmp_path, *FAST) == 2
    said = (
        "nothing of known size was given or found, so there are no meters: nobody was found; give"
    )
    assert said in capsys.readouterr().err


def test_no_irises_there(tmp_path, capsys):
    needs("face-detection", "face-landmarks", "iris-landmarks")
    assert metric(tmp_path, *ALONE, "--iris") == 2
    line = capsys.readouterr().err
    assert "so there are no meters: no face shows both irises" in line
    assert "--measured" in line
    assert "--iris" not in line


def test_without_network_it_names_what_works_without(tmp_path, capsys, monkeypatch):
    def offline(name, **_):
        raise InputError(f"{name} is not on this machine", remedy="fetch it elsewhere")

    monkeypatch.setattr("sightline.metric.people.blazepose.resolve", offline)
    assert metric(tmp_path, *FAST) == 2
    line = capsys.readouterr().err
    assert "pose-full is not on this machine; fetch it elsewhere; or measure without it" in line
    for flag in ("--no-people", "--length", "--depth-at", "--box", "--camera-height", "--measured"):
        assert flag in line


def test_beside_the_picture_its_own_results_are_replaced_and_others_spared(tmp_path, capsys):
    picture = tmp_path / "my.jpg"
    picture.write_bytes(example_photograph().read_bytes())
    words = [*ALONE, "--camera-height", "0.4m"]
    for _ in range(2):
        assert metric(tmp_path, *words, picture=tmp_path) == 0  # the folder, without my_color.png
    assert sorted(path.name for path in tmp_path.glob("my*")) == [
        "my.jpg",
        "my.json",
        "my.npz",
        "my_color.png",
    ]
    (tmp_path / ".sightline.json").unlink()
    assert metric(tmp_path, *words, picture=picture) == 2
    assert "was not written by sightline" in capsys.readouterr().err
    for name in ("my.npz", "my_color.png"):
        (tmp_path / name).unlink()
    (tmp_path / "my.json").write_text("the user's own")
    assert metric(tmp_path, *words, picture=picture) == 2
    assert (tmp_path / "my.json").read_text() == "the user's own"


def test_meshes_of_another_tool(tmp_path, capsys):
    folder = tmp_path / "meshes"
    folder.mkdir()
    corners = np.array([[-0.2, -0.4, 1], [0.2, -0.4, 1], [0.2, 0.4, 1], [-0.2, 0.4, 1]], float)
    faces = np.array([[0, 1, 2], [0, 2, 3]])
    np.savez(folder / "astronaut_0.npz", vertices=corners, faces=faces)
    words = [*FAST, "--meshes", str(folder)]
    assert metric(tmp_path, *words, picture=example_person()) == 0
    (row,) = found(tmp_path, "astronaut")["evidence"]
    assert row["kind"] == "person"
    assert f"meshes in {folder}" in found(tmp_path, "astronaut")["people_found_by"]
    assert metric(tmp_path, *words) == 2
    assert "holds no mesh of coffee" in capsys.readouterr().err
    assert metric(tmp_path, *words, "--no-people") == 2


def test_measure_in_a_map(tmp_path, capsys):
    assert metric(tmp_path, *ALONE, "--length", CUP, "--save", "npz") == 0
    capsys.readouterr()
    where = ["--from", "200,200", "--to", "330,200"]
    assert main(["measure", str(tmp_path / "coffee.npz"), *where]) == 0
    lines = dict(
        x[:22].rstrip() and (x[:22].rstrip(), x[22:]) for x in capsys.readouterr().out.splitlines()
    )
    assert float(lines["distance"].split()[0]) == pytest.approx(0.08, rel=0.05)
    assert set(lines) >= {
        "down",
        "rise in the picture",
        "angle between them",
        "camera to the first",
    }

    assert lines["by length 200,200 to 3"].startswith("30,200")
    assert main(["measure", str(tmp_path / "coffee.npz"), *where, "--length", CUP]) == 2
    assert "holds meters already" in capsys.readouterr().err


def test_what_is_given_counts_before_people(tmp_path, capsys):
    needs("pose-detection", "pose-full")
    words = [*FAST, "--length", "100,400,300,400=5m", "--from", "100,400", "--to", "300,400"]
    assert main(["measure", str(example_person()), *words]) == 0
    printed = capsys.readouterr().out
    line = next(x for x in printed.splitlines() if x.startswith("distance"))
    value, sigma = (float(word) for word in line.split()[1:4:2])
    assert abs(value - 5) <= sigma < 3
    assert "person 1" in printed
    assert "contradicts the others" in printed


def test_two_that_cannot_both_be_true_are_refused(tmp_path, capsys):
    words = ["--length", CUP, "--length", "200,200,330,200=3m"]
    assert metric(tmp_path, *ALONE, *words) == 2
    said = capsys.readouterr().err
    assert "contradict each other" in said
    assert "coffee.jpg" in said


def test_measure_in_python():
    import sightline

    result = sightline.metric(example_photograph(), length=CUP, people=False, model="tiny")
    assert result.depth.is_metric
    found = sightline.measure(result, (200, 200), (330, 200))
    assert found.value == pytest.approx(0.08, rel=0.02)
    for place in ((1, 2, 3), (float("nan"), 1), "1", None, ("a", "b")):
        with pytest.raises(InputError):
            sightline.measure(result, place, (5, 5))


def test_a_batch_goes_on_after_a_bad_file(tmp_path, capsys):
    pictures = tmp_path / "in"
    pictures.mkdir()
    (pictures / "a.jpg").write_bytes(b"no picture")
    (pictures / "b.jpg").write_bytes(example_photograph().read_bytes())
    words = [*ALONE, "--camera-height", "0.4m", "--keep-going"]
    assert main(["metric", str(pictures), "--out", str(tmp_path / "out"), *words]) == 2
    assert (tmp_path / "out" / "b.npz").exists()
    assert "a.jpg" in capsys.readouterr().err
