"""Which blob is which body: follow bodies from frame to frame by place, colour and size.

In each frame the cheapest pair of body and blob is taken, again and again:

* near where the body should be by its last velocity: the distance in gates, and a price for another
  colour or size, so that a body that changes its colour stays the same body;
* anywhere, if the colour is the same: a body that jumps is the same body, at a higher price.

A blob that is left over becomes a new body, unless it is a piece of one that has shrunk. A body that
is left over while its expected place lies in another body's blob is merged with it.
"""

from __future__ import annotations

from math import log, sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import AREA, COLOUR
from sightline.physics.parse.fit import R, X, Y
from sightline.physics.types import Doubles

#: Most bodies of a video.
MOST_BODIES = 16
#: What `follow` notes beside the number of a blob.
NOTHING, MERGED, SPLIT = 0, 1, 2

_NEVER = 1e9
_OTHER_COLOUR = 0.7
_OTHER_SIZE = 0.7
_FAR = 2.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def follow(
    table: NDArray[np.int64],
    number: NDArray[np.int64],
    places: Doubles,
    clean: NDArray[np.bool_],
    known: Doubles,
    side: float,
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover (compiled)
    """Give every blob to a body.

    Args:
        table: (T, B, FIELDS) blobs.
        number: (T,) how many of them.
        places: (T, B, FIT_FIELDS) their places.
        clean: (T, B) whether these are fits of a whole outline.
        known: (P, 4) bodies expected: x, y, radius in [px], number of the colour (or -1).
        side: width of the picture in [px].

    Returns:
        Number of bodies N; (T, MOST_BODIES) blob of each body, -1 for none; (T, MOST_BODIES) note.
    """
    frames = len(table)
    chosen = np.full((frames, MOST_BODIES), -1, np.int64)
    notes = np.zeros((frames, MOST_BODIES), np.int64)
    # Per body: x, y, velocity x, y in [px/frame], radius, colour, whether it was ever seen.
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
    return count, chosen, notes


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
    same = body[5] < 0 or blob[COLOUR] == body[5]
    price = 0.0 if same else _OTHER_COLOUR
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
            if table[blob, COLOUR] == bodies[k, 5]:
                if hidden:
                    notes[other] = MERGED
            elif bodies[k, 4] > 1.1 * radius:
                hidden = False  # a body of another colour hides only what is not larger
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
        if main < 0 or table[main, COLOUR] != table[blob, COLOUR] or bodies[k, 6] == 0:
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
        body[5] = table[blob, COLOUR] if body[5] < 0 else body[5]
        body[6] = 1
    elif clean[blob] and abs(place[R] - body[4]) < 0.1 * body[4]:
        body[4] += 0.3 * (place[R] - body[4])  # a broken or swollen body keeps its size
