"""What laws look at, and what they answer.

A law is a function of `Evidence`, which is everything the laws share about one video, computed once,
and of its tolerance; it returns an `Outcome`. It changes nothing and knows of no other law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.laws.contact import contacts, gaps
from sightline.physics.laws.frames import FIRST_FRAME, counted_steps, valid_frames
from sightline.physics.parse.tracks import UNSEEN_SIGMA, State, Tracks
from sightline.physics.types import GRAVITY, Doubles, Motion

#: Body number of a violation that concerns all bodies together.
ALL_BODIES = -1

_SAME_COLOUR = 40  # levels

#: Downward acceleration of each scenario, in units/s².
GRAVITIES = {"uniform": 0.0, "collision": 0.0, "parabola": GRAVITY}


@dataclass(frozen=True, slots=True)
class Violation:
    """One failure of a law.

    Attributes:
        law: name of the law.
        frame: where it is worst, or where it begins.
        body: number of the body, or `ALL_BODIES`.
        size: by how much, in the law's unit.
        unit: of size and limit.
        limit: what would have passed.
    """

    law: str
    frame: int
    body: int
    size: float
    unit: str
    limit: float


@dataclass(frozen=True, slots=True)
class Failure:
    """What a law itself says about a violation: the rest is in its row of the table."""

    frame: int
    body: int
    size: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """A law's answer.

    Attributes:
        value: the figure, in the law's unit; None where the law says nothing about this video.
        failures: where the tolerance is exceeded.
        interval: 95 % confidence interval of the value, where the law has one.
    """

    value: float | None
    failures: tuple[Failure, ...] = ()
    interval: tuple[float, float] | None = None


NOTHING_TO_SAY = Outcome(None)


@dataclass(frozen=True, slots=True)
class Evidence:
    """One parsed video, ready for all laws.

    Attributes:
        tracks: bodies of the video; with a truth, its bodies first and in its order.
        truth: what should have happened, if known.
        scenario: `uniform`, `collision` or `parabola`.
        gravity: downward acceleration in units/s².
        first: frame from which on the video is the model's own; those before were given.
        whole: (T, N) bool, bodies measured and wholly in the picture.
        placed: (T, N) bool, those, and bodies cut by the border whose place is known all the same.
        gap: (T, P) float64, free distance of each pair of bodies at each frame, negative in overlap.
        pairs: (P, 2) int64, the pairs.
        touching: (T, N) bool, a body may be in touch with another.
        touched: (T, N) bool, the same within two frames.
        valid: (V,) int64, frames that count against the truth; none without one.
        before: (B,) the steps before an impact that count.
        steps: (S,) int64, steps that count, by the frame they begin at.
    """

    tracks: Tracks
    truth: Motion | None
    scenario: str
    gravity: float
    first: int
    whole: NDArray[np.bool_]
    placed: NDArray[np.bool_]
    gap: Doubles
    pairs: NDArray[np.int64]
    touching: NDArray[np.bool_]
    touched: NDArray[np.bool_]
    valid: NDArray[np.intp]
    before: NDArray[np.intp]
    steps: NDArray[np.intp]


def gather(
    tracks: Tracks, truth: Motion | None, scenario: str, first: int = FIRST_FRAME
) -> Evidence:
    """Put together what the laws look at.

    Args:
        tracks: of a video.
        truth: of the same number of frames, or None.
        scenario: which laws of motion hold.
        first: frame from which on a video is compared with the truth: those before were given.
    """
    if scenario not in GRAVITIES:
        raise InputError(
            f"no laws are known for {scenario!r}", remedy=f"use {', '.join(GRAVITIES)}"
        )
    if truth is not None:
        if len(truth.positions) != len(tracks):
            raise InputError(f"{len(tracks)} frames against {len(truth.positions)} of the truth")
        tracks = align(tracks, truth)
    pairs, gap = gaps(tracks.positions, tracks.sizes)
    touching, touched = contacts(
        tracks.smooth_velocities, gap, pairs, tracks.there, tracks.frame_time
    )
    valid = before = steps = np.empty(0, np.intp)
    if truth is not None:
        valid = np.flatnonzero(valid_frames(truth, scenario, first))
        before, steps = counted_steps(truth, scenario, first)
    known = GRAVITIES[scenario], first, tracks.whole, tracks.placed
    return Evidence(
        tracks, truth, scenario, *known, gap, pairs, touching, touched, valid, before, steps
    )


def align(tracks: Tracks, truth: Motion) -> Tracks:
    """Return the tracks in the truth's order: nearest in colour, place and size, then what is left.

    A body of the truth that no track fits is added as lost, held where it should have begun.
    """
    wanted, free = len(truth.sizes), list(range(tracks.bodies))
    if tracks.bodies == wanted:
        away = truth.colours.astype(np.int16) - tracks.body_colours
        if wanted == 1 or (abs(away).max() < _SAME_COLOUR and _all_differ(truth)):
            return tracks
    colour = np.linalg.norm(
        truth.colours[:, None].astype(np.float64) - tracks.body_colours[None], axis=2
    )
    place = np.linalg.norm(truth.positions[0][:, None] - tracks.positions[0][None], axis=2)
    costs = colour / 100 + place / 5 + np.abs(truth.sizes[:, None] - tracks.sizes[None])
    order = [-1] * wanted
    for _ in range(min(wanted, tracks.bodies)):
        body, track = divmod(int(costs.argmin()), tracks.bodies)
        order[body] = track
        free.remove(track)
        costs[body], costs[:, track] = np.inf, np.inf
    missing = [body for body in range(wanted) if order[body] < 0]
    for body in missing:
        order[body] = tracks.bodies
        tracks = _with_lost(tracks, truth, body)
    order += free
    return tracks if order == list(range(len(order))) else tracks.take(np.array(order))


def _all_differ(truth: Motion) -> bool:
    """Whether colours alone tell the bodies apart."""
    return len({bytes(colour) for colour in truth.colours}) == len(truth.sizes)


def _with_lost(tracks: Tracks, truth: Motion, body: int) -> Tracks:
    """Return tracks with one more body, which is never seen."""
    frames = len(tracks)
    zeros = np.zeros((frames, 1, 2))

    def beside(array: NDArray[np.uint8], value: object) -> NDArray[np.uint8]:
        row = np.broadcast_to(np.asarray(value, np.uint8), (frames, 1, *array.shape[2:]))
        return np.concatenate([array, row], axis=1)

    return Tracks(
        np.concatenate([tracks.positions, zeros + truth.positions[0, body]], axis=1),
        np.concatenate([tracks.position_sigma, zeros + UNSEEN_SIGMA], axis=1),
        np.concatenate([tracks.radii, zeros[..., 0] + truth.sizes[body]], axis=1),
        np.concatenate([tracks.radius_sigma, zeros[..., 0] + UNSEEN_SIGMA], axis=1),
        np.concatenate([tracks.velocities, zeros], axis=1),
        np.concatenate([tracks.smooth_velocities, zeros], axis=1),
        beside(tracks.colours, truth.colours[body]),
        beside(tracks.shapes, truth.shapes[body]),
        beside(tracks.states, State.LOST),
        np.append(tracks.sizes, truth.sizes[body]),
        np.concatenate([tracks.body_colours, truth.colours[body : body + 1]]),
        np.append(tracks.body_shapes, truth.shapes[body]).astype(np.uint8),
        tracks.pixel,
        tracks.frame_time,
    )
