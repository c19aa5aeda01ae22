"""Attribute conflicts: which of two attributes a model keeps when it has never seen both together.

Each of two attributes has a first and a second value. Training shows first with first and second with
second; the tests show the other two combinations. A model that has learnt cells instead of attributes
drifts to one of the trained cells, and which one says which attribute it goes by (PhyWorld, 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.probes.parts import Attribute, Cell, Cells, Probe, Reading
from sightline.physics.types import Doubles, Shape
from sightline.physics.worlds.ranges import Interval

#: First and second values: the two halves that the released code splits at, and the paper's extremes.
SIZE_HALVES: tuple[Interval, Interval] = ((0.7, 1.05), (1.05, 1.4))
SPEED_HALVES: tuple[Interval, Interval] = ((1.0, 2.5), (2.5, 4.0))
SIZE_EXTREMES: tuple[Interval, Interval] = ((0.7, 0.7), (1.4, 1.4))
SPEED_EXTREMES: tuple[Interval, Interval] = ((1.0, 1.0), (4.0, 4.0))

_ORDER: tuple[Attribute, ...] = ("colour", "size", "velocity", "shape")

_READING = Reading(
    "share of test videos in which each attribute is kept, from the first frame to the last",
    ("kept",),
    "colour before size before velocity before shape; with a ring for the square, shape holds against "
    "colour",
)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """What test videos would show if a model kept one attribute and let the other follow training.

    Attributes:
        keeps: the attribute that stays as it is in the first frames.
        yields: the one that turns into what was trained with it.
        radius: (M, 2) least and greatest radius at the end, in world units.
        speed: (M, 2) least and greatest speed at the end, in units/s.
        colour: (M,) 0 red, 1 blue.
        shape: (M,) values of `Shape`.
    """

    keeps: Attribute
    yields: Attribute
    radius: Doubles
    speed: Doubles
    colour: NDArray[np.int64]
    shape: NDArray[np.int64]


def candidates(probe: Probe, init: Doubles) -> tuple[Candidate, Candidate]:
    """Return the two outcomes that a conflict's test videos can drift to.

    Args:
        probe: a conflict, or its control.
        init: (M, K) parameters of its test samples.

    Returns:
        What keeping the first of `probe.attributes` looks like, and what keeping the second does.
    """
    if probe.attributes is None or not isinstance(probe.train, Cells):
        raise InputError(f"{probe.name} is no conflict of attributes")
    first, second = probe.attributes
    cells = probe.train.cells[:2]
    return (_kept(first, second, cells, init), _kept(second, first, cells, init))


def _kept(keeps: Attribute, yields: Attribute, cells: tuple[Cell, ...], init: Doubles) -> Candidate:
    which = _which(keeps, cells, init)
    radius = np.repeat(init[:, :1], 2, axis=1)
    speed = np.repeat(init[:, 1:2], 2, axis=1)
    colour = _column(init, 2)
    shape = _column(init, 3)
    if yields == "size":
        radius = np.array([cell.radius for cell in cells])[which]
    elif yields == "velocity":
        speed = np.array([cell.speed for cell in cells])[which]
    elif yields == "colour":
        colour = np.array([cell.colour for cell in cells])[which]
    else:
        shape = np.array([int(cell.shape) for cell in cells])[which]
    return Candidate(keeps, yields, radius, speed, colour, shape)


def _which(attribute: Attribute, cells: tuple[Cell, ...], init: Doubles) -> NDArray[np.int64]:
    """Return 0 where samples have the first value of an attribute, 1 where they have the second."""
    first, second = cells
    if attribute == "colour":
        return (_column(init, 2) == second.colour).astype(np.int64)
    if attribute == "shape":
        return (_column(init, 3) == second.shape).astype(np.int64)
    if attribute == "size":
        return (init[:, 0] >= (first.radius[1] + second.radius[0]) / 2).astype(np.int64)
    return (init[:, 1] >= (first.speed[1] + second.speed[0]) / 2).astype(np.int64)


def _column(init: Doubles, column: int) -> NDArray[np.int64]:
    """Return a column of whole numbers of `init`; zeros (red, ball) where it has no such column."""
    if init.shape[1] <= column:
        return np.zeros(len(init), np.int64)
    return init[:, column].astype(np.int64)


def _with(cell: Cell, attribute: Attribute, which: int, other: Shape, extreme: bool) -> Cell:
    """Give a cell the first or second value of an attribute."""
    if attribute == "colour":
        return replace(cell, colour=which)
    if attribute == "shape":
        return replace(cell, shape=other if which else Shape.BALL)
    if attribute == "size":
        return replace(cell, radius=(SIZE_EXTREMES if extreme else SIZE_HALVES)[which])
    return replace(cell, speed=(SPEED_EXTREMES if extreme else SPEED_HALVES)[which])


def _columns(pair: tuple[Attribute, Attribute]) -> int:
    return 4 if "shape" in pair else 3 if "colour" in pair else 2


def _conflict(
    pair: tuple[Attribute, Attribute], other: Shape = Shape.SQUARE, *, extreme: bool = False
) -> Probe:
    first, second = pair

    def cell(a: int, b: int) -> Cell:
        return _with(_with(Cell(), first, a, other, extreme), second, b, other, extreme)

    columns = _columns(pair)
    words = [word if word != "shape" else other.name.lower() for word in pair]
    return Probe(
        "-".join(["conflict", *words] + ["extreme"] * extreme),
        "conflict",
        f"When {first} and {second} of a moving body contradict all that was trained, which is kept?",
        train=Cells((cell(0, 0), cell(1, 1)), columns),
        test=Cells((cell(0, 1), cell(1, 0)), columns),
        reading=_READING,
        train_count=300_000,
        test_count=202 if pair == ("colour", "size") else 1_400 if "shape" in pair else 800,
        attributes=pair,
    )


def _all_conflicts() -> tuple[Probe, ...]:
    """Return all six pairs; those with shape for square and ring; by halves and by extremes."""
    probes = []
    for pair in combinations(_ORDER, 2):
        for other in (Shape.SQUARE, Shape.RING) if "shape" in pair else (Shape.SQUARE,):
            probes.append(_conflict(pair, other, extreme=False))
            if "size" in pair or "velocity" in pair:
                probes.append(_conflict(pair, other, extreme=True))
    return tuple(probes)


def _control(pair: tuple[Attribute, Attribute]) -> Probe:
    """Return the same tests after training on all four cells, so that nothing contradicts."""
    conflict = _conflict(pair)
    cells = tuple(
        _with(_with(Cell(), pair[0], a, Shape.SQUARE, False), pair[1], b, Shape.SQUARE, False)
        for a, b in ((0, 0), (1, 1), (0, 1), (1, 0))
    )
    return replace(
        conflict,
        name=conflict.name.replace("conflict", "control"),
        family="control",
        question="Trained on every combination, does a model leave both attributes alone?",
        train=Cells(cells, _columns(pair)),
        reading=replace(_READING, found="no drift: both attributes are kept"),
        control=True,
    )


#: Every conflict, and one control.
CONFLICTS: tuple[Probe, ...] = (*_all_conflicts(), _control(("colour", "velocity")))
