"""From blobs to bodies: which shape a blob has, and its first fit.

A blob is *clean* when its whole outline shows: it touches neither the border nor another blob. Clean
blobs are fitted with a free radius; from them a body's size is learnt, with which the cut and
covered ones are fitted later (`refine`).

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import AREA, BOTTOM, COLOUR, LEFT, RIGHT, SUM_X, SUM_Y, TOP
from sightline.physics.parse.edge import HALF
from sightline.physics.parse.fit import FIT_FIELDS, MISFIT, R, X, Y, coverage, fit
from sightline.physics.types import Doubles, Frames

#: A shape that cannot be told because too little shows.
UNKNOWN = 255
_BALL, _SQUARE, _RING = 0, 1, 2
_PI = 3.14159265
_REACH = 4.0  # px between two blobs at which their edges may mix


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def first_places(
    table: NDArray[np.int64], number: NDArray[np.int64], height: int, width: int
) -> tuple[Doubles, NDArray[np.bool_], NDArray[np.bool_]]:  # pragma: no cover (compiled)
    """Guess each blob's centre and radius from its bounds.

    Returns:
        (T, B, FIT_FIELDS) places, (T, B) whether a blob is cut by the border, and whether another
        one is so near that their edges may mix.
    """
    frames, most = table.shape[:2]
    places = np.zeros((frames, most, FIT_FIELDS))
    cut = np.zeros((frames, most), np.bool_)
    crowded = np.zeros((frames, most), np.bool_)
    for t in range(frames):
        for b in range(number[t]):
            blob = table[t, b]
            cut[t, b] = (
                blob[LEFT] == 0
                or blob[TOP] == 0
                or blob[RIGHT] == width - 1
                or blob[BOTTOM] == height - 1
            )
            if cut[t, b]:
                radius = _cap_radius(blob, height, width)
                place_cut(blob, radius, height, width, places[t, b])
            else:
                places[t, b, X] = blob[SUM_X] / blob[AREA]
                places[t, b, Y] = blob[SUM_Y] / blob[AREA]
                places[t, b, R] = sqrt(blob[AREA] / _PI) / HALF
        for b in range(number[t]):
            for other in range(b):
                if _between(table[t, b], table[t, other]) < _REACH:
                    crowded[t, b] = crowded[t, other] = True
    return places, cut, crowded


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _between(one: NDArray[np.int64], two: NDArray[np.int64]) -> float:  # pragma: no cover
    """Distance of two blobs' bounding boxes, zero or less when they overlap."""
    across = max(one[LEFT] - two[RIGHT], two[LEFT] - one[RIGHT])
    along = max(one[TOP] - two[BOTTOM], two[TOP] - one[BOTTOM])
    return float(max(across, along))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cap_radius(blob: NDArray[np.int64], height: int, width: int) -> float:  # pragma: no cover
    """Radius of a ball of which the border leaves a cap: from the cap's height and chord."""
    across, along = blob[RIGHT] - blob[LEFT] + 1.0, blob[BOTTOM] - blob[TOP] + 1.0
    side = blob[LEFT] == 0 or blob[RIGHT] == width - 1
    end = blob[TOP] == 0 or blob[BOTTOM] == height - 1
    if side and end:
        return max(across, along) / (2 * HALF)
    cap, chord = (across, along) if side else (along, across)
    if cap >= chord / 2:
        return chord / (2 * HALF)
    return (chord * chord / 4 + cap * cap) / (2 * cap * HALF)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def place_cut(
    blob: NDArray[np.int64], radius: float, height: int, width: int, place: Doubles
) -> None:  # pragma: no cover
    """Put a body of known radius where the free sides of its blob say."""
    half = radius * HALF
    place[R] = radius
    left, right = blob[LEFT] > 0, blob[RIGHT] < width - 1
    top, bottom = blob[TOP] > 0, blob[BOTTOM] < height - 1
    place[X] = (blob[LEFT] + blob[RIGHT]) / 2
    place[Y] = (blob[TOP] + blob[BOTTOM]) / 2
    if left and not right:
        place[X] = blob[LEFT] - 0.5 + half
    elif right and not left:
        place[X] = blob[RIGHT] + 0.5 - half
    if top and not bottom:
        place[Y] = blob[TOP] - 0.5 + half
    elif bottom and not top:
        place[Y] = blob[BOTTOM] + 0.5 - half


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_shape(
    picture: Frames,
    blob: NDArray[np.int64],
    mix: Doubles,
    place: Doubles,
    crowded: bool,
) -> int:  # pragma: no cover
    """Return the shape of a blob by its corners and its middle; UNKNOWN when too little shows.

    A square fills the corners of its bounding box, a ball does not; corners at the border and of
    crowded blobs say nothing. A ring is empty in its middle, which for a blob cut by the border is
    where `place` has it; outside the picture nobody can tell a ring from a ball.
    """
    height, width = picture.shape[:2]
    across, along = blob[RIGHT] - blob[LEFT] + 1, blob[BOTTOM] - blob[TOP] + 1
    free_x = blob[LEFT] > 0 and blob[RIGHT] < width - 1
    free_y = blob[TOP] > 0 and blob[BOTTOM] < height - 1
    if crowded or (not free_x and across < place[R]) or (not free_y and along < place[R]):
        return UNKNOWN
    inset = 1 if min(across, along) >= 14 else 0  # a ball is empty there
    full, asked = 0, 0
    for side in range(4):
        left, top = side % 2 == 0, side // 2 == 0
        column = blob[LEFT] + inset if left else blob[RIGHT] - inset
        row = blob[TOP] + inset if top else blob[BOTTOM] - inset
        at_border = (
            (left and blob[LEFT] == 0)
            or (not left and blob[RIGHT] == width - 1)
            or (top and blob[TOP] == 0)
            or (not top and blob[BOTTOM] == height - 1)
        )
        if not at_border:
            asked += 1
            full += coverage(picture, mix, column, row, 0) > 0.5
    if asked == 0:
        return UNKNOWN
    if 2 * full > asked:
        return _SQUARE
    if min(across, along) < 7:
        return _BALL
    column, row = (blob[LEFT] + blob[RIGHT]) // 2, (blob[TOP] + blob[BOTTOM]) // 2
    if not free_x:
        column = int(place[X] + 0.5)
    if not free_y:
        row = int(place[Y] + 0.5)
    if not (0 <= column < width and 0 <= row < height):
        return UNKNOWN
    if coverage(picture, mix, column, row, 0) < 0.5:
        return _RING
    return _BALL


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fit_clean(
    frames: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Doubles,
    cut: NDArray[np.bool_],
    crowded: NDArray[np.bool_],
    near: Doubles,
) -> tuple[NDArray[np.uint8], float]:  # pragma: no cover
    """Fit every clean blob with a free radius, in place.

    Returns:
        (T, B) shapes of all blobs, and the mean misfit of the clean balls in [px].
    """
    shapes = np.full(table.shape[:2], UNKNOWN, np.uint8)
    total, balls = 0.0, 0
    for t in range(len(number)):
        for b in range(number[t]):
            blob, place = table[t, b], places[t, b]
            own = mix[blob[COLOUR], blob[COLOUR]]
            shapes[t, b] = find_shape(frames[t], blob, own, place, crowded[t, b])
            if cut[t, b] or crowded[t, b]:
                continue
            square = shapes[t, b] == _SQUARE
            if square or shapes[t, b] == _RING:
                across = blob[RIGHT] - blob[LEFT] + 1.0
                along = blob[BOTTOM] - blob[TOP] + 1.0
                place[X] = (blob[LEFT] + blob[RIGHT]) / 2
                place[Y] = (blob[TOP] + blob[BOTTOM]) / 2
                place[R] = (across + along) / (4 * HALF)
            fit(frames[t], own, edge, place, square, True, False, near)
            if not square:
                total += place[MISFIT]
                balls += 1
    return shapes, total / max(balls, 1)
