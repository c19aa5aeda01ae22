"""From a picture to what a network eats, and from its answer back to the picture's size.

The authors' way (spec §1.2): scale so that the shorter side meets the network size, both sides to
a multiple of the patch, OpenCV's cubic interpolation in float, ImageNet normalisation; the answer
goes back by bilinear interpolation with aligned corners.

* Cubic weights overshoot beside sharp edges. Resizing bytes would clip that (46 levels of 255 at
  the rim of a coffee cup), so the sums are made in float, but only over the rows that are needed:
  no float copy of a 12-megapixel picture is ever made.
* Pixel coordinates here are (row, column), sizes (height, width).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.spec import ModelSpec
from sightline.errors import InputError
from sightline.types import FloatArray

#: A picture longer than this many times its width is squeezed along its length: a strip of 1 × 4000
#: pixels would otherwise ask for an input two million pixels long.
MAX_ASPECT = 4

#: Largest shorter side of a network input in [px], eight times what the networks were trained at. A
#: transformer's time grows with the fourth power of it: beyond lies a slip of the keyboard.
MAX_SIZE = 4096

#: Rows treated at a time; a few hundred kilobytes, so that they stay in the processor's cache.
BAND = 32

#: OpenCV's cubic kernel has a = -3/4 (other libraries take -1/2).
CUBIC_A = -0.75


def network_size(
    height: int, width: int, spec: ModelSpec, size: int | None = None
) -> tuple[int, int]:
    """Return (height, width) of the network input for a picture.

    The shorter side becomes `size`, the longer follows the aspect up to `MAX_ASPECT` times `size`;
    each is rounded to the nearest multiple the network can take, up where that were below `size`.

    Args:
        height: of the picture in [px].
        width: of the picture in [px].
        spec: of the network; gives the multiple and the default size.
        size: shorter side wanted in [px], at most `MAX_SIZE`; raising it gives sharper maps (DAv2
            B.8).

    >>> network_size(480, 640, ModelSpec("vits"))
    (518, 686)
    >>> network_size(4000, 1, ModelSpec("vits"))
    (2072, 518)
    """
    if height < 1 or width < 1:
        raise InputError(f"a picture of {width}×{height} has no pixels")
    shorter = spec.size if size is None else size
    if not isinstance(shorter, int | np.integer):
        raise InputError(f"a network size is a number of pixels, got {shorter!r}")
    if shorter < spec.multiple:
        raise InputError(
            f"network size {shorter} is too small", remedy=f"give at least {spec.multiple}"
        )
    if shorter > MAX_SIZE:
        raise InputError(f"network size {shorter} is too large", remedy=f"give at most {MAX_SIZE}")
    scale = max(shorter / height, shorter / width)
    longest = MAX_ASPECT * shorter

    def side(length: int) -> int:
        wanted = min(scale * length, longest)
        nearest = round(wanted / spec.multiple) * spec.multiple
        if nearest < shorter:
            nearest = math.ceil(wanted / spec.multiple) * spec.multiple
        return nearest

    return side(height), side(width)


def to_input(pixels: NDArray[np.uint8], spec: ModelSpec, hw: tuple[int, int]) -> FloatArray:
    """Resize and normalise a picture.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        spec: gives the interpolation, the mean and the standard deviation.
        hw: (height, width) of the network input, from `network_size`.

    Returns:
        (1, 3, h, w) float32, contiguous.
    """
    resized = _cubic(pixels, hw) if spec.resize == "cubic" else _area(pixels, hw)
    mean = np.asarray(spec.mean, np.float32)[:, None, None]
    std = np.asarray(spec.std, np.float32)[:, None, None]
    planes = np.ascontiguousarray(resized.transpose(2, 0, 1), dtype=np.float32)
    planes *= 1 / (255 * std)
    planes -= mean / std
    return planes[None]


def to_picture_size(values: NDArray[Any], hw: tuple[int, int]) -> FloatArray:
    """Resample a map bilinearly with aligned corners, as the authors do.

    Output pixel 0 sits on input pixel 0 and the last on the last, whatever the sizes. A value that
    is not a number spreads to the pixels that interpolate it.

    Args:
        values: (h, w) of any real type.
        hw: (H, W) wanted.

    Returns:
        (H, W) float32.
    """
    source = np.asarray(values, np.float32)
    if source.shape == tuple(hw):
        return source.copy()
    low, high, part = aligned(source.shape[1], hw[1])
    wide = source[:, low] + (source[:, high] - source[:, low]) * part
    low, high, part = aligned(source.shape[0], hw[0])
    step = wide[np.minimum(np.arange(len(wide)) + 1, len(wide) - 1)] - wide
    out = np.empty(hw, np.float32)
    for start in range(0, hw[0], BAND):
        rows = slice(start, start + BAND)
        slope = step[low[rows]]
        slope *= part[rows, None]
        np.add(wide[low[rows]], slope, out=out[rows])
    return out


def aligned(n_in: int, n_out: int) -> tuple[NDArray[np.intp], NDArray[np.intp], FloatArray]:
    """Neighbours before and after each output sample of an axis, and the way between them.

    >>> aligned(2, 3)[2]
    array([0. , 0.5, 0. ], dtype=float32)
    """
    ratio = (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
    position = np.minimum(np.arange(n_out) * ratio, n_in - 1)
    low = position.astype(np.intp)
    return low, np.minimum(low + 1, n_in - 1), (position - low).astype(np.float32)


def _cubic(pixels: NDArray[np.uint8], hw: tuple[int, int]) -> FloatArray:
    """OpenCV's cubic resize of (H, W, 3) bytes in float, without clipping: (h, w, 3) in 0–255.

    Vertically by weighted rows, horizontally by OpenCV; the sums that cv2.resize makes in float.
    """
    import cv2

    index, weight = _cubic_taps(pixels.shape[0], hw[0])
    out = np.empty((*hw, 3), np.float32)
    for start in range(0, hw[0], BAND):
        rows = slice(start, start + BAND)
        band = pixels[index[0, rows]] * weight[0, rows]
        for tap in (1, 2, 3):
            band += pixels[index[tap, rows]] * weight[tap, rows]
        out[rows] = cv2.resize(band, (hw[1], len(band)), interpolation=cv2.INTER_CUBIC)
    return out


def _cubic_taps(n_in: int, n_out: int) -> tuple[NDArray[np.intp], FloatArray]:
    """(4, n_out) source rows and (4, n_out, 1, 1) weights; half-pixel centres, edge repeated."""
    centre = (np.arange(n_out) + 0.5) * (n_in / n_out) - 0.5
    base = np.floor(centre).astype(np.intp)
    t = centre - base
    a = CUBIC_A
    near = [((a + 2) * x - (a + 3)) * x * x + 1 for x in (t, 1 - t)]
    far = [((x - 5) * x + 8) * x * a - 4 * a for x in (t + 1, 2 - t)]
    weight = np.stack([far[0], near[0], near[1], far[1]]).astype(np.float32)
    index = np.clip(base + np.arange(-1, 3)[:, None], 0, n_in - 1)
    return index, weight[:, :, None, None]


def _area(pixels: NDArray[np.uint8], hw: tuple[int, int]) -> NDArray[np.uint8]:
    """Average the pixels under each output pixel where shrinking, interpolate where growing.

    OpenCV's area mode drops the averaging on both axes as soon as one of them grows, so the
    shrinking is done first. Bytes in, bytes out: the rounding is at most half a level.
    """
    import cv2

    height, width = min(hw[0], pixels.shape[0]), min(hw[1], pixels.shape[1])
    small: NDArray[np.uint8] = cv2.resize(pixels, (width, height), interpolation=cv2.INTER_AREA)
    if (height, width) == tuple(hw):
        return small
    grown: NDArray[np.uint8] = cv2.resize(small, (hw[1], hw[0]), interpolation=cv2.INTER_LINEAR)
    return grown
