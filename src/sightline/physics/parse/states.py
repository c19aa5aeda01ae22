"""What became of each body in each frame, and the world units of its place."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.parse.blobs import BLUE, COLOUR, GREEN, INNER, RED
from sightline.physics.parse.edge import HALF
from sightline.physics.parse.fit import MISFIT, SIGMA_R, SIGMA_X, SIGMA_Y, R, X, Y
from sightline.physics.parse.follow import MERGED as NOTED_MERGED
from sightline.physics.parse.follow import SPLIT as NOTED_SPLIT
from sightline.physics.parse.outline import UNKNOWN
from sightline.physics.parse.refine import OTHER_SIZE
from sightline.physics.parse.tracks import UNSEEN_SIGMA, State
from sightline.physics.types import WORLD_SIDE, Doubles

#: A colour further than this from the body's own, in [levels], is another colour.
OTHER_COLOUR = 90.0
#: An outline is no ball, square or ring when it is this far from one: share of the radius, and [px].
MISFIT_SHARE, MISFIT_PIXELS = 0.05, 0.6

_SEEN, _PARTLY, _OUTSIDE, _LOST = (
    int(State.SEEN),
    int(State.PARTLY_OUTSIDE),
    int(State.OUTSIDE),
    int(State.LOST),
)
_MERGED, _SPLIT, _DEFORMED, _RECOLOURED = (
    int(State.MERGED),
    int(State.SPLIT),
    int(State.DEFORMED),
    int(State.RECOLOURED),
)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def judge(
    places: Doubles,
    table: NDArray[np.int64],
    chosen: NDArray[np.int64],
    notes: NDArray[np.int64],
    blob_shapes: NDArray[np.uint8],
    cut: NDArray[np.bool_],
    crowded: NDArray[np.bool_],
    colours: Doubles,
    body_colours: NDArray[np.uint8],
    sizes: Doubles,
    kinds: NDArray[np.uint8],
    starts: Doubles,
    height: int,
    width: int,
) -> tuple[
    Doubles, Doubles, Doubles, Doubles, NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]
]:
    """Return positions, their sigma, radii, their sigma, colours, shapes and states.

    Args:
        places: (T, N, FIT_FIELDS) in [px].
        table: (T, B, FIELDS) blobs.
        chosen: (T, ·) blob of each body.
        notes: (T, ·) merged or split.
        blob_shapes: (T, B).
        cut: (T, B) blobs at the border.
        crowded: (T, B) blobs near others.
        colours: (K, 3) of the video.
        body_colours: (N, 3) each body began with.
        sizes: (N,) in [px], 0 when never seen whole.
        kinds: (N,) shapes.
        starts: (N, 3) x, y, radius in [px] of bodies that are never seen.
        height: of the picture in [px].
        width: of the picture in [px].
    """
    frames, bodies = places.shape[:2]
    positions = np.empty((frames, bodies, 2))
    position_sigma = np.empty((frames, bodies, 2))
    radii = np.empty((frames, bodies))
    radius_sigma = np.empty((frames, bodies))
    hues = np.empty((frames, bodies, 3), np.uint8)
    shapes = np.empty((frames, bodies), np.uint8)
    states = np.empty((frames, bodies), np.uint8)
    unit = WORLD_SIDE / max(width - 1, 1)
    for k in range(bodies):
        first = 0
        while first < frames and chosen[first, k] < 0:
            first += 1
        last = np.empty(3)  # where it is held while it is not seen
        last[:] = places[first, k, :3] if first < frames else starts[k]
        gone, thrown = _LOST, False
        if first < frames and _leaves(
            places[first, k], places[min(first + 1, frames - 1), k], height, width
        ):
            gone = _OUTSIDE
        for t in range(frames):
            blob = chosen[t, k]
            if blob < 0:
                if t > first and chosen[t - 1, k] >= 0:
                    before = (
                        places[max(t - 2, 0), k]
                        if chosen[max(t - 2, 0), k] >= 0
                        else places[t - 1, k]
                    )
                    gone = _LOST
                    thrown = _thrown_out(places, chosen, t, k, height, width)
                    if thrown or _leaves(places[t - 1, k], before, height, width):
                        gone = _OUTSIDE
                states[t, k] = _MERGED if notes[t, k] == NOTED_MERGED and not thrown else gone
                radii[t, k] = (sizes[k] if sizes[k] > 0 else last[R]) * unit
                position_sigma[t, k] = UNSEEN_SIGMA
                radius_sigma[t, k] = UNSEEN_SIGMA
                hues[t, k] = body_colours[k]
                shapes[t, k] = kinds[k]
            else:
                place = places[t, k]
                last[:] = place[:3]
                radii[t, k] = place[R] * unit
                position_sigma[t, k, 0] = min(place[SIGMA_X] * unit, UNSEEN_SIGMA)
                position_sigma[t, k, 1] = min(place[SIGMA_Y] * unit, UNSEEN_SIGMA)
                radius_sigma[t, k] = min(place[SIGMA_R] * unit, UNSEEN_SIGMA)
                _colour(table[t, blob], colours, hues[t, k])
                seen = blob_shapes[t, blob]
                shapes[t, k] = kinds[k] if seen == UNKNOWN else seen
                states[t, k] = _state(
                    place, notes[t, k], cut[t, blob], crowded[t, blob], hues[t, k],
                    body_colours[k], shapes[t, k] != kinds[k], sizes[k], height, width,
                )  # fmt: skip
            positions[t, k, 0] = last[X] * unit
            positions[t, k, 1] = (height - 1 - last[Y]) * unit
    return positions, position_sigma, radii, radius_sigma, hues, shapes, states


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _colour(
    blob: NDArray[np.int64], colours: Doubles, out: NDArray[np.uint8]
) -> None:  # pragma: no cover
    """Mean colour of a blob's inner pixels, or its nearest colour when it has none."""
    for channel in range(3):
        if blob[INNER] > 0:
            out[channel] = (blob[(RED, GREEN, BLUE)[channel]] + blob[INNER] // 2) // blob[INNER]
        else:
            out[channel] = int(colours[blob[COLOUR], channel] + 0.5)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _state(
    place: Doubles,
    note: int,
    cut: bool,
    crowded: bool,
    colour: NDArray[np.uint8],
    body_colour: NDArray[np.uint8],
    other_shape: bool,
    size: float,
    height: int,
    width: int,
) -> int:  # pragma: no cover
    """Return the state of a body that has a blob; the gravest one when there are several."""
    if note == NOTED_MERGED:
        return _MERGED
    if note == NOTED_SPLIT:
        return _SPLIT
    away = 0.0
    for channel in range(3):
        away += (float(colour[channel]) - float(body_colour[channel])) ** 2
    if away > OTHER_COLOUR**2:
        return _RECOLOURED
    if not crowded:
        other_size = size > 0 and abs(place[R] - size) > max(OTHER_SIZE * size, 3 * place[SIGMA_R])
        rough = not cut and place[MISFIT] > MISFIT_SHARE * place[R] + MISFIT_PIXELS
        if other_shape or (other_size and not cut) or rough:
            return _DEFORMED
    half = place[R] * HALF - 0.5
    inside = half <= place[X] <= width - 1 - half and half <= place[Y] <= height - 1 - half
    return _SEEN if inside and not cut else _PARTLY


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _leaves(place: Doubles, other: Doubles, height: int, width: int) -> bool:  # pragma: no cover
    """Whether a body that comes from `other` to `place` is over the border one frame on.

    With the frame after instead of the one before: whether it was over the border one frame earlier.
    Half a radius and the motion of half a frame are given away, since the last sight of a body is
    often a sliver.
    """
    dx, dy = (place[X] - other[X]), (place[Y] - other[Y])
    slack = 0.5 * place[R] + 0.5 * max(abs(dx), abs(dy)) + 1.0
    x, y, radius = place[X] + dx, place[Y] + dy, place[R]
    return (
        x + radius < slack
        or x - radius > width - 1 - slack
        or y + radius < slack
        or y - radius > height - 1 - slack
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _thrown_out(
    places: Doubles, chosen: NDArray[np.int64], t: int, k: int, height: int, width: int
) -> bool:  # pragma: no cover
    """Whether body k, last seen in frame t - 1, had just been hit and is over the border one frame on.

    An elastic hit by a body j in reach gives it 2 m_j / (m_j + m_k) of their speed of approach, which
    can be more than its way to the border. The hit is in one of the last two steps. A body that shows
    again later was not thrown out.
    """
    for later in range(t, len(chosen)):
        if chosen[later, k] >= 0:
            return False
    last = places[t - 1, k]
    for h in range(max(t - 2, 1), t):
        if chosen[h, k] < 0 or chosen[h - 1, k] < 0:
            continue
        here, before = places[h, k], places[h - 1, k]
        vx, vy = here[X] - before[X], here[Y] - before[Y]
        for j in range(places.shape[1]):
            if j == k or chosen[h, j] < 0 or chosen[h - 1, j] < 0:
                continue
            other = places[h, j]
            ux, uy = other[X] - places[h - 1, j, X] - vx, other[Y] - places[h - 1, j, Y] - vy
            nx, ny = here[X] - other[X], here[Y] - other[Y]
            away = max(sqrt(nx * nx + ny * ny), 1e-9)
            towards = (ux * nx + uy * ny) / away
            if towards <= 0 or away - here[R] - other[R] > towards:
                continue
            push = 2 * other[R] ** 2 / (other[R] ** 2 + here[R] ** 2) * towards / away
            origin = last.copy()
            origin[X], origin[Y] = last[X] - vx - push * nx, last[Y] - vy - push * ny
            if _leaves(last, origin, height, width):
                return True
    return False
