"""Laws about bodies: constant radius, color and shape, presence, restitution, and no penetration."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws.evidence import (
    NOTHING_TO_SAY,
    Failure,
    LawEvidence,
    Outcome,
    depth_of_passage,
)
from sightline.physics.tracking.states import OTHER_COLOR
from sightline.physics.tracking.tracks import State
from sightline.physics.types import Doubles

_CERTAIN = 4.0  # standard deviations of a radius that are no change


def radius(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Largest minus smallest radius of a body, in world units: the reference's Δr, the worst body's.

    Where the whole body shows. A failure per body and at its worst frame, when a radius differs from
    the body's by more than the tolerance, a share of its size, and more than its uncertainty allows;
    the size of a failure is that share.
    """
    tracks = evidence.tracks
    span, failures = 0.0, []
    shares = np.abs(tracks.radii - tracks.sizes) / np.maximum(tracks.sizes, 1e-9)
    sure = tracks.radius_sigma < tracks.sizes * tolerance / _CERTAIN
    for body in range(tracks.bodies):
        frames = np.flatnonzero(evidence.whole[:, body] & sure[:, body])
        if len(frames) == 0:
            continue
        radii = tracks.radii[frames, body]
        span = max(span, float(radii.max() - radii.min()))
        share = shares[frames, body]
        at = int(share.argmax())
        if share[at] > tolerance:
            failures.append(Failure(int(frames[at]), body, float(share[at])))
    return Outcome(span, tuple(failures)) if evidence.whole.any() else NOTHING_TO_SAY


def presence(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Count the frames in which some body is not there though it did not leave: lost or in pieces.

    A body that turns up in the middle of the picture was lost in the frames before. A failure per
    body, at the first such frame; its size is the number of frames.
    """
    states = evidence.tracks.states
    wrong = (states == State.LOST) | (states == State.SPLIT)
    return _count(wrong, tolerance)


def color(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Count the frames in which a body has another color than it began with."""
    tracks = evidence.tracks
    away = tracks.colors.astype(np.float64) - tracks.body_colors
    return _count(((away**2).sum(axis=-1) > OTHER_COLOR**2) & tracks.measured, tolerance)


def shape(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Count the frames in which a body has another shape than it began with, or none at all."""
    tracks = evidence.tracks
    other = (tracks.shapes != tracks.body_shapes) | (tracks.states == State.DEFORMED)
    return _count(other & evidence.whole, tolerance)


def _count(wrong: NDArray[np.bool_], tolerance: float) -> Outcome:
    if not wrong.any():
        return Outcome(0.0)
    failures = []
    totals = wrong.sum(axis=0)
    for body in np.flatnonzero(totals > tolerance):
        failures.append(Failure(int(wrong[:, body].argmax()), int(body), float(totals[body])))
    return Outcome(float(totals.sum()), tuple(failures))


_STEPS = 3  # on each side of a contact that give the velocities, fewer when a body leaves
_SLOWEST = 0.3  # units/s; the ratio of slower approaches is noise
_SOONEST = 0.5  # steps after the impact from which on one frame alone gives a velocity


def restitution(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Speed of separation over speed of approach, 1 for an elastic collision (no unit).

    Of the first pair that meets. Velocities are along the line between the centers, over up to three
    steps before the frame of the nearest approach and after it; the two steps at that frame are left
    out, since the impact is in one of them. Where a body leaves the picture before there is a step
    after it, the impact is where the approach leads to, and the last frame says how far they have come
    since. Bodies that go on through each other give a negative value. The size of a failure is the
    distance to 1.
    """
    for index, (one, two) in enumerate(evidence.pairs):
        seen = evidence.placed[:, one] & evidence.placed[:, two]
        near = seen & evidence.touched[:, one] & evidence.touched[:, two]
        if not near.any():
            continue
        contact = int(np.where(near, evidence.gap[:, index], np.inf).argmin())
        apart = evidence.tracks.positions[:, two] - evidence.tracks.positions[:, one]
        reach = float(evidence.tracks.sizes[[one, two]].sum())
        found = _speeds(apart, seen, contact, reach)
        if found is None or found[0] < _SLOWEST * evidence.tracks.frame_time:
            continue
        value = found[1] / found[0]
        off = abs(value - 1)
        return Outcome(value, (Failure(contact, int(one), off),) if off > tolerance else ())
    return NOTHING_TO_SAY


def _speeds(
    apart: Doubles, seen: NDArray[np.bool_], contact: int, reach: float
) -> tuple[float, float] | None:
    """Return the speeds of approach and separation in units a step, None where one is not seen.

    Args:
        apart: (T, 2) from one center to the other.
        seen: (T,) where that is known.
        contact: frame of the nearest approach.
        reach: distance of the centers when the bodies touch.
    """
    before, after = _run(seen, contact - 1, -1), _run(seen, contact + 1, 1)
    if not before:
        return None
    begin = contact - 1 - before
    along = apart[begin] / max(float(np.sqrt((apart[begin] ** 2).sum())), 1e-9)
    approach = -float((apart[contact - 1] - apart[begin]) @ along) / before
    if after:
        end = contact + 1 + after
        return approach, float((apart[end] - apart[contact + 1]) @ along) / after
    last = contact + 1 if contact + 1 < len(seen) and seen[contact + 1] else contact
    impact = (float(apart[contact - 1] @ along) - reach) / max(approach, 1e-9)
    since = last - (contact - 1) - impact
    if since < _SOONEST:
        return None
    return approach, (float(apart[last] @ along) - reach) / since


def _run(seen: NDArray[np.bool_], start: int, way: int) -> int:
    """Return how many steps from a frame on are seen, up to `_STEPS`."""
    if not 0 <= start < len(seen) or not seen[start]:
        return 0
    steps = 0
    while steps < _STEPS and 0 <= start + way * (steps + 1) < len(seen):
        if not seen[start + way * (steps + 1)]:
            break
        steps += 1
    return steps


def penetration(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Largest depth of one body in another, at a frame or between two, in world units.

    Places of hidden bodies count where they were last seen; bodies that left or were lost do not.
    """
    tracks = evidence.tracks
    if len(evidence.pairs) == 0:
        return NOTHING_TO_SAY
    there = tracks.there
    worst = 0.0
    failures = []
    for one, two in evidence.pairs:
        depth = depth_of_passage(tracks.positions, tracks.sizes, int(one), int(two))
        both = there[:, one] & there[:, two]
        depth[~both] = 0.0
        depth[:-1][~both[1:]] = 0.0
        at = int(depth.argmax())
        worst = max(worst, float(depth[at]))
        if depth[at] > tolerance:
            failures.append(Failure(at, int(one), float(depth[at])))
    return Outcome(worst, tuple(failures))
