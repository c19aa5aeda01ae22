"""What is said about one video."""

from sightline.physics.laws import Violation
from sightline.physics.scoring.labels import MOST, parameters_text, violations_text

BODIES = ["red ball", "blue ball"]


def test_the_gravest_come_first_one_per_law():
    found = violations_text(
        [
            Violation("velocity_steps", 5, 0, 9.0, "units/s", 0.2),
            Violation("jump", 5, 0, 1.0, "units/s", 0.7),
            Violation("jump", 9, 1, 1.4, "units/s", 0.7),
            Violation("penetration", 12, 0, 3.0, "units", 0.5),
        ],
        BODIES,
    )
    assert found == [
        "penetration: 3 units at frame 12, red ball (tolerance 0.5)",
        "jump: 1.40 units/s at frame 9, blue ball (tolerance 0.7)",
    ]


def test_shares_are_per_cent_counts_begin_and_restitution_is_a_distance():
    found = violations_text(
        [
            Violation("momentum", 7, -1, 0.42, "1", 0.1),
            Violation("kinetic_energy", 8, -1, 0.3, "1", 0.25),
            Violation("total_energy", 8, -1, 0.3, "1", 0.25),
            Violation("restitution", 10, 0, 1.99, "1", 0.2),
            Violation("presence", 4, 1, 8.0, "frames", 0),
        ],
        BODIES,
    )
    assert found == [
        "presence: 8 frames from frame 4, blue ball (tolerance 0)",
        "restitution: 1.99 away from 1 at frame 10, red ball (tolerance 0.2)",
        "momentum: 42 % off at frame 7 (tolerance 10 %)",
        "kinetic energy: 30 % off at frame 8 (tolerance 25 %)",
    ]
    assert len(found) == MOST


def test_a_body_that_nobody_knows_has_no_name():
    (line,) = violations_text([Violation("jump", 5, 7, 1.0, "units/s", 0.7)], BODIES)
    assert "ball" not in line


def test_parameters_are_those_of_the_world():
    assert parameters_text((1.0, -2.0, 1.0), "uniform") == "radius 1.00, speed 2.00"
    assert parameters_text((1.0, 2.0), "spatial") == ""
