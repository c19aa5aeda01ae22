"""What is seen through the openings of a room: the next room, or houses and trees outside."""

from __future__ import annotations

import numpy as np

from sightline.scenes.parts import surfaces
from sightline.scenes.parts.draw import between, chance, pick, some
from sightline.scenes.parts.finishes import colour, grey, seed, shaded, timber
from sightline.scenes.parts.fixtures import Opening, wall_sheet
from sightline.scenes.parts.pieces import Parts
from sightline.scenes.parts.soft import lump
from sightline.scenes.shapes import box, quad
from sightline.scenes.world import Builder, Material, Pattern


def next_room(rng: np.random.Generator, spot: Opening, thick: float, height: float) -> Parts:
    """Make what is seen through an open door, in the wall's frame: a bare room with a cupboard."""
    shift, deep = between(rng, -0.4, 0.4), between(rng, 1.0, 5.0)
    # Wider than the door on both sides, however it is shifted.
    wide = max(between(rng, 1.2, 3.0), spot[1] - spot[0] + 2 * abs(shift) + 0.1)
    middle = (spot[0] + spot[1]) / 2 + shift
    x0, x1, z0, z1 = middle - wide / 2, middle + wide / 2, thick, thick + deep
    sheets: Parts = [
        (quad([x0, 0, z0], [wide, 0, 0], [0, 0, deep]), surfaces.floor(rng)),
        (quad([spot[0], 0, 0], [spot[1] - spot[0], 0, 0], [0, 0, thick]), timber(rng)),
        (quad([x0, -height, z0], [wide, 0, 0], [0, 0, deep]), surfaces.ceiling(rng)),
        (quad([x0, 0, z1], [wide, 0, 0], [0, -height, 0]), surfaces.wall(rng)),
    ]
    side = surfaces.wall(rng)
    sheets += [(quad([x, 0, z0], [0, 0, deep], [0, -height, 0]), side) for x in (x0, x1)]
    sheets += [
        (
            wall_sheet(wide, height, [(spot[0] - middle, spot[1] - middle, 0.0, spot[3])]).moved(
                [middle, 0, z0]
            ),
            side,
        )
    ]
    size = [between(rng, 0.3, 0.9), between(rng, 0.4, 2.0), between(rng, 0.3, 0.6)]
    thing = box([x0 + 0.5, -size[1] / 2, z1 - size[2] / 2 - 0.05], size)
    return [*sheets, (thing, timber(rng))]


def outside(builder: Builder, rng: np.random.Generator, x: float, z: float) -> None:
    """Build what is seen out of the windows of a house from −x to x and −z to z: ground, houses, trees.

    The ground lies just below the floor, or deep below that of a high storey.
    """
    floor = 0.3 if chance(rng, 0.5) else between(rng, 2.5, 20.0)
    tint = colour(rng, hue=(0.1, 0.4), saturation=(0.1, 0.6), value=(0.3, 0.7))
    pattern: Pattern = pick(rng, ("grass", "asphalt", "noise"))
    ground = Material(pattern, tint, shaded(tint, 0.7), 0.5, seed(rng))
    # A frame around the house: the floor of the room must not coincide with the ground.
    far = 150.0
    strips = [(-far, far, z, far), (-far, far, -far, -z), (x, far, -z, z), (-far, -x, -z, z)]
    for x0, x1, z0, z1 in strips:
        builder.add(quad([x0, floor, z0], [x1 - x0, 0, 0], [0, 0, z1 - z0]), ground)
    leaves = Material("leaves", shaded(tint, 0.6), shaded(tint, 0.3), 0.3, seed(rng))
    for _ in range(some(rng, 3, 10)):
        angle, away = between(rng, 0, 2 * np.pi), between(rng, 7.0, 45.0) + float(np.hypot(x, z))
        if chance(rng, 0.45):
            size = rng.uniform([6, 4, 6], [18, 14, 18])
            away += float(np.hypot(size[0], size[2])) / 2  # or it would reach into the room
            at = [away * np.cos(angle), floor, away * np.sin(angle)]
            wall = Material(
                "facade",
                colour(rng, saturation=(0, 0.5), value=(0.4, 0.95)),
                grey(rng, 0.1, 0.4),
                2.8,
                seed(rng),
            )
            with builder.thing("building"):
                builder.add(
                    box([at[0], floor - size[1] / 2, at[2]], size, yaw=between(rng, 0, 90)), wall
                )
            continue
        at = [away * np.cos(angle), floor, away * np.sin(angle)]
        size = rng.uniform([2, 2, 2], [6, 7, 6])
        with builder.thing("tree"):
            builder.add(lump(rng, size, rough=0.5).moved(at), leaves)
