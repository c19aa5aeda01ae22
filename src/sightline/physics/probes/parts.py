"""Data types of probes: training and test parts, and how the result is read.

A part is one of four kinds: cells of radius, speed, color and shape for one moving body; a region of
the plane of two speeds for collisions; scenes of two bodies for compositions; gates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sightline.physics.types import BLUE, RED, Shape
from sightline.physics.worlds.splits import Interval, ranges

Attribute = Literal["color", "size", "velocity", "shape"]

#: Colors by their number in `init`.
COLORS = (RED, BLUE)

_UNIFORM = ranges("uniform")
_COLLISION = ranges("collision")

#: First and second speed of a collision, each as an interval.
Rectangle = tuple[Interval, Interval]

#: All speeds of collisions in distribution.
SPEEDS: Rectangle = (_COLLISION.speed, _COLLISION.speed)

#: Side of a pixel in world units when a picture has 128, from the first center to the last.
PIXEL = 10 / 127


@dataclass(frozen=True, slots=True)
class Cell:
    """One body in uniform motion.

    Attributes:
        radius: or half the side, in world units; drawn evenly.
        speed: in units/s; drawn evenly.
        color: 0 red, 1 blue.
        shape: of the body.
        share: of the samples, relative to the other cells' shares.
    """

    radius: Interval = _UNIFORM.radius
    speed: Interval = _UNIFORM.speed
    color: int = 0
    shape: Shape = Shape.BALL
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Cells:
    """One moving body from several cells.

    Attributes:
        cells: to draw from.
        columns: of `init`: 2 [r, v], 3 [r, v, color], 4 [r, v, color, shape].
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


def describe(part: Part) -> str:
    """Say in a phrase what a part consists of.

    >>> describe(Cells((Cell(speed=(1.0, 1.25)), Cell(speed=(3.75, 4.0)))))
    'uniform motion: red ball, r 0.7–1.4, v 1–1.25; red ball, r 0.7–1.4, v 3.75–4'
    >>> describe(Plane(outside=(((2.0, 3.0), (2.0, 3.0)),)))
    'collisions: (v1, v2) in [1–4]×[1–4], but not in [2–3]×[2–3]'
    """
    if isinstance(part, Cells):
        flipped = ", half of them mirrored" if part.flip else ""
        return f"uniform motion{flipped}: " + "; ".join(_cell(cell) for cell in part.cells)
    if isinstance(part, Plane):
        cut = f", but not in {_union(part.outside)}" if part.outside else ""
        return f"collisions: (v1, v2) in {_union(part.inside)}{cut}"
    if isinstance(part, Scenes):
        return f"{part.world} scenes: {', '.join(part.kinds)}"
    low, high = (margin / PIXEL for margin in part.margin)
    return f"gates: a margin or an overlap of {low:.2g}–{high:.2g} pixels of 128"


def _cell(cell: Cell) -> str:
    what = f"{'blue' if cell.color else 'red'} {cell.shape.name.lower()}"
    return f"{what}, r {_interval(cell.radius)}, v {_interval(cell.speed)}"


def _union(rectangles: tuple[Rectangle, ...]) -> str:
    return " or ".join(f"[{_interval(v1)}]×[{_interval(v2)}]" for v1, v2 in rectangles)


def _interval(values: Interval) -> str:
    low, high = values
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"
