"""Statues: figures of stone or bronze on a plinth."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.draw import between, chance
from sightline.scenes.parts.finishes import metal, stone
from sightline.scenes.parts.pieces import Parts, Piece, made
from sightline.scenes.shapes import box, lathe, merge, sphere, tube


def statue(rng: np.random.Generator) -> Piece:
    """Make a figure on a plinth, standing with its arms somehow: stone or bronze."""
    stuff = stone(rng) if chance(rng, 0.7) else metal(rng)
    plinth, h = between(rng, 0.2, 1.2), between(rng, 0.6, 2.0)
    wide = h * 0.3
    lean = between(rng, -0.05, 0.05) * h
    hip, neck = -0.5 * h, -0.82 * h
    shapes = [
        tube(
            [
                [0, hip - 0.02 * h, 0],
                [0, -0.66 * h, 0],
                [lean, neck, 0],
                [lean, neck - 0.04 * h, 0],
            ],
            np.array([0.1, 0.085, 0.12, 0.04]) * h,
            sectors=12,
        ),
        sphere([lean, -0.92 * h, 0], [0.06 * h, 0.08 * h, 0.07 * h], sectors=12),
    ]
    for side in (-1, 1):
        step = between(rng, -0.12, 0.12) * h
        path = [
            [side * 0.055 * h, hip, 0],
            [side * 0.07 * h, -0.27 * h, step * 0.8 - 0.02 * h],
            [side * 0.075 * h, 0, step],
        ]
        shapes.append(tube(path, np.array([0.075, 0.05, 0.035]) * h, sectors=8))
        raised = between(rng, -1.0, 1.0)
        elbow = [
            side * between(rng, 0.14, 0.26) * h + lean,
            (-0.62 - 0.14 * raised) * h,
            between(rng, -0.1, 0.05) * h,
        ]
        hand = [
            elbow[0] + between(rng, -0.1, 0.12) * side * h,
            elbow[1] + between(rng, -0.18, 0.14) * h,
            elbow[2] - between(rng, 0, 0.15) * h,
        ]
        shapes.append(
            tube(
                [[side * 0.11 * h + lean, -0.78 * h, 0], elbow, hand],
                np.array([0.042, 0.034, 0.025]) * h,
                sectors=7,
            )
        )
    if chance(rng, 0.5):
        gown = lathe([[0.17 * h, 0.0], [0.14 * h, 0.3 * h], [0.09 * h, 0.55 * h]], sectors=14)
        shapes.append(gown)
    parts: Parts = [(merge(shapes).moved([0, -plinth, 0], yaw=between(rng, -20, 20)), stuff)]
    block = box([0, -plinth / 2, 0], [wide * 1.6, plinth, wide * 1.6])
    slab = box([0, -0.04, 0], [wide * 2.0, 0.08, wide * 2.0])
    parts.append((merge([block, slab]), stuff if chance(rng, 0.5) else stone(rng)))
    return made("statue", parts)
