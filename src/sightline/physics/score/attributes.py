"""Which attribute a model holds on to when two contradict its training: how a conflict probe is read.

A test shows a combination that training never had, such as a small blue ball after small red and large
blue ones. For each of the two attributes the end of the video is nearer either to what the first frames
showed (*kept*) or to what training would have put in its place (PhyWorld §5.2).
"""

from __future__ import annotations

import numpy as np

from sightline.physics.laws.frames import FIRST_FRAME
from sightline.physics.parse.tracks import Tracks
from sightline.physics.probes.conflicts import Candidate, candidates
from sightline.physics.probes.parts import Attribute, Probe
from sightline.physics.types import BLUE, RED, Motion

#: Frames at the end that are looked at: enough to average over, too few for a drift to hide in.
LAST = 8


def kept_attributes(
    tracks: Tracks,
    motion: Motion,
    init: tuple[float, ...],
    probe: Probe,
    given: int = FIRST_FRAME,
) -> dict[str, bool] | None:
    """Say of both attributes of a conflict whether a video keeps them to its end.

    Args:
        tracks: of the video, the body in question first.
        motion: what should happen.
        init: parameters of the sample.
        probe: the conflict.
        given: first frames that the model did not make, and that say nothing about it.

    Returns:
        Attribute to True or False; None when the model hardly shows the body: nothing can be said.
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
    """Whether an attribute is nearer to the true value than to the one it would drift to."""
    if attribute == "colour":
        colour = tracks.colours[seen, 0].astype(float).mean(axis=0)
        away = [float(np.linalg.norm(colour - np.array(one))) for one in (RED, BLUE)]
        shown = int(tuple(motion.colours[0].tolist()) == BLUE)
        return away[shown] <= away[int(drifted.colour[0])]
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
