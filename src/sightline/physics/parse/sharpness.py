"""How sharp a video is: the width of its edges and its noise, measured on some of its bodies."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import AREA, BOTTOM, COLOUR, LEFT, RIGHT, TOP
from sightline.physics.parse.edge import HALF, SOFT
from sightline.physics.parse.fit import R, X, Y, collect, coverage
from sightline.physics.types import Doubles, Frames

_PI = 3.14159265
_DEAD = 0.06  # coverages nearer than this to 0 or 1 are noise when widths are measured
_SHARP = 0.04  # px; an edge this much wider than drawn is not as drawn
_FULL = 0.9  # share of its bounding box that a square fills
_SIDE = 4  # px to each side of a square's edge that are looked at
_LOOKS = 12  # blobs of a video that are looked at


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def sharpness(
    frames: Frames,
    mix: Doubles,
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Doubles,
    clean: NDArray[np.bool_],
    near: Doubles,
) -> tuple[float, float, bool]:  # pragma: no cover
    """Measure a video's edges on some of its clean blobs.

    Along an edge, the integral of a (1 - a) across it is its width over six for the reference's
    linear ramp, and σ / √π for a Gaussian blur.

    Returns:
        σ of the blur in [px], standard deviation of coverages inside bodies, and whether the edge is
        as sharp as the reference draws it.
    """
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
            own = mix[table[t, b, COLOUR], table[t, b, COLOUR]]
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

    The deviation is from their own mean: a colour that is off as a whole is no noise.
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
