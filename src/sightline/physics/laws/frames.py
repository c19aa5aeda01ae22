"""Which frames count against the truth, and when the collision is: spec §2.5, items 2 and 5."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.types import WORLD_SIDE, Doubles, Motion

#: Frames before this one are condition frames, unless something else is said (spec §2.5, item 2).
FIRST_FRAME = 3
#: A change of a true velocity by more than this, in units/s, is the collision (item 5).
COLLISION_CHANGE = 0.1


def valid_frames(truth: Motion, scenario: str, first: int = FIRST_FRAME) -> NDArray[np.bool_]:
    """Return (T,) frames that count: from `first` on, every ball wholly inside by the truth.

    For collisions the reference looks at the outer sides only: the left of the first ball and the
    right of the second.
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
    """Return the first step from one valid frame to the next whose true x velocity has changed.

    Steps are numbered by the frame they begin at. Without a change it is the last valid step, as in
    the reference.
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
    """Return the steps before and after the collision that count; all are `after` without one.

    The step in which the collision happens belongs to neither: its velocity is a mix.
    """
    valid = valid_frames(truth, scenario, first)
    steps = np.flatnonzero(valid[1:] & valid[:-1])
    if scenario != "collision":
        return steps[:0], steps
    at = collision_step(truth, valid)
    return steps[steps < at], steps[steps > at]
