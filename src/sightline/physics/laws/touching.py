"""What happens when bodies meet: restitution, and that they do not pass through each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws.contact import depth_of_passage
from sightline.physics.laws.evidence import NOTHING_TO_SAY, Evidence, Failure, Outcome
from sightline.physics.parse.tracks import State

_STEPS = 3  # on each side of a contact that give the velocities,
_FEWEST = 2  # or so many when a body leaves the picture
_SLOWEST = 0.3  # units/s; the ratio of slower approaches is noise


def restitution(evidence: Evidence, tolerance: float) -> Outcome:
    """Speed of separation over speed of approach, 1 for an elastic collision (no unit).

    Of the first pair that meets. Velocities are along the line between the centres, over up to three
    steps before the frame of the nearest approach and after it; the two steps at that frame are left
    out, since the impact is in one of them. Bodies that go on through each other give a negative
    value. The size of a failure is the distance to 1.
    """
    for index, (one, two) in enumerate(evidence.pairs):
        seen = evidence.whole[:, one] & evidence.whole[:, two]
        near = seen & evidence.touched[:, one] & evidence.touched[:, two]
        if not near.any():
            continue
        contact = int(np.where(near, evidence.gap[:, index], np.inf).argmin())
        before, after = _run(seen, contact - 1, -1), _run(seen, contact + 1, 1)
        if min(before, after) < _FEWEST:
            continue
        apart = evidence.tracks.positions[:, two] - evidence.tracks.positions[:, one]
        begin, end = contact - 1 - before, contact + 1 + after
        along = apart[begin] / max(float(np.sqrt((apart[begin] ** 2).sum())), 1e-9)
        time = evidence.tracks.frame_time
        approach = -float((apart[contact - 1] - apart[begin]) @ along) / (before * time)
        separation = float((apart[end] - apart[contact + 1]) @ along) / (after * time)
        if approach < _SLOWEST:
            continue
        value = separation / approach
        off = abs(value - 1)
        return Outcome(value, (Failure(contact, int(one), off),) if off > tolerance else ())
    return NOTHING_TO_SAY


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


def penetration(evidence: Evidence, tolerance: float) -> Outcome:
    """Largest depth of one body in another, at a frame or between two, in world units.

    Places of hidden bodies count where they were last seen; bodies that left or were lost do not.
    """
    tracks = evidence.tracks
    if len(evidence.pairs) == 0:
        return NOTHING_TO_SAY
    there = (tracks.states != State.OUTSIDE) & (tracks.states != State.LOST)
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
