"""The floor: the largest plane that a picture stands on, found in relative disparity.

A plane is straight in inverse depth over the picture, so it is straight in relative disparity too,
whatever scale and shift are: d = a·x + b·y + c over ray coordinates. Floors have b > 0 (lower in the
picture is nearer, so the plane is under the camera and not over it), little slope sideways, and do not
face the camera: its normal is (a, b, c + t/s), by the line ρ = s·d + t of inverse depth. And nobody
sees through a floor: what is not on it stands before it, while beside a chest there is what is behind.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.metric.head.clues import READING, Doubles, PlaneClue
from sightline.metric.prior import CONTRAST
from sightline.metric.yardsticks.known import rays_at
from sightline.metric.yardsticks.words import Length
from sightline.types import BoolArray, Camera, DepthMap

#: Least share of the picture's lower half that must lie on a plane for it to be a floor.
LEAST_SHARE = 0.15
#: Distance from the plane that still counts, as a share of the disparity's range in the picture.
CLOSE = 0.02
#: The plane may lean sideways by so much of its slope: a camera held askew.
MOST_ROLL = 0.6
#: Largest angle by which a camera looks down on a floor, and up from it, in [degrees]. Who looks down
#: on a table does so by 30 to 50°. A plane that would be seen from more than 60° over it faces the
#: camera, and so do walls, doors and chests: which of them it is, the picture does not say. Who looks
#: up by more than 40° has no floor in the picture.
MOST_DOWN, MOST_UP = 60.0, 40.0
#: Largest share of the lower half that may lie behind a floor, by three times `CLOSE`: a step, an edge
#: of a table. In a dozen photographs floors had up to 0.03, one 0.15; chests and tops of cups over 0.2.
MOST_BEHIND = 0.1
_TRIES = 300
_FEWEST_PIXELS, _MOST_PIXELS = 50, 4000


@dataclass(frozen=True, slots=True, eq=False)
class Floor:
    """A plane in relative disparity.

    Attributes:
        plane: (3,) a, b and c of d = a·x + b·y + c over ray coordinates.
        inside: (H, W) bool, pixels that lie on it.
        share: of the lower half of the picture that does.
        spread: standard deviation of the plane's disparity around it, as a share of the slope.
    """

    plane: Doubles
    inside: BoolArray
    share: float
    spread: float


def find_floor(
    relative: DepthMap, camera: Camera, seed: int = 0, shift: float | None = None
) -> Floor:
    """Find the floor in the lower half of a picture, by random samples of three and a refit.

    Args:
        relative: disparity, straight over planes.
        camera: of it.
        seed: of the samples.
        shift: t/s of the line from disparity to inverse depth, 0 for inverse depth itself; None for
            what is usual of pictures.

    Raises:
        InputError: no plane of the lower half may be a floor and is large enough.
    """
    rng = np.random.default_rng(seed)
    rays, values = _sampled(relative, camera, rng)
    far, near = np.quantile(relative.values[relative.valid], [0.05, 0.95])
    if not near > far:
        raise InputError("no floor was found: relative depth is flat")
    close = CLOSE * float(near - far)
    if shift is None:
        shift = float((near - far) / math.expm1(CONTRAST[0]) - far)
    plane = _largest(rays, values, close, shift, rng)
    on = np.abs(rays @ plane - values) < close
    if on.mean() < LEAST_SHARE or not _may_be_floor(plane, rays, values, close, shift):
        raise InputError(
            "no floor was found: no plane that lies under the camera, does not face it and hides "
            f"what is behind it covers {LEAST_SHARE:.0%} of the lower half",
            remedy="use another yardstick, such as --length",
        )
    share = float(on.mean())
    spread = float((rays[on] @ plane - values[on]).std() / max(np.linalg.norm(plane), 1e-12))
    return Floor(plane, _inside(relative, camera, plane, close), share, spread)


def _sampled(
    relative: DepthMap, camera: Camera, rng: np.random.Generator
) -> tuple[Doubles, Doubles]:
    """Return (N, 3) rays and (N,) values of some pixels in the lower half of a picture."""
    rows, columns = np.nonzero(relative.valid)
    lower = np.flatnonzero(rows >= relative.height // 2)
    if len(lower) < _FEWEST_PIXELS:
        raise InputError("no floor was found: too little is known of the lower half of the picture")
    keep = rng.permutation(lower)[:_MOST_PIXELS]
    rows, columns = rows[keep], columns[keep]
    rays = np.column_stack([rays_at(camera, np.column_stack([columns, rows])), np.ones(len(rows))])
    return rays, relative.values[rows, columns].astype(np.float64)


def _largest(
    rays: Doubles, values: Doubles, close: float, shift: float, rng: np.random.Generator
) -> Doubles:
    """Return the plane that may be a floor and that most pixels lie on, from threes, refitted."""
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
    """Whether a plane lies under the camera, is seen as floors are seen, and hides what is behind."""
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


def height_clue(
    relative: DepthMap, camera: Camera, height: Length, seed: int = 0
) -> tuple[PlaneClue, Floor]:
    """Return the clue of a known height of the camera over the floor, and the floor."""
    floor = find_floor(relative, camera, seed)
    sigma = math.hypot(height.share, READING, floor.spread)
    name = f"camera {height.metres:g} m over the floor"
    return PlaneClue(name, floor.plane, height.metres, sigma), floor
