"""Reading a map at a pixel that somebody points at: a small window, and at an edge its nearer side.

Who measures a thing points at its rims, and half of what is around a rim is the background. The rim
belongs to what is in front.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.yardsticks.words import Length
from sightline.types import DepthMap

#: Half the side of the window that a pixel's disparity is the median of, in [px].
WINDOW = 2
#: How far from a pixel an edge may be to be its edge: so many pixels, or of large pictures this share
#: of the shorter side.
REACH, REACH_SHARE = 4, 1 / 120
#: Least step of inverse depth at an edge, as a share of its range in the picture.
STEP = 0.15
#: Of the pixels around a rim, so many at least are on either side of it.
SIDE = 0.1
#: And so many at most between both sides: on a slope without an edge a third of them are.
BETWEEN = 0.2
#: About so many pixels tell the range of a map.
_SAMPLE = 100_000

Pixels = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Where to read a map.

    Attributes:
        pixels: rows and columns.
        edge: whether there is an edge, and they are those on its nearer side.
    """

    pixels: Pixels
    edge: bool


def look(depth: DepthMap, x: float, y: float, name: str = "") -> Look:
    """Return the pixels that say how far away the thing at (x, y) is.

    Args:
        depth: any map.
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        name: of what is read, for messages.
    """
    small = window(depth, x, y, name)
    rows, columns = window(depth, x, y, name, reach_of(depth))
    near = _nearness(depth, depth.values[rows, columns])
    low, high = np.quantile(near, [SIDE, 1 - SIDE])
    between = np.abs(near - (low + high) / 2) < (high - low) / 6
    if high - low <= STEP * _range(depth) or between.mean() > BETWEEN:
        return Look(small, edge=False)
    front = near > (low + high) / 2
    return Look((rows[front], columns[front]), edge=True)


def edge_notes(depth: DepthMap, lengths: Sequence[tuple[tuple[float, ...], Length]]) -> list[str]:
    """Say which ends of known lengths (x, y, x, y) lie on an edge."""
    ends = [place for ends, _ in lengths for place in (ends[:2], ends[2:])]
    return [edge_note(x, y) for x, y in dict.fromkeys(ends) if look(depth, x, y).edge]


def edge_note(x: float, y: float) -> str:
    """Say that a pixel lies on an edge."""
    return f"{x:g},{y:g} lies on an edge: its nearer side was read"


def read(relative: DepthMap, x: float, y: float, name: str = "") -> float:
    """Return the relative disparity at a pixel: the median of a small window."""
    return float(np.median(around(relative, x, y, name)))


def around(
    depth: DepthMap, x: float, y: float, name: str = "", reach: int = WINDOW
) -> NDArray[np.float32]:
    """Return the known values of a map in the window around a pixel; there is at least one."""
    return np.asarray(depth.values[window(depth, x, y, name, reach)])


def window(depth: DepthMap, x: float, y: float, name: str = "", reach: int = WINDOW) -> Pixels:
    """Return rows and columns of the pixels around a pixel that something is known of.

    Args:
        depth: any map.
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        name: of what is read, for messages.
        reach: how far the window goes to each side, in [px].
    """
    check_inside(x, y, depth.width, depth.height, name)
    column, row = round(x), round(y)
    top, left = max(row - reach, 0), max(column - reach, 0)
    rows, columns = np.nonzero(depth.valid[top : row + reach + 1, left : column + reach + 1])
    if not len(rows):
        of = f"{name}: " if name else ""
        raise InputError(f"{of}nothing is known of depth at {x:g},{y:g}")
    return rows + top, columns + left


def check_inside(x: float, y: float, width: int, height: int, name: str = "") -> None:
    """Refuse a pixel that a picture does not have.

    Args:
        x: column; the leftmost is 0.
        y: row; the topmost is 0.
        width: of the picture in [px].
        height: of the picture in [px].
        name: of what is read, for messages.

    Raises:
        InputError: it lies outside.
    """
    if 0 <= round(x) < width and 0 <= round(y) < height:
        return
    of = f"{name}: " if name else ""
    raise InputError(
        f"{of}{x:g},{y:g} is outside the picture of {width}×{height}",
        remedy=f"x runs from 0 to {width - 1}, y from 0 to {height - 1}",
    )


def reach_of(depth: DepthMap) -> int:
    """Return how far from a pixel an edge may be, in [px]."""
    return max(REACH, round(REACH_SHARE * min(depth.width, depth.height)))


def _nearness(depth: DepthMap, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return what grows evenly with inverse depth, for some values of a map."""
    numbers = values.astype(np.float64)
    return numbers if depth.kind.larger_is_nearer else 1 / numbers


def _range(depth: DepthMap) -> float:
    """Return how far nearness goes in a map, without its outermost pixels."""
    values = depth.values[depth.valid]
    some = _nearness(depth, values[:: max(1, len(values) // _SAMPLE)])
    low, high = np.quantile(some, [0.05, 0.95])
    return float(high - low)
