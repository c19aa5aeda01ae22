"""Lossless run-length coding of videos: compact for flat pictures, and faster than a video codec.

The pixels of a video, in raster order over all frames, are split into runs of one color. A run is
stored as a LEB128 number (seven bits per byte, low bits first): twice its length, plus one if it is
not white, in which case three bytes of RGB follow. White runs continue across rows and frames; other
runs end with their row. The lengths add up to the number of pixels.
"""

from __future__ import annotations

import numpy as np
from numba import njit, uintp
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Frames

_WHITE, _ALL_WHITE = 0xFF, 0xFFFFFF
_LONGEST = 5  # bytes of a number below 2³⁵
_DAMAGED = -1


def encode(frames: Frames, boxes: NDArray[np.int32] | None = None) -> bytes:
    """Encode a video.

    Args:
        frames: (T, S, S, 3) uint8, C-contiguous.
        boxes: (T, N, 4) int32 rows from, to, columns from, to, outside of which all pixels are white,
            as `Canvas.boxes`; default: the whole frame.
    """
    count, size = frames.shape[:2]
    if boxes is None:
        boxes = np.tile(np.array([0, size, 0, size], np.int32), (count, 1, 1))
    room = np.empty(_most(boxes), np.uint8)
    used = _encode(np.ascontiguousarray(frames).reshape(count, -1), boxes, size, room)
    return room[:used].tobytes()


def longest(frames: int, size: int) -> int:
    """Return the largest possible number of bytes of an encoded video."""
    return _LONGEST + frames * size * (4 * size + _LONGEST)


def decode(data: bytes, frames: int, size: int) -> Frames:
    """Decode a video: (frames, size, size, 3) uint8. Damaged data raises an `InputError`."""
    pixels = np.full(frames * size * size * 3, _WHITE, np.uint8)
    if _decode(np.frombuffer(data, np.uint8), pixels) == _DAMAGED:
        raise InputError("the run-length coded video is damaged")
    return pixels.reshape(frames, size, size, 3)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _most(boxes: NDArray[np.int32]) -> int:
    """Return the largest number of bytes: four per pixel in a box, and the white runs between."""
    most = _LONGEST
    for frame in range(len(boxes)):
        for box in range(boxes.shape[1]):
            rows, columns = boxes[frame, box, 1::2] - boxes[frame, box, ::2]
            most += rows * (4 * columns + _LONGEST)
    return most


@njit(cache=True)  # type: ignore[untyped-decorator]
def _encode(frames: Frames, boxes: NDArray[np.int32], size: int, out: NDArray[np.uint8]) -> int:
    """Write the runs to `out`; return the number of bytes."""
    used = 0
    white = 0  # length of the white run that is not written yet
    for frame in range(len(frames)):
        pixels = frames[frame]
        done = 0  # pixels of this frame that belong to a run
        for row in range(size):
            column = 0
            while True:
                begin, end = _next_stretch(boxes[frame], row, column, size)
                if begin == size:
                    break
                white += row * size + begin - done
                column, done = end, row * size + end
                place, last = uintp(3 * (row * size + begin)), uintp(3 * done)
                while place < last:
                    start, color = place, _color(pixels, place)
                    place += uintp(3)
                    while place < last and _color(pixels, place) == color:
                        place += uintp(3)
                    length = int(place - start) // 3
                    if color == _ALL_WHITE:
                        white += length
                        continue
                    if white:
                        used = _put(out, used, 2 * white)
                        white = 0
                    used = _put(out, used, 2 * length + 1)
                    for channel in range(uintp(3)):
                        out[uintp(used) + channel] = pixels[start + channel]
                    used += 3
        white += size * size - done
    return _put(out, used, 2 * white) if white else used


@njit(cache=True)  # type: ignore[untyped-decorator]
def _color(pixels: Frames, place: int) -> int:
    """Return the three bytes of a pixel as one integer."""
    low, middle, high = pixels[place], pixels[place + uintp(1)], pixels[place + uintp(2)]
    return int(low) | int(middle) << 8 | int(high) << 16


@njit(cache=True)  # type: ignore[untyped-decorator]
def _next_stretch(boxes: NDArray[np.int32], row: int, column: int, size: int) -> tuple[int, int]:
    """Return the first stretch of a row, from `column` on, that lies in a box; (size, size) if none."""
    begin, end = size, size
    for box in range(len(boxes)):
        if boxes[box, 0] <= row < boxes[box, 1] and boxes[box, 3] > column:
            start = max(boxes[box, 2], column)
            if start < begin:
                begin, end = start, boxes[box, 3]
    for _ in range(len(boxes)):  # boxes that touch are one stretch, so that no run is split
        for box in range(len(boxes)):
            if boxes[box, 0] <= row < boxes[box, 1] and boxes[box, 2] <= end < boxes[box, 3]:
                end = boxes[box, 3]
    return begin, end


@njit(cache=True)  # type: ignore[untyped-decorator]
def _put(out: NDArray[np.uint8], used: int, number: int) -> int:
    """Append a LEB128 number; return the new length."""
    while number >= 128:
        out[used] = 128 | (number & 127)
        number >>= 7
        used += 1
    out[used] = number
    return used + 1


@njit(cache=True)  # type: ignore[untyped-decorator]
def _decode(data: NDArray[np.uint8], pixels: NDArray[np.uint8]) -> int:
    """Fill white `pixels`; return the number of bytes filled, or `_DAMAGED` if that is not all."""
    place, filled = 0, 0
    while place < len(data):
        number, shift = 0, 0
        while True:
            if place == len(data) or shift > 7 * (_LONGEST - 1):
                return _DAMAGED
            byte = int(data[place])
            number |= (byte & 127) << shift
            shift += 7
            place += 1
            if byte < 128:
                break
        end = filled + 3 * (number >> 1)
        if end > len(pixels) or (number & 1 and place + 3 > len(data)):
            return _DAMAGED
        if number & 1:
            for pixel in range(uintp(filled), uintp(end), uintp(3)):
                for channel in range(uintp(3)):
                    pixels[pixel + channel] = data[uintp(place) + channel]
            place += 3
        filled = end
    return filled if filled == len(pixels) else _DAMAGED
