"""The floor: the largest plane that a picture stands on, found in relative disparity.

A plane is straight in inverse depth over the picture, so it is straight in relative disparity too,
whatever scale and shift are: d = a·x + b·y + c over ray coordinates. Floors have b > 0 (lower in the
picture is nearer) and little slope sideways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.metric.head.clues import READING, Doubles, PlaneClue
from sightline.metric.yardsticks.known import rays_at
from sightline.metric.yardsticks.words import Length
from sightline.types import BoolArray, Camera, DepthMap

#: Least share of the picture's lower half that must lie on a plane for it to be a floor.
LEAST_SHARE = 0.15
#: Distance from the plane that still counts, as a share of the disparity's range in the picture.
CLOSE = 0.02
#: The plane may lean sideways by so much of its slope: a camera held askew.
MOST_ROLL = 0.6
_TRIES = 300
_MOST_PIXELS = 4000


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


def find_floor(relative: DepthMap, camera: Camera, seed: int = 0) -> Floor:
    """Find the floor in the lower half of a picture, by random samples of three and a refit."""
    rows, columns = np.nonzero(relative.valid)
    lower = rows >= relative.height // 2
    rows, columns = rows[lower], columns[lower]
    if len(rows) < 50:
        raise InputError("too little is known in the lower half of the picture to find a floor")
    rng = np.random.default_rng(seed)
    keep = rng.permutation(len(rows))[:_MOST_PIXELS]
    rows, columns = rows[keep], columns[keep]
    rays = np.column_stack([rays_at(camera, np.column_stack([columns, rows])), np.ones(len(rows))])
    values = relative.values[rows, columns].astype(np.float64)
    low, high = np.quantile(relative.values[relative.valid], [0.05, 0.95])
    close = CLOSE * float(high - low)
    plane, count = _largest(rays, values, close, rng)
    share = count / len(rows)
    if share < LEAST_SHARE:
        raise InputError(
            f"no floor was found: the largest plane covers {share:.0%} of the lower half",
            remedy="use another yardstick, such as --length",
        )
    on = np.abs(rays @ plane - values) < close
    for _ in range(3):
        plane = np.asarray(np.linalg.lstsq(rays[on], values[on], rcond=None)[0], np.float64)
        on = np.abs(rays @ plane - values) < close
    spread = float((rays[on] @ plane - values[on]).std() / max(np.linalg.norm(plane), 1e-12))
    return Floor(plane, _inside(relative, camera, plane, close), share, spread)


def _largest(
    rays: Doubles, values: Doubles, close: float, rng: np.random.Generator
) -> tuple[Doubles, int]:
    """Return the plane through three pixels that most others lie on, of those that may be floors."""
    best: Doubles = np.zeros(3)
    most = 0
    for _ in range(_TRIES):
        three = rng.integers(0, len(values), 3)
        try:
            plane = np.asarray(np.linalg.solve(rays[three], values[three]), np.float64)
        except np.linalg.LinAlgError:
            continue
        if plane[1] <= 0 or abs(plane[0]) > MOST_ROLL * plane[1]:
            continue
        count = int((np.abs(rays @ plane - values) < close).sum())
        if count > most:
            best, most = plane, count
    return best, most


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
