"""Whether speeds that were never trained are drawn to those that were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline.physics.types import Doubles


def nearest_edges(true: Doubles, bands: Sequence[tuple[float, float]]) -> Doubles:
    """Return the trained speed that is nearest to each of (N,) speeds outside of all bands."""
    edges = np.unique([edge for band in bands for edge in band])
    return edges[np.abs(true[:, None] - edges).argmin(axis=1)]


def pulled_share(true: Doubles, made: Doubles, edges: Doubles) -> float:
    """Return the share of videos whose speed is wrong in the direction of the nearest trained speed.

    Args:
        true: (N,) speeds.
        made: (N,) generated speeds.
        edges: (N,) of `nearest_edges`.
    """
    return float((np.sign(made - true) == np.sign(edges - true)).mean()) if len(true) else np.nan


def centred(speeds: Doubles, edges: Doubles) -> Doubles:
    """Take off the mean of all speeds with the same edge."""
    kinds, places = np.unique(edges, return_inverse=True)
    means = np.array([speeds[places == kind].mean() for kind in range(len(kinds))])
    return speeds - means[places] if len(speeds) else speeds


def slope_of(true: Doubles, made: Doubles) -> float:
    """Return the slope of a line through (N,) generated against true speeds; NaN without one."""
    return float(np.polyfit(true, made, 1)[0]) if len(true) > 1 and np.ptp(true) else float("nan")
