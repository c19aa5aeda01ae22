"""Laws in words: no names of ours, no unit called 1, bodies counted from one."""

from __future__ import annotations

import pytest

from sightline.physics.laws import LAWS, Thresholds, Violation
from sightline.server.tasks.laws import (
    DESCRIPTIONS,
    EFFECTS,
    describe_violations,
    format_allowed,
    format_value,
)

BY_NAME = {law.name: law for law in LAWS}


def test_every_law_and_every_rule_has_words():
    assert set(DESCRIPTIONS) == set(BY_NAME)
    assert set(EFFECTS) == set(Thresholds.__dataclass_fields__)


@pytest.mark.parametrize(
    ("name", "value", "scenario", "says", "passes"),
    [
        ("velocity_steps", 0.0412, "uniform", "0.0412 units/s", "up to 0.2 units/s"),
        ("momentum", 0.034, "collision", "3\xa0%", "up to 10\xa0%"),
        ("restitution", 0.98, "collision", "0.980", "1 ± 0.2"),
        ("gravity", 2.4, "parabola", "2.40 units/s²", "2.5 ± 0.25 units/s²"),
        ("radius", 0.02, "uniform", "0.0200 units", "up to 8\xa0% of it"),
        ("presence", 0, "uniform", "0 frames", "none"),
        ("color", 1, "uniform", "1 frame", "up to 1 frame"),
        ("position", None, "uniform", None, "up to 0.2 units"),
    ],
)
def test_values(name, value, scenario, says, passes):
    assert format_value(BY_NAME[name], value) == says
    assert format_allowed(BY_NAME[name], scenario) == passes


def test_a_mean_that_is_allowed_says_what_is_not():
    wrong = [
        Violation("inertia", frame, 0, size, "units/s", 0.3) for frame, size in ((5, 0.4), (6, 0.9))
    ]
    law = BY_NAME["inertia"]
    assert format_value(law, 0.0532, wrong) == "0.0532 units/s, at worst 0.900 units/s"
    assert format_value(law, 0.5, wrong) == "0.500 units/s"  # says it by itself
    assert format_value(law, 0.0532) == "0.0532 units/s"
    radius = Violation("radius", 3, 0, 0.22, "1", 0.08)
    assert format_value(BY_NAME["radius"], 0.02, [radius]) == "0.0200 units"  # of another unit


def test_reasons_are_told_once_for_each_body_where_they_are_worst():
    found = [
        Violation("jump", 11, 0, 20.0, "units/s", 1.0),
        Violation("jump", 12, 0, 25.0, "units/s", 1.0),
        Violation("radius", 3, 1, 0.22, "1", 0.15),
        Violation("momentum", 20, -1, 0.4, "1", 0.25),
        Violation("penetration", 9, -1, 0.31, "units", 0.2),
    ]
    assert describe_violations(found, 2, 0.1) == [
        "at 1.2 s body 1 jumps: its velocity changes by 25 units/s from one frame to the next",
        "at 0.3 s body 2 changes its size by 22\xa0%",
        "at 2.0 s the momentum changes by 40\xa0%",
        "at 0.9 s a body overlaps another by 0.310 units",
    ]
    assert describe_violations(found[:1], 1, 0.1)[0].startswith("at 1.1 s the body jumps")
    assert describe_violations([], 0, 0.1) == ["there is nothing in the video"]
