"""Read orientation and focal length from EXIF, safely for any content.

EXIF is a small TIFF file: directories of 12-byte entries with offsets into the block. Many
cameras and editors write invalid entries, so this parser reads only numeric types, checks every offset,
and skips what it cannot read. A TIFF image is such a block as a whole.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping

from sightline.errors import InputError
from sightline.types import Camera, CameraSource

ORIENTATION = 0x0112
EXIF_DIRECTORY = 0x8769
FOCAL_LENGTH = 0x920A  # [mm]
PIXEL_WIDTH = 0xA002  # width of the picture as the camera wrote it, [px]
FOCAL_PLANE_X_RESOLUTION = 0xA20E  # [px per unit below]
FOCAL_PLANE_UNIT = 0xA210
FOCAL_LENGTH_35MM = 0xA405  # [mm]

#: `FocalPlaneResolutionUnit` in [mm]: inch, cm, mm, µm (the first two by the standard).
_UNIT_MM = {2: 25.4, 3: 10.0, 4: 1.0, 5: 0.001}

#: struct codes of the numeric TIFF types; the two rationals are pairs.
_TYPES = {1: "B", 3: "H", 4: "I", 5: "II", 6: "b", 8: "h", 9: "i", 10: "ii", 11: "f", 12: "d"}
_RATIONALS = (5, 10)

#: Largest number of entries read from a directory.
_MAX_ENTRIES = 1000
#: Values longer than this (strips, thumbnails) are skipped.
_MAX_COUNT = 16

#: Tag number to its numbers, as many as the entry holds.
Tags = dict[int, tuple[float, ...]]


def parse(block: bytes) -> Tags:
    """Return the numeric tags of the main and the EXIF directory; none from a damaged block.

    Args:
        block: an EXIF block, with or without its `Exif` prefix, or a whole classic TIFF file.
    """
    if block.startswith(b"Exif\0\0"):
        block = block[6:]
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(block[:4])
    if order is None or len(block) < 8:
        return {}
    tags = _directory(block, order, struct.unpack_from(order + "I", block, 4)[0])
    pointer = number(tags, EXIF_DIRECTORY)
    if pointer is not None:
        inner = _directory(block, order, int(pointer))
        tags |= {tag: value for tag, value in inner.items() if tag not in tags}
    return tags


def _directory(block: bytes, order: str, offset: int) -> Tags:
    """Read the entries of one directory that lie entirely inside the block."""
    tags: Tags = {}
    if not 8 <= offset <= len(block) - 2:
        return tags
    (count,) = struct.unpack_from(order + "H", block, offset)
    for entry in range(min(count, _MAX_ENTRIES)):
        start = offset + 2 + 12 * entry
        if start + 12 > len(block):
            break
        tag, kind, length = struct.unpack_from(order + "HHI", block, start)
        code = _TYPES.get(kind)
        if code is None or not 1 <= length <= _MAX_COUNT:
            continue
        layout = order + code * length
        size = struct.calcsize(layout)
        where = start + 8 if size <= 4 else struct.unpack_from(order + "I", block, start + 8)[0]
        if where + size > len(block):
            continue
        values = struct.unpack_from(layout, block, where)
        if kind in _RATIONALS:
            pairs = zip(values[::2], values[1::2], strict=True)
            values = tuple(a / b if b else math.nan for a, b in pairs)
        tags[tag] = values
    return tags


def number(tags: Mapping[int, tuple[float, ...]], tag: int) -> float | None:
    """Return the first number of a tag, or None when it is absent, zero, negative or not finite."""
    value = tags.get(tag, (0.0,))[0]
    return float(value) if math.isfinite(value) and value > 0 else None


def orientation(tags: Mapping[int, tuple[float, ...]]) -> int:
    """Return the EXIF orientation, 1 to 8; 1 (upright) if missing or invalid."""
    value = tags.get(ORIENTATION, (1,))[0]
    return int(value) if value in range(1, 9) else 1


def camera(
    tags: Mapping[int, tuple[float, ...]], width: int, height: int, *, turned: bool
) -> Camera:
    """Make the camera of an upright image from its EXIF, or the assumed one.

    The 35 mm equivalent comes first, as it already contains the sensor and any crop in the camera;
    then the focal length with the sensor's pixel pitch. Values that give an absurd field of view
    (below 0.5 or above 170 degrees along the longer side) are ignored.

    Args:
        tags: tags returned by `parse`.
        width: width of the upright picture in [px].
        height: height of the upright picture in [px].
        turned: whether the stored image is rotated by 90 degrees, so that width and height are swapped.
    """
    for focal in (
        _focal_from_35mm(tags, width, height),
        _focal_from_sensor(tags, height if turned else width),
    ):
        if focal is None or not math.isfinite(focal):
            continue
        angle = math.degrees(2 * math.atan(max(width, height) / 2 / focal))
        if 0.5 <= angle <= 170.0:
            return Camera.from_focal(focal, width, height, CameraSource.EXIF)
    return Camera.assumed(width, height)


def _focal_from_35mm(
    tags: Mapping[int, tuple[float, ...]], width: int, height: int
) -> float | None:
    focal_mm = number(tags, FOCAL_LENGTH_35MM)
    if focal_mm is None:
        return None
    try:
        return Camera.from_focal_35mm(focal_mm, width, height).focal
    except InputError:  # so small or so large that no camera matrix holds it
        return None


def _focal_from_sensor(tags: Mapping[int, tuple[float, ...]], stored_width: int) -> float | None:
    """Return the focal length in [px] from millimeters and the sensor resolution."""
    focal_mm = number(tags, FOCAL_LENGTH)
    resolution = number(tags, FOCAL_PLANE_X_RESOLUTION)
    unit = _UNIT_MM.get(int(number(tags, FOCAL_PLANE_UNIT) or 2))
    if focal_mm is None or resolution is None or unit is None:
        return None
    # The resolution belongs to the picture as the camera wrote it; it may have been scaled since.
    original_width = number(tags, PIXEL_WIDTH) or stored_width
    return focal_mm * resolution / unit * (stored_width / original_width)
