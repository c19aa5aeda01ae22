"""What a probe consists of, as data: what it trains on, what it tests on, and how it is read.

A part of a probe is one of four kinds: cells of radius, speed, colour and shape for one moving body; a
piece of the plane of two speeds for collisions; scenes of two bodies for compositions; gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sightline.physics.types import BLUE, RED, Shape
from sightline.physics.worlds.ranges import Interval, ranges

Attribute = Literal["colour", "size", "velocity", "shape"]

#: Colours by their number in `init`.
COLOURS = (RED, BLUE)

_UNIFORM = ranges("uniform")
_COLLISION = ranges("collision")

#: First and second speed of a collision, each as an interval.
Rectangle = tuple[Interval, Interval]

#: All speeds of collisions in distribution.
SPEEDS: Rectangle = (_COLLISION.speed, _COLLISION.speed)

#: Side of a pixel in world units when a picture has 128, from the first centre to the last.
PIXEL = 10 / 127


@dataclass(frozen=True, slots=True)
class Cell:
    """One body in uniform motion.

    Attributes:
        radius: or half the side, in world units; drawn evenly.
        speed: in units/s; drawn evenly.
        colour: 0 red, 1 blue.
        shape: of the body.
        share: of the samples, relative to the other cells' shares.
    """

    radius: Interval = _UNIFORM.radius
    speed: Interval = _UNIFORM.speed
    colour: int = 0
    shape: Shape = Shape.BALL
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Cells:
    """One moving body from several cells.

    Attributes:
        cells: to draw from.
        columns: of `init`: 2 [r, v], 3 [r, v, colour], 4 [r, v, colour, shape].
        flip: whether every second sample, at random, is its mirror image and moves to the left.
    """

    cells: tuple[Cell, ...]
    columns: int = 2
    flip: bool = False


@dataclass(frozen=True, slots=True)
class Plane:
    """Collisions with both speeds from a piece of the plane; radii are in distribution.

    Attributes:
        inside: the pair of speeds is in one of these.
        outside: and in none of these.
    """

    inside: tuple[Rectangle, ...] = (SPEEDS,)
    outside: tuple[Rectangle, ...] = ()


@dataclass(frozen=True, slots=True)
class Scenes:
    """Two bodies; every kind has the same share. `init` is as the kinds' world says.

    Attributes:
        world: `spatial`: a red ball that bounces below a blue square; `temporal`: two balls between
            the picture's side walls.
        kinds: spatial: `square-moves`, `ball-bounces`, `both`; temporal: `collide`, `bounce`,
            `bounce-red`, `bounce-blue`, `collide-bounce`, `collide-bounce-red`.
    """

    world: Literal["spatial", "temporal"]
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gates:
    """A ball runs into a gate of two squares. `init` is [r, v, margin], the last positive if it passes.

    Samples 2 k and 2 k + 1 are twins: alike but for the sign of the margin.

    Attributes:
        margin: between the ball and either square, or its overlap, in world units; drawn evenly.
    """

    margin: Interval


Part = Cells | Plane | Scenes | Gates


@dataclass(frozen=True, slots=True)
class Reading:
    """How the outcome of a probe is looked at.

    Attributes:
        figure: what to plot or tabulate.
        measures: names of its figures in `scores.json`: of laws, of readings, or `kept`.
        found: what the paper found.
    """

    figure: str
    measures: tuple[str, ...]
    found: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One experiment.

    Attributes:
        name: by which it is asked for.
        family: of probes that are read alike.
        question: that it answers, in a sentence.
        train: what a model learns from.
        test: what it has not seen.
        reading: of the outcome.
        train_count: as in the paper or the released code, about.
        test_count: likewise.
        attributes: the two that conflict, if any.
        control: whether it tests on purpose on what was seen.
    """

    name: str
    family: str
    question: str
    train: Part
    test: Part
    reading: Reading
    train_count: int
    test_count: int
    attributes: tuple[Attribute, Attribute] | None = None
    control: bool = False
