"""An object where it is, and rows of 14 numbers that say it all: PHYRE's features.

    0, 1   x, y of the centre of mass, over the side of the scene, y up
    2      angle in turns, from 0 to just below 1, counter-clockwise
    3      diameter over the side of the scene (`outlines.diameter_of`)
    4–7    ball, bar, jar, sticks: one of them 1
    8–13   red, green, blue, purple, grey, black: one of them 1

(facebookresearch/phyre, `FeaturizedObjects` in src/python/phyre/simulation.py.) Objects stand in the
order in which they are drawn; the red ball is the last. Walls have no row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.combinatorial.outlines import Outline, Parts, parts_of, turned
from sightline.physics.types import Doubles

#: Numbers of a row.
FEATURES = 14
X, Y, ANGLE, DIAMETER = range(4)
_SHAPES, _COLOURS = slice(4, 8), slice(8, 14)
_RED, _GREY, _BLACK = 0, 4, 5

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
        x: of the centre of mass, in scene units, from the left.
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
    def parts(self) -> Parts:
        """Its parts around its centre of mass, not turned."""
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
        found[_COLOURS][_RED if self.action else _BLACK if self.static else _GREY] = 1
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


def colours(objects: Doubles) -> NDArray[np.uint8]:
    """Return (N, 3) RGB of the objects of (T, N, 14) features, by the first frame."""
    return PALETTE[_codes(objects, _COLOURS, "colour")]


def is_static(objects: Doubles) -> NDArray[np.bool_]:
    """Say of each of N objects of (T, N, 14) features whether it is black, which cannot move."""
    return _codes(objects, _COLOURS, "colour") == _BLACK


def _codes(objects: Doubles, columns: slice, what: str) -> NDArray[np.int64]:
    """Return which number of each object is 1 among some of its features."""
    if objects.ndim != 3 or objects.shape[2] != FEATURES or not len(objects):
        raise InputError(f"features of shape {objects.shape}, expected (frames, objects, 14)")
    chosen = objects[0, :, columns]
    if not (((chosen == 0) | (chosen == 1)).all() and (chosen.sum(1) == 1).all()):
        raise InputError(f"an object has not exactly one {what}")
    return chosen.argmax(1)
