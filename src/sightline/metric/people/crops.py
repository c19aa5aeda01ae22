"""Square crops at any place, size and angle, and the way back from them.

Crop coordinates (u, v) run like pixel coordinates: whole numbers are the centres of the crop's
pixels. Everything outside the picture is black, as the networks were trained.
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
    """A square in a picture.

    Attributes:
        x, y: its middle in picture pixels (whole numbers are pixel centres).
        side: its side in [px] of the picture.
        angle: how far it is turned, in [rad]; positive turns its x axis towards the picture's y
            axis, that is, clockwise to the eye.
        flipped: mirrored left to right, after turning.
    """

    x: float
    y: float
    side: float
    angle: float = 0.0
    flipped: bool = False

    def to_picture(self, size: int) -> Array:
        """(2, 3) matrix from (u, v, 1) of a crop of `size` pixels to (x, y) of the picture."""
        scale = self.side / size
        cos, sin = scale * math.cos(self.angle), scale * math.sin(self.angle)
        mirror = -1.0 if self.flipped else 1.0
        linear = np.array([[mirror * cos, -sin], [mirror * sin, cos]])
        middle = (size - 1) / 2
        shift = np.array([self.x, self.y]) - linear @ np.array([middle, middle])
        return np.concatenate([linear, shift[:, None]], axis=1)

    def from_picture(self, size: int) -> Array:
        """(2, 3) matrix from (x, y, 1) of the picture to (u, v) of a crop of `size` pixels."""
        return inverse(self.to_picture(size))

    def directions(self) -> Array:
        """(2, 2) matrix that turns directions (du, dv) of the crop into those of the picture."""
        return self.to_picture(1)[:, :2] / self.side


def inverse(matrix: Array) -> Array:
    """Invert a (2, 3) affine map."""
    linear = np.linalg.inv(matrix[:, :2])
    return np.concatenate([linear, -(linear @ matrix[:, 2:])], axis=1)


def apply(matrix: Array, points: Array) -> Array:
    """Map (..., 2) points by a (2, 3) affine map."""
    return np.asarray(points @ matrix[:, :2].T + matrix[:, 2], np.float64)


class Pyramid:
    """A picture and its halves, so that a large crop is shrunk without aliasing.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
    """

    def __init__(self, pixels: NDArray[np.uint8]) -> None:
        self._levels: list[NDArray[np.uint8]] = [pixels]

    def cut(self, crop: Crop, size: int) -> FloatArray:
        """Return (size, size, 3) float32 in 0 to 1: the crop, black outside the picture."""
        level = max(0, math.floor(math.log2(max(crop.side / size, 1.0))))
        pixels = self._level(level)
        height, width = self._levels[0].shape[:2]
        # From the full picture to this level: sizes may have been rounded up on the way.
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
