"""Objects of each kind, drawn at random in the ranges of the reference (`R-PHY` component_utils).

All places and sizes are shares of the side of the scene. A flat bar is placed first and turned about
its centre then, as the reference does it; jars and sticks are turned first and placed by the box that
they fill. Nothing here looks at other objects: `layout` does.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy.random import Generator

from sightline.physics.combinatorial.bodies import Body
from sightline.physics.combinatorial.outlines import THICK, Outline, diameter_of
from sightline.physics.combinatorial.templates import Kind

#: Share of jars and of sticks that stand on the floor.
STANDING = 0.3

_DOT = 0.04  # scale of a static ball
_CHAIN_START = (0.4, 0.55)
_CHAIN_TOP = 0.5  # further balls are below
_MOST_STEPS = 200  # of a chain that wanders off


def draw_kind(kind: Kind, rng: Generator) -> tuple[Body, ...]:
    """Return the objects of one kind: one, or a group."""
    return _DRAWS[kind](rng)


def _ball(rng: Generator) -> tuple[Body, ...]:
    scale, x, bottom = rng.uniform(0.06, 0.12), rng.uniform(0.3, 0.6), rng.uniform(0.4, 0.85)
    diameter = diameter_of(Outline.BALL, scale)
    return (Body(Outline.BALL, diameter, x, bottom + diameter / 2),)


def _static_balls(rng: Generator) -> tuple[Body, ...]:
    """Draw a chain that bends: a first ball, and 2 to 6 more, counted as they are in the scene.

    After three of them a chain may break off and go on from any of its balls.
    """
    wanted = int(rng.integers(2, 7)) + 1
    chain = [_CHAIN_START]
    direction, bend = _direction(rng)
    run = 1
    for _ in range(_MOST_STEPS):
        if sum(_in_scene(point) for point in chain) == wanted:
            break
        start = chain[-1]
        if run >= 3 and rng.uniform() < 0.2:
            start = chain[int(rng.integers(len(chain)))]
            direction, bend = _direction(rng)
            run = 1
        run += 1
        step = rng.uniform(0.05, 0.2)
        direction += bend
        point = (start[0] + step * math.cos(direction), start[1] + step * math.sin(direction))
        if point[1] < _CHAIN_TOP:
            chain.append(point)
    diameter = diameter_of(Outline.BALL, _DOT)
    return tuple(
        Body(Outline.BALL, diameter, *point, static=True) for point in chain if _in_scene(point)
    )


def _direction(rng: Generator) -> tuple[float, float]:
    """Return the direction in which a chain begins, and how much it bends at each ball, in [rad]."""
    return rng.uniform(0, 2 * math.pi), rng.uniform(0, 2 * math.pi / 10)


def _in_scene(point: tuple[float, float]) -> bool:
    return 0 < point[0] < 1 and 0 < point[1] < 1


def _bar(rng: Generator) -> tuple[Body, ...]:
    scale, x, y = rng.uniform(0.15, 0.5), rng.uniform(0.3, 0.6), rng.uniform(0.2, 0.8)
    angle = math.radians(rng.uniform(-90, 90))
    return (Body(Outline.BAR, diameter_of(Outline.BAR, scale), x, y + THICK / 2, angle),)


def _standing_bars(rng: Generator) -> tuple[Body, ...]:
    """Draw one to four upright bars in a row, each 0.05 higher than the one before."""
    offset, spacing = rng.uniform(0.45, 0.6), 0.15
    if rng.uniform() < 0.5:
        offset, spacing = 1 - offset, -spacing
    count = int(rng.integers(1, 5))
    bars = []
    for place in range(count):
        length = 0.2 + 0.05 * place
        left = offset + spacing * (place - (count + 1) // 2)
        diameter = diameter_of(Outline.BAR, length)
        bars.append(Body(Outline.BAR, diameter, left + THICK / 2, length / 2, math.pi / 2))
    return tuple(bars)


def _static_bar(rng: Generator) -> tuple[Body, ...]:
    scale, y, right = rng.uniform(0.2, 0.5), rng.uniform(0.1, 0.5), rng.uniform(0.3, 0.4)
    angle = math.radians(rng.uniform(-60, 60))
    diameter = diameter_of(Outline.BAR, scale)
    return (Body(Outline.BAR, diameter, right - scale / 2, y + THICK / 2, angle, static=True),)


def _jar(rng: Generator) -> tuple[Body, ...]:
    return (_placed(Outline.JAR, rng, rng.uniform(0.08, 0.3), highest=0.8, most=45),)


def _sticks(rng: Generator) -> tuple[Body, ...]:
    return (_placed(Outline.STICKS, rng, rng.uniform(0.3, 0.6), highest=0.5, most=90),)


def _placed(outline: Outline, rng: Generator, scale: float, highest: float, most: float) -> Body:
    """Return an object by the middle and bottom of its box: turned in the air, or on the floor."""
    x, bottom = rng.uniform(0.3, 0.6), rng.uniform(0.2, highest)
    angle = math.radians(rng.uniform(-most, most))
    if rng.uniform() < STANDING:
        bottom = angle = 0.0
    diameter = diameter_of(outline, scale)
    left, low, right, _ = Body(outline, diameter, 0.0, 0.0, angle).box
    return Body(outline, diameter, x - (left + right) / 2, bottom - low, angle)


_DRAWS: dict[Kind, Callable[[Generator], tuple[Body, ...]]] = {
    Kind.BALL_A: _ball,
    Kind.BALL_B: _ball,
    Kind.STATIC_BALLS: _static_balls,
    Kind.BAR: _bar,
    Kind.STANDING_BARS: _standing_bars,
    Kind.STATIC_BAR: _static_bar,
    Kind.JAR: _jar,
    Kind.STICKS: _sticks,
}
