"""The Fréchet video distance of everybody, with a small network in the place of I3D."""

import pytest

from sightline.cli import main
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.scoring import report
from sightline.physics.scoring.inputs import list_videos, match
from sightline.physics.scoring.report import ENOUGH, few_videos, measure_fvd
from sightline.physics.scoring.run import ScoringTask, default_baselines
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd

torch = pytest.importorskip("torch")


def brightness(clip):
    """Return (1, 32) features of a (1, 3, T, H, W) clip: how bright pieces of its last frame are."""
    return torch.nn.functional.adaptive_avg_pool2d(clip[:, :1, -1], (4, 8)).reshape(1, -1)


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Return a function that measures a data set against itself."""

    def measured(network, *words, condition=3):
        monkeypatch.setattr(report, "load_i3d", lambda: network)
        path = tmp_path / "a.h5"
        assert main(["physics", "make", *words, "--workers", "1", "--out", str(path)]) == 0
        with open_dataset(path) as data:
            names, matching = default_baselines(data.scenario), match(list_videos(path), len(data))
        task = ScoringTask(path, condition, baselines=names, level="30K")
        return measure_fvd(matching.pairs, task)

    return measured


def test_everybody_has_a_distance_and_the_number_of_videos(ask):
    found = ask(brightness, "collision", "--count", "18")
    assert list(found) == ["model", "truth", "copy-last", "constant-velocity", "nearest-case"]
    assert {(one.videos, one.truths, one.frames) for one in found.values()} == {(18, 18, 32)}
    assert found["model"].value == pytest.approx(0, abs=1e-6)
    assert found["model"].value <= found["truth"].value < found["nearest-case"].value
    assert found["nearest-case"].value < found["copy-last"].value


def test_combinatorial_worlds_have_theirs(ask):
    words = ("--templates", "10003", "--tasks", "1", "--trials", "4", "--size", "64")
    found = ask(brightness, "combinatorial", *words, condition=1)
    assert list(found) == ["model", "truth", "copy-last"]
    assert found["truth"].value < found["copy-last"].value


def test_what_cannot_be_measured_is_not_available_to_anybody(ask):
    absent = NotAvailable("FVD", "no weights", "sightline models get i3d-kinetics400")
    found = ask(absent, "uniform", "--count", "2")
    assert set(found.values()) == {absent}
    assert len(found) == 5


def test_one_video_is_too_few(ask):
    found = ask(brightness, "uniform", "--count", "1")
    assert all("at least two" in one.reason for one in found.values())


def test_few_videos_are_cautioned_about():
    assert few_videos(None) == ""
    assert few_videos({"model": Fvd(1.0, ENOUGH, ENOUGH, 32)}) == ""
    assert "of 40 videos" in few_videos({"model": Fvd(1.0, 40, 40, 32)})
    assert few_videos({"model": NotAvailable("FVD", "no weights", "x")}) == ""
