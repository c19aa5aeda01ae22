"""Square crops at any position, size and angle, and the squares in which people are searched.

Crop coordinates (u, v) are like pixel coordinates: integers are pixel centers. Pixels outside the image
are black, as in the training of the networks.

The pose detector expects one person who fills much of its input. In a square about 2.5 times as tall as
a person it finds people that it misses in the whole image: in 26 photographs with 57 people, 49
instead of 25 (`docs/lab-log.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.types import FloatArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Crop:
    """Square in an image.

    Attributes:
        x: column of its center in [px] (integers are pixel centers).
        y: row of its center in [px].
        side: its side in [px] of the image.
        angle: rotation in [rad]; positive rotates its x axis toward the image's y axis (clockwise).
        flipped: True if mirrored left to right, after the rotation.
    """

    x: float
    y: float
    side: float
    angle: float = 0.0
    flipped: bool = False

    def to_picture(self, size: int) -> Array:
        """Return the (2, 3) matrix from (u, v, 1) of a crop of `size` pixels to (x, y) of the image."""
        scale = self.side / size
        cos, sin = scale * math.cos(self.angle), scale * math.sin(self.angle)
        mirror = -1.0 if self.flipped else 1.0
        linear = np.array([[mirror * cos, -sin], [mirror * sin, cos]])
        middle = (size - 1) / 2
        shift = np.array([self.x, self.y]) - linear @ np.array([middle, middle])
        return np.concatenate([linear, shift[:, None]], axis=1)

    def from_picture(self, size: int) -> Array:
        """Return the (2, 3) matrix from (x, y, 1) of the image to (u, v) of a crop of `size` pixels."""
        return inverse(self.to_picture(size))

    def directions(self) -> Array:
        """Return the (2, 2) rotation of directions (du, dv) of the crop to those of the image."""
        return self.to_picture(1)[:, :2] / self.side


def inverse(matrix: Array) -> Array:
    """Invert a (2, 3) affine map."""
    linear = np.linalg.inv(matrix[:, :2])
    return np.concatenate([linear, -(linear @ matrix[:, 2:])], axis=1)


def apply(matrix: Array, points: Array) -> Array:
    """Map (..., 2) points by a (2, 3) affine map."""
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], np.float64)


class Pyramid:
    """Image and its halved copies, to downscale large crops without aliasing.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
    """

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self._levels: list[NDArray[np.uint8]] = [pixels]

    def cut(self, crop: Crop, size: int) -> FloatArray:
        """Return the crop as (size, size, 3) float32 in 0 to 1, black outside the image."""
        level = max(0, math.floor(math.log2(max(crop.side / size, 1.0))))
        pixels = self._level(level)
        height, width = self._levels[0].shape[:2]
        # From the full image to this level; sizes may have been rounded up.
        sx, sy = pixels.shape[1] / width, pixels.shape[0] / height
        matrix = crop.to_picture(size)
        matrix = np.array([[sx], [sy]]) * matrix
        matrix[:, 2] += np.array([sx - 1, sy - 1]) / 2
        cut = cv2.warpAffine(
            pixels,
            matrix,
            (size, size),
            flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
            borderMode=cv2.BORDER_CONSTANT,
        )
        return np.asarray(cut, np.float32) / np.float32(255)

    def _level(self, level: int) -> NDArray[np.uint8]:
        while len(self._levels) <= level:
            last = self._levels[-1]
            height, width = last.shape[:2]
            half = ((width + 1) // 2, (height + 1) // 2)
            self._levels.append(np.asarray(cv2.resize(last, half, interpolation=cv2.INTER_AREA)))
        return self._levels[level]


#: Side of a square divided by the height of the smallest person in it.
SIDE_PER_PERSON = 2.7
#: Largest ratio of neighboring square sizes, so that every person fits one of them.
FACTOR = 2.0
#: Overlap of neighboring squares, as a share of their side, so that most people lie inside one.
OVERLAP = 0.33
#: Largest square divided by the longer side of the image: the circle around somebody close to the
#: camera extends far beyond the image.
FARTHEST = 1.5


def squares(height: int, width: int, smallest: float, most: int) -> list[Crop]:
    """Choose the squares to search, from more than the whole image down to the smallest.

    Args:
        height: of the image in [px].
        width: of the image in [px].
        smallest: height of the smallest person in [px].
        most: approximate maximum number of squares; if more would be needed, the smallest squares are
            enlarged, and with them the smallest person.

    Returns:
        Upright squares, which may extend beyond the image.
    """
    whole = float(max(height, width))
    least = SIDE_PER_PERSON * smallest
    while True:
        steps = max(0, math.ceil(math.log(whole / least, FACTOR))) if least < whole else 0
        sides = [whole * (least / whole) ** (step / steps) for step in range(steps + 1) if steps]
        sides = [FARTHEST * whole, *(sides or [whole])]
        places = [square for side in sides for square in _grid(height, width, side)]
        if len(places) <= max(most, 2):
            return places
        least *= 1.1


def smallest_person(places: list[Crop]) -> float:
    """Return the height in [px] of the smallest person that the squares are made for."""
    return min(place.side for place in places) / SIDE_PER_PERSON


def _grid(height: int, width: int, side: float) -> list[Crop]:
    columns, rows = _middles(width, side), _middles(height, side)
    return [Crop(x, y, side) for y in rows for x in columns]


def _middles(length: int, side: float) -> list[float]:
    """Return the centers of intervals of length `side` that cover 0 to `length`, in [px]."""
    room = length - side
    if room <= 0:
        return [(length - 1) / 2]
    count = math.ceil(room / (side * (1 - OVERLAP))) + 1
    return [side / 2 + room * step / (count - 1) - 0.5 for step in range(count)]
