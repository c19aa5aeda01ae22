"""Decode an image of any supported format to 8-bit RGB, in stored orientation.

Pillow decodes; simplejpeg plain JPEG (faster, the same pixels, and damage is an exception); OpenCV
where Pillow would lose bits (16-bit color, float color TIFF) or does not know the format (Radiance
HDR). Pillow's format classes are called by name rather than through `Image.open`: only these formats,
and our own pixel limit rather than a global one.
"""

from __future__ import annotations

import io
import re
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray
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
from sightline.io import exif, exr, png
from sightline.io.paths import AnyPath
from sightline.io.pixels import RGB, to_rgb8, tone_map
from sightline.io.reading import GET_AGAIN, check_pixels

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

#: Exceptions of decoders on damaged data; Pillow has no common class. Its warnings are raised only
#: where the caller has turned warnings into errors.
_DAMAGE = (
    Warning,
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
    """A decoded image.

    Attributes:
        pixels: (H, W, 3) uint8 RGB.
        tags: EXIF tags, with the orientation of the stored picture.
        upright: True when the decoder has already turned the pixels by that orientation.
    """

    pixels: RGB
    tags: exif.Tags
    upright: bool = False


def decode(data: bytes, kind: str, max_pixels: int, path: AnyPath | None) -> Decoded:
    """Decode one image to 8-bit RGB.

    Args:
        data: the whole file.
        kind: name of the format, from `images.sniff`.
        max_pixels: checked against the header before anything is decoded.
        path: only for messages.
    """
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


def _damaged(path: AnyPath | None) -> InputError:
    return InputError("is damaged or truncated", path=path, remedy=GET_AGAIN)


def _open(data: bytes, kind: str, max_pixels: int, path: AnyPath | None) -> ImageFile:
    """Open with Pillow: read the header and check the size."""
    try:
        image = _OPENERS[kind](io.BytesIO(data))
    except _DAMAGE as error:
        raise _damaged(path) from error
    check_pixels(*image.size, max_pixels, path=path)
    return image


def _load(image: ImageFile, path: AnyPath | None, *, invert: bool = False) -> RGB:
    """Decode with Pillow."""
    try:
        image.load()
        return _pillow_to_rgb8(image, invert=invert)
    except _DAMAGE as error:
        raise _damaged(path) from error


def _decode_jpeg(data: bytes, max_pixels: int, path: AnyPath | None) -> Decoded:
    header = read_jpeg_header(data)
    if header is None:
        raise _damaged(path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    pixels = None
    if header.is_plain and header.has_end(data):
        try:
            pixels = decode_plain_jpeg(data, header)
        except ValueError as error:
            raise _damaged(path) from error
    if pixels is None:  # CMYK, 12 bits, arithmetic coding, or a file that just stops
        pixels = _load(_open(data, "jpeg", max_pixels, path), path)
    return Decoded(pixels, exif.parse(header.exif))


def _decode_tiff(data: bytes, max_pixels: int, path: AnyPath | None) -> Decoded:
    """Decode TIFF; both libraries apply the orientation themselves."""
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
    """Convert a Pillow image of any mode to (H, W, 3) uint8."""
    foreign = isinstance(image, JpegImagePlugin.JpegImageFile) and "adobe" not in image.info
    if image.mode == "CMYK" and foreign:
        # Adobe stores inverted CMYK and marks it; Pillow inverts every CMYK JPEG.
        image = image.point(lambda level: 255 - level)
    if image.mode.startswith("I;16"):
        gray = np.asarray(image).astype(np.uint16)
        return to_rgb8(65535 - gray if invert else gray)
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


def _decode_png16(data: bytes, max_pixels: int, path: AnyPath | None) -> Decoded:
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    png.check(data, path=path)
    pixels = _opencv(data, path)
    return Decoded(to_rgb8(pixels), exif.parse(png.first_chunk(data, b"eXIf") or b""))


def _opencv(data: bytes, path: AnyPath | None) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
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


def _decode_hdr(data: bytes, max_pixels: int, path: AnyPath | None) -> RGB:
    """Decode Radiance HDR: a text header up to an empty line, then a line with the size."""
    size = re.search(rb"\n\n-Y (\d{1,9}) \+X (\d{1,9})\n", data[:65536])
    if size is None:
        raise InputError(
            "has no size that can be read in its HDR header", path=path, remedy=GET_AGAIN
        )
    height, width = int(size[1]), int(size[2])
    check_pixels(width, height, max_pixels, path=path)
    return tone_map(_opencv(data, path))


def _decode_exr(data: bytes, max_pixels: int, path: AnyPath | None) -> RGB:
    _, names = exr.read_header(data, max_pixels=max_pixels, path=path)
    color = next((c for c in (("R", "G", "B"), ("Y",)) if set(c) <= set(names)), None)
    if color is None:
        raise InputError(
            f"has no color channels, only {', '.join(names) or 'none'}",
            path=path,
            remedy="read depth with read_depth",
        )
    channels = exr.read_channels(data, [*color, *({"A"} & set(names))], path=path)
    pixels = tone_map(np.stack([channels[name] for name in color], axis=-1))
    if "A" not in channels:
        return pixels
    # Colors in EXR are premultiplied, so white shows through by what alpha leaves open.
    rest = 255 * (1 - np.nan_to_num(channels["A"].astype(np.float32)).clip(0, 1))
    return (pixels + rest[..., None] + 0.5).clip(0, 255).astype(np.uint8)


#: Markers that start a frame: baseline, progressive and the rarer kinds, without DHT, JPG and DAC.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_SCAN, _APP1, _JPEG_END = 0xDA, 0xE1, b"\xff\xd9"

_LEFT_OVER = re.compile(r"(\d+) extraneous bytes before marker 0x(..)")
#: Warnings of libjpeg: about lost data, and about irregularities that cost no pixel.
_JPEG_DAMAGE = ("Corrupt JPEG data", "Premature end")
_JPEG_WARNINGS = (
    *_JPEG_DAMAGE,
    "Warning: unknown JFIF",
    "Unknown Adobe color",
    "Inconsistent progression",
    "Invalid SOS",
)
#: Padding repeats a few values; coded data has many.
_PADDING_VALUES = 16


@dataclass(frozen=True, slots=True)
class JpegHeader:
    """Size in [px], channels, bits per channel, EXIF block, and offset of the scan in bytes."""

    width: int
    height: int
    channels: int
    bits: int
    exif: bytes
    scan: int

    @property
    def is_plain(self) -> bool:
        """True for gray or color of 8 bits."""
        return self.bits == 8 and self.channels in (1, 3)

    def has_end(self, data: bytes) -> bool:
        """Tell whether an end marker follows the scan; that of a thumbnail lies before it."""
        return data.find(_JPEG_END, self.scan) >= 0


def read_jpeg_header(data: bytes) -> JpegHeader | None:
    """Read the segments up to the first scan; None if they are damaged."""
    at, exif, frame = 2, b"", None
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        body = data[at + 4 : at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")]
        if marker == _JPEG_SCAN:
            return None if frame is None else JpegHeader(*frame, exif, at)
        if marker == _APP1 and body.startswith(b"Exif\0\0") and not exif:
            exif = body
        if marker in _FRAMES and frame is None and len(body) >= 6:
            bits, height, width, channels = struct.unpack_from(">BHHB", body)
            frame = (width, height, channels, bits)
        at += 4 + len(body)
    return None


def decode_plain_jpeg(data: bytes, header: JpegHeader) -> NDArray[np.uint8] | None:
    """Decode a gray or color JPEG of 8 bits to (H, W, 3) uint8 RGB; None where Pillow must try.

    libjpeg warns once per file, at the first irregularity. Strict decoding turns that warning into
    an exception instead of filling what is lost with gray.

    Raises:
        ValueError: the coded data is damaged.
    """
    try:
        pixels = simplejpeg.decode_jpeg(data, "RGB", strict=True)
    except ValueError as error:
        if not str(error).startswith(_JPEG_WARNINGS):  # no warning but an error
            return None
        if str(error).startswith(_JPEG_DAMAGE) and not _is_jpeg_padding(str(error), data, header):
            raise
        pixels = simplejpeg.decode_jpeg(data, "RGB", strict=False)
    if pixels.shape != (header.height, header.width, 3):
        return None
    return np.asarray(pixels, np.uint8)


def _is_jpeg_padding(warning: str, data: bytes, header: JpegHeader) -> bool:
    """Tell whether a warning of libjpeg is about harmless bytes in front of a marker.

    Some cameras pad their files, which repeats a few values. Many different values in front of the
    end marker are coded data: the decoder had lost synchronization before.
    """
    left = _LEFT_OVER.search(warning)
    if left is None or left[2] != "d9":
        return left is not None
    end = data.find(_JPEG_END, header.scan)
    rest = data[max(end - int(left[1]), 0) : end]
    return len(set(rest)) <= _PADDING_VALUES
