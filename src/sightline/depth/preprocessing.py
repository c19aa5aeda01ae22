"""Load images from paths, bytes, arrays or PIL, and resize and normalize them for a network."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import InputError
from sightline.io import exif
from sightline.io.images import Picture, read_picture, upright
from sightline.io.pixels import to_rgb8
from sightline.models.entry import ModelSpec
from sightline.types import Camera, FloatArray

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
    each is rounded to the nearest multiple that the network accepts, or up if that is below `size`.

    Args:
        height: height of the picture in [px].
        width: width of the picture in [px].
        spec: spec of the network, with its size multiple and default size.
        size: shorter side in [px], at most `MAX_SIZE`; a larger one gives sharper maps (DAv2 B.8).

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
    """Resize and normalize a picture.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        spec: spec of the network, with interpolation, mean and standard deviation.
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

    The first and last output pixels coincide with the first and last input pixels. NaN propagates to
    all pixels that interpolate it.

    Args:
        values: (h, w) of any real type.
        hw: (H, W) of the output.

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
    """Return the input samples before and after each output sample, and the fraction between.

    >>> aligned(2, 3)[2]
    array([0. , 0.5, 0. ], dtype=float32)
    """
    ratio = (n_in - 1) / (n_out - 1) if n_out > 1 else 0.0
    position = np.minimum(np.arange(n_out) * ratio, n_in - 1)
    low = position.astype(np.intp)
    return low, np.minimum(low + 1, n_in - 1), (position - low).astype(np.float32)


def _cubic(pixels: NDArray[np.uint8], hw: tuple[int, int]) -> FloatArray:
    """OpenCV's cubic resize of (H, W, 3) bytes in float, without clipping: (h, w, 3) in 0–255.

    Rows are weighted here, columns by OpenCV; the result equals cv2.resize in float.
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
    """(4, n_out) source rows and (4, n_out, 1, 1) weights; half-pixel centers, edge repeated."""
    center = (np.arange(n_out) + 0.5) * (n_in / n_out) - 0.5
    base = np.floor(center).astype(np.intp)
    t = center - base
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


Pictureable: TypeAlias = Picture | str | Path | bytes | BinaryIO | Image.Image | NDArray[Any]


def as_picture(image: Pictureable) -> Picture:
    """Return upright 8-bit RGB with its camera.

    Args:
        image: a path; the bytes or stream of a file; a Pillow image; or an array: (H, W) gray,
            (H, W, 1), (H, W, 3) RGB or (H, W, 4) RGBA, as uint8 or as float within 0–1.
            Transparent pixels are blended with white. Arrays have no EXIF data, so their camera is
            assumed.
    """
    if isinstance(image, Picture):
        return image
    if isinstance(image, np.ndarray):
        pixels = _array_to_rgb8(image)
        return Picture(pixels, Camera.assumed(pixels.shape[1], pixels.shape[0]))
    if isinstance(image, Image.Image):
        return _from_pillow(image)
    if isinstance(image, str | Path | bytes) or hasattr(image, "read"):
        return read_picture(image)
    raise InputError(
        f"a {type(image).__name__} is not a picture",
        remedy="give a path, bytes, a Pillow image or an array",
    )


def _array_to_rgb8(image: NDArray[Any]) -> NDArray[np.uint8]:
    channels = image.shape[2] if image.ndim == 3 else 1
    if image.ndim not in (2, 3) or channels not in (1, 3, 4) or image.size == 0:
        raise InputError(
            f"a picture array must be H×W, H×W×1, H×W×3 or H×W×4, got shape {image.shape}"
        )
    if image.dtype == np.uint8:
        return to_rgb8(image)
    if image.dtype.kind != "f":
        raise InputError(
            f"a picture array must be uint8, or float within 0–1, got {image.dtype}",
            remedy="divide by its largest possible value",
        )
    low, high = float(image.min()), float(image.max())
    # Written so that a comparison with not-a-number is refused, too.
    if not (low >= 0 and high <= 1):
        raise InputError(
            f"a float picture must lie within 0–1, got {low:g} to {high:g}",
            remedy="divide 8-bit values by 255",
        )
    return to_rgb8(image)


def _from_pillow(image: Image.Image) -> Picture:
    """Convert a Pillow image of any mode to upright RGB, with the camera of its EXIF data."""
    try:
        image.load()
        if image.mode[0] in "IF":
            pixels = _deep_to_rgb8(np.asarray(image))
        elif image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
            pixels = to_rgb8(np.asarray(image.convert("RGBA")))
        else:
            pixels = np.array(image.convert("RGB"))
        turn = exif.orientation({exif.ORIENTATION: (image.getexif().get(exif.ORIENTATION, 1),)})
    except (OSError, ValueError, SyntaxError) as error:
        raise InputError(f"the Pillow image cannot be decoded ({error})") from error
    pixels = upright(pixels, turn)
    height, width = pixels.shape[:2]
    if pixels.size == 0:
        raise InputError(f"the picture has no pixels ({width}×{height})")
    tags = exif.parse(image.info.get("exif", b""))
    return Picture(pixels, exif.camera(tags, width, height, turned=turn >= 5))


def _deep_to_rgb8(gray: NDArray[Any]) -> NDArray[np.uint8]:
    """Modes `I` and `I;16` hold 16-bit gray, mode `F` floats."""
    if gray.dtype.kind == "f":
        return to_rgb8(gray)
    return to_rgb8(gray.clip(0, 65535).astype(np.uint16))
