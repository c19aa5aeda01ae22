"""Attribute conflicts: the cells, the columns, and the two outcomes that a test can drift to."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.probes import PROBES, candidates, make_probe
from sightline.physics.types import BLUE, RED, Shape

CONFLICTS = [name for name, probe in PROBES.items() if probe.family == "conflict"]


def values(samples, attribute):
    if attribute == "color":
        return (samples.colors[:, 0] == BLUE).all(1)
    if attribute == "shape":
        return samples.shapes[:, 0] != Shape.BALL
    if attribute == "size":
        return samples.sizes[:, 0] >= 1.05
    return samples.velocities[:, 0, 0, 0] >= 2.5


@pytest.mark.parametrize("name", CONFLICTS)
def test_attributes_agree_in_training_and_contradict_in_tests(name):
    first, second = PROBES[name].attributes
    train, test = make_probe(name, "train", 400), make_probe(name, "test", 400)
    assert (values(train, first) == values(train, second)).all()
    assert (values(test, first) != values(test, second)).all()
    assert 0.4 < values(test, first).mean() < 0.6


@pytest.mark.parametrize("name", CONFLICTS)
def test_init_holds_what_is_drawn(name):
    samples = make_probe(name, "train", 50)
    attributes = PROBES[name].attributes
    wanted = 4 if "shape" in attributes else 3 if "color" in attributes else 2
    assert samples.init.shape == (50, wanted)
    assert (samples.init[:, 0] == samples.sizes[:, 0]).all()
    assert (samples.init[:, 1] == samples.velocities[:, 5, 0, 0]).all()
    if wanted > 2:
        colors = np.where(samples.init[:, 2:3] == 1, BLUE, RED)
        assert (samples.colors[:, 0] == colors).all()
    if wanted > 3:
        assert (samples.init[:, 3] == samples.shapes[:, 0]).all()


@pytest.mark.parametrize("name", CONFLICTS)
def test_each_outcome_keeps_one_attribute_and_lies_in_the_training_set(name):
    probe = PROBES[name]
    samples = make_probe(probe, "test", 200)
    init = np.hstack([samples.init, np.zeros((200, 4 - samples.init.shape[1]))])
    for outcome in candidates(probe, samples.init):
        middle = {
            "size": outcome.radius.mean(1) >= 1.05,
            "velocity": outcome.speed.mean(1) >= 2.5,
            "color": outcome.color == 1,
            "shape": outcome.shape != 0,
        }
        kept = values(samples, outcome.keeps)
        assert (middle[outcome.keeps] == kept).all()
        assert (middle[outcome.yields] == kept).all()  # as in training, where both agree
        assert (middle[outcome.yields] != values(samples, outcome.yields)).all()
        for attribute, now, before in (
            ("size", outcome.radius, init[:, :1]),
            ("velocity", outcome.speed, init[:, 1:2]),
            ("color", outcome.color[:, None], init[:, 2:3]),
            ("shape", outcome.shape[:, None], init[:, 3:4]),
        ):
            if attribute != outcome.yields:
                assert (now == before).all()


def test_a_worked_example():
    keep_color, keep_size = candidates(PROBES["conflict-color-size"], np.array([[1.3, 2.0, 0.0]]))
    assert (keep_color.keeps, keep_color.yields) == ("color", "size")
    assert keep_color.radius.tolist() == [[0.7, 1.05]]  # red balls were small
    assert keep_color.color.tolist() == [0]
    assert keep_size.radius.tolist() == [[1.3, 1.3]]
    assert keep_size.color.tolist() == [1]  # large balls were blue


def test_extremes_and_rings():
    init = make_probe("conflict-size-velocity-extreme", "train", 100).init
    assert {tuple(row) for row in init.tolist()} == {(0.7, 1.0), (1.4, 4.0)}
    shapes = make_probe("conflict-color-ring", "test", 100).shapes
    assert set(shapes.ravel().tolist()) == {Shape.BALL, Shape.RING}


def test_the_control_has_seen_everything():
    train = make_probe("control-color-velocity", "train", 400)
    combined = 2 * values(train, "color") + values(train, "velocity")
    assert np.bincount(combined, minlength=4).min() > 60
    assert PROBES["control-color-velocity"].control


def test_other_probes_have_no_outcomes():
    with pytest.raises(InputError, match="no conflict"):
        candidates(PROBES["memorization"], np.ones((1, 2)))
