"""Velocity error step by step and of the mean velocity, and position error.

The paper's text defines the first (§3); its tables hold the second, that of the released code
(`reference_evaluator`).

The functions of plain positions serve both trackers, ours and that of the released evaluator.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.physics.laws.evidence import (
    ALL_BODIES,
    NOTHING_TO_SAY,
    Failure,
    LawEvidence,
    Outcome,
    counted_steps,
    true_velocities,
)
from sightline.physics.types import Doubles, Motion


def velocity_error_steps(positions: Doubles, truth: Motion, scenario: str) -> float | None:
    """Return the mean of |v - v̂| over balls and valid frames in units/s, as the paper's text has it.

    Collisions count after the impact only. None without valid frames.

    Args:
        positions: (T, N, 2) tracked, bodies in the order of the truth.
        truth: the true motion.
        scenario: selects the valid frames.
    """
    _, steps = counted_steps(truth, scenario)
    return float(_step_errors(positions, truth, steps).mean()) if len(steps) else None


def velocity_error_code(positions: Doubles, truth: Motion, scenario: str) -> float | None:
    """Return the error of the time-averaged velocity in units/s, as in the released code.

    One ball: | mean over time of v - v at the start |, along the direction of the start (x in all
    released data). Two balls: | mean over time of v_x - mean of the true v_x | after the impact,
    averaged over the balls.
    """
    _, steps = counted_steps(truth, scenario)
    return _mean_error(positions, truth, scenario, steps) if len(steps) else None


def _step_errors(positions: Doubles, truth: Motion, steps: NDArray[np.intp]) -> Doubles:
    """Return the (S, N) norms of the velocity error at some steps."""
    wrong = positions[:, : len(truth.sizes)] - truth.positions
    change = (wrong[steps + 1] - wrong[steps]) / truth.frame_time
    return np.sqrt((change**2).sum(axis=-1))


def _mean_error(positions: Doubles, truth: Motion, scenario: str, steps: NDArray[np.intp]) -> float:
    bodies = len(truth.sizes)
    parsed = (positions[steps + 1, :bodies] - positions[steps, :bodies]) / truth.frame_time
    if scenario == "collision":
        true = true_velocities(truth)[steps]
        return float(np.abs(parsed.mean(axis=0) - true.mean(axis=0))[:, 0].mean())
    start = truth.velocities[0] * ([1.0, 0.0] if scenario == "parabola" else [1.0, 1.0])
    speed = np.sqrt((start**2).sum(axis=-1, keepdims=True))
    along = np.where(speed > 0, start / np.maximum(speed, 1e-12), [1.0, 0.0])
    return float(np.abs((parsed.mean(axis=0) * along).sum(axis=-1) - speed[:, 0]).mean())


def steps_velocity(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean of |v - v̂| over steps, in units/s; a failure per body at its worst step."""
    if evidence.truth is None or len(evidence.steps) == 0:
        return NOTHING_TO_SAY
    size = _step_errors(evidence.tracks.positions, evidence.truth, evidence.steps)
    return Outcome(float(size.mean()), _worst(size, evidence.steps, tolerance))


def velocity_before(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Velocity error before the impact, in units/s; does not apply without one."""
    if evidence.truth is None or len(evidence.before) == 0:
        return NOTHING_TO_SAY
    size = _step_errors(evidence.tracks.positions, evidence.truth, evidence.before)
    return Outcome(float(size.mean()), _worst(size, evidence.before, tolerance))


def code_velocity(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Velocity error by the definition of the released code, in units/s."""
    if evidence.truth is None or len(evidence.steps) == 0:
        return NOTHING_TO_SAY
    value = _mean_error(
        evidence.tracks.positions, evidence.truth, evidence.scenario, evidence.steps
    )
    return Outcome(
        value, (Failure(int(evidence.steps[0]), ALL_BODIES, value),) if value > tolerance else ()
    )


def position(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean distance to the true position over balls and valid frames, in world units."""
    truth, frames = evidence.truth, evidence.valid
    if truth is None or len(frames) == 0:
        return NOTHING_TO_SAY
    wrong = evidence.tracks.positions[:, : len(truth.sizes)][frames] - truth.positions[frames]
    size = np.sqrt((wrong**2).sum(axis=-1))
    return Outcome(float(size.mean()), _worst(size, frames, tolerance))


def _worst(size: Doubles, frames: NDArray[np.intp], tolerance: float) -> tuple[Failure, ...]:
    """Return the worst frame of each body whose mean exceeds the tolerance."""
    failures = []
    for body in np.flatnonzero(size.mean(axis=0) > tolerance):
        at = int(size[:, body].argmax())
        failures.append(Failure(int(frames[at]), int(body), float(size[at, body])))
    return tuple(failures)
