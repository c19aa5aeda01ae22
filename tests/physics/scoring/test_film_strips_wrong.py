"""Frames that are wrong, and what is wrong in them."""

from dataclasses import replace

import numpy as np

from sightline.physics.laws import Violation
from sightline.physics.rendering import render
from sightline.physics.scoring.baselines import constant_velocity
from sightline.physics.scoring.film_strips import body_names, wrong_frames
from sightline.physics.tracking import parse, prior_of
from sightline.physics.types import Motion
from sightline.physics.worlds.simulation import sample


def one_ball(speed=2.0, frames=32):
    x = 1.5 + speed * 0.1 * np.arange(frames)
    positions = np.stack([x, np.full(frames, 5.0)], axis=1)[:, None]
    velocities = np.broadcast_to([speed, 0.0], positions.shape).copy()
    colors = np.array([[255, 0, 0]], np.uint8)
    return Motion(positions, velocities, np.array([1.0]), colors, np.zeros(1, np.uint8))


def look(motion, frames, violations=()):
    return wrong_frames(motion, parse(frames, prior=prior_of(motion)), len(frames), violations)


def test_nothing_is_wrong_with_the_truth():
    for scenario in ("collision", "parabola"):
        samples = sample(scenario, 40, split="ood", seed=4)
        for k in range(len(samples)):
            assert look(samples[k], render(samples[k], 128)) == {}


def test_every_frame_after_an_impact_that_never_comes_is_wrong():
    samples = sample("collision", 12, seed=3)
    made = constant_velocity(samples, 3)
    for k in range(len(samples)):
        motion = samples[k]
        found = look(motion, render(made[k], 128))
        place = made[k].positions
        off = np.linalg.norm(place - motion.positions, axis=2)
        seen = np.minimum(place, 10 - place).min(axis=2) + motion.sizes
        plain = ((off > 2 * motion.sizes) & (seen > 0.3)).any(axis=1)
        assert set(np.flatnonzero(plain)) <= set(found)


def test_a_ball_cut_by_the_border_is_wrong_where_the_true_one_has_left():
    motion = one_ball(speed=4.0)
    other = replace(motion, positions=np.broadcast_to([0.2, 5.0], motion.positions.shape).copy())
    frames = render(motion, 128).copy()
    frames[20:] = render(other, 128)[20:]
    assert look(motion, frames)[31] == ("red still there",)


def test_a_frame_is_wrong_where_a_law_is_violated():
    motion = one_ball()
    jump = Violation("jump", 12, 0, 2.0, "units/s", 0.7)
    error = Violation("velocity_steps", 14, 0, 2.0, "units/s", 0.2)
    energy = Violation("kinetic_energy", 16, -1, 2.0, "1", 0.25)
    found = look(motion, render(motion, 128), (jump, error, energy))
    assert found == {12: ("red: jump",), 16: ("kinetic energy",)}


def test_a_ball_that_lags_behind_is_off_from_the_frame_on_where_it_shows():
    motion = one_ball()
    slow = replace(motion, positions=motion.positions * [0.9, 1.0])
    found = look(motion, render(slow, 128))
    assert min(found) in range(3, 9)
    assert found[19][0] == "red off by 0.5"


def test_a_ball_that_vanishes_is_gone_and_one_that_changes_is_recolored():
    motion = one_ball()
    frames = render(motion, 128).copy()
    frames[10:14] = 255
    frames[20:] = frames[20:, :, :, ::-1]
    found = look(motion, frames)
    assert found[11] == ("red gone",)
    assert found[25] == ("red recolored",)
    assert 15 not in found


def test_a_ball_that_stays_when_it_should_have_left():
    motion = one_ball(speed=4.0, frames=32)
    frames = render(motion, 128).copy()
    frames[10:] = frames[10]
    assert look(motion, frames)[31] == ("red still there",)


def test_bodies_are_named_by_color_and_shape():
    motion = one_ball()
    blue = replace(motion, colors=np.array([[20, 10, 240]], np.uint8), shapes=np.ones(1, np.uint8))
    assert body_names(motion) == ["red ball"]
    assert body_names(blue) == ["blue square"]
