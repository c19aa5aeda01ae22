"""Assign blobs to bodies from frame to frame, and refine positions with the size of each body.

In each frame the pair of body and blob with the lowest cost is assigned, repeatedly:

* near the position that the last velocity predicts: the distance in units of the gate, plus a cost for
  another color or size, so that a body that changes its color stays the same body;
* anywhere, if the color is the same: a body that jumps stays the same body, at a higher cost.

A remaining blob becomes a new body, unless it is a piece of one that has shrunk. A remaining body
whose predicted position lies in the blob of another body is merged with it.

The radius of a body is constant, so it is estimated from all clean frames together. What remains to be
fitted in a frame is the center: two unknowns need fewer half covered pixels than three. A frame with a
clearly different radius keeps its own fit. No law of motion is used: positions in different frames are
independent (except for `squares`).

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.tracking.blobs import AREA, COLOR, SUM_X, SUM_Y, Blobs
from sightline.physics.tracking.fit import (
    FIT_FIELDS,
    MISFIT,
    SIGMA_R,
    SIGMA_X,
    SIGMA_Y,
    EdgeProfile,
    R,
    X,
    Y,
    fit,
)
from sightline.physics.tracking.outlines import UNKNOWN, place_cut
from sightline.physics.types import Doubles, Frames

#: Most bodies of a video.
MOST_BODIES = 16
#: What `follow` notes beside the number of a blob.
NOTHING, MERGED, SPLIT = 0, 1, 2

_NEVER = 1e9
_OTHER_COLOR = 0.7
_OTHER_SIZE = 0.7
_FAR = 2.0


class Assignment(NamedTuple):
    """Which blob is which body, frame by frame.

    Attributes:
        bodies: number of bodies N.
        chosen: (T, MOST_BODIES) int64 blob of each body, -1 for none.
        notes: (T, MOST_BODIES) int64 `NOTHING`, `MERGED` or `SPLIT`.
    """

    bodies: int
    chosen: NDArray[np.int64]
    notes: NDArray[np.int64]


class BodySizes(NamedTuple):
    """Sizes and shapes of the bodies over the whole video.

    Attributes:
        radii: (N,) in [px]; 0 for a body that never shows whole.
        shapes: (N,) uint8 values of `Shape`.
    """

    radii: Doubles
    shapes: NDArray[np.uint8]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def follow(blobs: Blobs, known: Doubles, side: float) -> Assignment:  # pragma: no cover (compiled)
    """Assign every blob to a body.

    Args:
        blobs: of the video.
        known: (P, 4) expected bodies: x, y, radius in [px], number of the color (or -1).
        side: width of the picture in [px].
    """
    table, number, places, clean = blobs.table, blobs.number, blobs.places, blobs.clean
    frames = len(table)
    chosen = np.full((frames, MOST_BODIES), -1, np.int64)
    notes = np.zeros((frames, MOST_BODIES), np.int64)
    # Per body: x, y, velocity x, y in [px/frame], radius, color, whether it was ever seen.
    bodies = np.zeros((MOST_BODIES, 7))
    count = min(len(known), MOST_BODIES)
    for k in range(count):
        bodies[k, 0], bodies[k, 1], bodies[k, 4], bodies[k, 5] = known[k]
    for t in range(frames):
        before = count
        taken = _assign(bodies[:before], table[t], number[t], places[t], clean[t], chosen[t], side)
        _find_merged(bodies, before, table[t], places[t], chosen[t], notes[t])
        for b in range(number[t]):
            if taken[b]:
                continue
            owner = _owner_of_piece(bodies, before, table[t], places[t], chosen[t], b)
            if owner >= 0:
                notes[t, owner] = SPLIT
            elif count < MOST_BODIES:
                chosen[t, count] = b
                bodies[count, 5] = -1
                count += 1
        for k in range(count):
            earlier = chosen[t - 1, k] if t else -1
            _update(bodies[k], chosen[t, k], earlier, table[t], places[t], clean[t])
    return Assignment(count, chosen, notes)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _assign(
    bodies: Doubles,
    table: NDArray[np.int64],
    number: int,
    places: Doubles,
    clean: NDArray[np.bool_],
    chosen: NDArray[np.int64],
    side: float,
) -> NDArray[np.bool_]:  # pragma: no cover
    """Give blobs of one frame to bodies, the cheapest pair first; return which blobs are taken."""
    taken = np.zeros(len(table), np.bool_)
    costs = np.empty((len(bodies), number))
    for k in range(len(bodies)):
        for b in range(number):
            costs[k, b] = _cost(bodies[k], table[b], places[b], clean[b], side)
    for _ in range(min(len(bodies), number)):
        best = np.argmin(costs)
        body, blob = best // number, best % number
        if costs[body, blob] >= _NEVER:
            break
        chosen[body], taken[blob] = blob, True
        costs[body, :] = _NEVER
        costs[:, blob] = _NEVER
    return taken


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cost(
    body: Doubles, blob: NDArray[np.int64], place: Doubles, clean: bool, side: float
) -> float:  # pragma: no cover
    """Return the price of this blob being this body."""
    away = sqrt((place[X] - body[0] - body[2]) ** 2 + (place[Y] - body[1] - body[3]) ** 2)
    gate = body[4] + 1.5 * sqrt(body[2] ** 2 + body[3] ** 2) + 0.08 * side
    same = body[5] < 0 or blob[COLOR] == body[5]
    price = 0.0 if same else _OTHER_COLOR
    if clean and body[4] > 0:
        price += min(abs(log(place[R] / body[4])), _OTHER_SIZE)
    if away < gate:
        return price + away / gate
    return _FAR + price + away / side if same else _NEVER


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _find_merged(
    bodies: Doubles,
    count: int,
    table: NDArray[np.int64],
    places: Doubles,
    chosen: NDArray[np.int64],
    notes: NDArray[np.int64],
) -> None:  # pragma: no cover
    """Note bodies without a blob whose expected place lies in the blob of another body."""
    for k in range(count):
        if chosen[k] >= 0 or bodies[k, 6] == 0:
            continue
        for other in range(count):
            blob = chosen[other]
            if other == k or blob < 0:
                continue
            away = sqrt(
                (places[blob, X] - bodies[k, 0] - bodies[k, 2]) ** 2
                + (places[blob, Y] - bodies[k, 1] - bodies[k, 3]) ** 2
            )
            radius = sqrt(table[blob, AREA] / 3.1416)
            hidden = away < radius + 0.5 * bodies[k, 4]
            if table[blob, COLOR] == bodies[k, 5]:
                if hidden:
                    notes[other] = MERGED
            elif bodies[k, 4] > 1.1 * radius:
                hidden = False  # a body of another color hides only what is not larger
            if hidden:
                notes[k] = MERGED
                break


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _owner_of_piece(
    bodies: Doubles,
    count: int,
    table: NDArray[np.int64],
    places: Doubles,
    chosen: NDArray[np.int64],
    blob: int,
) -> int:  # pragma: no cover
    """Return the body of which a blob is a second piece, or -1."""
    for k in range(count):
        main = chosen[k]
        if main < 0 or table[main, COLOR] != table[blob, COLOR] or bodies[k, 6] == 0:
            continue
        whole = 3.1416 * bodies[k, 4] ** 2
        away = sqrt(
            (places[blob, X] - places[main, X]) ** 2 + (places[blob, Y] - places[main, Y]) ** 2
        )
        both = table[main, AREA] + table[blob, AREA]
        if away < 2.5 * bodies[k, 4] and table[main, AREA] < 0.9 * whole and both < 1.3 * whole:
            return k
    return -1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _update(
    body: Doubles,
    blob: int,
    blob_before: int,
    table: NDArray[np.int64],
    places: Doubles,
    clean: NDArray[np.bool_],
) -> None:  # pragma: no cover
    """Move a body to its blob, or on along its way when there is none."""
    if blob < 0:
        body[0] += body[2]
        body[1] += body[3]
        return
    place = places[blob]
    if blob_before >= 0:
        body[2], body[3] = place[X] - body[0], place[Y] - body[1]
    body[0], body[1] = place[X], place[Y]
    if body[6] == 0:
        body[4] = place[R] if body[4] == 0 else body[4]
        body[5] = table[blob, COLOR] if body[5] < 0 else body[5]
        body[6] = 1
    elif clean[blob] and abs(place[R] - body[4]) < 0.1 * body[4]:
        body[4] += 0.3 * (place[R] - body[4])  # a broken or swollen body keeps its size


#: A radius further than this share from the body's size is another size.
OTHER_SIZE = 0.08
_SQUARE = 1
_SURE = 0.002  # px; a center as certain as this gains nothing by knowing the radius


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def settle_sizes(
    assignment: Assignment, blobs: Blobs, known: Doubles, known_shapes: NDArray[np.uint8]
) -> BodySizes:  # pragma: no cover (compiled)
    """Estimate the radius and shape of each body from the frames in which it shows whole.

    The radius is the mean of the fits near their median, weighted by their certainty; the shape is
    the one it begins with: the majority of the first five frames in which it can be told.
    """
    count, chosen = assignment.bodies, assignment.chosen
    places, clean, shapes = blobs.places, blobs.clean, blobs.shapes
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
    return BodySizes(sizes, kinds)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def refine(
    frames: Frames,
    mix: Doubles,
    edge: EdgeProfile,
    blobs: Blobs,
    assignment: Assignment,
    sizes: BodySizes,
    near: Doubles,
) -> Doubles:  # pragma: no cover
    """Return the (T, N, FIT_FIELDS) place of each body in each frame; zeros where it has no blob.

    The radius in it is the frame's own where the whole outline shows, and the body's otherwise.
    """
    chosen, places = assignment.chosen, blobs.places
    out = np.zeros((len(frames), assignment.bodies, FIT_FIELDS))
    height, width = frames.shape[1:3]
    start = np.empty(FIT_FIELDS)
    for k in range(assignment.bodies):
        size = sizes.radii[k]
        for t in range(len(frames)):
            blob = chosen[t, k]
            if blob < 0:
                continue
            row = blobs.table[t, blob]
            place = out[t, k]
            place[:] = places[t, blob]
            shape = blobs.shapes[t, blob]
            if shape == UNKNOWN:
                shape = sizes.shapes[k]
            square = shape == _SQUARE
            merged = assignment.notes[t, k] == MERGED
            if blobs.clean[t, blob] and not merged:
                own = mix[row[COLOR], row[COLOR]]
                _fit_center(frames[t], own, edge, place, square, size, near)
                continue
            pair = mix[row[COLOR], neighbor(blobs.table[t], blobs.number[t], places[t], blob)]
            if size > 0:
                place[R] = size
            if blobs.cut[t, blob]:
                place_cut(row, place[R], height, width, place)
            elif t > 1 and chosen[t - 1, k] >= 0 and chosen[t - 2, k] >= 0:
                _place_ahead(out[t - 2, k], out[t - 1, k], row, place)
            _fit_hidden(frames[t], pair, edge, place, square, size, start, near)
            if merged:
                place[SIGMA_X] = 1.0 + 3 * place[SIGMA_X]
                place[SIGMA_Y] = 1.0 + 3 * place[SIGMA_Y]
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _fit_center(
    picture: Frames,
    mix: Doubles,
    edge: EdgeProfile,
    place: Doubles,
    square: bool,
    size: float,
    near: Doubles,
) -> None:  # pragma: no cover
    """Fit the center of a whole body again with its radius known, unless it is sure already."""
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
    edge: EdgeProfile,
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
def neighbor(
    table: NDArray[np.int64], number: int, places: Doubles, blob: int
) -> int:  # pragma: no cover
    """Return the color of the nearest blob of another color, or the blob's own without one."""
    own = table[blob, COLOR]
    best, color = 1e9, own
    for other in range(number):
        if table[other, COLOR] == own:
            continue
        away = sqrt(
            (places[other, X] - places[blob, X]) ** 2 + (places[other, Y] - places[blob, Y]) ** 2
        )
        away -= places[other, R] + places[blob, R]
        if away < best:
            best, color = away, table[other, COLOR]
    return color
