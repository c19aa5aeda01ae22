"""Levenberg–Marquardt: damped Gauss–Newton steps until they no longer help."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.problem import Problem, State

Array = NDArray[np.float64]


def solve(problem: Problem, state: State, *, steps: int = 40) -> State:
    """Find the most probable state near a start.

    Args:
        problem: whose cost is to be small.
        state: where to start.
        steps: at most so many.
    """
    cost = problem.cost(state)
    damping = 1e-2
    gradient, matrix = problem.normal(state)
    for _ in range(steps):
        scaled = np.diag(np.maximum(np.diag(matrix), 1e-6))
        step = np.linalg.solve(matrix + damping * scaled, gradient)
        trial = state.moved(np.asarray(-step, np.float64))
        new = problem.cost(trial)
        if not new < cost:
            damping *= 6.0
            if damping > 1e6:
                break
            continue
        gained, state, cost = cost - new, trial, new
        damping = max(damping / 5.0, 1e-6)
        if gained < 1e-3:  # far less than any residual could tell
            break
        gradient, matrix = problem.normal(state)
    return state
