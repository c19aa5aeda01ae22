"""From the scores of videos to figures by bucket."""

import json
from dataclasses import replace

import pytest

from sightline.physics.scoring.summary import (
    applicable_laws,
    error_of,
    main_buckets,
    mean,
    summarize,
    to_json,
    worth_showing,
)


def test_means_are_over_the_samples_that_a_law_says_something_about(make_result):
    scores = make_result().scores["model"]
    scores[1] = replace(scores[1], values=scores[1].values | {"restitution": None})
    found = summarize(scores)["in"]
    assert found.count == 2
    assert found.laws["restitution"].count == 1
    assert found.laws["velocity_steps"].value == pytest.approx(0.15)
    assert found.laws["penetration"].violated == 0.5
    assert found.abnormal == 0.5
    assert found.reference_count == 2


def test_videos_that_a_law_says_nothing_about_do_not_obey_it(make_result):
    scores = make_result().scores["model"][:2]
    broken = next(v for s in scores for v in s.violations)
    silent = replace(scores[0], values=scores[0].values | {broken.law: None}, violations=())
    loud = replace(scores[1], violations=(broken,))
    assert summarize([silent, loud])["in"].laws[broken.law].violated == 1


def test_out_is_everything_but_in_and_is_there_whatever_its_parts_are(make_result):
    table = summarize(make_result().scores["model"])
    assert list(table) == ["all", "in", "out", "r_out", "v_out", "rv_out", "zero_speed"]
    assert [one.count for one in table.values()] == [6, 2, 4, 1, 1, 1, 1]
    only = summarize(make_result(inits=[(0.3, 2.0)], scenario="uniform").scores["model"])
    assert list(only) == ["all", "out", "r_out"]


@pytest.mark.parametrize(
    ("inits", "shown", "main"),
    [
        ([(1.0, 2.0)], ["in"], ["in"]),
        ([(0.3, 2.0)], ["r_out"], ["r_out"]),
        ([(0.3, 2.0), (1.0, 5.0)], ["out", "r_out", "v_out"], ["out"]),
        ([(1.0, 2.0), (1.0, 5.0)], ["all", "in", "v_out"], ["in", "v_out"]),
        ([], [], []),
    ],
)
def test_no_column_says_what_another_says(make_result, inits, shown, main):
    table = summarize(make_result(inits=inits, scenario="uniform").scores["model"])
    assert worth_showing(table) == shown
    assert main_buckets(table) == main


def test_templates_come_after_the_buckets(make_result):
    scores = [
        replace(one, template="10003", bucket="in_template")
        for one in make_result().scores["model"]
    ]
    assert list(summarize(scores)) == ["all", "in_template", "10003"]
    assert worth_showing(summarize(scores)) == ["in_template"]


def test_laws_that_say_nothing_or_the_same_again_are_left_out(make_result):
    table = summarize(make_result().scores["model"])
    assert applicable_laws(table)[:3] == ["velocity_steps", "velocity_before", "velocity_code"]
    assert "total_energy" not in applicable_laws(table)
    alone = summarize(make_result(inits=[(1.0, 2.0)], scenario="uniform").scores["model"])
    assert not {"restitution", "penetration", "velocity_before"} & set(applicable_laws(alone))
    assert applicable_laws({}) == []


def test_the_standard_error_is_that_of_the_mean():
    assert error_of([1.0, 3.0, None, float("nan")]) == pytest.approx(1.0)
    assert error_of([1.0]) is None
    assert mean([None]) is None


def test_figures_are_plain_values(make_result):
    found = to_json(summarize(make_result().scores["model"])["all"])
    json.dumps(found, allow_nan=False)
    assert found["laws"]["velocity_steps"]["standard_error"] > 0
