"""Birds: from sparrow to goose, standing or with their wings spread."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts.animals import off
from sightline.scenes.parts.draw import between, chance
from sightline.scenes.parts.finishes import colour, dark, grey, seed
from sightline.scenes.parts.many import rods
from sightline.scenes.parts.pieces import Piece, made
from sightline.scenes.shapes import box, cylinder, merge, sphere, tube
from sightline.scenes.world import Material


def bird(rng: np.random.Generator) -> Piece:
    """Make a bird that stands on thin legs or spreads its wings: from sparrow to goose."""
    s = float(np.exp(between(rng, np.log(0.12), np.log(0.7))))
    coat = Material(
        "noise",
        colour(rng, saturation=(0.0, 0.8), value=(0.15, 0.95)),
        grey(rng, 0.1, 0.9),
        0.1 * s,
        seed(rng),
    )
    leg, neck = s * between(rng, 0.2, 0.8), s * between(rng, 0.1, 0.8)
    middle = np.array([0.0, -leg - 0.25 * s, 0.0])
    head = off(middle, 0, -neck - 0.2 * s, -0.4 * s)
    shapes = [
        sphere([0, 0, 0], [0.22 * s, 0.22 * s, 0.42 * s], sectors=12).moved(
            middle, pitch=between(rng, 0, 35)
        ),
        tube([off(middle, 0, -0.1 * s, -0.25 * s), head], [0.13 * s, 0.08 * s], sectors=8),
        sphere(head, 0.12 * s, sectors=9),
        box([0, 0, 0.3 * s], [0.22 * s, 0.02 * s, 0.5 * s]).moved(
            off(middle, 0, 0, 0.2 * s), pitch=between(rng, -30, 20)
        ),
    ]
    wide = chance(rng, 0.35)
    for side in (-1, 1):
        wing = sphere(
            [side * (0.5 if wide else 0.02) * s, 0, 0.05 * s],
            [
                0.55 * s if wide else 0.05 * s,
                0.03 * s if wide else 0.18 * s,
                0.22 * s if wide else 0.42 * s,
            ],
            sectors=9,
        )
        shapes.append(
            wing.moved(
                off(middle, side * 0.2 * s, -0.08 * s, 0.05 * s), roll=side * -25 if wide else 0.0
            )
        )
    beak = cylinder([0, 0, 0], 0.045 * s, 0.2 * s, top=0.0, sectors=7).moved(
        off(head, 0, 0, -0.1 * s), pitch=90
    )
    foot = np.array([[side * 0.09 * s, 0.0, 0.0] for side in (-1, 1)])
    knee = off(foot, 0, -leg - 0.1 * s, 0.03 * s)
    toes = (
        np.concatenate([foot, foot, foot]),
        np.concatenate([off(foot, d * s, 0, -0.12 * s) for d in (-0.06, 0, 0.06)]),
    )
    orange = Material(
        "plain", colour(rng, hue=(0.02, 0.14), saturation=(0.5, 0.9), value=(0.3, 0.9))
    )
    sticks = [rods(foot, knee, 0.018 * s, sectors=5), rods(*toes, 0.012 * s, sectors=4)]
    eyes = [
        sphere(off(head, side * 0.09 * s, -0.03 * s, -0.06 * s), 0.02 * s, sectors=6)
        for side in (-1, 1)
    ]
    return made(
        "bird", [(merge(shapes), coat), (merge([beak, *sticks]), orange), (merge(eyes), dark(rng))]
    )
