"""One reader for pictures: upright 8-bit RGB and the camera that took them.

Right for EXIF rotation, alpha, palettes, CMYK, 1, 8, 16 and 32 bits, greyscale, animations (first
frame), HDR and EXR; see `pixels` for how those become 8-bit RGB. The content decides the format,
not the suffix. Sizes are checked in the header, before anything is decoded. Colour profiles are not
applied: the difference between, say, Display P3 and sRGB is small against what a network notices.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import exif
from sightline.files.decode import decode
from sightline.files.formats import PICTURE_SUFFIXES, sniff
from sightline.files.reading import MAX_PIXELS, read_bytes
from sightline.types import Camera

__all__ = ["PICTURE_SUFFIXES", "Picture", "read_picture"]

#: Four 32-bit channels per pixel and room for metadata: no honest file is larger.
_BYTES_PER_PIXEL = 16
_METADATA_BYTES = 64_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Picture:
    """A picture as a person would see it.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, upright.
        camera: of the same size; its `source` says whether EXIF told or we assume.
        path: the file it came from, when it came from one.
    """

    pixels: NDArray[np.uint8]
    camera: Camera
    path: Path | None = None

    @property
    def height(self) -> int:
        """Rows."""
        return int(self.pixels.shape[0])

    @property
    def width(self) -> int:
        """Columns."""
        return int(self.pixels.shape[1])


def read_picture(source: str | Path | bytes | BinaryIO, *, max_pixels: int = MAX_PIXELS) -> Picture:
    """Read a picture of any common format.

    Args:
        source: a path, the bytes of a file, or a binary stream.
        max_pixels: larger pictures are refused by their header, before decoding.

    Raises:
        InputError: for anything that is not a readable picture, in one line.
    """
    limit = max_pixels * _BYTES_PER_PIXEL + _METADATA_BYTES
    path: Path | None = None
    if isinstance(source, str | Path):
        path = Path(source)
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
    """Read up to `most` bytes of what may also be a text stream, by mistake."""
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
