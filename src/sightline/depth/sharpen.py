"""Upsample a network's map with sharp depth edges.

A network of 280 pixels draws every outline as a slope of five to ten of its own pixels, and
bilinear upsampling keeps that slope: a point cloud gets a curtain between a cup and the table behind
it. Most of that slope is uncertainty about the position of the outline rather than shape, so the best
estimate is a step where the slope is halfway. Within a small window, `low` and `high` are the least
and greatest value of the network's map; the value's place between the two, t in 0 to 1, is made
steeper around one half.

On a slanted floor this would make stairs. There the range of values grows with the window; at
an outline it does not, since both sides are level. So the ratio of the ranges in a small and in a
three times larger window separates the two: 1/3 on a plane, 1 at a step.

Everything is found on the network's own grid, then resampled like the map itself, so the cost does
not grow with the picture except where there are outlines.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.preprocessing import aligned, to_picture_size
from sightline.types import FloatArray

#: Half the side of the window in network pixels: the width of the slopes that networks draw.
REACH = 4

#: Ratio of the ranges in the small and the threefold window: up to the first nothing is done, from the
#: second on the slope becomes a step.
PLANE, STEP = 0.4, 0.6

#: Outlines of less than this share of the map's whole range are left alone; twice as much counts full.
LEAST_STEP = 0.02

#: How much steeper a full outline becomes; a jump within about a third of a network pixel.
STEEPEST = 30.0

#: Output pixels, squared, that are worked on at a time; those without an outline are passed over.
TILE = 128


def enlarge(values: NDArray[np.floating], hw: tuple[int, int], *, sharpen: bool) -> FloatArray:
    """Resize a network's map to the size of the image, with sharp edges if `sharpen`.

    Args:
        values: (h, w) network output, disparity or depth.
        hw: (H, W) of the picture.
        sharpen: otherwise bilinear, as the authors of Depth Anything do.

    Returns:
        (H, W) float32. No value leaves the range of the network's values around it. Maps that are
        not finite throughout are not sharpened.
    """
    source = np.asarray(values, np.float32)
    result = to_picture_size(source, hw)
    if not sharpen or not bool(np.isfinite(source).all()):
        return result
    low, high = windowed(source, np.minimum, REACH), windowed(source, np.maximum, REACH)
    steepness = outline_strength(source, low, high)
    if not steepness.any():
        return result
    down, across = aligned(source.shape[0], hw[0]), aligned(source.shape[1], hw[1])
    for rows, columns in _tiles(hw):
        part = partial(
            _resampled, down=[a[rows] for a in down], across=[a[columns] for a in across]
        )
        strength = part(steepness)
        if strength.any():
            here = result[rows, columns]
            here[...] = _steepened(here, part(low), part(high), strength)
    return result


def outline_strength(values: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Return the (h, w) confidence that each pixel lies on an outline, 0 to 1.

    Args:
        values: (h, w), finite.
        low: least values in the small window.
        high: greatest values in it.
    """
    whole = float(np.subtract(*np.percentile(values, [98, 2])))
    if whole <= 0:
        return np.zeros_like(values)
    near = high - low
    far = windowed(high, np.maximum, 2 * REACH) - windowed(low, np.minimum, 2 * REACH)
    ratio = np.divide(near, far, out=np.zeros_like(near), where=far > 0)
    level = np.clip((ratio - PLANE) / (STEP - PLANE), 0, 1)
    size = near.astype(np.float64) / (LEAST_STEP * whole)  # the range may be as small as floats get
    return level * np.clip(size - 1, 0, 1).astype(np.float32)


def windowed(
    values: FloatArray, choose: Callable[[FloatArray, FloatArray], FloatArray], reach: int
) -> FloatArray:
    """Return the minimum or maximum within `reach` pixels of each pixel, in a square window.

    Args:
        values: (h, w).
        choose: `np.minimum` or `np.maximum`.
        reach: half the side of the square, in pixels.
    """
    result = values
    for _ in range(reach):
        rows = result.copy()
        rows[1:] = choose(rows[1:], result[:-1])
        rows[:-1] = choose(rows[:-1], result[1:])
        result = rows.copy()
        result[:, 1:] = choose(result[:, 1:], rows[:, :-1])
        result[:, :-1] = choose(result[:, :-1], rows[:, 1:])
    return result


def _steepened(
    values: FloatArray, low: FloatArray, high: FloatArray, strength: FloatArray
) -> FloatArray:
    """Move values toward the nearer end of their range, the more the greater the strength."""
    span = high - low
    place = np.divide(values - low, span, out=np.full_like(span, 0.5), where=span > 0)
    gain = 1 / np.maximum(1 - strength, np.float32(1 / STEEPEST))
    place = np.clip((place - np.float32(0.5)) * gain + np.float32(0.5), 0, 1)
    return np.where(strength > 0, low + span * place, values)


def _resampled(
    values: FloatArray, down: list[NDArray[Any]], across: list[NDArray[Any]]
) -> FloatArray:
    """Return a part of the output of `to_picture_size`; `down` and `across` are slices of `aligned`."""
    first = int(down[0][0])
    band = values[first : int(down[1][-1]) + 1]
    wide = band[:, across[0]] + (band[:, across[1]] - band[:, across[0]]) * across[2]
    top = wide[down[0] - first]
    return top + (wide[down[1] - first] - top) * down[2][:, None]


def _tiles(hw: tuple[int, int]) -> list[tuple[slice, slice]]:
    return [
        (slice(row, row + TILE), slice(column, column + TILE))
        for row in range(0, hw[0], TILE)
        for column in range(0, hw[1], TILE)
    ]
