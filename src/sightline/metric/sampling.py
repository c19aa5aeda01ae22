"""Read a map at a pixel given by a user: a small window, and at a depth edge its nearer side.

Users point at the outlines of objects, where half of the window shows the background. An outline
belongs to the object in front.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import Camera, DepthMap

#: Standard deviation of the pixel a user points at, in [px].
POINTING = 1.5
#: Half side of the window whose median is read, in [px].
WINDOW = 2
#: Largest distance of an edge from the pixel: in [px], or as a share of the shorter side of the image.
REACH, REACH_SHARE = 4, 1 / 120
#: Smallest step of inverse depth at an edge, as a share of its range in the image.
STEP = 0.15
#: Smallest share of the window on either side of an edge.
SIDE = 0.1
#: Largest share of the window between both sides. On a slope without an edge it is a third.
BETWEEN = 0.2
#: About this many pixels are used to estimate the range of a map.
_SAMPLE = 100_000

Pixels = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class PixelSample:
    """Pixels at which a map is read.

    Attributes:
        pixels: rows and columns.
        edge: True if there is a depth edge; the pixels are then those on its nearer side.
    """

    pixels: Pixels
    edge: bool


def sample(depth: DepthMap, x: float, y: float, name: str = "") -> PixelSample:
    """Select the pixels that show the object at (x, y).

    Args:
        depth: map of any kind.
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        name: of what is read, for error messages.
    """
    small = window(depth, x, y, name)
    rows, columns = window(depth, x, y, name, reach_of(depth))
    near = _nearness(depth, depth.values[rows, columns])
    low, high = np.quantile(near, [SIDE, 1 - SIDE])
    # At an edge inverse depth has two modes: few values lie in the central third of its range.
    between = np.abs(near - (low + high) / 2) < (high - low) / 6
    if high - low <= STEP * _range(depth) or between.mean() > BETWEEN:
        return PixelSample(small, edge=False)
    front = near > (low + high) / 2
    return PixelSample((rows[front], columns[front]), edge=True)


def edge_warning(x: float, y: float) -> str:
    """Return the warning for a pixel on a depth edge."""
    return f"{x:g},{y:g} lies on an edge: its nearer side was read"


def read(relative: DepthMap, x: float, y: float, name: str = "") -> float:
    """Return the median relative disparity of the window around a pixel."""
    return float(np.median(around(relative, x, y, name)))


def around(
    depth: DepthMap, x: float, y: float, name: str = "", reach: int = WINDOW
) -> NDArray[np.float32]:
    """Return the valid values of a map in the window around a pixel; at least one."""
    return np.asarray(depth.values[window(depth, x, y, name, reach)])


def window(depth: DepthMap, x: float, y: float, name: str = "", reach: int = WINDOW) -> Pixels:
    """Return rows and columns of the valid pixels around a pixel.

    Args:
        depth: map of any kind.
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        name: of what is read, for error messages.
        reach: half side of the window in [px].

    Raises:
        InputError: the pixel lies outside, or no pixel of the window is valid.
    """
    check_inside(x, y, depth.width, depth.height, name)
    column, row = round(x), round(y)
    top, left = max(row - reach, 0), max(column - reach, 0)
    rows, columns = np.nonzero(depth.valid[top : row + reach + 1, left : column + reach + 1])
    if not len(rows):
        of = f"{name}: " if name else ""
        raise InputError(f"{of}no depth is known at {x:g},{y:g}")
    return rows + top, columns + left


def check_inside(x: float, y: float, width: int, height: int, name: str = "") -> None:
    """Raise InputError if a pixel lies outside an image.

    Args:
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        width: of the image in [px].
        height: of the image in [px].
        name: of what is read, for the error message.
    """
    if 0 <= round(x) < width and 0 <= round(y) < height:
        return
    of = f"{name}: " if name else ""
    raise InputError(
        f"{of}{x:g},{y:g} is outside the picture of {width}×{height}",
        remedy=f"x runs from 0 to {width - 1}, y from 0 to {height - 1}",
    )


def reach_of(depth: DepthMap) -> int:
    """Return the largest distance of an edge from a pixel, in [px]."""
    return max(REACH, round(REACH_SHARE * min(depth.width, depth.height)))


def rays_at(camera: Camera, pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return x/z and y/z of (..., 2) pixels: (pixel - principal point) / focal length."""
    center = camera.K[:2, 2]
    focal = np.array([camera.K[0, 0], camera.K[1, 1]])
    return np.asarray((pixels - center) / focal)


def _nearness(depth: DepthMap, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return a linear function of inverse depth."""
    numbers = values.astype(np.float64)
    return numbers if depth.kind.larger_is_nearer else 1 / numbers


def _range(depth: DepthMap) -> float:
    """Return the range of nearness between the 5th and 95th percentile of a map."""
    values = depth.values[depth.valid]
    some = _nearness(depth, values[:: max(1, len(values) // _SAMPLE)])
    low, high = np.quantile(some, [0.05, 0.95])
    return float(high - low)
