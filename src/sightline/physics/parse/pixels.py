"""One pass over a video's bytes: which pixels are not background, and what colours there are.

* The background is white. A pixel counts as ink when any channel is below `INK`; bytes are tested
  eight at a time, so that the white of a video costs a tenth of a millisecond.
* Colours are peaks among the *flat* pixels, those that look like their right and lower neighbour:
  edges, where a colour fades into white, are not flat. What lies on the way from white to a colour,
  or between two, must be frequent to count as a colour of its own.
* A pixel of a body's edge is a mix of white, the body and perhaps its neighbour's colour; `mixes`
  has the matrices that take it apart.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.types import Doubles, Frames

#: A pixel with all channels at or above this is background: well clear of ±5 grey levels of noise.
INK = 240
#: Most colours that are told apart in one video.
MOST_COLOURS = 8

_INK_BITS = np.uint64(0xF0F0F0F0F0F0F0F0)  # set in every byte that is at least INK
_FLAT = 24  # levels; neighbours differ less than this inside a body, also after mp4
_FEWEST = 6  # flat pixels of a colour among every second one of the whole video
_MIX_DISTANCE = 70.0  # levels; this near to the line between two colours is a mix of them
_MIX_SHARE = 0.15  # unless it is this frequent, measured by the rarer of the two
_SAME = 64.0  # levels; nearer colours are one
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
def find_colours(
    data: Frames, ink: NDArray[np.int32], height: int, width: int
) -> Doubles:  # pragma: no cover
    """Return the (K, 3) colours of a video in [levels], the most frequent first.

    Args:
        data: (T·H·W·3,) uint8.
        ink: numbers of the pixels that are not background.
        height: of a frame in [px].
        width: of a frame in [px].
    """
    # One entry per cube of 16³ levels: how many flat pixels, and the sum of their colours.
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
    """Take the most frequent cube with its neighbours, again and again."""
    found = np.empty((MOST_COLOURS, 3))
    frequency = np.empty(MOST_COLOURS, np.int64)
    number = 0
    while number < MOST_COLOURS:
        peak = int(np.argmax(counts))
        if counts[peak] == 0:
            break
        total = np.int64(0)
        colour = np.zeros(3)
        for red in range(max(0, peak // 256 - 1), min(16, peak // 256 + 2)):
            for green in range(max(0, peak // 16 % 16 - 1), min(16, peak // 16 % 16 + 2)):
                for blue in range(max(0, peak % 16 - 1), min(16, peak % 16 + 2)):
                    cube = 256 * red + 16 * green + blue
                    total += counts[cube]
                    for channel in range(3):
                        colour[channel] += sums[cube, channel]
                        sums[cube, channel] = 0
                    counts[cube] = 0
        if total < _FEWEST:
            break
        colour /= total
        if _is_new(colour, total, found[:number], frequency):
            found[number] = colour
            frequency[number] = total
            number += 1
    return found[:number].copy()


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _is_new(
    colour: Doubles, total: int, found: Doubles, frequency: NDArray[np.int64]
) -> bool:  # pragma: no cover
    """Whether a colour is one of its own: not another again, nor a mix of two (white is one)."""
    white, black = np.full(3, 255.0), np.zeros(3)
    if np.sqrt(((white - colour) ** 2).sum()) < _PALE:
        return False
    for first in range(len(found)):
        if np.sqrt(((colour - found[first]) ** 2).sum()) < _SAME:
            return False
        # Compressed edges have the brightness of one side and the colour of both: darker than either.
        near = min(
            _distance_to_line(colour, found[first], white),
            _distance_to_line(colour, found[first], black),
        )
        if near < _MIX_DISTANCE and total < _MIX_SHARE * frequency[first]:
            return False
        for second in range(first):
            near = _distance_to_line(colour, found[first], found[second])
            rarer = min(frequency[first], frequency[second])
            if near < _MIX_DISTANCE and total < _MIX_SHARE * rarer:
                return False
    return True


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _distance_to_line(point: Doubles, start: Doubles, end: Doubles) -> float:  # pragma: no cover
    """Distance of a colour to the segment between two others, in [levels]."""
    along = end - start
    share = ((point - start) * along).sum() / max((along * along).sum(), 1e-9)
    share = min(max(share, 0.0), 1.0)
    return np.sqrt(((point - start - share * along) ** 2).sum())


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mixes(colours: Doubles) -> Doubles:  # pragma: no cover
    """Return the (K, K, 2, 3) matrices that take a pixel apart.

    Entry [k, j] times (255 - pixel) gives the share of colour k and of colour j in it; on the
    diagonal, and where white, k and j lie on one line, the share of k alone and zero.
    """
    number = len(colours)
    out = np.zeros((number, number, 2, 3))
    ink = 255.0 - colours
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
