"""Decode the bytes of one picture to 8-bit RGB as stored, whatever the format.

Pillow decodes; OpenCV where Pillow would lose bits (16-bit colour, float colour TIFF), does not
know the format (Radiance HDR), or is slower (plain JPEG: half the time, the same pixels). Pillow's
format classes are called by name rather than through `Image.open`: only these formats, and our own
pixel limit rather than a global one.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from PIL import (
    AvifImagePlugin,
    BmpImagePlugin,
    GifImagePlugin,
    Image,
    Jpeg2KImagePlugin,
    JpegImagePlugin,
    PngImagePlugin,
    PpmImagePlugin,
    TiffImagePlugin,
    WebPImagePlugin,
)
from PIL.ImageFile import ImageFile

from sightline.errors import InputError
from sightline.files import exif, exr, jpeg, native, png
from sightline.files.pixels import RGB, to_rgb8, tone_map
from sightline.files.reading import GET_AGAIN, check_pixels

_OPENERS: dict[str, Callable[[io.BytesIO], ImageFile]] = {
    "jpeg": JpegImagePlugin.JpegImageFile,
    "png": PngImagePlugin.PngImageFile,
    "gif": GifImagePlugin.GifImageFile,
    "webp": WebPImagePlugin.WebPImageFile,
    "avif": AvifImagePlugin.AvifImageFile,
    "tiff": TiffImagePlugin.TiffImageFile,
    "bigtiff": TiffImagePlugin.TiffImageFile,
    "bmp": BmpImagePlugin.BmpImageFile,
    "pnm": PpmImagePlugin.PpmImageFile,
    "jpeg2000": Jpeg2KImagePlugin.Jpeg2KImageFile,
}

#: What decoders raise on damaged data: Pillow has no one class for it.
_DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    EOFError,
    OverflowError,
    MemoryError,
    RuntimeError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)

# TIFF tags (TIFF 6.0, section 8 and following).
_WIDTH, _HEIGHT, _BITS, _PHOTOMETRIC = 256, 257, 258, 262
_EXTRA_SAMPLES = 338


@dataclass(frozen=True, slots=True)
class Decoded:
    """A decoded picture.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        tags: EXIF tags, with the orientation of the stored picture.
        upright: True when the decoder has already turned the pixels by that orientation.
    """

    pixels: RGB
    tags: exif.Tags
    upright: bool = False


def decode(data: bytes, kind: str, max_pixels: int, path: Path | None) -> Decoded:
    """Decode one picture to 8-bit RGB.

    Args:
        data: the whole file.
        kind: from `formats.sniff`.
        max_pixels: checked against the header before anything is decoded.
        path: only for messages.
    """
    with native.listening() as said:
        found = _decode(data, kind, max_pixels, path)
    if kind == "jpeg" and jpeg.tells_of_damage(said, data):
        raise _damaged(path)
    return found


def _decode(data: bytes, kind: str, max_pixels: int, path: Path | None) -> Decoded:
    if kind == "exr":
        return Decoded(_decode_exr(data, max_pixels, path), {})
    if kind == "hdr":
        return Decoded(_decode_hdr(data, max_pixels, path), {})
    if kind == "jpeg":
        return _decode_jpeg(data, max_pixels, path)
    if kind == "png" and png.read_header(data, path=path).bits == 16:
        return _decode_png16(data, max_pixels, path)
    if kind == "tiff":
        return _decode_tiff(data, max_pixels, path)
    image = _open(data, kind, max_pixels, path)
    tags = exif.parse(image.info.get("exif", b""))
    return Decoded(_load(image, path), tags, upright=kind == "bigtiff")


def _damaged(path: Path | None) -> InputError:
    return InputError("is damaged or truncated", path=path, remedy=GET_AGAIN)


def _open(data: bytes, kind: str, max_pixels: int, path: Path | None) -> ImageFile:
    """Open by Pillow: header only, and its size checked."""
    try:
        image = _OPENERS[kind](io.BytesIO(data))
    except _DAMAGE as error:
        raise _damaged(path) from error
    check_pixels(*image.size, max_pixels, path=path)
    return image


def _load(image: ImageFile, path: Path | None, *, invert: bool = False) -> RGB:
    """Decode by Pillow."""
    try:
        image.load()
        return _pillow_to_rgb8(image, invert=invert)
    except _DAMAGE as error:
        raise _damaged(path) from error


def _decode_jpeg(data: bytes, max_pixels: int, path: Path | None) -> Decoded:
    header = jpeg.read_header(data)
    if header is None:
        raise _damaged(path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    pixels = jpeg.decode_plain(data, header)
    if pixels is None:
        pixels = _load(_open(data, "jpeg", max_pixels, path), path)
    return Decoded(pixels, exif.parse(header.exif))


def _decode_tiff(data: bytes, max_pixels: int, path: Path | None) -> Decoded:
    """Decode TIFF, which both libraries turn upright by themselves."""
    tags = exif.parse(data)
    width, height = (int(exif.number(tags, tag) or 0) for tag in (_WIDTH, _HEIGHT))
    if width == 0 or height == 0:
        raise _damaged(path)
    check_pixels(width, height, max_pixels, path=path)
    bits = tags.get(_BITS, (1,))
    if len(bits) >= 3 and max(bits) > 8:
        premultiplied = tags.get(_EXTRA_SAMPLES, (0,))[0] == 1
        pixels = to_rgb8(_opencv(data, path), premultiplied=premultiplied)
    else:
        image = _open(data, "tiff", max_pixels, path)
        # Pillow inverts "white is zero" only up to 8 bits.
        invert = tags.get(_PHOTOMETRIC) == (0,) and image.mode.startswith("I;16")
        pixels = _load(image, path, invert=invert)
    return Decoded(pixels, tags, upright=True)


def _pillow_to_rgb8(image: Image.Image, *, invert: bool = False) -> RGB:
    """Bring a Pillow picture of any mode to (H, W, 3) uint8."""
    foreign = isinstance(image, JpegImagePlugin.JpegImageFile) and "adobe" not in image.info
    if image.mode == "CMYK" and foreign:
        # Adobe stores CMYK upside down and says so; Pillow takes every JPEG for Adobe's.
        image = image.point(lambda level: 255 - level)
    if image.mode.startswith("I;16"):
        grey = np.asarray(image).astype(np.uint16)
        return to_rgb8(65535 - grey if invert else grey)
    if image.mode in ("I", "F"):
        return to_rgb8(np.asarray(image))
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        image = image.convert("RGBA")
        alpha = image.getchannel("A")
        if alpha.getextrema() != (255, 255):
            sheet = Image.new("RGB", image.size, "white")
            sheet.paste(image, mask=alpha)
            image = sheet
    return np.array(image.convert("RGB"))


def _decode_png16(data: bytes, max_pixels: int, path: Path | None) -> Decoded:
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    png.check(data, path=path)
    pixels = _opencv(data, path)
    return Decoded(to_rgb8(pixels), exif.parse(png.first_chunk(data, b"eXIf") or b""))


def _opencv(data: bytes, path: Path | None) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """Decode with all bits and channels, in the order R, G, B, A."""
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise _damaged(path) from error
    if pixels is None:
        raise _damaged(path)
    if pixels.ndim == 3 and pixels.shape[2] >= 3:
        # By index, as OpenCV's own conversion does not know every type of number it can read.
        pixels = pixels[..., [2, 1, 0, 3][: pixels.shape[2]]]
    return pixels


def _decode_hdr(data: bytes, max_pixels: int, path: Path | None) -> RGB:
    """Radiance HDR: text header up to an empty line, then the line with the size."""
    size = re.search(rb"\n\n-Y (\d{1,9}) \+X (\d{1,9})\n", data[:65536])
    if size is None:
        raise InputError(
            "has no size that can be read in its HDR header", path=path, remedy=GET_AGAIN
        )
    height, width = int(size[1]), int(size[2])
    check_pixels(width, height, max_pixels, path=path)
    return tone_map(_opencv(data, path))


def _decode_exr(data: bytes, max_pixels: int, path: Path | None) -> RGB:
    _, names = exr.read_header(data, max_pixels=max_pixels, path=path)
    colour = next((c for c in (("R", "G", "B"), ("Y",)) if set(c) <= set(names)), None)
    if colour is None:
        raise InputError(
            f"has no colour channels, only {', '.join(names) or 'none'}",
            path=path,
            remedy="read depth with read_depth",
        )
    channels = exr.read_channels(data, [*colour, *({"A"} & set(names))], path=path)
    pixels = tone_map(np.stack([channels[name] for name in colour], axis=-1))
    if "A" not in channels:
        return pixels
    # Colours in EXR are premultiplied, so white shows through by what alpha leaves open.
    rest = 255 * (1 - np.nan_to_num(channels["A"].astype(np.float32)).clip(0, 1))
    return (pixels + rest[..., None] + 0.5).clip(0, 255).astype(np.uint8)
