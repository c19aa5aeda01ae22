"""What happens in a combinatorial world to a video.

The picture is PHYRE's (src/simulator/image_to_box2d.cpp, vis.py): flat colours on white, the red ball
last; neither walls nor how far a ball has turned are to be seen. Pixels are squares that fill the
scene, so the point (x, y) is at column x · S and row (1 − y) · S, counted from the upper left corner of
the picture: not the grid of the worlds of one law. Edges are soft by a pixel where PHYRE's are hard.
"""

from __future__ import annotations

import numpy as np

from sightline.errors import InputError
from sightline.physics.combinatorial.bodies import ANGLE, DIAMETER, X, Y, colours, outlines
from sightline.physics.combinatorial.draw import paint_bodies
from sightline.physics.combinatorial.make import CombinatorialSample
from sightline.physics.combinatorial.outlines import parts_of, turned
from sightline.physics.render import check_size
from sightline.physics.types import Doubles, Frames

#: Pixels along a side of the reference's videos.
SIZE = 256

_WHITE = 255


def render_scene(sample: CombinatorialSample, size: int = SIZE) -> Frames:
    """Return the video of a sample: (T, size, size, 3) uint8 RGB, row 0 at the top."""
    return render_objects(sample.objects, size)


def render_objects(objects: Doubles, size: int = SIZE) -> Frames:
    """Return the video of features: they say all that is to be seen.

    Args:
        objects: (T, N, 14) as in `bodies`.
        size: width and height in [px], 16 to 1024.

    Returns:
        (T, size, size, 3) uint8 RGB, row 0 at the top.
    """
    corners, radii, ends = place_parts(objects)
    if not np.isfinite(corners).all():
        raise InputError("an object is at a place that is not finite")
    corners[..., 1] = 1 - corners[..., 1]
    frames = np.full((len(objects), check_size(size), size, 3), _WHITE, np.uint8)
    paint_bodies(frames, corners * size, radii * size, np.asarray(ends), colours(objects))
    return frames


def place_parts(objects: Doubles) -> tuple[Doubles, Doubles, list[int]]:
    """Return where the parts of objects are in each frame.

    Args:
        objects: (T, N, 14) features.

    Returns:
        (T, P, 4, 2) corners (x, y) in scene units, (P,) radii (`outlines.Parts`), and for each object
        the number of the part behind its last.
    """
    corners, radii = [], []
    ends: list[int] = []
    for place, outline in enumerate(outlines(objects)):
        rows = objects[:, place]
        parts = parts_of(outline, float(rows[0, DIAMETER]))
        corners.append(turned(parts.corners, rows[:, X], rows[:, Y], 2 * np.pi * rows[:, ANGLE]))
        radii.append(parts.radii)
        ends.append(len(parts.radii) + (ends[-1] if ends else 0))
    return np.concatenate(corners, axis=1), np.concatenate(radii), ends
