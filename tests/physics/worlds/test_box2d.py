"""Parity with Box2D itself: the released wheel, stepped as the reference generator steps it."""

import warnings

import numpy as np
import pytest

from sightline.physics.worlds import box2d
from sightline.physics.worlds.simulation import sample

with warnings.catch_warnings():
    # SWIG's types have no __module__; as an error, that warning would end the process.
    warnings.simplefilter("ignore", DeprecationWarning)
    from Box2D import b2_velocityThreshold, b2World

# The issue asks for 1e-3 world units; on x86-64 the difference is zero, bit for bit.
CLOSE = 1e-5


def step_box2d(samples, starts, velocities, gravity=0.0):
    """What the wheel makes of the same starts: positions and velocities, (M, 32, N, 2)."""
    positions, speeds = np.empty_like(samples.positions), np.empty_like(samples.positions)
    for m in range(len(samples)):
        world = b2World(gravity=(0, -gravity), doSleep=False)
        bodies = []
        for start, velocity, radius in zip(starts[m], velocities[m], samples.sizes[m], strict=True):
            body = world.CreateDynamicBody(position=tuple(start), linearVelocity=tuple(velocity))
            body.CreateCircleFixture(radius=radius, density=1, restitution=1.0)
            bodies.append(body)
        for step in range(320):
            world.Step(0.01, 15, 20)
            if step % 10 == 0:
                positions[m, step // 10] = [body.position for body in bodies]
                speeds[m, step // 10] = [body.linearVelocity for body in bodies]
    return positions, speeds


def starts_of(scenario, **options):
    """Positions and velocities at t = 0, from the exact motion, which is straight at first."""
    exact = sample(scenario, **options)
    velocities = exact.velocities[:, 0].copy()
    if scenario == "parabola":
        velocities[..., 1] = 0
    starts = exact.positions[:, 0] - 0.01 * velocities
    if scenario == "parabola":
        starts[..., 1] += 0.5 * 2.5 * 0.01**2
    return starts, velocities


@pytest.mark.parametrize("split", ["id", "ood"])
@pytest.mark.parametrize("scenario", ["uniform", "parabola", "collision"])
def test_matches_the_wheel(scenario, split):
    options = {"count": 200, "split": split, "seed": 7}
    starts, velocities = starts_of(scenario, **options)
    ours = sample(scenario, mode="box2d", threshold=box2d.WHEEL_THRESHOLD, **options)
    gravity = 2.5 if scenario == "parabola" else 0.0
    positions, speeds = step_box2d(ours, starts, velocities, gravity)
    assert np.abs(ours.positions - positions).max() < CLOSE
    assert np.abs(ours.velocities - speeds).max() < CLOSE


def slow_pairs(rng, count, fastest):
    radii = rng.uniform(0.3, 2.0, (count, 2))
    speeds = rng.uniform(0, fastest, (count, 2))
    gaps = speeds.sum(1) * rng.uniform(0.3, 2.5, count)
    starts = np.empty((count, 2, 2))
    starts[:, 0, 0] = rng.uniform(1, 3, count)
    starts[:, 1, 0] = starts[:, 0, 0] + radii.sum(1) + gaps
    starts[..., 1] = rng.uniform(3, 7, count)[:, None]
    velocities = np.zeros((count, 2, 2))
    velocities[:, 0, 0], velocities[:, 1, 0] = speeds[:, 0], -speeds[:, 1]
    return starts, velocities, radii


@pytest.mark.parametrize("fastest", [0.02, 0.5, 6.0])
def test_matches_the_wheel_below_and_above_its_threshold(rng, fastest):
    """At most 0.5 each: never elastic in the wheel; 0.02: bodies fall asleep; 6: elastic."""
    starts, velocities, radii = slow_pairs(rng, 200, fastest)
    ours, speeds = box2d.pair(starts, velocities, radii, threshold=b2_velocityThreshold)

    class Stub:
        positions, sizes = ours, radii

        def __len__(self):
            return len(radii)

    theirs, their_speeds = step_box2d(Stub(), starts, velocities)
    assert np.abs(ours - theirs).max() < CLOSE
    assert np.abs(speeds - their_speeds).max() < CLOSE


def test_the_wheel_is_not_what_the_reference_used(rng):
    assert b2_velocityThreshold == box2d.WHEEL_THRESHOLD
    starts, velocities, radii = slow_pairs(rng, 50, 0.45)
    _, wheel = box2d.pair(starts, velocities, radii, threshold=1.0)
    _, rebuilt = box2d.pair(starts, velocities, radii)
    apart = velocities[:, 0, 0] - velocities[:, 1, 0]
    after = rebuilt[:, -1, 1, 0] - rebuilt[:, -1, 0, 0]
    np.testing.assert_allclose(after, apart, atol=0.01)  # what is slower than that may sleep
    assert np.abs(wheel[:, -1, 1, 0] - wheel[:, -1, 0, 0]).max() < 1e-5


def test_a_slow_ball_falls_asleep():
    starts = np.array([[[5.0, 5.0]], [[5.0, 5.0]]])
    velocities = np.array([[[0.009, 0.0]], [[0.011, 0.0]]])
    positions, speeds = box2d.free(starts, velocities, falling=False)
    assert speeds[0, -1, 0, 0] == 0
    assert positions[0, -1, 0, 0] == pytest.approx(5 + 0.009 * 0.51, abs=1e-4)
    assert positions[1, -1, 0, 0] == pytest.approx(5 + 0.011 * 3.11, abs=1e-4)


def test_balls_overlap_by_less_than_one_sub_step(rng):
    starts, velocities, radii = slow_pairs(rng, 200, 6.0)
    positions, _ = box2d.pair(starts, velocities, radii)
    overlap = radii.sum(1)[:, None] - (positions[:, :, 1, 0] - positions[:, :, 0, 0])
    closing = velocities[:, 0, 0] - velocities[:, 1, 0]
    assert (overlap.max(1) <= 0.01 * closing + 1e-4).all()
