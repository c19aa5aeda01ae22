"""Where the parts of a sample are, for tests of what may not happen to them."""

from __future__ import annotations

import numpy as np

from sightline.physics.combinatorial.objects import gap_of, is_static
from sightline.physics.combinatorial.rendering import place_parts

#: Side of the reference's picture in [px], in which tolerances are told.
PIXELS = 256


def deepest(sample):
    """How deep any two objects are in each other in any frame, in [px] of 256."""
    corners, radii, ends = place_parts(sample.objects)
    spans = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    gaps = [
        gap_of(frame[a], radii[a], frame[b], radii[b])
        for frame in corners
        for place, a in enumerate(spans)
        for b in spans[:place]
    ]
    return -PIXELS * min(gaps)


def farthest_out(sample):
    """How far anything that can move reaches out of the scene in any frame, in [px] of 256."""
    corners, radii, ends = place_parts(sample.objects)
    owners = np.repeat(np.arange(len(ends)), np.diff([0, *ends]))
    moving = ~is_static(sample.objects)[owners]
    low = (corners - radii[:, None, None])[:, moving].min()
    high = (corners + radii[:, None, None])[:, moving].max()
    return PIXELS * max(-low, high - 1)
