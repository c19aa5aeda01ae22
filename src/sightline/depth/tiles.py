"""Refine maps of large images by overlapping tiles, aligned to the whole-image map and blended.

At 518 pixels, a network sees the layout of a 12-megapixel image but no fine detail; on a tile of it, it
sees detail but not the layout, and each tile has its own scale and shift. Therefore

1. each tile is aligned to the whole-picture map by robust scale and shift;
2. only its *difference* to that map counts, and of it only what is finer than the tile: slow
   differences are the tile's missing context, and they are what shows as seams;
3. the differences are summed under weights that fall smoothly to zero at the tile's rim and add up
   to one everywhere.

A tile whose fit is bad (no correlation with the whole-picture map, or a flat piece of sky or
wall, where the network predicts spurious relief) is ignored.
One tile is in memory at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.depth.preprocessing import to_picture_size
from sightline.errors import InputError
from sightline.geometry import align
from sightline.types import FloatArray

#: Runs the network on (h, w, 3) uint8 pixels and returns the (h, w) float32 map of the same size.
Predict = Callable[[NDArray[np.uint8]], FloatArray]


@dataclass(frozen=True, slots=True)
class TileOptions:
    """Configuration of tiling.

    Attributes:
        across: tiles along the shorter side; None to derive it from the network size.
        most: maximum number of tiles along the shorter side; smaller tiles lack context.
        overlap: share of a tile's side that it has in common with the next, 0.1–0.9.
        finer_than: differences slower than this share of the tile's side are left to the
            whole-picture map (the sigma of the low-pass).
        least_explained: share of the whole-picture map's variance that an aligned tile must explain.
        flat: a tile whose standard deviation is below this share of the picture's is flat.
    """

    across: int | None = None
    most: int = 3
    overlap: float = 0.4
    finer_than: float = 0.2
    least_explained: float = 0.6
    flat: float = 0.05

    def __post_init__(self) -> None:
        if not 0.1 <= self.overlap <= 0.9:
            raise InputError(f"tiles must overlap by a share of 0.1–0.9, got {self.overlap:g}")
        if (self.across is not None and self.across < 1) or self.most < 1:
            raise InputError("there must be at least one tile along each side")


#: Fits and low-passes are made on maps of about this many pixels a side.
COARSE = 96


def refine(
    pixels: NDArray[np.uint8],
    whole: FloatArray,
    predict: Predict,
    size: int,
    options: TileOptions | None = None,
) -> FloatArray:
    """Add the detail of tiles to the map of the whole image.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        whole: (H, W) map of the whole picture in any unit; what is not finite stays as it is.
        predict: function that runs the network on a part of the image.
        size: shorter side of the network input in [px].
        options: configuration of tiling.

    Returns:
        (H, W) float32 in the unit of `whole`; `whole` itself where one tile would be the picture.
    """
    options = options or TileOptions()
    height, width = whole.shape
    rows, columns = tile_grid(height, width, size, options)
    finite = np.isfinite(whole)
    if rows * columns == 1 or not bool(finite.any()):
        return whole
    spread = float(np.std(_coarse(np.where(finite, whole, np.nan))[0]))
    detail = np.zeros_like(whole)
    for (top, bottom), down in windows(height, rows, options.overlap):
        for (left, right), along in windows(width, columns, options.overlap):
            piece = slice(top, bottom), slice(left, right)
            tile = predict(np.ascontiguousarray(pixels[piece]))
            difference = tile_detail(tile, whole[piece], spread, options)
            if difference is not None:
                difference *= down[:, None]
                difference *= along[None, :]
                detail[piece] += difference
    return np.asarray(whole + detail, np.float32)


def tile_grid(height: int, width: int, size: int, options: TileOptions) -> tuple[int, int]:
    """Return how many tiles go (down, across): one per network size, nearly square ones.

    >>> tile_grid(3000, 4000, 518, TileOptions())
    (3, 4)
    >>> tile_grid(480, 640, 518, TileOptions())
    (1, 1)
    """
    shorter = min(height, width)
    most = min(options.most, max(1, round(shorter / size)))
    count = most if options.across is None else min(options.across, shorter)
    if count == 1:
        return 1, 1
    # A long strip must not take for ever: its tiles get longer beyond sixteen times its width.
    along = [min(round(count * side / shorter), 16 * count) for side in (height, width)]
    return along[0], along[1]


def windows(
    length: int, count: int, overlap: float
) -> Iterator[tuple[tuple[int, int], FloatArray]]:
    """Cut an axis into `count` overlapping windows whose weights add up to one at every pixel.

    Yields:
        (start, stop) in [px] and the (stop − start) weights: raised cosines over the overlaps.
    """
    side = min(length, int(np.ceil(length / (count - (count - 1) * overlap))))
    starts = np.round(np.linspace(0, length - side, count)).astype(int)
    ramp = max(1, int(side * overlap))
    up = 0.5 - 0.5 * np.cos(np.pi * (np.arange(ramp) + 0.5) / ramp)
    total = np.zeros(length)
    bells = []
    for number, start in enumerate(starts):
        bell = np.ones(side)
        if number > 0:
            bell[:ramp] *= up
        if number < count - 1:
            bell[-ramp:] *= up[::-1]
        total[start : start + side] += bell
        bells.append(bell)
    for start, bell in zip(starts, bells, strict=True):
        weight = (bell / total[start : start + side]).astype(np.float32)
        yield (int(start), int(start) + side), weight


def tile_detail(
    tile: FloatArray, whole: FloatArray, spread: float, options: TileOptions
) -> FloatArray | None:
    """Return the detail that a tile adds to the whole-picture map; None if the tile is unreliable.

    Args:
        tile: (h, w) network output for the tile, of any scale and shift.
        whole: (h, w) the whole-picture map there.
        spread: standard deviation of the whole-picture map over the picture, same unit.
        options: thresholds.

    Returns:
        (h, w) float32 to be added to `whole`.
    """
    both = np.isfinite(tile) & np.isfinite(whole)
    if not bool(both.any()):
        return None
    # Sharp detail in the tile is noise to the blurred map, so they are compared when both are coarse.
    small_tile, small_whole = _coarse(np.where(both, tile, np.nan), np.where(both, whole, np.nan))
    if small_tile.size < 2 or float(np.std(small_whole)) < options.flat * spread:
        return None
    fit = align(small_tile, small_whole, robust=True, nonnegative=True)
    left = float(np.mean((fit(small_tile) - small_whole) ** 2))
    if fit.scale <= 0 or left > (1 - options.least_explained) * float(np.var(small_whole)):
        return None
    difference = np.where(both, fit(tile) - whole, np.float32(0))
    difference -= _slow_part(difference, options.finer_than)
    difference[~both] = 0
    return difference


def _coarse(*maps: FloatArray) -> list[FloatArray]:
    """Average maps to about `COARSE` pixels a side and keep the cells that are finite in all."""
    height, width = maps[0].shape
    hw = (min(width, COARSE), min(height, COARSE))
    small = [cv2.resize(values, hw, interpolation=cv2.INTER_AREA) for values in maps]
    finite = np.logical_and.reduce([np.isfinite(values) for values in small])
    return [np.asarray(values[finite], np.float32) for values in small]


def _slow_part(values: FloatArray, share: float) -> FloatArray:
    """Low-pass by a Gaussian whose sigma is `share` of the sides, made on a coarse copy."""
    height, width = values.shape
    hw = (min(width, COARSE), min(height, COARSE))
    small = cv2.resize(values, hw, interpolation=cv2.INTER_AREA)
    smooth = cv2.GaussianBlur(
        small, (0, 0), sigmaX=share * hw[0], sigmaY=share * hw[1], borderType=cv2.BORDER_REFLECT
    )
    return to_picture_size(smooth, (height, width))
