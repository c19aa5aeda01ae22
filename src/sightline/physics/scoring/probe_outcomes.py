"""Read the outcome of a probe in one video: speeds, gates, events, and attributes that are kept.

Every probe defines how it is read (`probes.catalog`); `summary` aggregates the readings of many
videos.

Conflict probes show a combination that training never had, such as a small blue ball after small red
and large blue ones. For each of the two attributes the end of the video is nearer either to the first
frames (*kept*) or to what was trained with the other attribute (PhyWorld §5.2).
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.datasets.spec import PROBE
from sightline.physics.laws.evidence import FIRST_FRAME, true_velocities
from sightline.physics.probes.catalog import Candidate, candidates, probe_of
from sightline.physics.probes.parts import Attribute, Cells, Gates, Probe, Scenes
from sightline.physics.probes.scenes import HALF_SIDE, passes
from sightline.physics.tracking.tracks import Tracks
from sightline.physics.types import BLUE, RED, WORLD_SIDE, Doubles, Motion

#: Frames at the end that are looked at: enough to average over, too few for a drift to hide in.
LAST = 8


def kept_attributes(
    tracks: Tracks,
    motion: Motion,
    init: tuple[float, ...],
    probe: Probe,
    given: int = FIRST_FRAME,
) -> dict[str, bool] | None:
    """Return whether a video keeps each attribute of a conflict to its end.

    Args:
        tracks: of the video, the body in question first.
        motion: what should happen.
        init: parameters of the sample.
        probe: the conflict.
        given: first frames that the model did not make, and that say nothing about it.

    Returns:
        Attribute to True or False; None when the body is hardly visible.
    """
    assert probe.attributes is not None
    seen = np.flatnonzero(tracks.whole[given:, 0]) + given if tracks.bodies else np.empty(0, int)
    seen = seen[-LAST:]
    if len(seen) < 3:
        return None
    first, second = candidates(probe, np.array([init]))
    # Where the first is kept the second yields, and the other way round.
    return {
        probe.attributes[0]: _kept(probe.attributes[0], tracks, motion, seen, second),
        probe.attributes[1]: _kept(probe.attributes[1], tracks, motion, seen, first),
    }


def _kept(
    attribute: Attribute, tracks: Tracks, motion: Motion, seen: np.ndarray, drifted: Candidate
) -> bool:
    """Return whether an attribute is nearer to the true value than to the trained alternative."""
    if attribute == "color":
        color = tracks.colors[seen, 0].astype(float).mean(axis=0)
        away = [float(np.linalg.norm(color - np.array(one))) for one in (RED, BLUE)]
        shown = int(tuple(motion.colors[0].tolist()) == BLUE)
        return away[shown] <= away[int(drifted.color[0])]
    if attribute == "shape":
        shapes = tracks.shapes[seen, 0]
        kept = int((shapes == motion.shapes[0]).sum())
        return kept >= int((shapes == drifted.shape[0]).sum())
    if attribute == "size":
        found, true = float(tracks.radii[seen, 0].mean()), float(motion.sizes[0])
        interval = drifted.radius[0]
    else:
        velocity = tracks.smooth_velocities[seen, 0].mean(axis=0)
        found, true = (float(np.linalg.norm(v)) for v in (velocity, motion.velocities[0, 0]))
        interval = drifted.speed[0]
    return bool(abs(found - true) <= abs(found - np.clip(found, *interval)))


#: Frames in which a body must be measured before anything is said of its motion.
LEAST = 3

#: An event comes out right if the velocities after it are off by less than this share of their change.
#: A ball that stops instead of bouncing is off by half of it, one that goes on by all of it.
SHARE = 0.25

#: A ball turns round if it moves the other way with more than this share of the speed it came with.
BACK = 0.25

# Changes of a true place in world units, and of a true velocity in units/s, that are no rounding.
_MOVED, _EVENT = 1e-6, 1e-3


@lru_cache(maxsize=8)
def probe_made(made_of: str) -> Probe | None:
    """Return the probe that a data set was made of (`probe:NAME`); None if it is none that is known."""
    if not made_of.startswith(PROBE):
        return None
    try:
        return probe_of(made_of.removeprefix(PROBE))
    except InputError:  # made by a later version
        return None


def outcome_of(
    probe: Probe, tracks: Tracks, motion: Motion, init: tuple[float, ...], given: int
) -> dict[str, float]:
    """Return the readings of a probe for one video by name (`summary.TITLES`); 1 or 0 for yes and no.

    Args:
        probe: that the sample is of.
        tracks: of the video, the true bodies first.
        motion: what should happen.
        init: parameters of the sample.
        given: first frames that the model did not make.
    """
    if isinstance(probe.test, Gates):
        return _at_gate(tracks, motion, init, given)
    if isinstance(probe.test, Scenes):
        spatial = probe.test.world == "spatial"
        return _side_by_side(tracks, motion, given) if spatial else _events(tracks, motion, given)
    if isinstance(probe.test, Cells) and probe.attributes is None:
        speed = signed_speed(tracks, motion, given)
        if speed is None:
            return {}
        return {"signed_speed": speed, "turned_round": float(speed < -BACK * abs(init[1]))}
    return {}


def signed_speed(tracks: Tracks, motion: Motion, given: int) -> float | None:
    """Return the speed of the first body along its true motion, mean over what the model made.

    In units/s; negative if it goes the other way. None where it is whole in fewer than `LEAST` frames.
    """
    seen = np.flatnonzero(tracks.whole[given:, 0]) + given
    if len(seen) < LEAST:
        return None
    slope = np.polyfit(seen * motion.frame_time, tracks.positions[seen, 0], 1)[0]
    way = motion.velocities[0, 0]
    length = np.linalg.norm(way)
    return float(slope @ way / length) if length else float(np.linalg.norm(slope))


def _at_gate(
    tracks: Tracks, motion: Motion, init: tuple[float, ...], given: int
) -> dict[str, float]:
    """Return whether the ball passes the gate, and whether that is right."""
    seen = np.flatnonzero(tracks.measured[given:, 0]) + given
    if len(seen) < LEAST:
        return {}
    last = seen[-LEAST:]
    x = tracks.positions[last, 0, 0]
    near_side = motion.positions[0, 1, 0] - HALF_SIDE
    through = bool(x[-1] > near_side)
    speed = np.polyfit(last * motion.frame_time, x, 1)[0]
    back = not through and speed < -BACK * init[1]
    right = through if passes(np.array([init]))[0] else back
    return {"passes": float(through), "right_outcome": float(right)}


def _side_by_side(tracks: Tracks, motion: Motion, given: int) -> dict[str, float]:
    """Return the velocity error of each body that should move, alone or with the other, in units/s."""
    moving = [bool(np.ptp(motion.positions[:, body], axis=0).max() > _MOVED) for body in range(2)]
    how = "together" if all(moving) else "alone"
    found = {}
    for body, name in enumerate(("ball", "square")):
        error = _velocity_error(tracks, motion, body, given)
        if moving[body] and error is not None:
            found[f"{name}_error_{how}"] = error
    return found


def _velocity_error(tracks: Tracks, motion: Motion, body: int, given: int) -> float | None:
    """Return the mean |v − v̂| of a body while it is truly whole in the picture, in units/s."""
    place, size = motion.positions[:, body], motion.sizes[body]
    inside = ((place >= size) & (place <= WORLD_SIDE - size)).all(axis=1)
    inside[:given] = False
    steps = np.flatnonzero(inside[1:] & inside[:-1])
    if not len(steps):
        return None
    wrong = tracks.positions[:, body] - place
    change = (wrong[steps + 1] - wrong[steps]) / motion.frame_time
    return float(np.linalg.norm(change, axis=1).mean())


def _events(tracks: Tracks, motion: Motion, given: int) -> dict[str, float]:
    """Return whether the collision and the bounces are right, and whether all are.

    An event changes true velocities: of both balls it is the collision, of one a bounce. What lies less
    than a whole step before the next event cannot be told apart from it and is judged with it. A ball
    that is not to be seen after an event has not come out right.
    """
    right: dict[str, list[bool]] = {}
    for before, after in pairwise(_calm(motion)):
        own = after[after >= given]
        if not len(own):
            continue  # its outcome was given
        old, new = (true_velocities(motion)[steps[0]] for steps in (before, after))
        change = np.linalg.norm(new - old, axis=1)
        name = "collision_right" if (change > _EVENT).all() else "bounce_right"
        found = _velocities(tracks, own)
        off = np.inf if found is None else float(np.linalg.norm(found - new))
        right.setdefault(name, []).append(off < SHARE * float(np.linalg.norm(change)))
    told = {name: float(all(values)) for name, values in right.items()}
    return told | {"all_right": float(all(told.values()))} if told else {}


def _calm(motion: Motion) -> list[NDArray[np.int64]]:
    """Return the steps between events, by the frame they begin at: runs of one true velocity."""
    steps = np.arange(len(motion.positions) - 1)
    now, others = motion.velocities[:-1], (true_velocities(motion), motion.velocities[1:])
    change = np.max([np.abs(other - now).max(axis=(1, 2)) for other in others], axis=0)
    even = change < _EVENT
    runs = [run[even[run]] for run in np.split(steps, np.flatnonzero(~even))]
    return [run for run in runs if len(run)]


def _velocities(tracks: Tracks, steps: NDArray[np.int64]) -> Doubles | None:
    """Return the (2, 2) mean velocities of both balls over steps in which both are measured."""
    seen = np.asarray(tracks.measured[:, :2].all(axis=1))
    steps = steps[seen[steps] & seen[steps + 1]]
    if not len(steps):
        return None
    moved = tracks.positions[steps + 1, :2] - tracks.positions[steps, :2]
    return np.asarray(moved.mean(axis=0) / tracks.frame_time)
