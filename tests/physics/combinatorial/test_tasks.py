"""Tasks and actions: in the ranges of §2.3, clear of each other, by their address alone."""

import math

import numpy as np
import pytest
from numpy.random import default_rng
from scipy.spatial import ConvexHull

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import Body, Outline, clearance, inside
from sightline.physics.combinatorial.tasks import (
    HELD_OUT,
    TRAIN,
    ObjectKind,
    draw_action,
    draw_kind,
    is_valid,
    kinds_of,
    make_task,
    red_ball,
)

EVERY = TRAIN + HELD_OUT


def drawn(kind, count=300):
    rng = default_rng(kind)
    return [draw_kind(kind, rng) for _ in range(count)]


def within(values, low, high, slack=1e-9):
    """All of the range is used, and no more."""
    values = np.array(values)
    assert low - slack <= values.min() < low + 0.05 * (high - low)
    assert high - 0.05 * (high - low) < values.max() <= high + slack


@pytest.mark.parametrize("kind", [ObjectKind.BALL_A, ObjectKind.BALL_B])
def test_balls(kind):
    balls = [ball for (ball,) in drawn(kind)]
    within([ball.diameter * 128 for ball in balls], 7.5, 15.5)
    within([ball.x for ball in balls], 0.3, 0.6)
    within([ball.box[1] for ball in balls], 0.4, 0.85)
    assert not any(ball.static for ball in balls)


def test_static_balls():
    chains = drawn(ObjectKind.STATIC_BALLS)
    assert {len(chain) for chain in chains} == set(range(3, 8))
    for chain in chains:
        assert all(ball.static and ball.diameter * 256 == 11 for ball in chain)
        assert (chain[0].x, chain[0].y) == (0.4, 0.55)
        assert all(0 < ball.x < 1 and 0 < ball.y < 0.5 for ball in chain[1:])


def test_bars():
    bars = [bar for (bar,) in drawn(ObjectKind.BAR)]
    within([np.sqrt(bar.diameter**2 - 0.02**2) for bar in bars], 0.15, 0.5)
    within([bar.x for bar in bars], 0.3, 0.6)
    within([bar.y - 0.01 for bar in bars], 0.2, 0.8)
    within([math.degrees(bar.angle) for bar in bars], -90, 90)


def test_standing_bars():
    rows = drawn(ObjectKind.STANDING_BARS)
    assert {len(bars) for bars in rows} == {1, 2, 3, 4}
    assert {bool(bars[1].x > bars[0].x) for bars in rows if len(bars) > 1} == {True, False}
    for bars in rows:
        assert all(bar.box[1] == pytest.approx(0, abs=1e-12) for bar in bars)
        np.testing.assert_allclose([bar.box[3] for bar in bars], 0.2 + 0.05 * np.arange(len(bars)))
        np.testing.assert_allclose(np.abs(np.diff([bar.x for bar in bars])), 0.15)


def test_static_bars():
    bars = [bar for (bar,) in drawn(ObjectKind.STATIC_BAR)]
    lengths = np.array([np.sqrt(bar.diameter**2 - 0.02**2) for bar in bars])
    within(lengths, 0.2, 0.5)
    within([bar.x for bar in bars] + lengths / 2, 0.3, 0.4)
    within([bar.y - 0.01 for bar in bars], 0.1, 0.5)
    within([math.degrees(bar.angle) for bar in bars], -60, 60)
    assert all(bar.static for bar in bars)


@pytest.mark.parametrize(
    ("kind", "scales", "heights", "angle", "ratio"),
    [
        (ObjectKind.JAR, (0.08, 0.3), (0.2, 0.8), 45, 1.25),
        (ObjectKind.STICKS, (0.3, 0.6), (0.2, 0.5), 90, 1.0),
    ],
)
def test_jars_and_sticks(kind, scales, heights, angle, ratio):
    found = [body for (body,) in drawn(kind)]
    within([body.diameter / ratio for body in found], *scales, slack=2e-3)
    standing = [body for body in found if body.box[1] < 0.1]
    assert 0.22 < len(standing) / len(found) < 0.38
    assert all(body.angle == 0 and abs(body.box[1]) < 1e-12 for body in standing)
    flying = [body for body in found if body.box[1] > 0.1]
    within([body.box[1] for body in flying], *heights)
    within([math.degrees(body.angle) for body in flying], -angle, angle)
    within([(body.box[0] + body.box[2]) / 2 for body in found], 0.3, 0.6)


def polygon_gap(a, b):
    """Distance of two convex outlines, the slow way: from samples of their borders."""
    borders = []
    for corners in (a, b):
        hull = corners[ConvexHull(corners).vertices]
        steps = np.linspace(0, 1, 80)[:, None, None]
        borders.append(((1 - steps) * hull + steps * np.roll(hull, -1, axis=0)).reshape(-1, 2))
    return np.linalg.norm(borders[0][:, None] - borders[1][None], axis=-1).min()


def test_clearance_of_a_ball_is_its_distance():
    rng = default_rng(1)
    for _ in range(20):
        bar = Body(Outline.BAR, 0.3, 0.5, 0.5, rng.uniform(-3, 3))
        x, y = rng.uniform(0, 1, 2)
        ball = Body(Outline.BALL, 0.01, x, y)
        square = np.array([[x, y]]) + 1e-6 * np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]])
        wanted = polygon_gap(bar.corners[0], square) - 0.005
        if wanted > 0:
            assert clearance(ball, bar) == pytest.approx(wanted, abs=4e-3)
            assert clearance(bar, ball) == clearance(ball, bar)


def test_clearance_of_bars_has_the_right_sign():
    rng = default_rng(2)
    signs = set()
    for _ in range(60):
        one = Body(Outline.BAR, 0.3, 0.5, 0.5, rng.uniform(-3, 3))
        two = Body(Outline.BAR, 0.2, *rng.uniform(0.35, 0.65, 2), rng.uniform(-3, 3))
        gap, wanted = clearance(one, two), polygon_gap(one.corners[0], two.corners[0])
        assert gap == clearance(two, one)
        if wanted > 5e-3:
            assert 0 < gap <= wanted + 1e-9
        elif wanted < 5e-4:  # borders meet
            assert gap < 2e-3
        signs.add(gap > 0)
    assert signs == {True, False}


def test_a_ball_may_be_in_a_jar():
    jar = Body(Outline.JAR, 0.3, 0.5, 0.5)
    assert clearance(jar, Body(Outline.BALL, 0.05, 0.5, 0.55)) > 0
    assert clearance(jar, Body(Outline.BALL, 0.05, 0.5, 0.42)) < 0


@pytest.mark.parametrize("template", EVERY)
def test_every_template_finds_room(template):
    task = make_task(template, template % 7, seed=template)
    assert tuple(dict.fromkeys(task.kinds)) == kinds_of(template)
    assert task.key == f"{template}:00{template % 7}"
    assert all(body.static or inside(body) for body in task.bodies)
    for place, body in enumerate(task.bodies):
        assert all(clearance(body, other) > 0 for other in task.bodies[:place])
    action = draw_action(task, 0)
    assert is_valid(action, task.bodies)
    ball = red_ball(action)
    assert ball.action
    assert 5 <= ball.diameter * 128 <= 32
    assert (np.array([ball.x, ball.y, ball.diameter]) * 256 % 1 == 0).all()


def test_tasks_and_trials_differ_and_repeat():
    task = make_task(10012, 3, seed=1)
    assert make_task(10012, 3, seed=1) == task
    assert make_task(10012, 4, seed=1).bodies != task.bodies
    assert make_task(10012, 3, seed=2).bodies != task.bodies
    actions = [draw_action(task, trial) for trial in range(20)]
    assert len({tuple(action) for action in actions}) == 20
    np.testing.assert_array_equal(draw_action(make_task(10012, 3, seed=1), 7), actions[7])


def test_actions_that_are_not_valid():
    bodies = (Body(Outline.BALL, 0.2, 0.5, 0.5),)
    assert is_valid(np.array([0.2, 0.2, 0.5]), bodies)
    for action in ([0.5, 0.5, 0.1], [0.01, 0.5, 1.0], [0.2, 0.2, 1.1], [0.2, -0.1, 0.5]):
        assert not is_valid(np.array(action), bodies)


@pytest.mark.parametrize(
    "address", [(9999, 0, 0), (10000, 1000, 0), (10000, -1, 0), (10000, 0, -1)]
)
def test_addresses_that_there_are_not(address):
    with pytest.raises(InputError):
        make_task(*address)
    with pytest.raises(InputError, match="trials are numbered"):
        draw_action(make_task(10000, 0), -1)
