"""A trial: the red ball that is let go somewhere above or below one of the objects.

An action is PHYRE's: (x, y, r) from 0 to 1, for a ball whose centre is at (255 x, 255 y) and whose
radius is 2 + 30 r pixels of a scene of 256, all cut or rounded to whole pixels. It must be in the scene
and clear of all objects. The rule by which it is drawn is the reference's (`R-PHY` data_generator_v2):

* radius: from half that of the smallest ball of the task to four times that of the largest, but from
  5 to 32 pixels; all of that range when there is no ball;
* place: beside the middle of an object chosen at random (bars that lie flat only if there is nothing
  else) by up to 0.8 of both radii, at random above or below it;
* a draw that does not fit is thrown away. After a hundred of them any place will do.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.random import Generator

from sightline.errors import InputError, SightlineError
from sightline.physics.combinatorial.bodies import Body, turns
from sightline.physics.combinatorial.clearance import clearance, inside
from sightline.physics.combinatorial.layout import MOST_TRIALS, Task, generator
from sightline.physics.combinatorial.outlines import SCENE, Outline
from sightline.physics.types import Doubles

_LEAST, _MOST = 2, SCENE // 8  # radius in pixels for r = 0 and 1
_RADIUS = 5.0  # r of a radius of the whole scene, as the reference's rule counts
_MARGIN = 0.05  # between the ball and floor or ceiling, roughly
_FLAT = 0.05  # turns
_AIMED, _TRIES = 100, 10_000
_STREAM = 0xBA11


def draw_action(task: Task, trial: int) -> Doubles:
    """Return the (3,) action of a trial; it depends on the task and on this number alone."""
    if not 0 <= trial < MOST_TRIALS:
        raise InputError(f"trials are numbered 0 to {MOST_TRIALS - 1}, got {trial}")
    rng = generator(task.seed, _STREAM, task.template, task.number, trial)
    low, high = _radii(task)
    targets = _targets(task)
    for attempt in range(_TRIES):
        radius = rng.uniform(low, high)
        if attempt < _AIMED:
            x, y = _aim(targets[int(rng.integers(len(targets)))], radius, rng)
        else:
            x, y = rng.uniform(size=2)
        action = np.array([x, y, radius * _RADIUS])
        if is_valid(action, task.bodies):
            return action
    raise SightlineError(f"trial {trial} of task {task.key} finds no room for the red ball")


def red_ball(action: Doubles) -> Body:
    """Return the ball of an action; it may be out of the scene.

    Args:
        action: (3,) x, y, r from 0 to 1.
    """
    x, y, r = (float(value) for value in action)
    radius = round(_LEAST + r * (_MOST - _LEAST))
    place = (math.floor(x * (SCENE - 1)) / SCENE, math.floor(y * (SCENE - 1)) / SCENE)
    return Body(Outline.BALL, 2 * radius / SCENE, *place, action=True)


def is_valid(action: Doubles, bodies: tuple[Body, ...]) -> bool:
    """Say whether the ball of an action is in the scene and clear of all objects."""
    if not ((action >= 0) & (action <= 1)).all():
        return False
    ball = red_ball(action)
    return inside(ball) and all(clearance(ball, body) > 0 for body in bodies)


def _radii(task: Task) -> tuple[float, float]:
    """Return the least and the greatest radius, as shares of the scene."""
    low, high = 0.1 / _RADIUS, 1.0 / _RADIUS
    balls = [body.diameter / 2 for body in task.bodies if body.outline is Outline.BALL]
    if not balls:
        return low, high
    return max(low, min(balls) / 2), min(high, 4 * max(balls))


def _targets(task: Task) -> list[Body]:
    upright = [
        body
        for body in task.bodies
        if not (body.outline is Outline.BAR and turns(body.angle) < _FLAT)
    ]
    return upright or list(task.bodies)


def _aim(target: Body, radius: float, rng: Generator) -> tuple[float, float]:
    """Return a place above or below an object."""
    half = target.diameter / 2
    aside = rng.uniform(-0.8, 0.8) * (half + radius)
    if rng.uniform() < 0.5:
        low, high = target.y + 0.9 * aside, 1 - half - _MARGIN
    else:
        low, high = half + _MARGIN, target.y - 0.9 * aside
    return target.x + aside, low + rng.uniform() * (high - low)
