import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.laws.evidence import depth_of_passage
from sightline.physics.laws.table import check_laws
from sightline.physics.tracking.tracks import State


@given(restitution=st.floats(0.2, 1.2), impact=st.floats(1.3, 1.8))
def test_restitution(restitution, impact, tracks_of, bounce):
    positions, sizes = bounce(restitution, impact=impact)
    scores = check_laws(tracks_of(positions, sizes), None, "collision")
    assert scores.values["restitution"] == pytest.approx(restitution, abs=1e-6)
    if abs(abs(restitution - 1) - 0.2) > 1e-6:
        assert scores.violates("restitution") == (abs(restitution - 1) > 0.2)


def test_passing_through(tracks_of, bounce):
    positions, sizes = bounce()
    later = 0.1 * np.arange(18)[:, None]
    for body, speed in enumerate((1.6, -1.2)):
        positions[14:, body] = positions[14, body] + later * [speed, 0]
    scores = check_laws(tracks_of(positions, sizes), None, "collision")
    found = next(v for v in scores.violations if v.law == "penetration")
    assert found.size == pytest.approx(sizes.sum(), abs=0.02)
    assert (found.frame, found.body, found.unit) == (20, 0, "units")


def test_touching_is_not_penetration(tracks_of, bounce):
    scores = check_laws(tracks_of(*bounce()), None, "collision")
    assert scores.values["penetration"] == pytest.approx(0, abs=1e-9)


@given(st.floats(0.5, 1.5), st.floats(-1, 1))
def test_depth_between_frames(radius, aside):
    """Two fast bodies are on different sides in two frames, and inside each other between them."""
    positions = np.array([[[2.0, 5], [5, 5 + aside]], [[8.0, 5], [5, 5 + aside]]])
    depth = depth_of_passage(positions, np.array([radius, radius]), 0, 1)
    assert depth[0] == pytest.approx(max(2 * radius - abs(aside), 0), abs=1e-9)
    assert depth[1] == 0


def test_bodies_that_are_gone_do_not_collide(tracks_of):
    positions = np.full((20, 2, 2), 5.0)
    states = np.zeros((20, 2))
    states[:, 1] = State.LOST
    scores = check_laws(tracks_of(positions, [1, 1], states=states), None, "collision")
    assert scores.values["penetration"] == 0


def test_nothing_meets(tracks_of, straight):
    scores = check_laws(tracks_of(straight, [1.0]), None, "uniform")
    assert scores.values["restitution"] is None
    assert scores.values["penetration"] is None
