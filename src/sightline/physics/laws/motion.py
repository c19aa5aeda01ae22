"""Laws of free motion: inertia, jumps, and gravity fitted to the paths."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.laws.evidence import NOTHING_TO_SAY, Failure, LawEvidence, Outcome
from sightline.physics.types import Doubles

#: Frames to each side over which velocities before and after a frame are compared.
SPAN = 3
_FEWEST = 8  # frames that a fit of gravity needs
_TWO_SIDED = 1.96


def inertia(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean drift of the velocity over six frames, in units/s, beyond what gravity does.

    At each frame the mean velocity of the three steps before is compared with that of the three
    after. A body that may be in touch with another there is excused. A failure per body, where its
    drift is largest.
    """
    drift, known = drifts(evidence, SPAN, evidence.touched)
    return _report(drift, known, tolerance, SPAN)


def jumps(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Largest change of velocity from one step to the next, in units/s, beyond what gravity does.

    What `inertia` averages out: a body that is elsewhere from one frame to the next. In touch with
    another body, velocities may change, but no step is longer than those before and after it: there
    the excess over both counts.
    """
    drift, known = drifts(evidence, 1, evidence.touching)
    size = np.zeros(evidence.tracks.states.shape)
    if len(drift):
        size[1:-1] = np.where(known, drift, 0.0)
    if len(size) > 3 and evidence.touched.any():
        size[1:-2] = np.maximum(size[1:-2], _excess(evidence))
    value = float(size.max()) if size.size and evidence.whole.any() else None
    failures = []
    for body in np.flatnonzero((size > tolerance).any(axis=0)):
        at = int(size[:, body].argmax())
        failures.append(Failure(at, int(body), float(size[at, body])))
    return Outcome(value, tuple(failures))


def _excess(evidence: LawEvidence) -> Doubles:
    """Return (T - 3, N) by how much the step from frame t + 1 is faster than those beside it."""
    steps = np.diff(evidence.tracks.positions, axis=0) / evidence.tracks.frame_time
    speed = np.sqrt((steps**2).sum(axis=-1))
    there = evidence.placed
    known = there[:-3] & there[1:-2] & there[2:-1] & there[3:]
    known &= evidence.touched[1:-2] | evidence.touched[2:-1]
    return np.where(known, speed[1:-1] - np.maximum(speed[:-2], speed[2:]), 0.0)


def drifts(
    evidence: LawEvidence, span: int, excused: NDArray[np.bool_]
) -> tuple[Doubles, NDArray[np.bool_]]:
    """Return (T - 2 span, N) changes of velocity around each frame, and where they are known.

    Args:
        evidence: of a video.
        span: frames to each side.
        excused: (T, N) where a velocity may change: a span with such a frame is not known.
    """
    tracks = evidence.tracks
    frames, bodies = tracks.states.shape
    if frames < 2 * span + 1 or bodies == 0:
        return np.zeros((0, bodies)), np.zeros((0, bodies), np.bool_)
    x = tracks.positions
    time = span * tracks.frame_time
    bend = (x[2 * span :] - 2 * x[span:-span] + x[: -2 * span]) / time
    bend[..., 1] += evidence.gravity * time
    there = evidence.placed
    known = there[2 * span :] & there[span:-span] & there[: -2 * span]
    if excused.any():
        for shift in range(2 * span + 1):
            known &= ~excused[shift : frames - 2 * span + shift]
    return np.sqrt((bend**2).sum(axis=-1)), known


def _report(drift: Doubles, known: NDArray[np.bool_], tolerance: float, span: int) -> Outcome:
    if not known.any():
        return NOTHING_TO_SAY
    size = np.where(known, drift, 0.0)
    value = float(size.sum() / known.sum())
    failures = []
    for body in np.flatnonzero(size.max(axis=0) > tolerance):
        at = int(size[:, body].argmax())
        failures.append(Failure(at + span, int(body), float(size[at, body])))
    return Outcome(value, tuple(failures))


def gravity(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Downward acceleration fitted to the heights of all free bodies, in units/s², and its interval.

    Each body's heights y(t) are fitted by a parabola where it is whole and touches nothing; the
    accelerations are averaged by their certainty. The error of the fit comes from its own residuals,
    so the interval widens when the path is no parabola. A failure when the scenario's value lies
    outside the interval and further off than the tolerance; its size is the difference.
    """
    tracks = evidence.tracks
    best, weight, at = 0.0, 0.0, 0
    for body in range(tracks.bodies):
        free = np.flatnonzero(evidence.whole[:, body] & ~evidence.touched[:, body])
        if len(free) < _FEWEST:
            continue
        value, sigma = _acceleration(
            free * tracks.frame_time,
            tracks.positions[free, body, 1],
            tracks.position_sigma[free, body, 1],
        )
        best += value / sigma**2
        weight += 1 / sigma**2
        at = int(free[len(free) // 2])
    if weight == 0:
        return NOTHING_TO_SAY
    value, half = best / weight, _TWO_SIDED / weight**0.5
    off = abs(value - evidence.gravity)
    failed = off > tolerance and off > half
    failures = (Failure(at, -1, off),) if failed else ()
    return Outcome(value, failures, (value - half, value + half))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _acceleration(
    time: Doubles, height: Doubles, sigma: Doubles
) -> tuple[float, float]:  # pragma: no cover (compiled)
    """Return downward acceleration and its standard deviation from heights at times in [s]."""
    time = time - time.mean()
    second = (time * time).sum()
    # Orthogonal polynomials up to degree two: the last coefficient stands alone.
    square = time * time - second / len(time)
    square -= (time * square).sum() / second * time
    height = height - height.mean()
    norm = (square * square).sum()
    curve = (square * height).sum() / norm
    slope = (time * height).sum() / second
    rest = height - slope * time - curve * square
    spread = max((rest * rest).sum() / (len(time) - 3), (sigma * sigma).mean())
    return -2 * curve, 2 * sqrt(spread / norm)
