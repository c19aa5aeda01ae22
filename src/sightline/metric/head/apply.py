"""From the fit to a map in metres, with an error bar for every pixel."""

from __future__ import annotations

import numpy as np

from sightline.errors import InputError
from sightline.metric.head.clues import LEAST, READING
from sightline.metric.head.fit import MetricFit
from sightline.types import Camera, DepthMap, Kind


def to_metres(relative: DepthMap, fit: MetricFit, camera: Camera | None = None) -> DepthMap:
    """Turn relative disparity into metres.

    Two errors add up in every pixel: that of the fit, which moves all of them together, and the
    relative map's own: its sigma, or what is usual where it has none. What comes out farther than a
    kilometre, the sky above all, is not valid: nothing is known about it but that it is far.

    Args:
        relative: the picture's relative disparity, with its sigma if there is one.
        fit: of the same map.
        camera: of the result; its focal length is the one that was found to fit best.
    """
    if relative.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError(f"a map of kind {relative.kind} has a unit already")
    disparity = relative.values.astype(np.float64)
    inverse = fit.scale * disparity + fit.shift
    valid = relative.valid & (inverse > LEAST)
    inverse = np.where(valid, inverse, 1.0)
    variance = fit.relative_sigma(disparity) ** 2
    if relative.sigma is None:
        variance += READING**2
    else:
        variance += (fit.scale * relative.sigma.astype(np.float64) / inverse) ** 2
    depth = 1 / inverse
    camera = camera or relative.camera
    if camera is not None:
        K = camera.K.copy()
        K[:2, :2] *= fit.focal_factor
        camera = Camera(K, camera.width, camera.height, camera.source)
    return DepthMap(
        depth.astype(np.float32),
        Kind.METRIC_DEPTH,
        valid,
        camera,
        (depth * np.sqrt(variance)).astype(np.float32),
        relative.source,
    )
