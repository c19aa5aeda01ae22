"""Simulate combinatorial worlds with pymunk: rigid bodies in a closed box.

The world of PHYRE (src/simulator/thrift_box2d_conversion.cpp), which uses Box2D, set up in Chipmunk:

* the scene of 256 pixels is 42.7 m wide, 6 pixels per meter; gravity −9.8 m/s²;
* density 0.25; friction 0.5 and restitution 0.2 between any two objects (Chipmunk multiplies the
  values of both, so each has the square root);
* rotation is damped by 0.01 per second, nothing else is;
* walls, floor and ceiling are just outside the scene;
* states are stored after sub-steps 0, 20, 40 … of 1/60 s: frame k is at (1 + 20 k) / 60 s, so frames
  are a third of a second apart, though videos are played at 5 frames per second.

Chipmunk does not search for collisions between two steps as Box2D does, so each sub-step is divided
into `PIECES`: the fastest ball then moves less than a seventh of the thickness of a bar per step.
Trajectories are similar to those of PHYRE, not identical. Each call has its own space, one thread and
the same order of bodies, so the same input gives the same bytes. A sample depends on its address
alone: template, task, trial and seed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pymunk

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import DENSITY, FEATURES, SCENE, Body, track
from sightline.physics.combinatorial.tasks import (
    CombinatorialTask,
    draw_action,
    is_valid,
    make_task,
    red_ball,
)
from sightline.physics.types import FRAMES, Doubles

#: Sub-steps a second, between two frames, and at the most.
RATE, STRIDE, MOST_STEPS = 60, 20, 1000
#: Seconds between two frames, and frames a second when it is played.
FRAME_TIME, PLAYED = STRIDE / RATE, 5
#: Frames of the longest video.
MOST_FRAMES = MOST_STEPS // STRIDE
#: Meters along a side of the scene.
METERS = SCENE / 6
GRAVITY = 9.8
#: Steps of Chipmunk in a sub-step.
PIECES = 4

_FRICTION, _RESTITUTION = math.sqrt(0.5), math.sqrt(0.2)
_ANGULAR_DAMPING = 0.01  # 1/s
_ITERATIONS = 20
_SLOP = 0.01  # meters that resting objects may sink into each other, 0.06 px of 256
_WALL = 10.0  # meters thick


def simulate(bodies: tuple[Body, ...], frames: int = FRAMES) -> tuple[Doubles, Doubles]:
    """Let objects go, all at rest.

    Args:
        bodies: objects that do not overlap.
        frames: 1 to 50.

    Returns:
        (T, N, 3) states: x, y in scene units and angle in [rad], not cut to a turn; and (T, N, 3)
        velocities: x, y in scene units/s and angular in rad/s.
    """
    if not 1 <= frames <= MOST_FRAMES:
        raise InputError(f"a video has 1 to {MOST_FRAMES} frames, got {frames}")
    space = _empty_box()
    rigid = [_add(space, body) for body in bodies]
    moving = [body for body in rigid if body.body_type == pymunk.Body.DYNAMIC]
    states, velocities = np.empty((frames, len(bodies), 3)), np.empty((frames, len(bodies), 3))
    for frame in range(frames):
        for _ in range(STRIDE if frame else 1):
            for _ in range(PIECES):
                space.step(1 / (RATE * PIECES))
            for body in moving:
                body.angular_velocity /= 1 + _ANGULAR_DAMPING / RATE
        for place, body in enumerate(rigid):
            states[frame, place] = *body.position, body.angle
            velocities[frame, place] = *body.velocity, body.angular_velocity
    states[..., :2] /= METERS
    velocities[..., :2] /= METERS
    return states, velocities


def _empty_box() -> pymunk.Space:
    """Return a space with gravity and walls."""
    space = pymunk.Space()
    space.gravity = (0, -GRAVITY)
    space.iterations = _ITERATIONS
    space.collision_slop = _SLOP
    far, near = METERS + _WALL, -_WALL
    for left, bottom, right, top in (
        (near, near, far, 0),
        (near, METERS, far, far),
        (near, near, 0, far),
        (METERS, near, far, far),
    ):
        corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
        space.add(_finished(pymunk.Poly(space.static_body, corners)))
    return space


def _add(space: pymunk.Space, body: Body) -> pymunk.Body:
    rigid, shapes = _rigid(body)
    space.add(rigid, *shapes)
    return rigid


def _rigid(body: Body) -> tuple[pymunk.Body, list[pymunk.Shape]]:
    """Return an object in Chipmunk's terms."""
    static = body.static
    rigid = pymunk.Body(body_type=pymunk.Body.STATIC if static else pymunk.Body.DYNAMIC)
    rigid.position = (body.x * METERS, body.y * METERS)
    rigid.angle = body.angle
    parts = body.parts
    shapes: list[pymunk.Shape] = []
    for corners, radius in zip(parts.corners * METERS, parts.radii * METERS, strict=True):
        if radius > 0:
            shape: pymunk.Shape = pymunk.Circle(rigid, float(radius))
        else:
            shape = pymunk.Poly(rigid, [(float(x), float(y)) for x, y in corners])
        if not static:
            shape.density = DENSITY
        shapes.append(_finished(shape))
    return rigid, shapes


def _finished(shape: pymunk.Shape) -> pymunk.Shape:
    shape.friction, shape.elasticity = _FRICTION, _RESTITUTION
    return shape


@dataclass(frozen=True, slots=True, eq=False)
class CombinatorialSample:
    """What happens in one video.

    Attributes:
        key: of the task, such as `10003:007`.
        trial: number of the trial.
        action: (3,) float64 x, y, r of the red ball, from 0 to 1 (`action`).
        objects: (T, N, 14) float64 features of each object in each frame (`bodies`); the last is the
            red ball.
        velocities: (T, N, 3) float64: x, y in scene units/s, y up, and angular in rad/s,
            counter-clockwise.
        frame_time: seconds between frames.
    """

    key: str
    trial: int
    action: Doubles
    objects: Doubles
    velocities: Doubles
    frame_time: float = FRAME_TIME

    def __post_init__(self) -> None:
        frames, count = self.objects.shape[:2]
        wanted = {
            "action": (3,),
            "objects": (frames, count, FEATURES),
            "velocities": (frames, count, 3),
        }
        for name, shape in wanted.items():
            if getattr(self, name).shape != shape:
                raise InputError(f"{name} of shape {getattr(self, name).shape}, expected {shape}")

    @property
    def template(self) -> int:
        """Id of the template."""
        return int(self.key.partition(":")[0])


def make_sample(
    template: int, task: int = 0, trial: int = 0, *, seed: int = 0, frames: int = FRAMES
) -> CombinatorialSample:
    """Return a sample by its address.

    Args:
        template: id from 10000 to 10069.
        task: number of the task, 0 to 999: which objects are where.
        trial: number of the trial: which red ball.
        seed: of all random choices.
        frames: 1 to 50.
    """
    return run_trial(make_task(template, task, seed), trial, frames=frames)


def run_trial(
    task: CombinatorialTask, trial: int = 0, *, action: Doubles | None = None, frames: int = FRAMES
) -> CombinatorialSample:
    """Let the red ball of a trial go among the objects of a task.

    Args:
        task: from `make_task`.
        trial: its number.
        action: (3,) of one's own instead of the trial's; refused when it is not valid.
        frames: 1 to 50.
    """
    if action is None:
        action = draw_action(task, trial)
    elif action.shape != (3,) or not is_valid(action, task.bodies):
        raise InputError(f"the red ball of {action} is out of the scene or overlaps an object")
    bodies = (*task.bodies, red_ball(action))
    states, velocities = simulate(bodies, frames)
    return CombinatorialSample(task.key, trial, action, track(bodies, states), velocities)
