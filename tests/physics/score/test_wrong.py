"""Frames that are wrong, and what is wrong in them."""

from dataclasses import replace

import numpy as np

from sightline.physics.parse import parse, prior_of
from sightline.physics.render import render
from sightline.physics.score.wrong import body_names, wrong_frames
from sightline.physics.types import Motion
from sightline.physics.worlds.make import sample


def one_ball(speed=2.0, frames=32):
    x = 1.5 + speed * 0.1 * np.arange(frames)
    positions = np.stack([x, np.full(frames, 5.0)], axis=1)[:, None]
    velocities = np.broadcast_to([speed, 0.0], positions.shape).copy()
    colours = np.array([[255, 0, 0]], np.uint8)
    return Motion(positions, velocities, np.array([1.0]), colours, np.zeros(1, np.uint8))


def look(motion, frames):
    return wrong_frames(motion, parse(frames, prior=prior_of(motion)), len(frames))


def test_nothing_is_wrong_with_the_truth():
    samples = sample("collision", 8, split="ood", seed=4)
    for k in range(len(samples)):
        assert look(samples[k], render(samples[k], 128)) == {}


def test_a_ball_that_lags_behind_is_off_from_the_frame_on_where_it_shows():
    motion = one_ball()
    slow = replace(motion, positions=motion.positions * [0.9, 1.0])
    found = look(motion, render(slow, 128))
    assert min(found) in range(3, 9)
    assert found[19][0] == "red off by 0.5"


def test_a_ball_that_vanishes_is_gone_and_one_that_changes_is_recoloured():
    motion = one_ball()
    frames = render(motion, 128).copy()
    frames[10:14] = 255
    frames[20:] = frames[20:, :, :, ::-1]
    found = look(motion, frames)
    assert found[11] == ("red gone",)
    assert found[25] == ("red recoloured",)
    assert 15 not in found


def test_a_ball_that_stays_when_it_should_have_left():
    motion = one_ball(speed=4.0, frames=32)
    frames = render(motion, 128).copy()
    frames[10:] = frames[10]
    assert look(motion, frames)[31] == ("red still there",)


def test_bodies_are_named_by_colour_and_shape():
    motion = one_ball()
    blue = replace(motion, colours=np.array([[20, 10, 240]], np.uint8), shapes=np.ones(1, np.uint8))
    assert body_names(motion) == ["red ball"]
    assert body_names(blue) == ["blue square"]
