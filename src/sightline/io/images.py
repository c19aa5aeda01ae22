"""Read images of any common format: upright 8-bit RGB and the camera that took them.

Handles EXIF rotation, alpha, palettes, CMYK, 1, 8, 16 and 32 bits, grayscale, animations (first
frame), HDR and EXR; see `pixels` for the conversion to 8-bit RGB. The content determines the format,
not the suffix. Sizes are checked in the header, before anything is decoded. Color profiles are not
applied: the difference between, for example, Display P3 and sRGB hardly affects a network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io import exif
from sightline.io.image_decoding import decode
from sightline.io.paths import AnyPath, is_path, to_path
from sightline.io.reading import MAX_PIXELS, read_bytes
from sightline.types import Camera

__all__ = ["PICTURE_SUFFIXES", "Picture", "read_picture"]

#: Largest file accepted: four 32-bit channels per pixel, and metadata.
_BYTES_PER_PIXEL = 16
_METADATA_BYTES = 64_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """An upright image with its camera.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, upright.
        camera: camera with the size of the image; `source` is `exif` or `assumed`.
        path: the file it came from, when it came from one.
    """

    pixels: NDArray[np.uint8]
    camera: Camera
    path: AnyPath | None = None

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.pixels.shape[1])


def read_picture(
    source: str | AnyPath | bytes | BinaryIO, *, max_pixels: int = MAX_PIXELS
) -> Picture:
    """Read an image of any common format.

    Args:
        source: a path, the bytes of a file, or a binary stream.
        max_pixels: maximum number of pixels, checked in the header before decoding.

    Raises:
        InputError: the file is not a readable image.
    """
    limit = max_pixels * _BYTES_PER_PIXEL + _METADATA_BYTES
    path: AnyPath | None = None
    if is_path(source):
        path = to_path(source)
        data = read_bytes(path, limit=limit, what="picture")
    else:
        data = source if isinstance(source, bytes) else _read_stream(source, limit + 1)
        if not data:
            raise InputError("the picture is empty (no bytes)", remedy="give a whole picture file")
        if len(data) > limit:
            raise InputError(
                f"the picture has more than {limit / 1e6:,.0f} MB", remedy="make it smaller"
            )
    found = decode(data, sniff(data, path=path), max_pixels, path)
    turn = exif.orientation(found.tags)
    pixels = found.pixels if found.upright else upright(found.pixels, turn)
    height, width = pixels.shape[:2]
    return Picture(pixels, exif.camera(found.tags, width, height, turned=turn >= 5), path)


def _read_stream(stream: BinaryIO, most: int) -> bytes:
    """Read up to `most` bytes; refuse a text stream."""
    try:
        data: object = stream.read(most)
    except UnicodeDecodeError:
        data = ""
    if not isinstance(data, bytes):
        raise InputError(
            "the picture was opened as text", remedy='open the file in binary mode, "rb"'
        )
    return data


def upright(pixels: NDArray[np.uint8], orientation: int) -> NDArray[np.uint8]:
    """Turn stored pixels (H, W, 3) upright.

    Args:
        pixels: as stored; returned as they are for orientation 1.
        orientation: EXIF value 1 to 8; 5 to 8 swap height and width.
    """
    if orientation in (5, 7):
        pixels = np.asarray(cv2.transpose(pixels))
    turn = {3: cv2.ROTATE_180, 6: cv2.ROTATE_90_CLOCKWISE, 7: cv2.ROTATE_180}.get(orientation)
    if orientation == 8:
        turn = cv2.ROTATE_90_COUNTERCLOCKWISE
    if turn is not None:
        pixels = np.asarray(cv2.rotate(pixels, turn))
    if orientation in (2, 4):
        pixels = np.asarray(cv2.flip(pixels, 1 if orientation == 2 else 0))
    return pixels


#: Suffixes of images that `read_picture` can read, lower case with dot.
PICTURE_SUFFIXES: frozenset[str] = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".mpo", ".png", ".apng", ".webp", ".gif", ".tif", ".tiff"}
    | {".bmp", ".dib", ".ppm", ".pgm", ".pbm", ".pnm", ".avif", ".jp2", ".j2k", ".jpx"}
    | {".hdr", ".exr"}
)

_READABLE = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\0", "tiff"),
    (b"MM\0*", "tiff"),
    (b"II+\0", "bigtiff"),
    (b"MM\0+", "bigtiff"),
    (b"BM", "bmp"),
    (b"\0\0\0\x0cjP  \r\n\x87\n", "jpeg2000"),
    (b"\xff\x4f\xff\x51", "jpeg2000"),
    (b"#?RADIANCE", "hdr"),
    (b"#?RGBE", "hdr"),
    (b"v/1\x01", "exr"),
    *((b"P%d" % n, "pnm") for n in range(1, 7)),
)

#: Other file formats, by name for the error message.
_OTHERS = (
    (b"%PDF", "a PDF document"),
    (b"8BPS", "a Photoshop document"),
    (b"PK\x03\x04", "a zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"<svg", "an SVG drawing"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself"),
)

_AVIF_BRANDS = (b"avif", b"avis")
_HEIC_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")


def sniff(data: bytes, *, path: str | AnyPath | None = None) -> str:
    """Return the name of the format, such as `"jpeg"`; raise `InputError` for anything unreadable.

    Args:
        data: the file, or at least its first 64 bytes.
        path: only for the message.
    """
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    if data[4:8] == b"ftyp":
        return _sniff_boxes(data, path)
    for magic, name in _READABLE:
        if data.startswith(magic) and (name != "pnm" or data[2:3].isspace()):
            return name
    for magic, name in _OTHERS:
        if data.lstrip()[: len(magic)].lower() == magic.lower():
            raise InputError(f"is {name}", path=path, remedy="give a picture, such as JPEG or PNG")
    kind = "is text, not a picture" if _is_text(data[:64]) else "is not a picture of a known format"
    raise InputError(kind, path=path, remedy="give JPEG, PNG, WebP, TIFF, AVIF, HDR or EXR")


def _sniff_boxes(data: bytes, path: str | AnyPath | None) -> str:
    """Tell apart the formats that share the container of MP4."""
    brands = [data[8:12], *(data[at : at + 4] for at in range(16, 64, 4))]
    if any(brand in _AVIF_BRANDS for brand in brands):
        return "avif"
    if brands[0] in _HEIC_BRANDS:
        raise InputError("is a HEIC picture", path=path, remedy="convert it to JPEG or PNG first")
    raise InputError(
        "is a video, not a picture", path=path, remedy="give it a video's suffix, such as .mp4"
    )


def _is_text(head: bytes) -> bool:
    try:
        return head.decode("utf-8", errors="strict").isprintable() or head.isascii()
    except UnicodeDecodeError:
        return False
