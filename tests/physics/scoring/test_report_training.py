"""Options that would have no effect are refused."""

from pathlib import Path

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.scoring import report
from sightline.physics.scoring.report import training_choices


class Data:
    """Stands in for a data set."""

    path = Path("data.h5")

    def __init__(self, scenario, made=None, columns=2, count=3):
        self.scenario, self.made, self.count = scenario, made or {}, count
        self.init = np.ones((1, columns))

    def __len__(self):
        return self.count

    def read_samples(self, start, stop):
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_nothing_given_leaves_the_defaults():
    assert training_choices(Data("uniform"), None, None, None) == {}


def test_ranges_are_those_that_the_data_set_was_made_with():
    assert training_choices(Data("uniform", {"preset": "paper"}), None, None, None) == {
        "preset": "paper"
    }
    assert training_choices(Data("uniform", {"preset": "paper"}), None, None, "code") == {
        "preset": "code"
    }
    for odd in ("mine", ["code"], None):
        assert training_choices(Data("uniform", {"preset": odd}), None, None, None) == {}


@pytest.mark.parametrize("scenario", ["combinatorial", "gate", "spatial"])
@pytest.mark.parametrize(
    "given", [(Path("t.h5"), None, None), (None, "3M", None), (None, None, "code")]
)
def test_worlds_without_ranges_have_no_use_for_them(scenario, given):
    with pytest.raises(InputError, match=f"would have no effect on {scenario}"):
        training_choices(Data(scenario), *given)


def test_one_training_set_is_enough():
    with pytest.raises(InputError, match="leave one out"):
        training_choices(Data("uniform"), Path("t.h5"), "30K", None)


def test_a_probe_has_its_own_training_part():
    probe = Data("uniform", {"scenario": "probe:gap"})
    with pytest.raises(InputError, match="--level would have no effect"):
        training_choices(probe, None, "30K", None)


@pytest.mark.parametrize(
    ("training", "words"),
    [
        (Data("collision", columns=4), "holds collision"),
        (Data("uniform", columns=3), "3 parameters"),
        (Data("uniform", count=0), "no video"),
    ],
)
def test_a_training_set_of_another_world_is_refused(monkeypatch, training, words):
    monkeypatch.setattr(report, "open_dataset", lambda path: training)
    with pytest.raises(InputError, match=words):
        training_choices(Data("uniform"), Path("t.h5"), None, None)


def test_a_training_set_of_the_same_world_is_taken(monkeypatch):
    monkeypatch.setattr(report, "open_dataset", lambda path: Data("uniform"))
    chosen = training_choices(Data("uniform"), Path("t.h5"), None, None)
    assert chosen == {"training": Path("t.h5")}
