"""The catalog of probes (PhyWorld, section 5), with the bands and splits of the released scripts.

Attribute conflicts ask which of two attributes a model keeps when it has never seen both together.
Each attribute has a first and a second value. Training shows first with first and second with second;
the tests show the other two combinations. A model that has learned cases instead of attributes drifts
to one of the trained combinations, and which one shows the attribute that it goes by (PhyWorld, 5.2).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.probes.parts import (
    PIXEL,
    SPEEDS,
    Attribute,
    Cell,
    Cells,
    Gates,
    Plane,
    Probe,
    Reading,
    Rectangle,
    Scenes,
)
from sightline.physics.types import Doubles, Shape
from sightline.physics.worlds.splits import Interval

#: First and second values: the two halves that the released code splits at, and the paper's extremes.
SIZE_HALVES: tuple[Interval, Interval] = ((0.7, 1.05), (1.05, 1.4))
SPEED_HALVES: tuple[Interval, Interval] = ((1.0, 2.5), (2.5, 4.0))
SIZE_EXTREMES: tuple[Interval, Interval] = ((0.7, 0.7), (1.4, 1.4))
SPEED_EXTREMES: tuple[Interval, Interval] = ((1.0, 1.0), (4.0, 4.0))

_ORDER: tuple[Attribute, ...] = ("color", "size", "velocity", "shape")

_READING = Reading(
    "share of test videos in which each attribute is kept, from the first frame to the last",
    ("kept",),
    "color before size before velocity before shape; with a ring for the square, shape holds against "
    "color",
)


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """What test videos would show if a model kept one attribute and let the other follow training.

    Attributes:
        keeps: the attribute that stays as it is in the first frames.
        yields: the one that turns into what was trained with it.
        radius: (M, 2) least and greatest radius at the end, in world units.
        speed: (M, 2) least and greatest speed at the end, in units/s.
        color: (M,) 0 red, 1 blue.
        shape: (M,) values of `Shape`.
    """

    keeps: Attribute
    yields: Attribute
    radius: Doubles
    speed: Doubles
    color: NDArray[np.int64]
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
    color = _column(init, 2)
    shape = _column(init, 3)
    if yields == "size":
        radius = np.array([cell.radius for cell in cells])[which]
    elif yields == "velocity":
        speed = np.array([cell.speed for cell in cells])[which]
    elif yields == "color":
        color = np.array([cell.color for cell in cells])[which]
    else:
        shape = np.array([int(cell.shape) for cell in cells])[which]
    return Candidate(keeps, yields, radius, speed, color, shape)


def _which(attribute: Attribute, cells: tuple[Cell, ...], init: Doubles) -> NDArray[np.int64]:
    """Return 0 where samples have the first value of an attribute, 1 where they have the second."""
    first, second = cells
    if attribute == "color":
        return (_column(init, 2) == second.color).astype(np.int64)
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
    if attribute == "color":
        return replace(cell, color=which)
    if attribute == "shape":
        return replace(cell, shape=other if which else Shape.BALL)
    if attribute == "size":
        return replace(cell, radius=(SIZE_EXTREMES if extreme else SIZE_HALVES)[which])
    return replace(cell, speed=(SPEED_EXTREMES if extreme else SPEED_HALVES)[which])


def _columns(pair: tuple[Attribute, Attribute]) -> int:
    return 4 if "shape" in pair else 3 if "color" in pair else 2


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
        test_count=202 if pair == ("color", "size") else 1_400 if "shape" in pair else 800,
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
CONFLICTS: tuple[Probe, ...] = (*_all_conflicts(), _control(("color", "velocity")))


_LOW, _HIGH = SPEEDS[0]

_SPEED_CURVE = Reading(
    "generated speed against true speed, with the trained bands shaded",
    ("velocity_steps", "signed_speed", "slope"),
    "across a wide gap the speed snaps to the nearest trained band; across a narrow one, or with "
    "islands in it, it is interpolated",
)
_SPEED_PLANE = Reading(
    "velocity error after the collision over the plane of both speeds, with the trained set shaded",
    ("velocity_steps",),
    "small inside the convex hull of what was trained, large outside",
)
_SIGNED_SPEED = Reading(
    "signed generated speed against true speed",
    ("signed_speed", "turned_round"),
    "slow balls are sped up into the trained range; trained with flips, some turn round",
)


def _bands(bands: tuple[Interval, ...]) -> Cells:
    """Cells of speed bands, each with its width as its share, so that the density is even."""
    return Cells(tuple(Cell(speed=band, share=band[1] - band[0]) for band in bands))


def _between(bands: tuple[Interval, ...]) -> tuple[Interval, ...]:
    """Return what lies between bands, from the least speed to the greatest."""
    edges = [_LOW, *(edge for band in bands for edge in band), _HIGH]
    pairs = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if high > low)


def _velocity_gap(low: float, high: float) -> Probe:
    return Probe(
        f"velocity-gap-{low:g}-{high:g}",
        "velocity-gap",
        f"Does a model that never saw speeds from {low:g} to {high:g} interpolate between the others?",
        train=_bands(_between(((low, high),))),
        test=_bands(((low, high),)),
        reading=_SPEED_CURVE,
        train_count=200_000,
        test_count=121 * 36,
    )


def _velocity_islands(bands: tuple[Interval, ...]) -> Probe:
    return Probe(
        f"velocity-islands-{len(bands)}",
        "velocity-gap",
        f"Are {len(bands)} narrow bands of speed enough to fill in all the speeds between them?",
        train=_bands(bands),
        test=_bands(_between(bands)),
        reading=_SPEED_CURVE,
        train_count=200_000,
        test_count=121 * 36,
    )


def _collision_gap(name: str, holes: tuple[Rectangle, ...]) -> Probe:
    return Probe(
        f"collision-gap-{name}",
        "collision-gap",
        "Does a model predict collisions at pairs of speeds that were cut out of its training set?",
        train=Plane(outside=holes),
        test=Plane(inside=holes),
        reading=_SPEED_PLANE,
        train_count=1_400_000,
        test_count=6_800,
    )


def _memorization(flip: bool) -> Probe:
    return Probe(
        "memorization-flip" if flip else "memorization",
        "memorization",
        "Trained on fast balls only"
        + (", mirror images included" if flip else "")
        + ", does a model continue a slow ball, or recall the nearest case it has seen?",
        train=Cells((Cell(speed=(2.5, 4.0)),), flip=flip),
        test=Cells((Cell(speed=(1.0, 2.5)),)),
        reading=_SIGNED_SPEED,
        train_count=300_000,
        test_count=1_400,
    )


def _temporal(name: str, question: str, bounce: str, test: str) -> Probe:
    return Probe(
        name,
        "composition",
        question,
        train=Scenes("temporal", ("collide", bounce)),
        test=Scenes("temporal", (test,)),
        reading=Reading(
            "share of videos in which the collision and then the bounce come out right",
            ("collision_right", "bounce_right", "all_right"),
            "works, unless the ball that has to bounce never bounced in training",
        ),
        train_count=237_300,
        test_count=54,
    )


_L_SHAPE: tuple[Rectangle, ...] = (((1.0, 1.25), (1.0, 4.0)), ((1.0, 4.0), (1.0, 1.25)))

_PROBES: tuple[Probe, ...] = (
    *(_velocity_gap(*band) for band in ((1.25, 3.75), (1.5, 3.5), (1.75, 3.25), (2.0, 3.0))),
    _velocity_islands(((1.0, 1.25), (2.375, 2.625), (3.75, 4.0))),
    _velocity_islands(((1.0, 1.25), (1.875, 2.125), (2.875, 3.125), (3.75, 4.0))),
    _collision_gap("square", (((2.0, 3.0), (2.0, 3.0)),)),
    _collision_gap(
        "rectangles",
        (
            ((1.2, 2.2), (2.7, 3.7)),
            ((2.7, 3.7), (1.2, 2.2)),
            ((2.9, 3.5), (3.3, 3.9)),
        ),
    ),
    Probe(
        "collision-hull",
        "collision-gap",
        "Trained where at least one ball is slow, is a model right only in the convex hull of that?",
        train=Plane(inside=_L_SHAPE),
        test=Plane(inside=(((1.25, 4.0), (1.25, 4.0)),)),
        reading=_SPEED_PLANE,
        train_count=306_900,
        test_count=6_800,
    ),
    _memorization(flip=False),
    _memorization(flip=True),
    *CONFLICTS,
    Probe(
        "spatial-composition",
        "composition",
        "Having seen a square move beside a still ball and a ball bounce beside a still square, does a "
        "model move both?",
        train=Scenes("spatial", ("square-moves", "ball-bounces")),
        test=Scenes("spatial", ("both",)),
        reading=Reading(
            "velocity error of each body, moving together against moving alone (score the training "
            "part for that)",
            ("ball_error_together", "square_error_together"),
            "works: what happens in two places at once is put together from its pieces",
        ),
        train_count=200_000,
        test_count=1_000,
    ),
    _temporal(
        "temporal-composition",
        "Having seen balls collide and balls bounce off a wall, does a model do one after the other?",
        "bounce",
        "collide-bounce",
    ),
    _temporal(
        "temporal-composition-unbounced",
        "The same when only the blue ball ever bounced in training: does the red one bounce?",
        "bounce-blue",
        "collide-bounce-red",
    ),
    Probe(
        "visual-ambiguity",
        "ambiguity",
        "When less than half a pixel decides whether a ball passes a gate, can the outcome be told?",
        train=Gates((1.0 * PIXEL, 4.0 * PIXEL)),
        test=Gates((0.05 * PIXEL, 0.45 * PIXEL)),
        reading=Reading(
            "share of right outcomes (passes, turns back) against the margin in pixels; twins apart",
            ("right_outcome", "twins_apart"),
            "what pixels cannot resolve, a model cannot decide",
        ),
        train_count=200_000,
        test_count=1_000,
    ),
)

#: All probes by name.
PROBES: dict[str, Probe] = {probe.name: probe for probe in _PROBES}


def probe_of(name: str) -> Probe:
    """Return a probe by its name."""
    if name not in PROBES:
        near = get_close_matches(name, PROBES)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError(
            f"no probe is called {name!r}", remedy=f"{meant}sightline physics probes lists them all"
        )
    return PROBES[name]
