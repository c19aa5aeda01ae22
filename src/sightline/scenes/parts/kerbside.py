"""Small things by the kerb: bollards, cones, hydrants, boxes, planters; parts with their roles."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.many import boxes, rods
from sightline.scenes.shapes import Shape, cylinder, lathe, merge

#: Shapes under the roles that choose their materials.
Parts = list[tuple[str, Shape]]


def bollard(rng: np.random.Generator) -> Parts:
    """Make a short post with a bright ring."""
    high = float(rng.uniform(0.6, 1.1))
    post = cylinder([0, 0, 0], 0.07, high, top=0.06, sectors=8)
    return [("metal", post), ("lamp", cylinder([0, -high * 0.85, 0], 0.073, 0.06, sectors=8))]


def cone(_: np.random.Generator) -> Parts:
    """Make a traffic cone."""
    body = cylinder([0, -0.03, 0], 0.15, 0.6, top=0.025, sectors=10)
    ring = cylinder([0, -0.3, 0], 0.1, 0.12, top=0.08, sectors=10)
    return [("red", body), ("lamp", ring), ("black", boxes([[0, -0.015, 0]], [0.4, 0.03, 0.4]))]


def hydrant(_: np.random.Generator) -> Parts:
    """Make a hydrant."""
    line = [
        [0.14, 0],
        [0.14, 0.05],
        [0.1, 0.06],
        [0.1, 0.55],
        [0.13, 0.58],
        [0.09, 0.72],
        [0, 0.78],
    ]
    arms = rods([[-0.2, -0.45, 0]], [[0.2, -0.45, 0]], 0.055, sectors=8)
    return [("paint", merge([lathe(line, sectors=12), arms]))]


def box(rng: np.random.Generator) -> Parts:
    """Make a post box, parking meter or cabinet."""
    wide, high, deep = rng.uniform([0.3, 0.6, 0.25], [1.3, 1.5, 0.5])
    foot = float(rng.choice([0.0, 0.6]))
    body = boxes([[0, -foot - high / 2, 0]], [wide, high, deep])
    post = boxes([[0, -foot / 2, 0]], [0.1, foot + 0.02, 0.1])
    return [
        ("paint", body),
        ("metal", post),
        ("face", boxes([[0, -foot - high * 0.65, -deep / 2]], [wide * 0.6, high * 0.3, 0.02])),
    ]


def planter(rng: np.random.Generator) -> Parts:
    """Make a tub of stone; the caller puts a plant into it."""
    wide, high = float(rng.uniform(0.5, 1.4)), float(rng.uniform(0.4, 0.7))
    if rng.random() < 0.5:
        return [
            (
                "stone",
                lathe(
                    [
                        [0, 0],
                        [wide / 2, 0],
                        [wide * 0.62, high],
                        [wide * 0.5, high],
                        [wide * 0.48, high - 0.06],
                        [0, high - 0.06],
                    ],
                    sectors=14,
                ),
            )
        ]
    return [("stone", boxes([[0, -high / 2, 0]], [wide, high, wide]))]
