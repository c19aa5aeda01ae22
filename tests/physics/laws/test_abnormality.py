import dataclasses

import pytest

from sightline.physics.laws import LAWS, Thresholds, is_abnormal


def test_every_threshold_is_a_law():
    names = {law.name for law in LAWS}
    for field in dataclasses.fields(Thresholds):
        assert field.name in names


def test_reasons_say_where_and_how_much(tracks_of, straight):
    path = straight.copy()
    path[12:, 0, 1] += 2
    verdict = is_abnormal(tracks_of(path, [1.0]), "uniform")
    assert verdict.abnormal
    assert any(
        reason.startswith("jump at frame 11, body 0: 20.00 units/s") for reason in verdict.reasons
    )


def test_thresholds_can_be_set(tracks_of, bounce):
    tracks = tracks_of(*bounce(0.8))
    strict = Thresholds(restitution=0.1, total_energy=0.1)
    assert not is_abnormal(tracks, "collision").abnormal
    assert is_abnormal(tracks, "collision", strict).abnormal


def test_other_but_possible_is_normal(tracks_of, straight):
    """No truth is asked: a ball of another speed than it should have is normal to look at."""
    verdict = is_abnormal(tracks_of(straight * [0.8, 1.0], [1.0]), "uniform")
    assert not verdict.abnormal
    assert verdict.reasons == ()


def test_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Thresholds().jump = 2
