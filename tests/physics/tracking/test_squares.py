"""Squares: what their pixels leave open, and that nothing is smoothed away that shows."""

import dataclasses

import numpy as np
import pytest

from sightline.physics.laws.table import check_laws
from sightline.physics.laws.velocity_error import velocity_error_steps
from sightline.physics.probes.samplers import make_probe
from sightline.physics.rendering import render
from sightline.physics.tracking import State, parse, prior_of
from sightline.physics.types import BLUE, RED, Shape
from sightline.physics.worlds.simulation import sample

PIXEL = 10 / 127


def _as(motion, shape):
    return dataclasses.replace(motion, shapes=np.full_like(motion.shapes, shape))


def _errors(scenario, shape, way):
    samples = sample(scenario, 8, seed=2)
    out = []
    for index in range(len(samples)):
        truth = _as(samples[index], shape)
        tracks = parse(way(render(truth, 128)), prior=prior_of(truth))
        error = velocity_error_steps(tracks.positions, truth, scenario)
        if error is not None:
            out.append(error)
    return np.array(out)


def test_one_frame_cannot_tell(world):
    """Why frames must help each other: two places half a pixel apart, the same bytes."""
    one = render(world([(5 + 0.25 * PIXEL, 5, 0, 0, 1.0, RED, Shape.SQUARE)], frames=1), 128)
    two = render(world([(5 + 0.75 * PIXEL, 5, 0, 0, 1.0, RED, Shape.SQUARE)], frames=1), 128)
    ball = render(world([(5 + 0.25 * PIXEL, 5, 0, 0, 1.0)], frames=1), 128)
    moved = render(world([(5 + 0.75 * PIXEL, 5, 0, 0, 1.0)], frames=1), 128)
    np.testing.assert_array_equal(one, two)
    assert (ball != moved).any()


@pytest.mark.parametrize("shape", [Shape.SQUARE, Shape.RING])
@pytest.mark.parametrize("scenario", ["uniform", "parabola"])
def test_as_exact_as_balls(scenario, shape):
    errors = _errors(scenario, shape, lambda frames: frames)
    assert errors.mean() < 0.002
    assert errors.max() < 0.005


@pytest.mark.parametrize("way", ["noise", "blur", "mp4"])
def test_not_much_worse_than_balls(way, spoil):
    square = _errors("uniform", Shape.SQUARE, spoil[way]).mean()
    assert square < 3 * _errors("uniform", Shape.BALL, spoil[way]).mean()


@pytest.mark.parametrize(
    "probe",
    ["conflict-color-square", "conflict-velocity-square-extreme", "conflict-size-ring-extreme"],
)
def test_truth_keeps_the_laws(probe):
    samples = make_probe(probe, "test", 10, seed=0)
    for index in range(len(samples)):
        truth = samples[index]
        scores = check_laws(parse(render(truth, 128), prior=prior_of(truth)), truth, "uniform")
        assert scores.violations == ()


def test_a_side_that_stays_half_covered_is_no_blur(world):
    """The upper side of this square covers half of one row of pixels in every frame."""
    half = 1.0 * np.sqrt(1 - 0.015)
    motion = world([(3, 60 * PIXEL - half, 1.234, 0, 1.0, RED, Shape.SQUARE)], frames=20)
    tracks = parse(render(motion, 128))
    np.testing.assert_allclose(tracks.velocities[..., 0], 1.234, atol=0.003)
    np.testing.assert_allclose(tracks.positions[..., 1], motion.positions[..., 1], atol=0.001)


@pytest.mark.parametrize(("way", "tremor"), [("clean", 0.4), ("blur", 0.4), ("mp4", 0.4)])
def test_a_tremor_shows(world, spoil, way, tremor):
    """Steady motion is only seen where all pixels are those of steady motion."""
    motion = world([(2, 5, 1.7, 0, 1.1, RED, Shape.SQUARE)], frames=32)
    moved = np.random.default_rng(4).normal(0, tremor * PIXEL, motion.positions.shape)
    motion = dataclasses.replace(motion, positions=motion.positions + moved)
    tracks = parse(spoil[way](render(motion, 128)))
    found, true = np.diff(tracks.positions, 2, axis=0), np.diff(motion.positions, 2, axis=0)
    assert 0.8 < (found * true).sum() / (true * true).sum() < 1.25
    assert np.abs(tracks.positions - motion.positions).max() < 1.0 * PIXEL


def test_a_bounce_is_not_smeared(world):
    motion = world([(3, 5, 3.1, 0.7, 1.0, RED, Shape.SQUARE)], frames=30)
    x = motion.positions[..., 0]
    motion.positions[..., 0] = np.where(x > 8, 16 - x, x)
    tracks = parse(render(motion, 128))
    away = np.abs(np.arange(29) - 16) > 1
    true = np.diff(motion.positions, axis=0)[away] / 0.1
    np.testing.assert_allclose(tracks.velocities[:-1][away], true, atol=0.03)


def test_leaving_square_is_followed_by_the_sides_that_show(world):
    motion = world([(5.1, 4.9, 2.9, 0.4, 0.9, RED, Shape.SQUARE)], frames=24)
    tracks = parse(render(motion, 128))
    cut = tracks.states[:, 0] == State.PARTLY_OUTSIDE
    assert cut.sum() >= 3
    wrong = np.abs(tracks.positions - motion.positions)[cut, 0]
    assert wrong[motion.positions[cut, 0, 0] < 10].max() < 0.02


def test_square_behind_another_body(world):
    bodies = [(2.5, 5, 1.3, 0, 1.2, RED, Shape.SQUARE), (6, 6.2, 0, 0, 0.6, BLUE)]
    motion = world(bodies, frames=30)
    tracks = parse(render(motion, 128), prior=prior_of(motion))
    touched = np.abs(motion.positions[:, 0, 0] - 6) < 1.5
    assert touched.sum() > 10
    assert np.abs(tracks.positions - motion.positions)[:, 0].max() < 0.03
    assert tracks.sizes[0] == pytest.approx(1.2, abs=0.01)
