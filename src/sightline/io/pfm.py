"""Read portable float maps (PFM), the depth format of multi-view stereo and optical flow sets.

A text header of four words (`Pf` gray or `PF` color, width, height, scale), one white space, then
float32 rows from the bottom to the top. A negative scale means little-endian; its absolute
value is a unit that most files ignore, so it is returned but not applied.
"""

from __future__ import annotations

import math
import re

import numpy as np

from sightline.errors import InputError
from sightline.io.paths import AnyPath
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, check_pixels, read_bytes
from sightline.types import FloatArray

_HEADER = re.compile(rb"(P[Ff])\s+(\d{1,9})\s+(\d{1,9})\s+(\S{1,40})(?:\r\n|\s)")


def read_pfm(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> tuple[FloatArray, float]:
    """Read a float map.

    Args:
        path: path of the file.
        max_pixels: maximum number of pixels, checked in the header before reading.

    Returns:
        (H, W) or, for color, (H, W, 3) float32 with the top row first, and the scale, positive.
    """
    data = read_bytes(path, limit=max_pixels * 12 + 1000, what="float map")
    header = _HEADER.match(data)
    if header is None:
        raise InputError("is not a PFM file", path=path)
    width, height = int(header[2]), int(header[3])
    check_pixels(width, height, max_pixels, path=path)
    try:
        scale = float(header[4])
    except ValueError:
        scale = math.nan
    if not math.isfinite(scale) or scale == 0:
        raise InputError("has a PFM scale that is no number", path=path, remedy=GET_AGAIN)
    channels = 3 if header[1] == b"PF" else 1
    wanted, there = width * height * channels * 4, len(data) - header.end()
    if there != wanted:
        what = "truncated" if there < wanted else "followed by something else"
        raise InputError(f"is {what} ({there} of {wanted} bytes)", path=path, remedy=GET_AGAIN)
    numbers = np.frombuffer(data, "<f4" if scale < 0 else ">f4", offset=header.end())
    shape = (height, width, 3) if channels == 3 else (height, width)
    values: FloatArray = np.ascontiguousarray(numbers.reshape(shape)[::-1], np.float32)
    return values, abs(scale)
