"""A whole score in this process: everybody has every figure, and provenance says only what was used."""

import pytest

from sightline.cli import main
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.scoring.film_strips import worst_strips
from sightline.physics.scoring.inputs import list_videos, match
from sightline.physics.scoring.report import record
from sightline.physics.scoring.run import ScoringTask, collect, default_baselines, score_chunks

COMBINATORIAL = ("combinatorial", "--templates", "10003", "--tasks", "1", "--size", "64")


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Return a function that makes a data set and scores it against itself."""
    folder = tmp_path_factory.mktemp("data")

    def scored(name, *words, condition=3, **more):
        path = folder / name
        if not path.exists():
            assert main(["physics", "make", *words, "--workers", "1", "--out", str(path)]) == 0
        with open_dataset(path) as data:
            baselines = default_baselines(data.scenario)
            matching = match(list_videos(path), len(data))
        task = ScoringTask(path, condition, baselines=baselines, level="30K", **more)
        chunks = score_chunks(task, matching, workers=1)
        return collect(chunks, task, matching, name), task, matching

    return scored


def test_combinatorial_worlds_have_a_floor_and_strips(make):
    result, task, matching = make("c.h5", *COMBINATORIAL, "--trials", "3", condition=1)
    assert list(result.scores) == ["model", "truth", "copy-last"]
    for k, own in enumerate(result.scores["model"]):
        floor, still = (result.scores[who][k].pictures["psnr"] for who in ("truth", "copy-last"))
        assert own.pictures["psnr"] == 100
        assert still < floor < 100  # compressed once more, it is not what it was
    strips = worst_strips(result, task, matching.pairs)
    assert [strip.film.notes[0] for strip in strips] == ["100.0 dB"] * 3


def test_without_loss_the_floor_is_the_truth(make):
    words = (*COMBINATORIAL, "--trials", "1", "--quality", "lossless")
    result, *_ = make("l.h5", *words, condition=1)
    assert result.scores["truth"][0].pictures["psnr"] == 100


def test_combinatorial_worlds_claim_no_parser(make):
    result, *_ = make("c.h5", *COMBINATORIAL, "--trials", "3", condition=1)
    unused = {"parser", "definition", "ranges", "nearest_case_from"}
    assert not unused & set(result.provenance)
    assert "abnormal is not judged" in result.provenance["compared"]


def test_every_baseline_has_the_pictures_that_were_asked_for(make):
    result, *_ = make("a.h5", "collision", "--count", "3", pictures=("psnr", "ssim"))
    found = record(result)["summary"]
    assert set(found) == {"model", "truth", "copy-last", "constant-velocity", "nearest-case"}
    for who, table in found.items():
        assert set(table["in"]["pictures"]) == {"psnr", "ssim"}, who
    values = {who: table["in"]["pictures"]["psnr"] for who, table in found.items()}
    assert values["truth"] == 100
    assert values["copy-last"] < values["constant-velocity"] < 100


def test_worlds_of_their_own_have_a_nearest_case_and_no_ranges(make):
    words = ("probe:visual-ambiguity", "--part", "test", "--count", "8")
    result, *_ = make("g.h5", *words)
    assert "nearest-case" in result.scores
    origin = result.provenance
    assert origin["nearest_case_from"] == "training part of probe:visual-ambiguity"
    assert origin["part"] == "test"
    assert "ranges" not in origin
    assert "collisions" not in origin["definition"]
    found = record(result)["summary"]
    assert found["truth"]["test"]["reading"]["right_outcome"] == {"value": 1.0, "count": 8}
    assert found["constant-velocity"]["test"]["reading"]["twins_apart"] == {
        "value": 0.0,
        "count": 4,
    }
    assert 0 < found["nearest-case"]["test"]["reading"]["right_outcome"]["value"] <= 1


def test_known_worlds_say_which_ranges_and_grid(make):
    result, *_ = make("a.h5", "collision", "--count", "3")
    assert result.provenance["ranges"] == "code"
    assert result.provenance["nearest_case_from"] == "30K grid (code)"
    assert "compared" not in result.provenance
