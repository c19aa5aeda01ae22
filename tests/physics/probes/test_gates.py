"""Visual ambiguity: twins that look alike to less than a pixel and end differently."""

import numpy as np
import pytest

from sightline.physics.probes import PROBES, make_probe, passes
from sightline.physics.probes.parts import PIXEL
from sightline.physics.rendering import render


@pytest.fixture(scope="module", params=["train", "test"])
def gates(request):
    return make_probe("visual-ambiguity", request.param, 600, seed=2)


def test_twins_differ_in_the_sign_of_the_margin_alone(gates):
    wide, narrow = gates.init[::2], gates.init[1::2]
    assert (wide[:, :2] == narrow[:, :2]).all()
    assert (wide[:, 2] == -narrow[:, 2]).all()
    assert passes(wide).all()
    assert not passes(narrow).any()
    ball = gates.positions[:, :8, 0]
    np.testing.assert_allclose(ball[::2, :4], ball[1::2, :4], atol=1e-12)


def test_the_opening_is_twice_radius_and_margin(gates):
    upper, lower = gates.positions[:, 0, 1], gates.positions[:, 0, 2]
    opening = upper[:, 1] - lower[:, 1] - gates.sizes[:, 1] - gates.sizes[:, 2]
    np.testing.assert_allclose(opening, 2 * (gates.init[:, 0] + gates.init[:, 2]), atol=1e-12)
    assert (gates.positions[:, :, 1:] == gates.positions[:, :1, 1:]).all()


def test_a_ball_passes_or_turns_back(gates):
    velocity, r = gates.velocities[:, :, 0, 0], gates.init[:, 0]
    through = passes(gates.init)
    assert (velocity[through] == gates.init[through, 1:2]).all()
    assert (velocity[~through, -1] == -gates.init[~through, 1]).all()
    assert (np.abs(velocity) == gates.init[:, 1:2]).all()
    # Nothing enters a square: the nearest point of each stays a radius away.
    apart = np.abs(gates.positions[:, :, 1:] - gates.positions[:, :, :1])
    away = np.maximum(apart - gates.sizes[:, None, 1:, None], 0)
    distance = np.hypot(away[..., 0], away[..., 1])
    assert (distance >= r[:, None, None] - 1e-9).all()


def test_the_outcome_falls_within_the_video(gates):
    narrow = ~passes(gates.init)
    turn = (gates.velocities[narrow, :, 0, 0] < 0).argmax(1)
    assert turn.min() >= 4  # after the frames that a model is given
    assert turn.max() <= 18


def test_half_a_pixel_decides_in_the_tests_and_whole_ones_in_training():
    probe = PROBES["visual-ambiguity"]
    assert 2 * probe.test.margin[1] < PIXEL
    assert probe.train.margin[0] >= PIXEL


def test_twins_look_alike_until_the_ball_arrives():
    twins = make_probe("visual-ambiguity", "test", 40)
    for k in range(0, 40, 2):
        one, other = render(twins[k]).astype(int), render(twins[k + 1]).astype(int)
        # Only the rows of pixels that the four edges of the two squares run through.
        assert (np.abs(one[0] - other[0]).max(2) > 0).any(1).sum() <= 8
        assert (np.abs(one[-1] - other[-1]).max(2) > 0).sum() > 300
