"""What a JPEG says before its pixels, and the fast way to decode a plain one.

OpenCV decodes straight into an array, in half of Pillow's time and to the same pixels. Reading the
few header segments ourselves also keeps a damaged EXIF block from troubling anyone.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

#: Markers that start a frame: baseline, progressive and the rarer kinds, without DHT, JPG and DAC.
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_SCAN, _APP1, _END = 0xDA, 0xE1, b"\xff\xd9"

_LEFT_OVER = re.compile(r"(\d+) extraneous bytes before marker 0x(..)")
#: Padding repeats a few values; coded data has many.
_PADDING_VALUES = 16


@dataclass(frozen=True, slots=True)
class Header:
    """Size in pixels, number of channels, bits per channel, the EXIF block, where the scan starts."""

    width: int
    height: int
    channels: int
    bits: int
    exif: bytes
    scan: int


def read_header(data: bytes) -> Header | None:
    """Walk over the segments up to the first scan; None when they make no sense."""
    at, exif, frame = 2, b"", None
    while at + 4 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker == 0xFF:  # padding
            at += 1
            continue
        body = data[at + 4 : at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")]
        if marker == _SCAN:
            return None if frame is None else Header(*frame, exif, at)
        if marker == _APP1 and body.startswith(b"Exif\0\0") and not exif:
            exif = body
        if marker in _FRAMES and frame is None and len(body) >= 6:
            bits, height, width, channels = struct.unpack_from(">BHHB", body)
            frame = (width, height, channels, bits)
        at += 4 + len(body)
    return None


def decode_plain(data: bytes, header: Header) -> NDArray[np.uint8] | None:
    """Return (H, W, 3) uint8 RGB of a whole grey or colour JPEG, or None where Pillow must try."""
    if header.bits != 8 or header.channels not in (1, 3):
        return None
    # Pillow raises an error for a file that just stops, so it gets every one without an end mark (a
    # thumbnail's own lies before the scan).
    if data.find(_END, header.scan) < 0:
        return None
    flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:
        return None
    if pixels is None or pixels.shape != (header.height, header.width, 3):
        return None
    return np.asarray(pixels, np.uint8)


def tells_of_damage(said: Iterable[str], data: bytes) -> bool:
    """Whether libjpeg's words mean that pixels are wrong; it fills up what is lost with grey.

    Bytes left over in front of a mark are harmless where a camera has padded its file. Coded data
    left over at the end of the picture means that the decoder had lost its way before.

    Args:
        said: from `native.listening`; libjpeg speaks once per picture, at the first oddity.
        data: the whole file.
    """
    for line in said:
        if left := _LEFT_OVER.search(line):
            header = read_header(data)
            end = data.find(_END, header.scan if header else 0)
            rest = data[max(end - int(left[1]), 0) : end] if left[2] == "d9" else b""
            if len(set(rest)) > _PADDING_VALUES:
                return True
        elif line.startswith(("Corrupt JPEG data", "Premature end")):
            return True
    return False
