"""What the laws are evaluated on: tracks, truth, contacts, and the frames that count.

A law is a function of `LawEvidence`, which is computed once per video, and of its tolerance; it returns
an `Outcome` and has no side effects.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.tracking.tracks import UNSEEN_SIGMA, State, Tracks
from sightline.physics.types import GRAVITY, WORLD_SIDE, Doubles, Motion

#: Default number of condition frames.
FIRST_FRAME = 3
#: A larger change of a true velocity, in units/s, is a collision.
COLLISION_CHANGE = 0.1


def valid_frames(truth: Motion, scenario: str, first: int = FIRST_FRAME) -> NDArray[np.bool_]:
    """Return (T,) the valid frames: from `first` on, with every true ball completely inside.

    For collisions the released evaluator checks the outer sides only: the left side of the first ball
    and
    the right side of the second.
    """
    positions, sizes = truth.positions, truth.sizes
    if scenario == "collision" and len(sizes) == 2:
        valid = (positions[:, 0, 0] >= sizes[0]) & (positions[:, 1, 0] <= WORLD_SIDE - sizes[1])
    else:
        margin = sizes[:, None]
        valid = ((positions >= margin) & (positions <= WORLD_SIDE - margin)).all(axis=(1, 2))
    valid[:first] = False
    return valid


def true_velocities(truth: Motion) -> Doubles:
    """Return the (T - 1, N, 2) forward differences of the true positions over time."""
    return (truth.positions[1:] - truth.positions[:-1]) / truth.frame_time


def collision_step(truth: Motion, valid: NDArray[np.bool_]) -> int:
    """Return the first step between valid frames in which the true x velocity changes.

    Steps are numbered by their first frame. Without a change it is the last valid step, as in the
    released
    evaluator.
    """
    velocity = true_velocities(truth)[..., 0]
    steps = np.flatnonzero(valid[1:] & valid[:-1])
    if len(steps) == 0:
        return 0
    change = np.abs(velocity[steps[1:]] - velocity[steps[:-1]]).max(axis=1)
    late = np.flatnonzero(change > COLLISION_CHANGE)
    return int(steps[late[0] + 1]) if len(late) else int(steps[-1])


def counted_steps(
    truth: Motion, scenario: str, first: int = FIRST_FRAME
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the valid steps before and after the collision; without one, all are after it.

    The step of the collision itself belongs to neither, since its velocity is a mixture.
    """
    valid = valid_frames(truth, scenario, first)
    steps = np.flatnonzero(valid[1:] & valid[:-1])
    if scenario != "collision":
        return steps[:0], steps
    at = collision_step(truth, valid)
    return steps[steps < at], steps[steps > at]


#: Free distance below which two bodies count as touching, in world units, beside what they cover in
#: half a frame: a collision between two frames shows at neither of them.
TOUCH = 0.15
#: Frames to both sides of a contact in which velocities may change.
REACH = 2


def gaps(positions: Doubles, sizes: Doubles) -> tuple[NDArray[np.int64], Doubles]:
    """Return (P, 2) pairs of bodies and the (T, P) gaps between them in world units.

    Args:
        positions: (T, N, 2) centers.
        sizes: (N,) radii.
    """
    bodies = len(sizes)
    if bodies == 2:  # the most frequent case
        pairs = np.array([[0, 1]])
    else:
        pairs = np.array(list(combinations(range(bodies), 2)), np.int64).reshape(-1, 2)
    apart = positions[:, pairs[:, 1]] - positions[:, pairs[:, 0]]
    return pairs, np.sqrt((apart**2).sum(axis=-1)) - sizes[pairs].sum(axis=1)


def contacts(
    velocities: Doubles,
    gap: Doubles,
    pairs: NDArray[np.int64],
    there: NDArray[np.bool_],
    frame_time: float,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return (T, N) where a body may touch another, and the same extended by `REACH` frames.

    Args:
        velocities: (T, N, 2) in units/s.
        gap: (T, P) free distances.
        pairs: (P, 2) bodies.
        there: (T, N) where a body is in the picture.
        frame_time: seconds between frames.
    """
    frames, bodies = velocities.shape[:2]
    touching = np.zeros((frames, bodies), np.bool_)
    touched = touching.copy()
    for index, (one, two) in enumerate(pairs):
        relative = velocities[:, two] - velocities[:, one]
        speed = np.sqrt((relative**2).sum(axis=-1))
        close = np.flatnonzero(
            (gap[:, index] < TOUCH + 0.6 * frame_time * speed) & there[:, one] & there[:, two]
        )
        if len(close):
            first, last = int(close[0]), int(close[-1])
            touching[first : last + 1, [one, two]] = True
            touched[max(first - REACH, 0) : last + REACH + 1, [one, two]] = True
    return touching, touched


def depth_of_passage(positions: Doubles, sizes: Doubles, one: int, two: int) -> Doubles:
    """Return (T,) the penetration of two bodies at each frame or on the way to the next.

    Bodies move on straight lines between frames, so that fast bodies cannot pass through each other
    unnoticed. In world units; zero where they are apart.
    """
    apart = positions[:, two] - positions[:, one]
    nearest = np.sqrt((apart**2).sum(axis=-1))
    if len(apart) > 1:
        step = apart[1:] - apart[:-1]
        length = (step**2).sum(axis=-1)
        share = -(apart[:-1] * step).sum(axis=-1) / np.maximum(length, 1e-12)
        middle = apart[:-1] + np.clip(share, 0, 1)[:, None] * step
        nearest[:-1] = np.minimum(nearest[:-1], np.sqrt((middle**2).sum(axis=-1)))
    return np.maximum(sizes[one] + sizes[two] - nearest, 0.0)


#: Body number of a violation that concerns all bodies together.
ALL_BODIES = -1

_SAME_COLOR = 40  # levels

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
    """A violation as the law reports it, without the fields of its table row."""

    frame: int
    body: int
    size: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a law.

    Attributes:
        value: in the unit of the law; None where the law does not apply.
        failures: where the tolerance is exceeded.
        interval: 95 % confidence interval of the value, where the law has one.
    """

    value: float | None
    failures: tuple[Failure, ...] = ()
    interval: tuple[float, float] | None = None


NOTHING_TO_SAY = Outcome(None)


@dataclass(frozen=True, slots=True)
class LawEvidence:
    """One tracked video with everything that the laws share.

    Attributes:
        tracks: bodies of the video; with a truth, its bodies first and in its order.
        truth: the true motion, if known.
        scenario: `uniform`, `collision` or `parabola`.
        gravity: downward acceleration in units/s².
        first: first frame made by the model; those before were given.
        whole: (T, N) bool, bodies measured and wholly in the picture.
        placed: (T, N) bool, those, and bodies cut by the border whose position is known nevertheless.
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
) -> LawEvidence:
    """Compute the evidence of a video.

    Args:
        tracks: bodies of the video.
        truth: the true motion with as many frames, or None.
        scenario: whose laws of motion hold.
        first: first frame that is compared with the truth.
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
    return LawEvidence(
        tracks=tracks,
        truth=truth,
        scenario=scenario,
        gravity=GRAVITIES[scenario],
        first=first,
        whole=tracks.whole,
        placed=tracks.placed,
        gap=gap,
        pairs=pairs,
        touching=touching,
        touched=touched,
        valid=valid,
        before=before,
        steps=steps,
    )


def align(tracks: Tracks, truth: Motion) -> Tracks:
    """Return the tracks in the order of the true bodies, then the others.

    Tracks are matched by color, position and size. A true body without a track is added as lost, at
    its true start.
    """
    wanted, free = len(truth.sizes), list(range(tracks.bodies))
    if tracks.bodies == wanted:
        away = truth.colors.astype(np.int16) - tracks.body_colors
        if wanted == 1 or (abs(away).max() < _SAME_COLOR and _all_differ(truth)):
            return tracks
    color = np.linalg.norm(
        truth.colors[:, None].astype(np.float64) - tracks.body_colors[None], axis=2
    )
    place = np.linalg.norm(truth.positions[0][:, None] - tracks.positions[0][None], axis=2)
    costs = color / 100 + place / 5 + np.abs(truth.sizes[:, None] - tracks.sizes[None])
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
    """Return whether all bodies have different colors."""
    return len({bytes(color) for color in truth.colors}) == len(truth.sizes)


def _with_lost(tracks: Tracks, truth: Motion, body: int) -> Tracks:
    """Return the tracks with an additional body that is never seen."""
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
        beside(tracks.colors, truth.colors[body]),
        beside(tracks.shapes, truth.shapes[body]),
        beside(tracks.states, State.LOST),
        np.append(tracks.sizes, truth.sizes[body]),
        np.concatenate([tracks.body_colors, truth.colors[body : body + 1]]),
        np.append(tracks.body_shapes, truth.shapes[body]).astype(np.uint8),
        tracks.pixel,
        tracks.frame_time,
    )
