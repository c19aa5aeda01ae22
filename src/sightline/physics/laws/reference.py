"""The released evaluator's figures, from the released evaluator's parser.

Spec §2.5 (`R-PHY` id_ood_data/evaluate.py), for tables that stand beside the paper's. Only x counts in
collisions; masses are r² with the true radii; momentum and energy are compared with those of the true
start, in absolute terms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws.errors import velocity_error_code, velocity_error_paper
from sightline.physics.laws.frames import counted_steps, true_velocities, valid_frames
from sightline.physics.parse.reference import ReferenceTracks
from sightline.physics.types import Doubles, Motion

#: Samples with a ball this small are left out by the reference ("vanishing balls", item 7): below
#: the first figure for one ball, up to the second for two.
SMALL_SINGLE, SMALL_PAIR = 0.6, 0.5
_RADIUS_FRAMES = 5  # valid frames over which the radii of two balls are compared


@dataclass(frozen=True, slots=True)
class ReferenceFigures:
    """Figures of one video; None where the reference has none for the scenario.

    Attributes:
        velocity_error: the code's headline, in units/s: of the mean velocity; after the impact.
        velocity_error_before: the same before the impact.
        velocity_error_paper: mean |v - v̂|, in units/s.
        x_error: mean |Δx|, in world units.
        y_error: mean |Δy|.
        radius_change: largest minus smallest radius.
        momentum_error: mean |p - p of the start| after the impact, along x.
        energy_error: mean |E - E of the start| after the impact, along x.
    """

    velocity_error: float | None
    velocity_error_before: float | None
    velocity_error_paper: float | None
    x_error: float | None
    y_error: float | None
    radius_change: float | None
    momentum_error: float | None
    energy_error: float | None


def left_out(truth: Motion) -> bool:
    """Whether the reference drops this sample because a ball is small."""
    if len(truth.sizes) == 1:
        return bool(truth.sizes[0] < SMALL_SINGLE)
    return bool(truth.sizes.min() <= SMALL_PAIR)


def reference_figures(
    tracks: ReferenceTracks, truth: Motion, scenario: str, *, drop_small: bool = True
) -> ReferenceFigures | None:
    """Return the reference's figures of a video, or None for a sample that it leaves out.

    Args:
        tracks: by `parse_reference`, bodies in the truth's order.
        truth: what should have happened.
        scenario: `uniform`, `collision` or `parabola`.
        drop_small: leave out samples with small balls.
    """
    if drop_small and left_out(truth):
        return None
    frames = np.flatnonzero(valid_frames(truth, scenario))
    positions = tracks.positions
    wrong = np.abs(positions[frames] - truth.positions[frames])
    pair = scenario == "collision"
    radii = tracks.radii[frames[:_RADIUS_FRAMES] if pair else frames]
    before, after = counted_steps(truth, scenario)
    momentum = energy = early = None
    if pair and len(after):
        momentum, energy = _conserved(positions, truth, after)
    if pair and len(before):
        parsed = _mean_velocity(positions, before, truth.frame_time)
        early = float(np.abs(parsed - true_velocities(truth)[before, :, 0].mean(axis=0)).mean())
    some = len(frames) > 0
    return ReferenceFigures(
        velocity_error_code(positions, truth, scenario),
        early,
        velocity_error_paper(positions, truth, scenario),
        float(wrong[..., 0].mean()) if some else None,
        float(wrong[..., 1].mean()) if some and not pair else None,
        float((radii.max(axis=0) - radii.min(axis=0)).max()) if some else None,
        momentum,
        energy,
    )


def _mean_velocity(positions: Doubles, steps: NDArray[np.intp], frame_time: float) -> Doubles:
    """Return (N,) time-mean of v_x over steps."""
    moved = positions[steps + 1, :, 0] - positions[steps, :, 0]
    mean: Doubles = moved.mean(axis=0) / frame_time
    return mean


def _conserved(positions: Doubles, truth: Motion, steps: NDArray[np.intp]) -> tuple[float, float]:
    """Return mean errors of momentum and energy along x against the true start."""
    velocity = (positions[steps + 1, :, 0] - positions[steps, :, 0]) / truth.frame_time
    start, masses = truth.velocities[0, :, 0], truth.masses
    momentum = (masses * velocity).sum(axis=1) - (masses * start).sum()
    energy = (masses * velocity**2).sum(axis=1) / 2 - (masses * start**2).sum() / 2
    return float(np.abs(momentum).mean()), float(np.abs(energy).mean())
