"""Patches of one colour in each frame: connected runs of pixels, with their area and bounds.

A pixel belongs to the colour it is nearest to, white being one of them, so a soft edge is cut where
it is half covered. Runs along rows that touch (also at corners) and have the same colour are one
patch, a *blob*. Pixels of a blob are never looked at twice.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import Doubles, Frames

#: Most blobs of a frame that are kept: the largest.
MOST_BLOBS = 16
#: Columns of a table of blobs: colour number, area in [px], sums of column and row over it, bounds
#: (columns left, right, rows top, bottom, all part of it), sums of the inner pixels' channels and
#: their number.
COLOUR, AREA, SUM_X, SUM_Y, LEFT, RIGHT, TOP, BOTTOM, RED, GREEN, BLUE, INNER = range(12)
FIELDS = 12


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_blobs(
    data: Frames,
    ink: NDArray[np.int32],
    colours: Doubles,
    shape: tuple[int, int, int],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover (compiled)
    """Return the blobs of every frame.

    Args:
        data: (T·H·W·3,) uint8.
        ink: numbers of the pixels that are not background, in raster order.
        colours: (K, 3) in [levels].
        shape: (T, H, W).
        least: blobs of a smaller area in [px] are dropped as specks.

    Returns:
        (T, MOST_BLOBS, FIELDS) int64 table and (T,) int64 number of blobs, the largest first.
    """
    frames, height, width = shape
    table = np.zeros((frames, MOST_BLOBS, FIELDS), np.int64)
    number = np.zeros(frames, np.int64)
    size = height * width
    # A run: blob it belongs to (a parent in a forest), row, first and last column, colour.
    most_runs = size + 1
    parent = np.empty(most_runs, np.int32)
    runs = np.empty((most_runs, 4), np.int32)
    sums = np.empty((most_runs, FIELDS), np.int64)
    at = 0
    for frame in range(frames):
        end = at
        while end < len(ink) and ink[end] < (frame + 1) * size:
            end += 1
        count = _runs_of(data, ink[at:end], colours, frame * size, width, runs, sums)
        at = end
        _join(runs, parent, count)
        number[frame] = _gather(parent, sums, count, table[frame], least)
    return table, number


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _runs_of(
    data: Frames,
    ink: NDArray[np.int32],
    colours: Doubles,
    offset: int,
    width: int,
    runs: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> int:  # pragma: no cover
    """Cut one frame into runs of one colour along rows; `sums` begins the statistics of each."""
    count = 0
    previous = -2
    label = -1
    red = green = blue = -1
    for index in range(len(ink)):
        pixel = ink[index]
        at = 3 * pixel
        r, g, b = int(data[at]), int(data[at + 1]), int(data[at + 2])
        now = label
        if r != red or g != green or b != blue:
            now = _nearest(colours, r, g, b)
            red, green, blue = r, g, b
        place = pixel - offset
        joined = pixel == previous + 1 and now == label and place % width != 0
        previous = pixel
        label = now
        if now < 0:
            continue
        if not joined:
            runs[count, 0], runs[count, 1] = place // width, place % width
            runs[count, 3] = now
            sums[count] = 0
            count += 1
        run = runs[count - 1]
        run[2] = place % width
        if run[2] > run[1] + 1:  # colours are taken from the pixels between the ends
            sums[count - 1, RED] += data[at - 3]
            sums[count - 1, GREEN] += data[at - 2]
            sums[count - 1, BLUE] += data[at - 1]
            sums[count - 1, INNER] += 1
    for run in range(count):
        row, first, last = runs[run, 0], runs[run, 1], runs[run, 2]
        area = last - first + 1
        sums[run, COLOUR], sums[run, AREA] = runs[run, 3], area
        sums[run, SUM_X], sums[run, SUM_Y] = area * (first + last) // 2, area * row
        sums[run, LEFT], sums[run, RIGHT] = first, last
        sums[run, TOP], sums[run, BOTTOM] = row, row
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _nearest(colours: Doubles, r: int, g: int, b: int) -> int:  # pragma: no cover
    """Return the number of the nearest colour, -1 for white."""
    best = (255.0 - r) ** 2 + (255.0 - g) ** 2 + (255.0 - b) ** 2
    label = -1
    for k in range(len(colours)):
        distance = (colours[k, 0] - r) ** 2 + (colours[k, 1] - g) ** 2 + (colours[k, 2] - b) ** 2
        if distance < best:
            best, label = distance, k
    return label


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _join(
    runs: NDArray[np.int32], parent: NDArray[np.int32], count: int
) -> None:  # pragma: no cover
    """Connect runs of neighbouring rows that touch; both rows are walked once, from left to right."""
    above_start, above_end, row_start = 0, 0, 0
    for run in range(count):
        parent[run] = run
        if run > 0 and runs[run, 0] != runs[run - 1, 0]:
            above_start, above_end = row_start, run
            row_start = run
            if runs[run, 0] != runs[run - 1, 0] + 1:
                above_start = above_end
        above = above_start
        while above < above_end and runs[above, 1] <= runs[run, 2] + 1:
            if runs[above, 2] >= runs[run, 1] - 1 and runs[above, 3] == runs[run, 3]:
                one, two = _root(parent, above), _root(parent, run)
                parent[max(one, two)] = min(one, two)
            above += 1
        while above_start < above_end and runs[above_start, 2] < runs[run, 1] - 1:
            above_start += 1


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _root(parent: NDArray[np.int32], run: int) -> int:  # pragma: no cover
    while parent[run] != run:
        parent[run] = parent[parent[run]]
        run = parent[run]
    return run


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _gather(
    parent: NDArray[np.int32],
    sums: NDArray[np.int64],
    count: int,
    table: NDArray[np.int64],
    least: float,
) -> int:  # pragma: no cover
    """Add up the runs of each blob and put the largest into the table; return how many."""
    for run in range(count):
        root = _root(parent, run)
        if root == run:
            continue
        one, two = sums[root], sums[run]
        for field in (AREA, SUM_X, SUM_Y, RED, GREEN, BLUE, INNER):
            one[field] += two[field]
        one[LEFT], one[RIGHT] = min(one[LEFT], two[LEFT]), max(one[RIGHT], two[RIGHT])
        one[TOP], one[BOTTOM] = min(one[TOP], two[TOP]), max(one[BOTTOM], two[BOTTOM])
    number = 0
    for run in range(count):
        if parent[run] != run or sums[run, AREA] < least:
            continue
        place = min(number, MOST_BLOBS)
        while place > 0 and table[place - 1, AREA] < sums[run, AREA]:
            if place < MOST_BLOBS:
                table[place] = table[place - 1]
            place -= 1
        if place < MOST_BLOBS:
            table[place] = sums[run]
            number = min(number + 1, MOST_BLOBS)
    return number
