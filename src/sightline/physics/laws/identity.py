"""That bodies stay what they are: their radius, their presence, their colour, their shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws.evidence import NOTHING_TO_SAY, Evidence, Failure, Outcome
from sightline.physics.parse.states import OTHER_COLOUR
from sightline.physics.parse.tracks import State

_CERTAIN = 4.0  # standard deviations of a radius that are no change


def radius(evidence: Evidence, tolerance: float) -> Outcome:
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


def presence(evidence: Evidence, tolerance: float) -> Outcome:
    """Count the frames in which some body is not there though it did not leave: lost or in pieces.

    A body that turns up in the middle of the picture was lost in the frames before. A failure per
    body, at the first such frame; its size is the number of frames.
    """
    states = evidence.tracks.states
    wrong = (states == State.LOST) | (states == State.SPLIT)
    return _count(wrong, tolerance)


def colour(evidence: Evidence, tolerance: float) -> Outcome:
    """Count the frames in which a body has another colour than it began with."""
    tracks = evidence.tracks
    away = tracks.colours.astype(np.float64) - tracks.body_colours
    return _count(((away**2).sum(axis=-1) > OTHER_COLOUR**2) & tracks.measured, tolerance)


def shape(evidence: Evidence, tolerance: float) -> Outcome:
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
