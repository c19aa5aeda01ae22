"""Names and numbers as people read them."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.laws import LAWS
from sightline.physics.probes import PROBES
from sightline.physics.scoring.baselines import BASELINES
from sightline.physics.scoring.labels import (
    BASELINE_WORDS,
    aligned,
    bucket_name,
    law_meaning,
    law_title,
    number,
    percent,
    plus_minus,
    probe_in,
    right_value,
    times,
    unit_of,
)
from sightline.physics.scoring.summary import ORDER


@given(st.floats(-1e4, 1e4), st.one_of(st.none(), st.floats(0, 100)))
def test_a_number_is_near_its_value_and_never_minus_nothing(value, error):
    text = number(value, error)
    assert abs(float(text.replace("−", "-")) - value) <= max(abs(value) / 20, 5.1e-5)
    assert "-" not in text
    assert not (text.startswith("−") and not text.strip("−0."))
    assert len(text.partition(".")[2]) <= 4


def test_what_is_no_number_is_told():
    assert number(None) == number(math.nan) == "–"
    assert number(math.inf) == "∞"
    assert plus_minus(None, 1.0) == plus_minus(1.0, None) == ""
    assert plus_minus(0.0001, 1e-7) == ""
    assert percent(None) == "–"
    assert times(None, 1.0) == times(1.0, None) == times(0.0, 1.0) == ""


def test_every_law_bucket_and_baseline_has_words():
    for law in LAWS:
        assert law_title(law.name)
        assert law_meaning(law.name)
        assert unit_of(law.name) != "1"
    assert all(" " in bucket_name(name) for name in ORDER)
    assert bucket_name("10003") == "template 10003"
    assert bucket_name("10003", short=True) == "10003"
    assert set(BASELINES) <= set(BASELINE_WORDS)


def test_what_a_probe_tests_is_not_called_in_distribution():
    probe = PROBES["memorization"]
    assert bucket_name("in", probe) == bucket_name("test")
    assert bucket_name("in") == "in distribution"


@pytest.mark.parametrize(
    ("provenance", "name"),
    [
        ({"made_of": "probe:memorization"}, "memorization"),
        ({"made_of": "collision"}, None),
        ({"made_of": "probe:of-the-future"}, None),
        ({"made_of": ""}, None),
        ({}, None),
    ],
)
def test_the_probe_of_a_data_set_is_found(provenance, name):
    found = probe_in(provenance)
    assert (found.name if found else None) == name


def test_right_values_are_those_of_the_world():
    assert right_value("gravity", "uniform") == 0.0
    assert right_value("gravity", "parabola") == 2.5
    assert right_value("position", "parabola") is None


def test_points_lie_below_each_other():
    column = aligned(["1", "12.5", "0.125", "–"])
    places = {f"{cell:>9}".index(".") for cell in column if "." in cell}
    assert len(places) == 1
    assert aligned([]) == []
