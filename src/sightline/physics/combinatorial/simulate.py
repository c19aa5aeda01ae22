"""What happens when the red ball is let go: rigid bodies in a closed box, by pymunk.

PHYRE's world (src/simulator/thrift_box2d_conversion.cpp), which is Box2D's, set up in Chipmunk:

* metres: the scene of 256 pixels is 42.7 m wide, 6 pixels to the metre; gravity −9.8 m/s²;
* density 0.25, friction 0.5 and restitution 0.2 between any two objects. Chipmunk multiplies the
  numbers of both, so each has the root;
* rotation is damped by 0.01 a second, nothing else is;
* walls, floor and ceiling stand just outside of the scene: nothing leaves it;
* a state is kept after sub-steps 0, 20, 40 … of 1/60 s: frame k is at (1 + 20 k) / 60 s, and the
  frames of a video are a third of a second apart, though it is played at 5 a second.

Chipmunk does not look for collisions between two steps as Box2D does, so each sub-step is taken in
`PIECES`: the fastest ball then moves less than a seventh of a bar's thickness at a time. Trajectories
are like PHYRE's in kind, not in digits.

A space of its own for each call, one thread, bodies in the same order: same bytes every time.
"""

from __future__ import annotations

import math

import numpy as np
import pymunk

from sightline.errors import InputError
from sightline.physics.combinatorial.bodies import Body
from sightline.physics.combinatorial.outlines import DENSITY, SCENE
from sightline.physics.types import FRAMES, Doubles

#: Sub-steps a second, between two frames, and at the most.
RATE, STRIDE, MOST_STEPS = 60, 20, 1000
#: Seconds between two frames, and frames a second when it is played.
FRAME_TIME, PLAYED = STRIDE / RATE, 5
#: Frames of the longest video.
MOST_FRAMES = MOST_STEPS // STRIDE
#: Metres along a side of the scene.
METRES = SCENE / 6
GRAVITY = 9.8
#: Steps of Chipmunk in a sub-step.
PIECES = 4

_FRICTION, _RESTITUTION = math.sqrt(0.5), math.sqrt(0.2)
_ANGULAR_DAMPING = 0.01  # 1/s
_ITERATIONS = 20
_SLOP = 0.01  # metres that resting objects may sink into each other, 0.06 px of 256
_WALL = 10.0  # metres thick


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
    states[..., :2] /= METRES
    velocities[..., :2] /= METRES
    return states, velocities


def _empty_box() -> pymunk.Space:
    """Return a space with gravity and walls."""
    space = pymunk.Space()
    space.gravity = (0, -GRAVITY)
    space.iterations = _ITERATIONS
    space.collision_slop = _SLOP
    far, near = METRES + _WALL, -_WALL
    for left, bottom, right, top in (
        (near, near, far, 0),
        (near, METRES, far, far),
        (near, near, 0, far),
        (METRES, near, far, far),
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
    rigid.position = (body.x * METRES, body.y * METRES)
    rigid.angle = body.angle
    parts = body.parts
    shapes: list[pymunk.Shape] = []
    for corners, radius in zip(parts.corners * METRES, parts.radii * METRES, strict=True):
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
