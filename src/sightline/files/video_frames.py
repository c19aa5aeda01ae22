"""One decoded frame of a video as people see it: 8-bit RGB, in the right colours, upright."""

from __future__ import annotations

from typing import Any

import av
import numpy as np
from av.video.reformatter import ColorRange, Colorspace
from numpy.typing import NDArray

from sightline.files.hdr import Transfer, hdr_to_srgb
from sightline.files.pixels import to_rgb8

RGB = NDArray[np.uint8]

#: High dynamic range by transfer characteristics of ITU-T H.273.
HDR: dict[int, Transfer] = {16: "pq", 18: "hlg"}


def to_rgb(frame: av.VideoFrame, size: tuple[int, int], hdr: Transfer | None) -> RGB:
    """(H, W, 3) uint8 of a decoded frame, not turned yet; `size` (width, height) is the clip's."""
    see_through = any(component.is_alpha for component in frame.format.components)
    wanted = "rgb48le" if hdr else "rgba" if see_through else "rgb24"
    matrix = int(frame.colorspace)
    if matrix not in (1, 4, 5, 7, 9):
        # Nothing said: by custom, standard definition is BT.601 and high definition BT.709.
        matrix = int(Colorspace.ITU709 if frame.height >= 720 else Colorspace.ITU601)
    converted: Any = frame.reformat(
        width=size[0],
        height=size[1],
        format=wanted,
        src_colorspace=matrix,
        src_color_range=int(frame.color_range),
        dst_color_range=int(ColorRange.JPEG),
    ).to_ndarray()
    return hdr_to_srgb(converted, hdr) if hdr else to_rgb8(converted)


def display_matrix(frame: av.VideoFrame) -> tuple[int, int, int, int]:
    """Return a, b, c, d (−1, 0 or 1): a pixel is to be shown at x' = a·x + c·y, y' = b·x + d·y."""
    data: Any = frame.side_data.get("DISPLAYMATRIX")
    if data is None:
        return 1, 0, 0, 1
    a, b, _, c, d = np.frombuffer(memoryview(data), "<i4", count=5) / 65536.0
    # By any other angle than a quarter turn, the nearest one: the corners would be lost otherwise.
    if abs(b) > abs(a):
        return 0, 1 if b > 0 else -1, 1 if c > 0 else -1, 0
    return -1 if a < 0 else 1, 0, 0, -1 if d < 0 else 1


def turn(pixels: RGB, matrix: tuple[int, int, int, int]) -> RGB:
    """Turn and flip as the display matrix says."""
    a, b, c, d = matrix
    if a == 0:
        pixels, flip_x, flip_y = pixels.swapaxes(0, 1), c < 0, b < 0
    else:
        flip_x, flip_y = a < 0, d < 0
    pixels = pixels[:, ::-1] if flip_x else pixels
    pixels = pixels[::-1] if flip_y else pixels
    return np.ascontiguousarray(pixels)
