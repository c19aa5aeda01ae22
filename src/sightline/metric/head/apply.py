"""From the fit to a map in metres, with an error bar for every pixel."""

from __future__ import annotations

import numpy as np

from sightline.errors import InputError
from sightline.metric.head.clues import READING
from sightline.metric.head.fit import MetricFit
from sightline.types import Camera, CameraSource, DepthMap, Kind

#: From this change of ln(focal length) on, a lens is what the yardsticks say and no longer what was
#: assumed or read: they moved it.
MOVED = 0.02


def to_metres(relative: DepthMap, fit: MetricFit, camera: Camera | None = None) -> DepthMap:
    """Turn relative disparity into metres.

    Two errors add up in every pixel: that of the fit, which moves all of them together, and the
    relative map's own: its sigma, or what is usual where it has none. What comes out a thousand times
    as far as near things, the sky above all, is not valid: nothing is known but that it is far.

    Args:
        relative: the picture's relative disparity, with its sigma if there is one.
        fit: of the same map.
        camera: of the result; its focal length is the one that was found to fit best.
    """
    if relative.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError(f"a map of kind {relative.kind} has a unit already")
    disparity = relative.values.astype(np.float64)
    inverse = fit.scale * disparity + fit.shift
    valid = relative.valid & (inverse > fit.least)
    if not valid.any():
        raise InputError("no pixel comes out at a distance: look for a mistake in what is known")
    inverse = np.where(valid, inverse, 1.0)
    variance = fit.relative_sigma(disparity) ** 2
    if relative.sigma is None:
        variance += READING**2
    else:
        variance += (fit.scale * relative.sigma.astype(np.float64) / inverse) ** 2
    depth = 1 / inverse
    camera = camera or relative.camera
    if camera is not None:
        camera = fitted_camera(camera, fit)
    return DepthMap(
        depth.astype(np.float32),
        Kind.METRIC_DEPTH,
        valid,
        camera,
        (depth * np.sqrt(variance)).astype(np.float32),
        relative.source,
    )


def fitted_camera(camera: Camera, fit: MetricFit) -> Camera:
    """Return a camera with the focal length that fits best; `ESTIMATED` if that is another one."""
    K = camera.K.copy()
    K[:2, :2] *= fit.focal_factor
    source = CameraSource.ESTIMATED if is_moved(fit) else camera.source
    return Camera(K, camera.width, camera.height, source)


def is_moved(fit: MetricFit) -> bool:
    """Whether yardsticks that need one lens to agree have made it another one."""
    return abs(float(fit.logs[2])) > MOVED
