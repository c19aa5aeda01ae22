"""Objects of combinatorial worlds: the outlines of PHYRE, poses, feature rows and clearances.

The side of the scene is 1. An object is given by its outline and `diameter`, as in PHYRE's feature
rows, and consists of parts. A part is a convex quadrilateral, counter-clockwise, or a circle: then its
four corners are the center, and its radius is not 0. Corners are relative to the center of mass, x to
the right and y up.

    ball     a circle
    bar      a rectangle, 1/50 thick
    jar      a base and two walls that lean outward; 1.2 times as high as it is wide at the top
    sticks   two crossed bars, each 12.5° from the vertical; 2/3 of the nominal length and thickness

Parts of an object overlap where they join; the mass counts such places twice, as PHYRE's Box2D bodies
do.

The 14 features of an object (facebookresearch/phyre, `FeaturizedObjects` in
src/python/phyre/simulation.py):

    0, 1   x, y of the center of mass, over the side of the scene, y up
    2      angle in turns, from 0 to just below 1, counter-clockwise
    3      diameter over the side of the scene (`diameter_of`)
    4–7    ball, bar, jar, sticks: one of them 1
    8–13   red, green, blue, purple, gray, black: one of them 1

Objects are in drawing order; the red ball is the last. Walls have no row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from math import hypot, inf, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Doubles

#: Pixels along a side of PHYRE's scene, to which it rounds some sizes.
SCENE = 256
#: Thickness of a bar.
THICK = 1 / 50
#: Mass of a unit of area, in PHYRE's units over meters².
DENSITY = 0.25

_LEAN = math.radians(77.5)  # of each stick, from the horizontal
_STICK = 2 / 3  # length and thickness of a stick, of the nominal ones
_JAR_WIDTH, _JAR_BASE = 1 / 1.2, 0.8  # of the height; of the width
_JAR_DIAMETER = 1.25  # of the height: from a corner of the base to the opposite one of the rim


class Outline(IntEnum):
    """Shape of an object, numbered as PHYRE's feature rows count."""

    BALL = 0
    BAR = 1
    JAR = 2
    STICKS = 3


@dataclass(frozen=True, slots=True, eq=False)
class BodyParts:
    """What an object consists of.

    Attributes:
        corners: (P, 4, 2) float64 (x, y) from the center of mass.
        radii: (P,) float64; 0 for quadrilaterals.
        areas: (P,) float64.
    """

    corners: Doubles
    radii: Doubles
    areas: Doubles


def diameter_of(outline: Outline, scale: float) -> float:
    """Return the diameter of an object by PHYRE's `scale`.

    Args:
        outline: of the object.
        scale: twice the radius of a ball, which is rounded down to a half-integer number of pixels;
            length of a bar; height of a jar; nominal length of sticks.
    """
    if outline is Outline.BALL:
        return 2 * (math.floor(scale * SCENE / 2) + 0.5) / SCENE
    if outline is Outline.JAR:
        return _JAR_DIAMETER * scale
    return math.hypot(scale, THICK)


@lru_cache(maxsize=4096)
def parts_of(outline: Outline, diameter: float) -> BodyParts:
    """Return the parts of an object at angle 0."""
    _check(outline, diameter)
    if outline is Outline.BALL:
        radius = np.array([diameter / 2])
        return BodyParts(np.zeros((1, 4, 2)), radius, math.pi * radius**2)
    corners = _BUILDERS[outline](diameter)
    areas = _areas(corners)
    center = (_centroids(corners, areas) * areas[:, None]).sum(0) / areas.sum()
    return BodyParts(corners - center, np.zeros(len(corners)), areas)


def turned(corners: Doubles, x: Doubles, y: Doubles, angle: Doubles) -> Doubles:
    """Return (T, P, 4, 2) corners of parts at T places and angles in [rad]; x, y, angle are (T,)."""
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.stack([np.stack([cos, -sin], -1), np.stack([sin, cos], -1)], -2)
    places = np.stack([x, y], -1)
    found: Doubles = np.einsum("tij,pqj->tpqi", turn, corners) + places[:, None, None]
    return found


def _check(outline: Outline, diameter: float) -> None:
    least = 0.0 if outline is Outline.BALL else THICK
    if outline is Outline.JAR:
        least = 4 / SCENE  # below, its walls would be as thick as it is wide
    if not least < diameter <= 1.5:
        raise InputError(f"no {outline.name.lower()} has the diameter {diameter:.3g}")


def _box(width: float, height: float) -> Doubles:
    """Return the corners of a rectangle around the origin, from the upper right on."""
    return np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * (width / 2, height / 2)


def _bar(diameter: float) -> Doubles:
    return _box(math.sqrt(diameter**2 - THICK**2), THICK)[None]


def _sticks(diameter: float) -> Doubles:
    length = math.sqrt(diameter**2 - THICK**2)
    stick = _box(_STICK * length, _STICK * THICK)[None]
    zero = np.zeros(1)
    return np.concatenate([turned(stick, zero, zero, np.array([a]))[0] for a in (-_LEAN, _LEAN)])


def _jar(diameter: float) -> Doubles:
    height = diameter / _JAR_DIAMETER
    width = height * _JAR_WIDTH
    base = width * _JAR_BASE
    thick = math.log(height * SCENE) / math.log(0.3 * SCENE) * THICK
    out = (width - base) / 2
    slope = math.hypot(height, out)
    cos, sin = out / slope, height / slope
    low, high = -thick / 2, height - thick / 2
    right = np.array(
        [
            [width / 2, high],
            [width / 2 - thick / sin, high],
            [base / 2 - thick * sin, low + thick * cos],
            [base / 2, low],
        ]
    )
    left = (right * (-1, 1))[::-1]
    return np.stack([_box(base, thick), left, right])


_BUILDERS = {Outline.BAR: _bar, Outline.STICKS: _sticks, Outline.JAR: _jar}


def _crosses(corners: Doubles) -> Doubles:
    """Return (P, 4) cross products of consecutive corners."""
    after = np.roll(corners, -1, axis=1)
    return corners[..., 0] * after[..., 1] - corners[..., 1] * after[..., 0]


def _areas(corners: Doubles) -> Doubles:
    found: Doubles = _crosses(corners).sum(1) / 2
    return found


def _centroids(corners: Doubles, areas: Doubles) -> NDArray[np.float64]:
    sums = corners + np.roll(corners, -1, axis=1)
    found: Doubles = (sums * _crosses(corners)[..., None]).sum(1) / (6 * areas[:, None])
    return found


#: Numbers of a row.
FEATURES = 14
X, Y, ANGLE, DIAMETER = range(4)
_SHAPES, _COLORS = slice(4, 8), slice(8, 14)
_RED, _GRAY, _BLACK = 0, 4, 5

#: RGB of PHYRE's pictures, in the order of the features.
PALETTE = np.array(
    [
        (243, 79, 70),
        (107, 206, 187),
        (24, 119, 242),
        (75, 74, 164),
        (185, 202, 210),
        (0, 0, 0),
    ],
    np.uint8,
)


@dataclass(frozen=True, slots=True)
class Body:
    """An object before anything happens.

    Attributes:
        outline: its shape.
        diameter: in scene units.
        x: of the center of mass, in scene units, from the left.
        y: likewise, from below.
        angle: in [rad], counter-clockwise.
        static: never moves, and is black.
        action: it is the red ball.
    """

    outline: Outline
    diameter: float
    x: float
    y: float
    angle: float = 0.0
    static: bool = False
    action: bool = False

    @property
    def parts(self) -> BodyParts:
        """Its parts around its center of mass, not turned."""
        return parts_of(self.outline, self.diameter)

    @property
    def corners(self) -> Doubles:
        """(P, 4, 2) corners of its parts where they are in the scene."""
        place = (np.array([self.x]), np.array([self.y]), np.array([self.angle]))
        return turned(self.parts.corners, *place)[0]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, bottom, right, top of what it covers."""
        radii = self.parts.radii[:, None, None]
        low, high = (self.corners - radii).min((0, 1)), (self.corners + radii).max((0, 1))
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    @property
    def row(self) -> Doubles:
        """(14,) features."""
        found = np.zeros(FEATURES)
        found[: DIAMETER + 1] = self.x, self.y, turns(self.angle), self.diameter
        found[_SHAPES][self.outline] = 1
        found[_COLORS][_RED if self.action else _BLACK if self.static else _GRAY] = 1
        return found


def turns(angle: float) -> float:
    """Return an angle in [rad] as a share of a turn, from 0 to just below 1."""
    share = angle / (2 * np.pi) % 1.0
    return 0.0 if share >= 1 else float(share)


def track(bodies: tuple[Body, ...], states: Doubles) -> Doubles:
    """Return (T, N, 14) features of bodies whose (T, N, 3) states are x, y, angle in [rad]."""
    rows = np.repeat(np.stack([body.row for body in bodies])[None], len(states), axis=0)
    rows[..., :ANGLE] = states[..., :ANGLE]
    share = states[..., 2] / (2 * np.pi) % 1.0
    rows[..., ANGLE] = np.where(share >= 1, 0.0, share)
    return rows


def outlines(objects: Doubles) -> list[Outline]:
    """Return the outlines of (T, N, 14) features, by the first frame."""
    return [Outline(code) for code in _codes(objects, _SHAPES, "shape")]


def colors(objects: Doubles) -> NDArray[np.uint8]:
    """Return (N, 3) RGB of the objects of (T, N, 14) features, by the first frame."""
    return PALETTE[_codes(objects, _COLORS, "color")]


def is_static(objects: Doubles) -> NDArray[np.bool_]:
    """Say of each of N objects of (T, N, 14) features whether it is black, which cannot move."""
    return _codes(objects, _COLORS, "color") == _BLACK


def _codes(objects: Doubles, columns: slice, what: str) -> NDArray[np.int64]:
    """Return which number of each object is 1 among some of its features."""
    if objects.ndim != 3 or objects.shape[2] != FEATURES or not len(objects):
        raise InputError(f"features of shape {objects.shape}, expected (frames, objects, 14)")
    chosen = objects[0, :, columns]
    if not (((chosen == 0) | (chosen == 1)).all() and (chosen.sum(1) == 1).all()):
        raise InputError(f"an object has not exactly one {what}")
    return chosen.argmax(1)


def clearance(a: Body, b: Body) -> float:
    """Return the gap between two objects in scene units; below 0, how deep they overlap.

    Where two corners face each other the gap is at least what is said; its sign is always right.
    """
    return float(gap_of(a.corners, a.parts.radii, b.corners, b.parts.radii))


@njit(cache=True)  # type: ignore[untyped-decorator]
def gap_of(a: Doubles, a_radii: Doubles, b: Doubles, b_radii: Doubles) -> float:
    """Return the least gap between parts of two objects.

    Args:
        a: (P, 4, 2) corners of parts (`outlines.BodyParts`) where they are.
        a_radii: (P,) 0 for quadrilaterals.
        b: (Q, 4, 2).
        b_radii: (Q,).
    """
    least = inf
    for i in range(len(a)):
        for j in range(len(b)):
            if a_radii[i] > 0 and b_radii[j] > 0:
                apart = hypot(a[i, 0, 0] - b[j, 0, 0], a[i, 0, 1] - b[j, 0, 1])
            elif a_radii[i] > 0:
                apart = _to_point(b[j], a[i, 0])
            elif b_radii[j] > 0:
                apart = _to_point(a[i], b[j, 0])
            else:
                apart = max(_widest_gap(a[i], b[j]), _widest_gap(b[j], a[i]))
            least = min(least, apart - a_radii[i] - b_radii[j])
    return least


@njit(cache=True)  # type: ignore[untyped-decorator]
def _to_point(quad: Doubles, point: Doubles) -> float:
    """Return the distance of a point to a quadrilateral; negative inside."""
    outside, inside = inf, -inf
    for corner in range(4):
        start, end = quad[corner], quad[(corner + 1) % 4]
        along_x, along_y = end[0] - start[0], end[1] - start[1]
        right, up = point[0] - start[0], point[1] - start[1]
        square = along_x * along_x + along_y * along_y
        share = min(max((right * along_x + up * along_y) / square, 0.0), 1.0)
        outside = min(outside, hypot(right - share * along_x, up - share * along_y))
        inside = max(inside, (along_y * right - along_x * up) / sqrt(square))
    return outside if inside > 0 else inside


@njit(cache=True)  # type: ignore[untyped-decorator]
def _widest_gap(a: Doubles, b: Doubles) -> float:
    """Return the widest gap across an edge of `a`: the separating axis test."""
    widest = -inf
    for corner in range(4):
        start, end = a[corner], a[(corner + 1) % 4]
        along_x, along_y = end[0] - start[0], end[1] - start[1]
        length = hypot(along_x, along_y)
        least = inf
        for other in range(4):
            right, up = b[other, 0] - start[0], b[other, 1] - start[1]
            least = min(least, (along_y * right - along_x * up) / length)
        widest = max(widest, least)
    return widest


def inside(body: Body, slack: float = 1e-9) -> bool:
    """Say whether an object is wholly in the scene; it may stand on the floor."""
    left, bottom, right, top = body.box
    return bool(min(left, bottom) >= -slack and max(right, top) <= 1 + slack)
