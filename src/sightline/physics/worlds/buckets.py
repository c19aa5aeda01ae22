"""Into which bucket of the score a sample falls, by its radii and speeds."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Doubles
from sightline.physics.worlds.ranges import ranges

Bucket = Literal["in", "r_out", "v_out", "rv_out", "zero_speed"]
BUCKETS: tuple[Bucket, ...] = get_args(Bucket)

# Values that went through a file as 32-bit floats must not fall out of a closed range.
_SLACK = 1e-6


def bucket(scenario: str, init: Doubles, preset: str = "code") -> NDArray[np.str_]:
    """Sort samples into the reference evaluator's buckets.

    A sample with any ball at rest is `zero_speed`; otherwise it is out in radius, in speed or in both
    when any ball is. The reference's "out" is everything but `in`.

    Args:
        scenario: `uniform`, `parabola` or `collision`.
        init: (M, 2 or more): r, v …; or (M, 4): r1, r2, v1, v2.
        preset: of ranges.

    Returns:
        (M,) names, each one of `BUCKETS`.

    >>> bucket("uniform", np.array([[1.0, 2.0], [0.4, 2.0], [1.0, 0.0]])).tolist()
    ['in', 'r_out', 'zero_speed']
    """
    known = ranges(scenario, preset)
    balls = 2 if scenario == "collision" else 1
    if init.ndim != 2 or init.shape[1] < 2 * balls:
        raise InputError(
            f"parameters of shape {init.shape}, expected (samples, {2 * balls} or more)"
        )
    radii, speeds = init[:, :balls], np.abs(init[:, balls : 2 * balls])
    r_out = _outside(radii, *known.radius)
    v_out = _outside(speeds, *known.speed)
    cases = [(speeds == 0).any(1), r_out & v_out, r_out, v_out]
    return np.select(cases, ["zero_speed", "rv_out", "r_out", "v_out"], "in")


def _outside(values: Doubles, low: float, high: float) -> NDArray[np.bool_]:
    return np.any((values < low - _SLACK) | (values > high + _SLACK), axis=1)
