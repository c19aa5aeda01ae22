"""Irises as yardsticks: 11.7 mm wide in everybody, so a portrait measures itself."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.metric.head.clues import READING, DepthClue
from sightline.metric.people.iris import DIAMETER, SPREAD, Iris
from sightline.metric.yardsticks.reading import around
from sightline.types import Camera, DepthMap


def iris_clues(
    pairs: Sequence[tuple[Iris, Iris]], relative: DepthMap, camera: Camera
) -> list[DepthClue]:
    """Return one clue for each face: both irises of a face are of one size, and at one distance.

    Args:
        pairs: the two irises of every face.
        relative: the picture's relative disparity.
        camera: of it; distances are proportional to its focal length.
    """
    clues = []
    for number, (left, right) in enumerate(pairs, 1):
        name = f"irises of face {number}"
        width = math.sqrt(left.diameter * right.diameter)
        reading = math.hypot(left.sigma / left.diameter, right.sigma / right.diameter) / 2
        values = np.concatenate([_seen(relative, eye, name) for eye in (left, right)])
        depth = camera.focal * DIAMETER / width
        clues.append(
            DepthClue(
                name,
                "iris",
                np.array([np.median(values)]),
                np.array([depth]),
                math.hypot(SPREAD / DIAMETER, reading, READING),
                focal_power=1.0,
            )
        )
    return clues


def _seen(relative: DepthMap, eye: Iris, name: str) -> NDArray[np.float32]:
    """Return relative disparity on and around an eye."""
    x, y = eye.centre
    return around(relative, float(x), float(y), name, round(eye.diameter))
