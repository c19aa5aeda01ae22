"""Composition: what moves, what bounces, what collides, and that nothing else happens."""

import numpy as np
import pytest

from sightline.physics.probes import make_probe
from sightline.physics.probes.scenes import (
    BALL_TOP,
    SPATIAL_KINDS,
    SQUARE_BOTTOM,
    make_spatial,
    make_temporal,
)
from sightline.physics.probes.scenes import TEMPORAL_KINDS as EVENTS
from sightline.physics.types import Shape

INDEXES = np.arange(300)


@pytest.fixture(scope="module", params=SPATIAL_KINDS)
def spatial(request):
    return request.param, make_spatial((request.param,), seed=1, tag=2, indexes=INDEXES)


def test_bodies_move_as_the_kind_says(spatial):
    kind, samples = spatial
    ball, square = SPATIAL_KINDS[kind]
    assert samples.shapes[0].tolist() == [Shape.BALL, Shape.SQUARE]
    moved = np.ptp(samples.positions, axis=1).max(2) > 0.1
    assert (moved == [ball, square]).all()


def test_bodies_keep_to_their_places(spatial):
    _, samples = spatial
    x, y = samples.positions[:, :, 0, 0], samples.positions[:, :, 0, 1]
    r, s = samples.sizes[:, :1], samples.sizes[:, 1:]
    assert (x >= r - 1e-9).all()
    assert (x <= 10 - r + 1e-9).all()
    assert (y >= r - 1e-9).all()
    assert (y <= BALL_TOP - r + 1e-9).all()
    assert (samples.positions[:, :, 1, 1] - s >= SQUARE_BOTTOM - 1e-9).all()
    assert (samples.positions[:, :, 1, 1] + s <= 10 + 1e-9).all()


def test_a_ball_bounces_off_a_wall_without_loss(spatial):
    kind, samples = spatial
    velocities = samples.velocities[:, :, 0]
    speed = np.hypot(velocities[..., 0], velocities[..., 1])
    np.testing.assert_allclose(speed, np.broadcast_to(speed[:, :1], speed.shape), atol=1e-12)
    turned = (np.diff(velocities, axis=1) != 0).any(2)
    if kind == "square-moves":
        assert not turned.any()
        return
    assert turned.any(1).all()
    first = turned.argmax(1)
    assert first.min() >= 6
    assert first.max() <= 23
    # Between bounces, positions follow velocities.
    steps = np.diff(samples.positions[:, :, 0], axis=1)
    wanted = 0.1 * velocities[:, :-1]
    np.testing.assert_allclose(steps[~turned], wanted[~turned], atol=1e-9)


def test_training_has_both_kinds_and_the_test_the_third():
    train = make_probe("spatial-composition", "train", 1000).init
    ball, square = (train[:, 2:4] != 0).any(1), train[:, 4] != 0
    assert (ball != square).all()
    assert ball.mean() == pytest.approx(0.5, abs=0.06)
    test = make_probe("spatial-composition", "test", 100).init
    assert (test[:, 4] > 0).all()
    assert (test[:, 2:4] != 0).all(1).all()


def events(samples):
    """After which frames the balls collided (momentum is kept), and each of them met a wall."""
    turned = np.abs(np.diff(samples.velocities[..., 0], axis=1)) > 1e-9
    momentum = (samples.velocities[..., 0] * samples.sizes[:, None] ** 2).sum(2)
    together = turned.all(2) & (np.abs(np.diff(momentum, axis=1)) < 1e-9)
    return together, turned & ~together[:, :, None]


@pytest.mark.parametrize("kind", EVENTS)
def test_events_are_those_of_the_kind(kind):
    samples = make_temporal((kind,), seed=3, tag=4, indexes=INDEXES)
    together, alone = events(samples)
    # Two events between the same two frames look like one: a few samples may be misread here.
    almost = 0.9 if "collide-bounce" in kind else 1.0
    assert (together.any(1) == ("collide" in kind)).mean() >= almost
    if kind == "collide":
        assert not alone.any()
    else:
        assert alone.any((1, 2)).mean() >= almost
    for body, name in enumerate(("red", "blue")):
        if kind.endswith(("-red", "-blue")) and not kind.endswith(name):
            assert alone[:, :, body].any(1).mean() <= 1 - almost
    if "collide-bounce" in kind:
        both = together.any(1) & alone.any((1, 2))
        later = alone.any(2).argmax(1) >= together.argmax(1)
        assert later[both].all()


@pytest.mark.parametrize("kind", EVENTS)
def test_two_balls_keep_their_energy_inside_the_picture(kind):
    samples = make_temporal((kind,), seed=3, tag=4, indexes=INDEXES)
    m = samples.sizes**2
    energy = (m[:, None] * samples.velocities[..., 0] ** 2).sum(2)
    np.testing.assert_allclose(energy, np.broadcast_to(energy[:, :1], energy.shape), rtol=1e-10)
    x, r = samples.positions[..., 0], samples.sizes[:, None]
    assert (x - r >= -1e-9).all()
    assert (x + r <= 10 + 1e-9).all()
    assert (x[:, :, 1] - x[:, :, 0] >= r.sum(2) - 1e-9).all()
    assert (samples.positions[:, :, 0, 1] == samples.positions[:, :, 1, 1]).all()


def test_nothing_happens_in_the_frames_that_a_model_is_given():
    for part in ("train", "test"):
        samples = make_probe("temporal-composition", part, 500)
        assert (samples.velocities[:, 0] == samples.velocities[:, 3]).all()
        assert (samples.velocities[:, 0, :, 0] == samples.init[:, 2:] * [1, -1]).all()


def test_the_red_ball_never_bounces_in_the_second_training_set():
    train = make_probe("temporal-composition-unbounced", "train", 500)
    _, alone = events(train)
    assert not alone[:, :, 0].any()
    _, alone = events(make_probe("temporal-composition-unbounced", "test", 500))
    assert alone[:, :, 0].any(1).mean() > 0.9
