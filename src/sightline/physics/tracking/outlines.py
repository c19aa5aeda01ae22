"""Determine the shape of each blob, make a first fit, and measure how sharp the video is.

A blob is *clean* when its whole outline is visible: it touches neither the border nor another blob.
Clean blobs are fitted with a free radius. They give the size of a body, with which cut and covered
blobs are fitted later (`association.refine`). Edge width and noise of the video are measured on some
of the clean blobs.

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.tracking.blobs import (
    AREA,
    BOTTOM,
    COLOR,
    LEFT,
    RIGHT,
    SUM_X,
    SUM_Y,
    TOP,
    Blobs,
)
from sightline.physics.tracking.fit import (
    FIT_FIELDS,
    HALF,
    MISFIT,
    SOFT,
    EdgeProfile,
    R,
    X,
    Y,
    collect,
    coverage,
    fit,
)
from sightline.physics.types import Doubles, Frames

#: A shape that cannot be told because too little shows.
UNKNOWN = 255
_BALL, _SQUARE, _RING = 0, 1, 2
_PI = 3.14159265
_REACH = 4.0  # px between two blobs at which their edges may mix


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def first_places(
    table: NDArray[np.int64], number: NDArray[np.int64], height: int, width: int
) -> Blobs:  # pragma: no cover (compiled)
    """Estimate each blob's center and radius from its bounds; shapes are `UNKNOWN` yet."""
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
    shapes = np.full((frames, most), UNKNOWN, np.uint8)
    return Blobs(table, number, places, cut, crowded, np.logical_not(cut | crowded), shapes)


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
    frames: Frames, mix: Doubles, edge: EdgeProfile, blobs: Blobs, near: Doubles
) -> float:  # pragma: no cover
    """Determine the shape of every blob, and fit the clean ones with a free radius, in place.

    Returns:
        Mean misfit of the clean balls in [px].
    """
    table, number, places, shapes = blobs.table, blobs.number, blobs.places, blobs.shapes
    total, balls = 0.0, 0
    for t in range(len(number)):
        for b in range(number[t]):
            blob, place = table[t, b], places[t, b]
            own = mix[blob[COLOR], blob[COLOR]]
            shapes[t, b] = find_shape(frames[t], blob, own, place, blobs.crowded[t, b])
            if not blobs.clean[t, b]:
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
    return total / max(balls, 1)


_DEAD = 0.06  # coverages nearer than this to 0 or 1 are noise when widths are measured
_SHARP = 0.04  # px; an edge this much wider than drawn is not as drawn
_FULL = 0.9  # share of its bounding box that a square fills
_SIDE = 4  # px to each side of a square's edge that are looked at
_LOOKS = 12  # blobs of a video that are looked at


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sharpness(
    frames: Frames, mix: Doubles, blobs: Blobs, near: Doubles
) -> tuple[float, float, bool]:  # pragma: no cover
    """Measure a video's edges on some of its clean blobs.

    Along an edge, the integral of a (1 - a) across it is its width over six for the reference's
    linear ramp, and σ / √π for a Gaussian blur.

    Returns:
        σ of the blur in [px], standard deviation of coverages inside bodies, and whether the edge is
        as sharp as the reference draws it.
    """
    table, number, places, clean = blobs.table, blobs.number, blobs.places, blobs.clean
    total = 0
    for t in range(len(number)):
        for b in range(number[t]):
            total += clean[t, b]
    if total == 0:
        return 0.0, 0.0, True
    every = max(1, total // _LOOKS)
    seen, inside = 0, 0
    edge, outline, drawn, noise = 0.0, 0.0, 0.0, 0.0
    for t in range(len(number)):
        for b in range(number[t]):
            if not clean[t, b]:
                continue
            seen += 1
            if seen % every != 0:
                continue
            place = places[t, b]
            own = mix[table[t, b, COLOR], table[t, b, COLOR]]
            ramp = SOFT / 2 * place[R] / 6
            if _fills_its_box(table[t, b]):
                edge += 2 * _PI * place[R] * _across_sides(frames[t], own, table[t, b], ramp)
            else:
                count = collect(frames[t], own, place, False, 4.0, near)
                for index in range(count):
                    share = near[index, 2]
                    if _DEAD < share < 1 - _DEAD:
                        edge += share * (1 - share)
            outline += 2 * _PI * place[R]
            drawn += 2 * _PI * place[R] * ramp
            some, error = _inside_noise(frames[t], own, place)
            noise += error
            inside += some
    sharp = edge < 1.5 * drawn + _SHARP * outline / 6
    return edge / outline * sqrt(_PI), sqrt(noise / max(inside, 1)), sharp


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fills_its_box(blob: NDArray[np.int64]) -> bool:  # pragma: no cover
    """Whether a blob is nearly all of its bounding box, as a square is and a ball (π/4) is not."""
    box = (blob[RIGHT] - blob[LEFT] + 1) * (blob[BOTTOM] - blob[TOP] + 1)
    return bool(blob[AREA] > _FULL * box)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _across_sides(
    picture: Frames, mix: Doubles, blob: NDArray[np.int64], ramp: float
) -> float:  # pragma: no cover
    """Return the integral of a (1 - a) across the sides of a square, on average.

    A side as drawn is narrower than a pixel, and half covers either no pixel or one: on average
    `ramp`, which is taken for it, since along a side all pixels are the same one again.
    """
    height, width = picture.shape[:2]
    total = 0.0
    for side in range(4):
        sign = 1 if side < 2 else -1
        middle = (
            (blob[TOP] + blob[BOTTOM]) // 2 if side % 2 == 0 else (blob[LEFT] + blob[RIGHT]) // 2
        )
        at = (blob[RIGHT], blob[BOTTOM], blob[LEFT], blob[TOP])[side]
        edge, half = 0.0, 0
        for step in range(-_SIDE, _SIDE + 1):
            x, y = (at + sign * step, middle) if side % 2 == 0 else (middle, at + sign * step)
            if 0 <= x < width and 0 <= y < height:
                share = coverage(picture, mix, x, y, 0)
                if _DEAD < share < 1 - _DEAD:
                    edge += share * (1 - share)
                    half += 1
        total += edge if half > 1 else ramp
    return total / 4


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _inside_noise(
    picture: Frames, mix: Doubles, place: Doubles
) -> tuple[int, float]:  # pragma: no cover
    """Return how many pixels of a row are well inside a body, and the sum of their squared deviations.

    The deviation is from their own mean: a color that is off as a whole is no noise.
    """
    height, width = picture.shape[:2]
    half = place[R] * HALF
    row = min(max(int(place[Y] + 0.5), 0), height - 1)
    reach = 0.35 * half  # inside a ball, and inside the hole of a ring
    first, last = max(0, int(place[X] - reach)), min(width - 1, int(place[X] + reach))
    total, squares, count = 0.0, 0.0, 0
    for column in range(first, last + 1):
        share = coverage(picture, mix, column, row, 0)
        total += share
        squares += share * share
        count += 1
    if count < 2:
        return 0, 0.0
    return count, max(squares - total * total / count, 0.0)
