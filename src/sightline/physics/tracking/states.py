"""Determine the state of each body in each frame, convert to world units, and compute velocities.

Velocities are plain differences, and slopes over the window with the smoothest motion, which do not
average over a collision.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.tracking.association import MERGED as NOTED_MERGED
from sightline.physics.tracking.association import OTHER_SIZE, Assignment, BodySizes
from sightline.physics.tracking.association import SPLIT as NOTED_SPLIT
from sightline.physics.tracking.blobs import BLUE, COLOR, GREEN, INNER, RED, Blobs
from sightline.physics.tracking.fit import HALF, MISFIT, SIGMA_R, SIGMA_X, SIGMA_Y, R, X, Y
from sightline.physics.tracking.outlines import UNKNOWN
from sightline.physics.tracking.tracks import UNSEEN_SIGMA, State
from sightline.physics.types import WORLD_SIDE, Doubles

#: A color further than this from the body's own, in [levels], is another color.
OTHER_COLOR = 90.0
#: An outline is no ball, square or ring when it is this far from one: share of the radius, and [px].
MISFIT_SHARE, MISFIT_PIXELS = 0.05, 0.6

_SEEN, _PARTLY, _OUTSIDE, _LOST = (
    int(State.SEEN),
    int(State.PARTLY_OUTSIDE),
    int(State.OUTSIDE),
    int(State.LOST),
)
_MERGED, _SPLIT, _DEFORMED, _RECOLORED = (
    int(State.MERGED),
    int(State.SPLIT),
    int(State.DEFORMED),
    int(State.RECOLORED),
)


class Measurements(NamedTuple):
    """Bodies in world units, frame by frame; see `Tracks` for the meaning of the fields.

    Attributes:
        positions: (T, N, 2) float64.
        position_sigma: (T, N, 2) float64.
        radii: (T, N) float64.
        radius_sigma: (T, N) float64.
        colors: (T, N, 3) uint8.
        shapes: (T, N) uint8 values of `Shape`.
        states: (T, N) uint8 values of `State`.
    """

    positions: Doubles
    position_sigma: Doubles
    radii: Doubles
    radius_sigma: Doubles
    colors: NDArray[np.uint8]
    shapes: NDArray[np.uint8]
    states: NDArray[np.uint8]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def judge(
    places: Doubles,
    blobs: Blobs,
    assignment: Assignment,
    sizes: BodySizes,
    colors: Doubles,
    body_colors: NDArray[np.uint8],
    starts: Doubles,
    frame: tuple[int, int],
) -> Measurements:
    """Determine the state of each body in each frame, and convert places to world units.

    Args:
        places: (T, N, FIT_FIELDS) in [px].
        blobs: of the video.
        assignment: of blobs to bodies.
        sizes: of the bodies.
        colors: (K, 3) colors of the video.
        body_colors: (N, 3) first color of each body.
        starts: (N, 3) x, y, radius in [px] of bodies that are never seen.
        frame: height and width of the picture in [px].
    """
    height, width = frame
    chosen, notes = assignment.chosen, assignment.notes
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
                radii[t, k] = (sizes.radii[k] if sizes.radii[k] > 0 else last[R]) * unit
                position_sigma[t, k] = UNSEEN_SIGMA
                radius_sigma[t, k] = UNSEEN_SIGMA
                hues[t, k] = body_colors[k]
                shapes[t, k] = sizes.shapes[k]
            else:
                place = places[t, k]
                last[:] = place[:3]
                radii[t, k] = place[R] * unit
                position_sigma[t, k, 0] = min(place[SIGMA_X] * unit, UNSEEN_SIGMA)
                position_sigma[t, k, 1] = min(place[SIGMA_Y] * unit, UNSEEN_SIGMA)
                radius_sigma[t, k] = min(place[SIGMA_R] * unit, UNSEEN_SIGMA)
                _color(blobs.table[t, blob], colors, hues[t, k])
                seen = blobs.shapes[t, blob]
                shapes[t, k] = sizes.shapes[k] if seen == UNKNOWN else seen
                other_shape = shapes[t, k] != sizes.shapes[k]
                edges = blobs.cut[t, blob], blobs.crowded[t, blob]
                outline = _outline_state(place, edges, other_shape, sizes.radii[k], frame)
                states[t, k] = _gravest(notes[t, k], _differ(hues[t, k], body_colors[k]), outline)
            positions[t, k, 0] = last[X] * unit
            positions[t, k, 1] = (height - 1 - last[Y]) * unit
    return Measurements(positions, position_sigma, radii, radius_sigma, hues, shapes, states)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _color(
    blob: NDArray[np.int64], colors: Doubles, out: NDArray[np.uint8]
) -> None:  # pragma: no cover
    """Mean color of a blob's inner pixels, or its nearest color when it has none."""
    for channel in range(3):
        if blob[INNER] > 0:
            out[channel] = (blob[(RED, GREEN, BLUE)[channel]] + blob[INNER] // 2) // blob[INNER]
        else:
            out[channel] = int(colors[blob[COLOR], channel] + 0.5)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gravest(note: int, recolored: bool, outline: int) -> int:  # pragma: no cover
    """Return the gravest of several states: merged, split, another color, then the outline's."""
    if note == NOTED_MERGED:
        return _MERGED
    if note == NOTED_SPLIT:
        return _SPLIT
    return _RECOLORED if recolored else outline


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _differ(color: NDArray[np.uint8], body_color: NDArray[np.uint8]) -> bool:  # pragma: no cover
    """Return whether a color is another one than the body's."""
    away = 0.0
    for channel in range(3):
        away += (float(color[channel]) - float(body_color[channel])) ** 2
    return away > OTHER_COLOR**2


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _outline_state(
    place: Doubles,
    edges: tuple[bool, bool],
    other_shape: bool,
    size: float,
    frame: tuple[int, int],
) -> int:  # pragma: no cover
    """Return the state of a body by its outline; `edges`: cut by the border, near another blob."""
    height, width = frame
    cut, crowded = edges
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


_WINDOW = 5
_BENT = 2e-3  # units²; a path this far from a parabola of five frames has a kink in it


def difference(positions: Doubles, frame_time: float) -> Doubles:
    """Return forward differences of (T, N, 2) positions over time; the last one is repeated."""
    out = np.zeros_like(positions)
    if len(positions) > 1:
        out[:-1] = (positions[1:] - positions[:-1]) / frame_time
        out[-1] = out[-2]
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def slopes(
    positions: Doubles, measured: NDArray[np.bool_], frame_time: float
) -> Doubles:  # pragma: no cover (compiled)
    """Return smoothed velocities, (T, N, 2) in units/s.

    Of the windows of five frames that contain a frame (one ending there, one centered, one beginning
    there) the one nearest to a parabola gives the velocity: its slope at that frame. Where all of them
    contain a kink, lines through three frames are tried too. Fewer than
    three measured frames in each of them give the plain difference, or zero for a single frame.

    Args:
        positions: (T, N, 2) in world units.
        measured: (T, N) which of them are measurements.
        frame_time: seconds between frames.
    """
    frames, bodies = positions.shape[:2]
    out = np.zeros_like(positions)
    for k in range(bodies):
        for t in range(frames):
            best = _choose(
                positions[:, k], measured[:, k], t, _WINDOW, frame_time, np.inf, out[t, k]
            )
            if best > _BENT:  # all of them contain a kink: look closer
                best = _choose(positions[:, k], measured[:, k], t, 3, frame_time, best, out[t, k])
            if best == np.inf and frames > 1:
                a = min(t, frames - 2)
                for axis in range(2):
                    out[t, k, axis] = (
                        positions[a + 1, k, axis] - positions[a, k, axis]
                    ) / frame_time
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _choose(
    places: Doubles,
    measured: NDArray[np.bool_],
    t: int,
    window: int,
    frame_time: float,
    best: float,
    out: Doubles,
) -> float:  # pragma: no cover
    """Take the slope of the best of three windows, if it is better than `best`; return its error."""
    for begin in (t - window // 2, t - window + 1, t):
        first, last = max(begin, 0), min(begin + window, len(places))
        count, slope_x, slope_y, error = _parabola(places, measured, first, last, t)
        if count >= 3 and error < 0.9 * best:
            best = error
            out[0], out[1] = slope_x / frame_time, slope_y / frame_time
    return best


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _parabola(
    places: Doubles, measured: NDArray[np.bool_], first: int, last: int, t: int
) -> tuple[int, float, float, float]:  # pragma: no cover
    """Fit x(t), y(t) by parabolas (lines for three frames); return count, slopes at t, error."""
    s0 = s1 = s2 = s3 = s4 = 0.0
    moments = np.zeros((2, 3))
    for f in range(first, last):
        if not measured[f]:
            continue
        u = float(f - t)
        s0 += 1
        s1 += u
        s2 += u * u
        s3 += u * u * u
        s4 += u * u * u * u
        for axis in range(2):
            moments[axis, 0] += places[f, axis]
            moments[axis, 1] += u * places[f, axis]
            moments[axis, 2] += u * u * places[f, axis]
    if s0 < 3:
        return int(s0), 0.0, 0.0, np.inf
    out = np.zeros((2, 3))
    if s0 < 4:
        determinant = s0 * s2 - s1 * s1
        for axis in range(2):
            out[axis, 0] = (moments[axis, 0] * s2 - moments[axis, 1] * s1) / determinant
            out[axis, 1] = (moments[axis, 1] * s0 - moments[axis, 0] * s1) / determinant
    else:
        a, b, c = s2 * s4 - s3 * s3, s2 * s3 - s1 * s4, s1 * s3 - s2 * s2
        d, e, g = s0 * s4 - s2 * s2, s1 * s2 - s0 * s3, s0 * s2 - s1 * s1
        determinant = s0 * a + s1 * b + s2 * c
        for axis in range(2):
            m0, m1, m2 = moments[axis]
            out[axis, 0] = (a * m0 + b * m1 + c * m2) / determinant
            out[axis, 1] = (b * m0 + d * m1 + e * m2) / determinant
            out[axis, 2] = (c * m0 + e * m1 + g * m2) / determinant
    error = 1e-9
    for f in range(first, last):
        if measured[f]:
            u = float(f - t)
            for axis in range(2):
                model = out[axis, 0] + out[axis, 1] * u + out[axis, 2] * u * u
                error += (places[f, axis] - model) ** 2
    # A window with fewer frames to spare is easier to please.
    return int(s0), out[0, 1], out[1, 1], error / max(s0 - 3.0, 0.25)
