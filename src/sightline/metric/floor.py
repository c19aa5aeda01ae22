"""Floor detection: the largest plane below the camera, found in relative disparity.

A plane is linear in inverse depth over the image, so it is linear in relative disparity too, whatever
scale and shift are: d = a·x + b·y + c over ray coordinates. Floors have b > 0 (lower in the image is
nearer, so the plane lies below the camera), little slope sideways, and do not face the camera: the
normal is (a, b, c + t/s), by the mapping ρ = s·d + t to inverse depth. And a floor is opaque:
everything else stands in front of it, while around an object such as a chest the background is visible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.metric.evidence import CONTRAST, READING, Doubles, PlaneEvidence
from sightline.metric.known_sizes import CameraHeight
from sightline.metric.sampling import rays_at
from sightline.types import BoolArray, Camera, DepthMap

#: Smallest share of the lower half of the image on the plane.
LEAST_SHARE = 0.15
#: Largest distance from the plane, as a share of the range of disparity in the image.
CLOSE = 0.02
#: Largest sideways slope relative to the forward slope, for a camera held askew.
MOST_ROLL = 0.6
#: Largest angles at which the camera looks down on the floor, and up from it, in [degrees]. One looks
#: down on a table by 30 to 50°. A plane seen from more than 60° above faces the camera, as walls,
#: doors and chests do; the image does not tell which it is. Looking up by more than 40°, no floor
#: is visible.
MOST_DOWN, MOST_UP = 60.0, 40.0
#: Largest share of the lower half behind the floor by three times `CLOSE`: a step, the edge of a
#: table. In a dozen photographs floors had up to 0.03, one 0.15; chests and tops of cups over 0.2.
MOST_BEHIND = 0.1
_TRIES = 300
_FEWEST_PIXELS, _MOST_PIXELS = 50, 4000


@dataclass(frozen=True, slots=True, eq=False)
class FloorPlane:
    """Plane in relative disparity.

    Attributes:
        plane: (3,) a, b and c of d = a·x + b·y + c over ray coordinates.
        inside: (H, W) bool, pixels on the plane.
        share: share of the lower half of the image on the plane.
        spread: standard deviation of disparity around the plane, relative to its slope.
    """

    plane: Doubles
    inside: BoolArray
    share: float
    spread: float


def find_floor(
    relative: DepthMap, camera: Camera, seed: int = 0, shift: float | None = None
) -> FloorPlane:
    """Detect the floor in the lower half of an image, by RANSAC and a least-squares refit.

    Args:
        relative: (H, W) disparity, linear over planes.
        camera: of the image.
        seed: random seed of the samples.
        shift: t/s of the mapping from disparity to inverse depth, 0 for inverse depth itself; None for
            the mean over images.

    Raises:
        InputError: no plane of the lower half is large enough and may be a floor.
    """
    rng = np.random.default_rng(seed)
    rays, values = _sampled(relative, camera, rng)
    far, near = np.quantile(relative.values[relative.valid], [0.05, 0.95])
    if not near > far:
        raise InputError("no floor was found: relative depth is constant")
    close = CLOSE * float(near - far)
    if shift is None:
        shift = float((near - far) / math.expm1(CONTRAST[0]) - far)
    plane = _largest(rays, values, close, shift, rng)
    on = np.abs(rays @ plane - values) < close
    if on.mean() < LEAST_SHARE or not _may_be_floor(plane, rays, values, close, shift):
        raise InputError(
            "no floor was found: no plane that lies under the camera, does not face it and hides "
            f"what is behind it covers {LEAST_SHARE:.0%} of the lower half",
            remedy="use other evidence, such as --length",
        )
    share = float(on.mean())
    spread = float((rays[on] @ plane - values[on]).std() / max(np.linalg.norm(plane), 1e-12))
    return FloorPlane(plane, _inside(relative, camera, plane, close), share, spread)


def _sampled(
    relative: DepthMap, camera: Camera, rng: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Return (N, 3) rays and (N,) values of random pixels in the lower half of an image."""
    rows, columns = np.nonzero(relative.valid)
    lower = np.flatnonzero(rows >= relative.height // 2)
    if len(lower) < _FEWEST_PIXELS:
        raise InputError(
            "no floor was found: the lower half of the picture has too few valid pixels"
        )
    keep = rng.permutation(lower)[:_MOST_PIXELS]
    rows, columns = rows[keep], columns[keep]
    rays = np.column_stack([rays_at(camera, np.column_stack([columns, rows])), np.ones(len(rows))])
    return rays, relative.values[rows, columns].astype(np.float64)


def _largest(
    rays: Doubles, values: Doubles, close: float, shift: float, rng: np.random.Generator
) -> Doubles:
    """Return the plane with most inliers that may be a floor, refitted by least squares."""
    best: Doubles = np.zeros(3)
    most = 0
    for _ in range(_TRIES):
        three = rng.integers(0, len(values), 3)
        try:
            plane = np.asarray(np.linalg.solve(rays[three], values[three]), np.float64)
        except np.linalg.LinAlgError:
            continue
        count = int((np.abs(rays @ plane - values) < close).sum())
        if count > most and _may_be_floor(plane, rays, values, close, shift):
            best, most = plane, count
    for _ in range(3 if most else 0):
        on = np.abs(rays @ best - values) < close
        best = np.asarray(np.linalg.lstsq(rays[on], values[on], rcond=None)[0], np.float64)
    return best


def _may_be_floor(
    plane: Doubles, rays: Doubles, values: Doubles, close: float, shift: float
) -> bool:
    """Whether a plane lies below the camera, is seen at a plausible angle, and hides what is behind."""
    a, b, c = plane
    if b <= 0 or abs(a) > MOST_ROLL * b:
        return False
    down = math.degrees(math.atan2(c + shift, math.hypot(a, b)))
    behind = float((rays @ plane - values > 3 * close).mean())
    return -MOST_UP <= down <= MOST_DOWN and behind <= MOST_BEHIND


def _inside(relative: DepthMap, camera: Camera, plane: Doubles, close: float) -> BoolArray:
    height, width = relative.values.shape
    x = rays_at(camera, np.column_stack([np.arange(width), np.zeros(width)]))[:, 0]
    y = rays_at(camera, np.column_stack([np.zeros(height), np.arange(height)]))[:, 1]
    expected = plane[0] * x + plane[1] * y[:, None] + plane[2]
    return np.asarray(relative.valid & (np.abs(expected - relative.values) < close))


def camera_height_evidence(
    relative: DepthMap, camera: Camera, height: CameraHeight, seed: int = 0
) -> tuple[PlaneEvidence, FloorPlane]:
    """Return the evidence of a known camera height, and the detected floor.

    Args:
        relative: (H, W) relative disparity.
        camera: of the image.
        height: known height of the camera above the floor.
        seed: random seed of floor detection.
    """
    floor = find_floor(relative, camera, seed)
    sigma = math.hypot(height.relative_sigma, READING, floor.spread)
    name = f"camera {height.meters:g} m over the floor"
    return PlaneEvidence(name, floor.plane, height.meters, sigma), floor
