"""Find the colors of a video and its blobs: connected patches of one color, with area and bounds.

* The background is white. A pixel is not background when any channel is below `INK`; bytes are tested
  eight at a time, so that the white of a video costs a tenth of a millisecond.
* Colors are peaks among the *flat* pixels, which look like their right and lower neighbors. Edges,
  where a color fades into white, are not flat. A color between white and another color, or between two
  colors, must be frequent to count as one of its own.
* A pixel at the edge of a body is a mixture of white, the body and perhaps its neighbor's color;
  `mixes` returns the matrices that separate them.
* For blobs, each pixel belongs to the nearest color, white included, so a soft edge is cut where it is
  half covered. Runs along rows that touch (also at corners) and have the same color form one blob.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import Doubles, Frames

#: A pixel with all channels at or above this is background: well clear of ±5 gray levels of noise.
INK = 240
#: Most colors that are told apart in one video.
MOST_COLORS = 8

_INK_BITS = np.uint64(0xF0F0F0F0F0F0F0F0)  # set in every byte that is at least INK
_FLAT = 24  # levels; neighbors differ less than this inside a body, also after mp4
_FEWEST = 6  # flat pixels of a color among every second one of the whole video
_MIX_DISTANCE = 70.0  # levels; this near to the line between two colors is a mix of them
_MIX_SHARE = 0.15  # unless it is this frequent, measured by the rarer of the two
_SAME = 64.0  # levels; nearer colors are one
_PALE = 80.0  # levels; nearer to white is a shadow of compression, not a body


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_ink(
    data: Frames, words: NDArray[np.uint64], out: NDArray[np.int32]
) -> int:  # pragma: no cover (compiled)
    """List the pixels that are not background, in raster order over the whole video.

    Args:
        data: (T·H·W·3,) uint8, the bytes of the video.
        words: the same bytes, eight in one, without a remainder.
        out: (T·H·W,) int32, receives the numbers of the pixels.

    Returns:
        How many there are.
    """
    count = 0
    next_pixel = 0
    for index in range(len(words)):
        if words[index] & _INK_BITS == _INK_BITS:
            continue
        first = max(next_pixel, (8 * index) // 3)
        last = min((8 * index + 7) // 3, len(data) // 3 - 1)
        for pixel in range(first, last + 1):
            if _is_ink(data, pixel):
                out[count] = pixel
                count += 1
        next_pixel = last + 1
    for pixel in range(max(next_pixel, (8 * len(words)) // 3), len(data) // 3):
        if _is_ink(data, pixel):
            out[count] = pixel
            count += 1
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_ink(data: Frames, pixel: int) -> bool:  # pragma: no cover
    at = 3 * pixel
    return data[at] < INK or data[at + 1] < INK or data[at + 2] < INK


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_colors(
    data: Frames, ink: NDArray[np.int32], height: int, width: int
) -> Doubles:  # pragma: no cover
    """Return the (K, 3) colors of a video in [levels], the most frequent first.

    Args:
        data: (T·H·W·3,) uint8.
        ink: numbers of the pixels that are not background.
        height: of a frame in [px].
        width: of a frame in [px].
    """
    # One entry per cube of 16³ levels: how many flat pixels, and the sum of their colors.
    counts = np.zeros(4096, np.int64)
    sums = np.zeros((4096, 3), np.int64)
    size = height * width
    for index in range(0, len(ink), 2):  # half of them say it as well
        pixel = ink[index]
        place = pixel % size
        if place % width == width - 1 or place >= size - width:
            continue
        at = 3 * pixel
        flat = True
        for channel in range(3):
            value = np.int32(data[at + channel])
            right = np.int32(data[at + 3 + channel])
            below = np.int32(data[at + 3 * width + channel])
            if abs(value - right) > _FLAT or abs(value - below) > _FLAT:
                flat = False
                break
        if flat:
            cube = (data[at] >> 4) * 256 + (data[at + 1] >> 4) * 16 + (data[at + 2] >> 4)
            counts[cube] += 1
            for channel in range(3):
                sums[cube, channel] += data[at + channel]
    return _peaks(counts, sums)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _peaks(counts: NDArray[np.int64], sums: NDArray[np.int64]) -> Doubles:  # pragma: no cover
    """Take the most frequent cube with its neighbors, again and again."""
    found = np.empty((MOST_COLORS, 3))
    frequency = np.empty(MOST_COLORS, np.int64)
    number = 0
    while number < MOST_COLORS:
        peak = int(np.argmax(counts))
        if counts[peak] == 0:
            break
        total = np.int64(0)
        color = np.zeros(3)
        for red in range(max(0, peak // 256 - 1), min(16, peak // 256 + 2)):
            for green in range(max(0, peak // 16 % 16 - 1), min(16, peak // 16 % 16 + 2)):
                for blue in range(max(0, peak % 16 - 1), min(16, peak % 16 + 2)):
                    cube = 256 * red + 16 * green + blue
                    total += counts[cube]
                    for channel in range(3):
                        color[channel] += sums[cube, channel]
                        sums[cube, channel] = 0
                    counts[cube] = 0
        if total < _FEWEST:
            break
        color /= total
        if _is_new(color, total, found[:number], frequency):
            found[number] = color
            frequency[number] = total
            number += 1
    return found[:number].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_new(
    color: Doubles, total: int, found: Doubles, frequency: NDArray[np.int64]
) -> bool:  # pragma: no cover
    """Whether a color is one of its own: not another again, nor a mix of two (white is one)."""
    white, black = np.full(3, 255.0), np.zeros(3)
    if np.sqrt(((white - color) ** 2).sum()) < _PALE:
        return False
    for first in range(len(found)):
        if np.sqrt(((color - found[first]) ** 2).sum()) < _SAME:
            return False
        # Compressed edges have the brightness of one side and the color of both: darker than either.
        near = min(
            _distance_to_line(color, found[first], white),
            _distance_to_line(color, found[first], black),
        )
        if near < _MIX_DISTANCE and total < _MIX_SHARE * frequency[first]:
            return False
        for second in range(first):
            near = _distance_to_line(color, found[first], found[second])
            rarer = min(frequency[first], frequency[second])
            if near < _MIX_DISTANCE and total < _MIX_SHARE * rarer:
                return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _distance_to_line(point: Doubles, start: Doubles, end: Doubles) -> float:  # pragma: no cover
    """Distance of a color to the segment between two others, in [levels]."""
    along = end - start
    share = ((point - start) * along).sum() / max((along * along).sum(), 1e-9)
    share = min(max(share, 0.0), 1.0)
    return np.sqrt(((point - start - share * along) ** 2).sum())


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mixes(colors: Doubles) -> Doubles:  # pragma: no cover
    """Return the (K, K, 2, 3) matrices that take a pixel apart.

    Entry [k, j] times (255 - pixel) gives the share of color k and of color j in it; on the
    diagonal, and where white, k and j lie on one line, the share of k alone and zero.
    """
    number = len(colors)
    out = np.zeros((number, number, 2, 3))
    ink = 255.0 - colors
    for k in range(number):
        kk = (ink[k] * ink[k]).sum()
        for j in range(number):
            jj = (ink[j] * ink[j]).sum()
            kj = (ink[k] * ink[j]).sum()
            determinant = kk * jj - kj * kj
            if k == j or determinant < 0.02 * kk * jj:
                out[k, j, 0] = ink[k] / kk
            else:
                out[k, j, 0] = (jj * ink[k] - kj * ink[j]) / determinant
                out[k, j, 1] = (kk * ink[j] - kj * ink[k]) / determinant
    return out


def words_of(data: Frames) -> NDArray[Any]:
    """Return the bytes of a video eight in one, without the remainder."""
    return data[: len(data) // 8 * 8].view(np.uint64)


#: Most blobs of a frame that are kept: the largest.
MOST_BLOBS = 16
#: Columns of a table of blobs: color number, area in [px], sums of column and row over it, bounds
#: (columns left, right, rows top, bottom, all part of it), sums of the inner pixels' channels and
#: their number.
COLOR, AREA, SUM_X, SUM_Y, LEFT, RIGHT, TOP, BOTTOM, RED, GREEN, BLUE, INNER = range(12)
FIELDS = 12


class Blobs(NamedTuple):
    """The blobs of a video, at most B per frame, the largest first.

    Attributes:
        table: (T, B, FIELDS) int64 statistics.
        number: (T,) int64 blobs of each frame.
        places: (T, B, FIT_FIELDS) float64 fitted centers and radii, in [px] (`fit`).
        cut: (T, B) bool, the border of the picture cuts the blob.
        crowded: (T, B) bool, another blob is so near that their edges may mix.
        clean: (T, B) bool, neither: the whole outline shows.
        shapes: (T, B) uint8 values of `Shape`, or `UNKNOWN`.
    """

    table: NDArray[np.int64]
    number: NDArray[np.int64]
    places: Doubles
    cut: NDArray[np.bool_]
    crowded: NDArray[np.bool_]
    clean: NDArray[np.bool_]
    shapes: NDArray[np.uint8]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def find_blobs(
    data: Frames,
    ink: NDArray[np.int32],
    colors: Doubles,
    shape: tuple[int, int, int],
    least: float,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # pragma: no cover (compiled)
    """Return the blobs of every frame.

    Args:
        data: (T·H·W·3,) uint8.
        ink: numbers of the pixels that are not background, in raster order.
        colors: (K, 3) in [levels].
        shape: (T, H, W).
        least: blobs of a smaller area in [px] are dropped as specks.

    Returns:
        (T, MOST_BLOBS, FIELDS) int64 table and (T,) int64 number of blobs, the largest first.
    """
    frames, height, width = shape
    table = np.zeros((frames, MOST_BLOBS, FIELDS), np.int64)
    number = np.zeros(frames, np.int64)
    size = height * width
    # A run: blob it belongs to (a parent in a forest), row, first and last column, color.
    most_runs = size + 1
    parent = np.empty(most_runs, np.int32)
    runs = np.empty((most_runs, 4), np.int32)
    sums = np.empty((most_runs, FIELDS), np.int64)
    at = 0
    for frame in range(frames):
        end = at
        while end < len(ink) and ink[end] < (frame + 1) * size:
            end += 1
        count = _runs_of(data, ink[at:end], colors, frame * size, width, runs, sums)
        at = end
        _join(runs, parent, count)
        number[frame] = _gather(parent, sums, count, table[frame], least)
    return table, number


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _runs_of(
    data: Frames,
    ink: NDArray[np.int32],
    colors: Doubles,
    offset: int,
    width: int,
    runs: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> int:  # pragma: no cover
    """Cut one frame into runs of one color along rows; `sums` begins the statistics of each."""
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
            now = _nearest(colors, r, g, b)
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
        if run[2] > run[1] + 1:  # colors are taken from the pixels between the ends
            sums[count - 1, RED] += data[at - 3]
            sums[count - 1, GREEN] += data[at - 2]
            sums[count - 1, BLUE] += data[at - 1]
            sums[count - 1, INNER] += 1
    for run in range(count):
        row, first, last = runs[run, 0], runs[run, 1], runs[run, 2]
        area = last - first + 1
        sums[run, COLOR], sums[run, AREA] = runs[run, 3], area
        sums[run, SUM_X], sums[run, SUM_Y] = area * (first + last) // 2, area * row
        sums[run, LEFT], sums[run, RIGHT] = first, last
        sums[run, TOP], sums[run, BOTTOM] = row, row
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _nearest(colors: Doubles, r: int, g: int, b: int) -> int:  # pragma: no cover
    """Return the number of the nearest color, -1 for white."""
    best = (255.0 - r) ** 2 + (255.0 - g) ** 2 + (255.0 - b) ** 2
    label = -1
    for k in range(len(colors)):
        distance = (colors[k, 0] - r) ** 2 + (colors[k, 1] - g) ** 2 + (colors[k, 2] - b) ** 2
        if distance < best:
            best, label = distance, k
    return label


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _join(
    runs: NDArray[np.int32], parent: NDArray[np.int32], count: int
) -> None:  # pragma: no cover
    """Connect runs of neighboring rows that touch; both rows are walked once, from left to right."""
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
