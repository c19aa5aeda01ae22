"""From readings of videos to figures of a probe."""

from dataclasses import replace

import pytest

from sightline.physics.probes.parts import PIXEL
from sightline.physics.scoring.figures import margin_rows, reading_rows
from sightline.physics.scoring.summary import by_margin, read_all, summarize


@pytest.fixture
def make_scores(make_result):
    """Return a function that makes scores of given parameters and readings."""

    def make(rows):
        result = make_result(inits=[(1.0, 2.0)] * len(rows), scenario="uniform")
        return [
            replace(one, init=init, reading=reading)
            for one, (init, reading) in zip(result.scores["model"], rows, strict=True)
        ]

    return make


def gate(margin, right, speed=2.0):
    return (1.0, speed, margin * PIXEL), {"right_outcome": right}


def test_means_stand_on_the_videos_that_say_something(make_scores):
    rows = [((1.0, 2.0), {"all_right": 1.0}), ((1.0, 2.0), {"all_right": 0.0}), ((1.0, 2.0), {})]
    found = read_all(make_scores(rows))
    assert list(found) == ["all_right"]
    assert (found["all_right"].value, found["all_right"].count) == (0.5, 2)


def test_twins_are_apart_when_both_are_right(make_scores):
    rows = [
        *(gate(0.2, 1.0), gate(-0.2, 1.0)),
        *(gate(0.3, 1.0), gate(-0.3, 0.0)),
        gate(0.4, 1.0, speed=3.0),  # its twin has no video
    ]
    twins = read_all(make_scores(rows))["twins_apart"]
    assert (twins.value, twins.count) == (0.5, 2)


def test_the_slope_is_that_of_generated_over_true_speed(make_scores):
    rows = [((1.0, v), {"signed_speed": 1.0 + 0.5 * v}) for v in (1.0, 1.5, 2.0)]
    slope = read_all(make_scores(rows))["slope"]
    assert slope.value == pytest.approx(0.5)
    assert "slope" not in read_all(make_scores(rows[:1]))


def test_right_outcomes_are_counted_by_margin(make_scores):
    own = make_scores([gate(0.1, 0.0), gate(-0.15, 0.0), gate(0.45, 1.0), gate(-0.5, 1.0)])
    other = make_scores([gate(0.1, 1.0), gate(-0.15, 1.0), gate(0.45, 1.0), gate(-0.5, 1.0)])
    rows = by_margin({"model": own, "truth": other})
    assert [(margin, count) for margin, count, _ in rows] == [("0.10–0.20", 2), ("0.40–0.50", 2)]
    assert [[one.value for one in told] for _, _, told in rows] == [[0, 1], [1, 1]]


def test_other_probes_have_no_margins(make_result):
    assert margin_rows(make_result()) == []
    assert margin_rows(make_result(inits=[])) == []


def test_everybody_stands_in_every_row(make_scores):
    rows = [((1.0, v), {"signed_speed": v, "turned_round": 0.0}) for v in (1.0, 2.0)]
    summaries = {who: summarize(make_scores(rows)) for who in ("model", "truth")}
    found = reading_rows(summaries)
    assert [(count, len(cells)) for _, count, cells in found] == [(2, 2)] * 3
    assert found[0] == ("generated speed along the true motion, units/s", 2, ["1.50", "1.50"])
    assert found[2][2] == ["0\xa0%", "0\xa0%"]
