"""The size of each body from the frames where it is whole, and with it its place in all the others.

A ball's radius is the same in every frame, so it is taken from all clean ones together; what remains
to be found in a frame is the centre, and two unknowns need fewer half covered pixels than three. A
frame whose own radius says otherwise keeps its own fit. No law of motion enters here: places of
different frames know nothing of each other (but see `squares`).

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import AREA, COLOUR, SUM_X, SUM_Y
from sightline.physics.parse.fit import FIT_FIELDS, MISFIT, SIGMA_R, SIGMA_X, SIGMA_Y, R, X, Y, fit
from sightline.physics.parse.follow import MERGED
from sightline.physics.parse.outline import UNKNOWN, place_cut
from sightline.physics.types import Doubles, Frames

#: A radius further than this share from the body's size is another size.
OTHER_SIZE = 0.08
_SQUARE = 1
_SURE = 0.002  # px; a centre as certain as this gains nothing by knowing the radius


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def settle_sizes(
    count: int,
    chosen: NDArray[np.int64],
    places: Doubles,
    clean: NDArray[np.bool_],
    shapes: NDArray[np.uint8],
    known: Doubles,
    known_shapes: NDArray[np.uint8],
) -> tuple[Doubles, NDArray[np.uint8]]:  # pragma: no cover (compiled)
    """Return each body's (N,) radius in [px] (0 when it never shows whole) and (N,) shape.

    The radius is the mean of the fits near their median, weighted by their certainty; the shape is
    the one it begins with: the majority of the first five frames in which it can be told.
    """
    sizes = np.zeros(count)
    kinds = np.zeros(count, np.uint8)
    frames = len(chosen)
    radii = np.empty(frames)
    for k in range(count):
        seen = 0
        votes = np.zeros(3, np.int64)
        for t in range(frames):
            blob = chosen[t, k]
            if blob < 0:
                continue
            if shapes[t, blob] != UNKNOWN and votes.sum() < 5:
                votes[shapes[t, blob]] += 1
            if clean[t, blob]:
                radii[seen] = places[t, blob, R]
                seen += 1
        kinds[k] = np.argmax(votes)
        if k < len(known) and votes.sum() == 0:
            kinds[k] = known_shapes[k]
        if seen == 0:
            sizes[k] = known[k, 2] if k < len(known) else 0.0
            continue
        middle = np.median(radii[:seen])
        total, weights = 0.0, 0.0
        for t in range(frames):
            blob = chosen[t, k]
            if blob >= 0 and clean[t, blob]:
                radius = places[t, blob, R]
                if abs(radius - middle) < OTHER_SIZE * middle:
                    weight = 1.0 / places[t, blob, SIGMA_R] ** 2
                    total += weight * radius
                    weights += weight
        sizes[k] = total / weights if weights > 0 else middle
    return sizes, kinds


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def refine(
    frames: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Doubles,
    cut: NDArray[np.bool_],
    crowded: NDArray[np.bool_],
    shapes: NDArray[np.uint8],
    count: int,
    chosen: NDArray[np.int64],
    notes: NDArray[np.int64],
    sizes: Doubles,
    kinds: NDArray[np.uint8],
    near: Doubles,
) -> Doubles:  # pragma: no cover
    """Return the (T, N, FIT_FIELDS) place of each body in each frame; zeros where it has no blob.

    The radius in it is the frame's own where the whole outline shows, and the body's otherwise.
    """
    out = np.zeros((len(frames), count, FIT_FIELDS))
    height, width = frames.shape[1:3]
    start = np.empty(FIT_FIELDS)
    for k in range(count):
        for t in range(len(frames)):
            blob = chosen[t, k]
            if blob < 0:
                continue
            row = table[t, blob]
            place = out[t, k]
            place[:] = places[t, blob]
            shape = shapes[t, blob] if shapes[t, blob] != UNKNOWN else kinds[k]
            square = shape == _SQUARE
            merged = notes[t, k] == MERGED
            if not (cut[t, blob] or crowded[t, blob] or merged):
                own = mix[row[COLOUR], row[COLOUR]]
                _fit_centre(frames[t], own, edge, place, square, sizes[k], near)
                continue
            pair = mix[row[COLOUR], neighbour(table[t], number[t], places[t], blob)]
            if sizes[k] > 0:
                place[R] = sizes[k]
            if cut[t, blob]:
                place_cut(row, place[R], height, width, place)
            elif t > 1 and chosen[t - 1, k] >= 0 and chosen[t - 2, k] >= 0:
                _place_ahead(out[t - 2, k], out[t - 1, k], row, place)
            _fit_hidden(frames[t], pair, edge, place, square, sizes[k], start, near)
            if merged:
                place[SIGMA_X] = 1.0 + 3 * place[SIGMA_X]
                place[SIGMA_Y] = 1.0 + 3 * place[SIGMA_Y]
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fit_centre(
    picture: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    place: Doubles,
    square: bool,
    size: float,
    near: Doubles,
) -> None:  # pragma: no cover
    """Fit the centre of a whole body again with its radius known, unless it is sure already."""
    unsure = max(place[SIGMA_X], place[SIGMA_Y]) > _SURE
    if unsure and abs(place[R] - size) < OTHER_SIZE * size:
        radius, sigma, misfit = place[R], place[SIGMA_R], place[MISFIT]
        place[R] = size
        fit(picture, mix, edge, place, square, False, False, near)
        place[R], place[SIGMA_R], place[MISFIT] = radius, sigma, misfit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fit_hidden(
    picture: Frames,
    mix: Doubles,
    edge: tuple[Doubles, Doubles, Doubles],
    place: Doubles,
    square: bool,
    size: float,
    start: Doubles,
    near: Doubles,
) -> None:  # pragma: no cover
    """Fit a body of which a part is hidden; with its own radius as far as what shows can tell."""
    fit(picture, mix, edge, place, square, size == 0, True, near)
    if size > 0:
        start[:] = place
        fit(picture, mix, edge, start, square, True, True, near)
        place[SIGMA_R] = start[SIGMA_R]
        if start[SIGMA_R] < 0.05 * size:
            place[R] = start[R]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _place_ahead(
    earlier: Doubles, before: Doubles, blob: NDArray[np.int64], place: Doubles
) -> None:  # pragma: no cover
    """Start where a body is after one more step like its last, if its blob is there."""
    x, y = blob[SUM_X] / blob[AREA], blob[SUM_Y] / blob[AREA]
    place[X], place[Y] = 2 * before[X] - earlier[X], 2 * before[Y] - earlier[Y]
    if (place[X] - x) ** 2 + (place[Y] - y) ** 2 > place[R] ** 2:
        place[X], place[Y] = x, y


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def neighbour(
    table: NDArray[np.int64], number: int, places: Doubles, blob: int
) -> int:  # pragma: no cover
    """Return the colour of the nearest blob of another colour, or the blob's own without one."""
    own = table[blob, COLOUR]
    best, colour = 1e9, own
    for other in range(number):
        if table[other, COLOUR] == own:
            continue
        away = sqrt(
            (places[other, X] - places[blob, X]) ** 2 + (places[other, Y] - places[blob, Y]) ** 2
        )
        away -= places[other, R] + places[blob, R]
        if away < best:
            best, colour = away, table[other, COLOUR]
    return colour
