"""Whether a body in the picture and the same body in metres agree."""

from __future__ import annotations

import numpy as np

from sightline.metric.people.detections import Array
from sightline.metric.people.merge import BODY


def disagreement(landmarks: Array, world: Array, visibility: Array) -> float:
    """How badly the metric body, seen from far away, fits the landmarks in the picture.

    The body is projected along the optical axis, scaled and shifted for the least squared distance.

    Args:
        landmarks: (33, 2) in [px].
        world: (33, 3) in [m], turned as the picture.
        visibility: (33,) 0 to 1, as weights.

    Returns:
        What is left over, as a share of the landmarks' spread: 0 fits, 1 does not fit at all. Real
        people have 0.03 to 0.15; perspective alone makes a few hundredths.
    """
    weights = np.clip(visibility[BODY], 0.05, 1.0)
    weights = (weights / weights.sum())[:, None]
    flat = world[BODY, :2] - (weights * world[BODY, :2]).sum(0)
    seen = landmarks[BODY] - (weights * landmarks[BODY]).sum(0)
    spread = float((weights * seen**2).sum())
    own = float((weights * flat**2).sum())
    if spread <= 0 or own <= 0:
        return 1.0
    scale = max(float((weights * flat * seen).sum()) / own, 0.0)
    rest = float((weights * (seen - scale * flat) ** 2).sum())
    return float(np.sqrt(rest / spread))
