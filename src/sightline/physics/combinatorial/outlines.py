"""The four outlines of PHYRE and their sizes, in scene units: the side of the scene is 1.

An object is given by its outline and `diameter`, as PHYRE's feature rows have it, and consists of
parts. A part is a convex quadrilateral, counter-clockwise, or a circle: then its four corners are the
centre, and its radius is not 0. Corners count from the centre of mass, x to the right and y up.

    ball     a circle
    bar      a rectangle, 1/50 thick
    jar      a base and two walls that lean outward; 1.2 times as high as it is wide at the top
    sticks   two crossed bars, each 12.5° from the vertical; 2/3 of the nominal length and thickness

Parts of a body overlap where they join; mass counts such places twice, as PHYRE's Box2D bodies do.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Doubles

#: Pixels along a side of PHYRE's scene, to which it rounds some sizes.
SCENE = 256
#: Thickness of a bar.
THICK = 1 / 50
#: Mass of a unit of area, in PHYRE's units over metres².
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
class Parts:
    """What an object consists of.

    Attributes:
        corners: (P, 4, 2) float64 (x, y) from the centre of mass.
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
def parts_of(outline: Outline, diameter: float) -> Parts:
    """Return the parts of an object at angle 0."""
    _check(outline, diameter)
    if outline is Outline.BALL:
        radius = np.array([diameter / 2])
        return Parts(np.zeros((1, 4, 2)), radius, math.pi * radius**2)
    corners = _BUILDERS[outline](diameter)
    areas = _areas(corners)
    centre = (_centroids(corners, areas) * areas[:, None]).sum(0) / areas.sum()
    return Parts(corners - centre, np.zeros(len(corners)), areas)


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
