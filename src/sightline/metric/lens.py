"""How well the focal length of a camera is known, by where it comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.types import Camera, CameraSource

#: Relative standard deviation of a focal length. Given ones are calibrated or read off a lens; EXIF
#: rounds the 35 mm equivalent to whole millimetres and ignores cropping for stabilisation; one that
#: straight lines tell has an uncertainty of its own, this is a usual one; a picture that says nothing
#: may be from anything between a wide telephone (24 mm) and a portrait lens (50 mm).
FOCAL_SIGMA = {
    CameraSource.GIVEN: 0.01,
    CameraSource.EXIF: 0.04,
    CameraSource.ESTIMATED: 0.12,
    CameraSource.ASSUMED: 0.3,
}
#: What lenses that bend straight lines a little (k₁ about -0.03) add to what these tell.
BENT = 0.025
#: Difference of ln(focal length) between lines and EXIF from which on the picture must be a crop.
CROPPED = 0.25


@dataclass(frozen=True, slots=True)
class Lens:
    """A camera and how well its focal length is known.

    Attributes:
        camera: of the picture.
        sigma: relative standard deviation of its focal length.
        reason: what it was found by, where the picture itself told it; else empty.
        warning: that the picture contradicts its EXIF, as a crop does; else empty.
    """

    camera: Camera
    sigma: float
    reason: str = ""
    warning: str = ""


def focal_sigma(camera: Camera) -> float:
    """Return the usual relative standard deviation of a camera's focal length."""
    return FOCAL_SIGMA[camera.source]


def lens_of(pixels: NDArray[np.uint8], camera: Camera, fov: float | None = None) -> Lens:
    """Return the best that can be known of a picture's lens.

    A field of view that is given counts before EXIF, and EXIF before the vanishing points of the
    picture's straight lines. These are weighed against what lenses are like: lines tell little in
    some pictures.

    Args:
        pixels: (H, W, 3) sRGB.
        camera: what the file says, or what is assumed.
        fov: horizontal field of view in degrees, if the user knows it.
    """
    if fov is not None:
        given = Camera.from_fov(fov, camera.width, camera.height)
        return Lens(given, focal_sigma(given))
    usual = focal_sigma(camera)
    if camera.source is CameraSource.GIVEN:
        return Lens(camera, usual)
    from sightline.metric.vanishing import focal_from_lines

    guess = focal_from_lines(pixels)
    off = 0.0 if guess is None else abs(math.log(guess.focal / camera.focal))
    if guess is not None and camera.source is CameraSource.EXIF and off > CROPPED:
        seen = Camera.from_focal(guess.focal, camera.width, camera.height)
        return Lens(
            camera,
            math.hypot(usual, off / 2),
            warning=f"EXIF says that the picture is {camera.fov:.0f}° wide, its straight lines say "
            f"{seen.fov:.0f}°: was it cropped? --fov says better",
        )
    if guess is None or camera.source is CameraSource.EXIF or off > 2 * usual:
        return Lens(camera, usual)
    weights = np.array([usual, math.hypot(guess.sigma, BENT)]) ** -2
    logs = np.log([camera.focal, guess.focal])
    focal = math.exp(float(weights @ logs / weights.sum()))
    found = Camera.from_focal(focal, camera.width, camera.height, CameraSource.ESTIMATED)
    return Lens(found, float(weights.sum() ** -0.5), guess.reason)
