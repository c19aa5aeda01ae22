"""Focal length of an image, from the user, EXIF data or vanishing points, with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.types import Camera, CameraSource

#: Relative standard deviation of a focal length by its source. Given ones are calibrated or read off a
#: lens; EXIF rounds the 35 mm equivalent to whole millimeters and ignores cropping for stabilization;
#: estimates from lines have an uncertainty of their own, this is a typical one; without any source the
#: lens may be anything from a wide telephone (24 mm) to a portrait lens (50 mm).
FOCAL_SIGMA = {
    CameraSource.GIVEN: 0.01,
    CameraSource.EXIF: 0.04,
    CameraSource.ESTIMATED: 0.12,
    CameraSource.ASSUMED: 0.3,
}
#: Error added by lenses with slight distortion (k₁ about -0.03) to estimates from lines.
BENT = 0.025
#: Difference of ln(focal length) between lines and EXIF above which the image was probably cropped.
CROPPED = 0.25


@dataclass(frozen=True, slots=True)
class CameraEstimate:
    """Camera and the uncertainty of its focal length.

    Attributes:
        camera: of the image.
        sigma: relative standard deviation of the focal length.
        reason: what the estimate from the image is based on; else empty.
        warning: that the image contradicts its EXIF data, as a crop does; else empty.
    """

    camera: Camera
    sigma: float
    reason: str = ""
    warning: str = ""


def focal_sigma(camera: Camera) -> float:
    """Return the typical relative standard deviation of a camera's focal length, by its source."""
    return FOCAL_SIGMA[camera.source]


def lens_of(pixels: NDArray[np.uint8], camera: Camera, fov: float | None = None) -> CameraEstimate:
    """Return the best estimate of an image's camera.

    A given field of view takes precedence over EXIF, and EXIF over vanishing points. The latter are
    combined with the prior of the assumed focal length, weighted by precision.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
        camera: from the file, or assumed.
        fov: horizontal field of view in [degrees], if known.
    """
    if fov is not None:
        given = Camera.from_fov(fov, camera.width, camera.height)
        return CameraEstimate(given, focal_sigma(given))
    usual = focal_sigma(camera)
    if camera.source is CameraSource.GIVEN:
        return CameraEstimate(camera, usual)
    from sightline.metric.vanishing_points import focal_from_lines

    guess = focal_from_lines(pixels)
    off = 0.0 if guess is None else abs(math.log(guess.focal / camera.focal))
    if guess is not None and camera.source is CameraSource.EXIF and off > CROPPED:
        seen = Camera.from_focal(guess.focal, camera.width, camera.height)
        return CameraEstimate(
            camera,
            math.hypot(usual, off / 2),
            warning=f"EXIF says that the picture is {camera.fov:.0f}° wide, its straight lines say "
            f"{seen.fov:.0f}°: was it cropped? set it with --fov",
        )
    if guess is None or camera.source is CameraSource.EXIF or off > 2 * usual:
        return CameraEstimate(camera, usual)
    weights = np.array([usual, math.hypot(guess.sigma, BENT)]) ** -2
    logs = np.log([camera.focal, guess.focal])
    focal = math.exp(float(weights @ logs / weights.sum()))
    found = Camera.from_focal(focal, camera.width, camera.height, CameraSource.ESTIMATED)
    return CameraEstimate(found, float(weights.sum() ** -0.5), guess.reason)
