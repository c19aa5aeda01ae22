"""Templates, tasks and trials: which objects meet, where they are, and where the red ball is released.

Templates: four of eight kinds of objects, 70 in all, 60 to train on and 10 held out. The order is that
of the released code (phyworld/phyworld, combinatorial_data): all choices of four in the order of
`itertools.combinations`, shuffled by Python's `random.Random(4)`; ids from 10000 on.

Tasks: objects of the kinds of a template, drawn at random in the released ranges. All positions and
sizes are shares of the side of the scene. The kinds are placed one after the other, each drawn again
until it is clear of those before it: no two objects overlap, and what can move is completely in the
scene (static objects may reach into a wall, as half of the released static bars do). When a kind finds
no room, all are placed anew. The released code does not check this: there, objects may start in each
other and are pushed apart.

Trials: an action of PHYRE, (x, y, r) from 0 to 1, for a ball with center (255 x, 255 y) and radius 2 +
30 r pixels of a scene of 256, truncated or rounded to whole pixels, in the scene and clear of all
objects. It is drawn by the released rule: a radius from half that of the smallest ball of the task to
four times that of the largest (5 to 32 pixels; the whole range without a ball), above or below a
random object (lying bars only if there is nothing else), offset by up to 0.8 of both radii. Draws that
do not fit are repeated; after a hundred, any position is allowed.
"""

from __future__ import annotations

import itertools
import math
import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np
from numpy.random import Generator, Philox, SeedSequence

from sightline.errors import InputError, SightlineError
from sightline.physics.combinatorial.objects import (
    SCENE,
    THICK,
    Body,
    Outline,
    clearance,
    diameter_of,
    inside,
    turns,
)
from sightline.physics.types import Doubles


class ObjectKind(IntEnum):
    """What an object is; all but the static ones move."""

    BALL_A = 0
    BALL_B = 1
    STATIC_BALLS = 2
    BAR = 3
    STANDING_BARS = 4
    STATIC_BAR = 5
    JAR = 6
    STICKS = 7

    @property
    def label(self) -> str:
        """Its name in words."""
        return self.name.lower().replace("_", " ")


Template = tuple[ObjectKind, ...]

#: Id of the first template.
FIRST = 10000
#: Kinds of a template.
CHOSEN = 4

TRAIN = tuple(range(FIRST, FIRST + 60))
HELD_OUT = tuple(range(FIRST + 60, FIRST + 70))
#: The smallest training set in which every pair of kinds occurs.
SIX = (10003, 10005, 10016, 10023, 10024, 10053)
THIRTY = tuple(number for number in TRAIN if number % 2 == 0)

#: Sets of templates by name, as the paper compares them (Table 2).
SETS = {"6": SIX, "30": THIRTY, "60": TRAIN, "held-out": HELD_OUT, "all": TRAIN + HELD_OUT}


@cache
def _order() -> tuple[Template, ...]:
    found = list(itertools.combinations(ObjectKind, CHOSEN))
    random.Random(4).shuffle(found)
    return tuple(found)


def kinds_of(template: int) -> Template:
    """Return the four kinds of a template, in the order in which they are placed and drawn.

    >>> [kind.label for kind in kinds_of(10066)]
    ['ball b', 'bar', 'jar', 'sticks']
    """
    if not FIRST <= template < FIRST + len(_order()):
        last = FIRST + len(_order()) - 1
        raise InputError(f"no template {template}", remedy=f"they go from {FIRST} to {last}")
    return _order()[template - FIRST]


def parse_templates(text: str) -> tuple[int, ...]:
    """Return the ids of a set by name (`SETS`), or of a list of ids such as `10003,10060`."""
    if text in SETS:
        return SETS[text]
    if not re.fullmatch(r"\d{5}(,\d{5})*", text):
        raise InputError(
            f"no templates are called {text!r}",
            remedy=f"use {', '.join(SETS)}, or ids such as 10003,10060",
        )
    ids = tuple(int(word) for word in text.split(","))
    for number in ids:
        kinds_of(number)
    if len(set(ids)) < len(ids):
        raise InputError(f"a template is named twice in {text}")
    return ids


#: Share of jars and of sticks that stand on the floor.
STANDING = 0.3

_DOT = 0.04  # scale of a static ball
_CHAIN_START = (0.4, 0.55)
_CHAIN_TOP = 0.5  # further balls are below
_MOST_STEPS = 200  # of a chain that wanders off


def draw_kind(kind: ObjectKind, rng: Generator) -> tuple[Body, ...]:
    """Return the objects of one kind: one, or a group."""
    return _DRAWERS[kind](rng)


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


_DRAWERS: dict[ObjectKind, Callable[[Generator], tuple[Body, ...]]] = {
    ObjectKind.BALL_A: _ball,
    ObjectKind.BALL_B: _ball,
    ObjectKind.STATIC_BALLS: _static_balls,
    ObjectKind.BAR: _bar,
    ObjectKind.STANDING_BARS: _standing_bars,
    ObjectKind.STATIC_BAR: _static_bar,
    ObjectKind.JAR: _jar,
    ObjectKind.STICKS: _sticks,
}


#: Tasks of a template, trials of a task in the paper's data.
PAPER_TASKS, PAPER_TRIALS = 100, 1000
#: Tasks and trials that keys of three and sets of any size can name.
MOST_TASKS, MOST_TRIALS = 1000, 1_000_000

_DRAWS = 100  # of one kind, before all are placed anew
_LAYOUTS = 1000
_LAYOUT_STREAM = 0x1A10  # which keeps the numbers of layouts apart from those of actions


@dataclass(frozen=True, slots=True)
class CombinatorialTask:
    """Objects before a trial.

    Attributes:
        template: its id.
        number: of the task, from 0.
        seed: it was drawn with.
        bodies: its objects, as they are drawn one over the other.
        kinds: of each of them.
    """

    template: int
    number: int
    seed: int
    bodies: tuple[Body, ...]
    kinds: tuple[ObjectKind, ...]

    @property
    def key(self) -> str:
        """Name of the task in files, such as `10003:007`."""
        return f"{self.template}:{self.number:03d}"


def make_task(template: int, number: int, seed: int = 0) -> CombinatorialTask:
    """Return a task; it depends on nothing but its address.

    Args:
        template: id from 10000 to 10069.
        number: of the task, 0 to 999.
        seed: of all random choices.
    """
    kinds = kinds_of(template)
    if not 0 <= number < MOST_TASKS:
        raise InputError(f"tasks are numbered 0 to {MOST_TASKS - 1}, got {number}")
    rng = generator(seed, _LAYOUT_STREAM, template, number)
    for _ in range(_LAYOUTS):
        placed = _place(kinds, rng)
        if placed is not None:
            bodies = tuple(body for group in placed for body in group)
            of = tuple(k for k, group in zip(kinds, placed, strict=True) for _ in group)
            return CombinatorialTask(template, number, seed, bodies, of)
    raise SightlineError(
        f"task {template}:{number:03d} of seed {seed} finds no room for its objects"
    )


def generator(seed: int, *address: int) -> Generator:
    """Return the random numbers that belong to an address."""
    if not 0 <= seed < 2**63:
        raise InputError(f"seed must be from 0 to 2^63 − 1, got {seed}")
    return np.random.Generator(Philox(SeedSequence((seed, *address))))


def _place(kinds: tuple[ObjectKind, ...], rng: Generator) -> list[tuple[Body, ...]] | None:
    """Return the objects of each kind; None when one of them found no room."""
    groups: list[tuple[Body, ...]] = []
    for kind in kinds:
        for _ in range(_DRAWS):
            group = draw_kind(kind, rng)
            if _fits(group, [body for earlier in groups for body in earlier]):
                groups.append(group)
                break
        else:
            return None
    return groups


def _fits(group: tuple[Body, ...], there: list[Body]) -> bool:
    """Say whether new objects are in the scene, and clear of each other and of those there."""
    if not all(body.static or inside(body) for body in group):
        return False
    return all(
        clearance(body, other) > 0
        for place, body in enumerate(group)
        for other in (*there, *group[:place])
    )


_LEAST, _MOST = 2, SCENE // 8  # radius in pixels for r = 0 and 1
_RADIUS = 5.0  # r of a radius of the whole scene, as the reference's rule counts
_MARGIN = 0.05  # between the ball and floor or ceiling, roughly
_FLAT = 0.05  # turns
_AIMED, _TRIES = 100, 10_000
_ACTION_STREAM = 0xBA11


def draw_action(task: CombinatorialTask, trial: int) -> Doubles:
    """Return the (3,) action of a trial; it depends on the task and on this number alone."""
    if not 0 <= trial < MOST_TRIALS:
        raise InputError(f"trials are numbered 0 to {MOST_TRIALS - 1}, got {trial}")
    rng = generator(task.seed, _ACTION_STREAM, task.template, task.number, trial)
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


def _radii(task: CombinatorialTask) -> tuple[float, float]:
    """Return the least and the greatest radius, as shares of the scene."""
    low, high = 0.1 / _RADIUS, 1.0 / _RADIUS
    balls = [body.diameter / 2 for body in task.bodies if body.outline is Outline.BALL]
    if not balls:
        return low, high
    return max(low, min(balls) / 2), min(high, 4 * max(balls))


def _targets(task: CombinatorialTask) -> list[Body]:
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
