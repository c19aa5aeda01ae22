"""Anything a person may hand over as a picture, as one `Picture`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import InputError
from sightline.files import exif
from sightline.files.pictures import Picture, read_picture, upright
from sightline.files.pixels import to_rgb8
from sightline.types import Camera

Pictureable: TypeAlias = Picture | str | Path | bytes | BinaryIO | Image.Image | NDArray[Any]


def as_picture(image: Pictureable) -> Picture:
    """Return upright 8-bit RGB with its camera.

    Args:
        image: a path; the bytes or stream of a file; a Pillow image; or an array: (H, W) grey,
            (H, W, 1), (H, W, 3) RGB or (H, W, 4) RGBA, as uint8 or as float within 0–1.
            Transparency is laid over white. Arrays have no EXIF: their camera is assumed.
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
    """Bring a Pillow image of any mode upright, with the camera its EXIF tells of."""
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


def _deep_to_rgb8(grey: NDArray[Any]) -> NDArray[np.uint8]:
    """Modes `I` and `I;16` hold 16-bit grey, mode `F` floats."""
    if grey.dtype.kind == "f":
        return to_rgb8(grey)
    return to_rgb8(grey.clip(0, 65535).astype(np.uint16))
