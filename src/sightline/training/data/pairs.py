"""A training pair in memory, and how a map of inverse depth becomes one.

Everything is disparity, that is inverse depth: larger is nearer, zero is infinitely far. Maps are
stored in half precision, scaled so that the nearest known pixel is 1; what that 1 is in 1/meters, if
anybody knows, stands beside them as `unit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import BoolArray, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """One training pair in memory.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        disparity: (H, W) float16, larger is nearer, not negative, at most 1; 0 where unknown.
        known: (H, W) bool.
        unit: true inverse depth in [1/m] is `disparity · unit`; None where scale or shift is unknown.
        pseudo: a teacher's label: the trimmed loss and the feature alignment apply.
        weight: (H, W) uint8, trust from 0 to 255 by the agreement of several teachers; None is full
            trust everywhere.
        focal: focal length of the camera, in [px] of these pixels; None if unknown.
    """

    pixels: NDArray[np.uint8]
    disparity: NDArray[np.float16]
    known: BoolArray
    unit: float | None = None
    pseudo: bool = False
    weight: NDArray[np.uint8] | None = None
    focal: float | None = None


def shrunk_size(pixels: NDArray[np.uint8], short_side: int) -> tuple[int, int]:
    """Return (height, width) of (H, W, 3) pixels shrunk to a shorter side of at most `short_side`."""
    height, width = pixels.shape[:2]
    scale = min(1.0, short_side / min(height, width))
    return max(1, round(height * scale)), max(1, round(width * scale))


def shrunk_focal(
    focal: float | None, pixels: NDArray[np.uint8], size: tuple[int, int]
) -> float | None:
    """Return a focal length in [px] of (H, W, 3) pixels once they have (height, width) = `size`."""
    return None if focal is None else focal * size[1] / pixels.shape[1]


def shrink_pixels(pixels: NDArray[np.uint8], size: tuple[int, int]) -> NDArray[np.uint8]:
    """Bring (H, W, 3) pixels to (height, width) = `size`, averaging; the same array if they fit."""
    if pixels.shape[:2] == size:
        return np.ascontiguousarray(pixels)
    small = cv2.resize(pixels, size[::-1], interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8)


def resize_measured(
    disparity: NDArray[Any], known: BoolArray, size: tuple[int, int]
) -> tuple[FloatArray, BoolArray]:
    """Bring measured disparity to another size without averaging across an edge.

    Each target pixel takes the value at its center. When shrinking, a pixel whose center is unknown
    takes the nearest to the camera of the known points that fall into it: most points of a laser
    would vanish otherwise, and what is in front hides what is behind.

    Args:
        disparity: (H, W), larger is nearer, not negative.
        known: (H, W).
        size: (height, width) of the result.

    Returns:
        (height, width) float32 disparity, 0 where unknown, and where it is known.
    """
    values = np.where(known, disparity, 0).astype(np.float32)
    if values.shape == size:
        return values, known
    nearest = cv2.INTER_NEAREST_EXACT
    small: FloatArray = np.asarray(cv2.resize(values, size[::-1], interpolation=nearest))
    hit = cv2.resize(known.astype(np.uint8), size[::-1], interpolation=nearest) > 0
    height, width = known.shape
    if (height > size[0] or width > size[1]) and not bool(hit.all()):
        rows, columns = np.nonzero(known)
        cells = (rows * size[0] // height) * size[1] + columns * size[1] // width
        lost = ~hit.reshape(-1)[cells]
        np.maximum.at(small.reshape(-1), cells[lost], values[rows[lost], columns[lost]])
        hit.reshape(-1)[cells[lost]] = True
    return small, hit


def scale_to_one(disparity: NDArray[Any], known: BoolArray) -> tuple[NDArray[np.float16], float]:
    """Return (H, W) float16 whose greatest known value is 1, 0 where unknown, and the divisor.

    Half precision then keeps ten bits of every distance up to 16,000 times the nearest.
    """
    values = np.where(known, disparity, 0).astype(np.float64)
    top = float(values.max(initial=0.0))
    divisor = top if top > 0 else 1.0  # nothing but sky
    return (values / divisor).astype(np.float16), divisor


def measured_pair(
    pixels: NDArray[np.uint8],
    inverse_depth: NDArray[Any],
    known: BoolArray,
    short_side: int,
    *,
    metric: bool,
    focal: float | None = None,
) -> Pair:
    """Make a pair of a picture and its exact or measured inverse depth, shrunk to `short_side`.

    Args:
        pixels: (H, W, 3) uint8.
        inverse_depth: (H, W), in [1/m] if `metric`, otherwise in any unit; 0 is infinitely far.
        known: (H, W); numbers that are not finite or are negative never count.
        short_side: the pair's shorter side is at most this, in [px].
        metric: whether the pair is to remember its unit.
        focal: focal length of the camera, in [px] of `pixels`; None if unknown.

    Raises:
        InputError: where nothing is known, or the sizes differ; without a path (see `naming`).
    """
    if inverse_depth.shape != pixels.shape[:2]:
        tall, wide = inverse_depth.shape[:2]
        raise InputError(
            f"depth is {wide}×{tall}, its picture is {pixels.shape[1]}×{pixels.shape[0]}"
        )
    good = known & np.isfinite(inverse_depth)
    good &= np.where(good, inverse_depth, 0) >= 0
    size = shrunk_size(pixels, short_side)
    values, good = resize_measured(inverse_depth, good, size)
    if not bool(good.any()):
        raise InputError("no pixel of it is known")
    disparity, divisor = scale_to_one(values, good)
    return Pair(
        shrink_pixels(pixels, size),
        disparity,
        good,
        divisor if metric else None,
        focal=shrunk_focal(focal, pixels, size),
    )


def invert(depth: NDArray[Any]) -> tuple[FloatArray, BoolArray]:
    """Turn (H, W) depth into inverse depth and where it is known.

    Depth that is not a number, zero or negative is unknown; infinite depth is known: inverse 0.
    """
    known: BoolArray = np.asarray(depth > 0)  # False for NaN
    inverse = np.divide(1.0, depth, out=np.zeros(depth.shape, np.float64), where=known)
    return inverse.astype(np.float32), known
