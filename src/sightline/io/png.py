"""Write PNG with text chunks, fast; read headers and text, and check files.

Pillow cannot select the fast filter, OpenCV cannot write text, and both use one thread. Here rows are
filtered by differences to the row above (depth is smooth, so the differences are small), split into
bands, deflated in parallel and joined into one stream. The bytes are the same for any number of
threads.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.paths import AnyPath
from sightline.io.reading import GET_AGAIN

SIGNATURE = b"\x89PNG\r\n\x1a\n"

#: Bytes of filtered rows per band. Large enough that a fresh start of the compressor costs nothing.
_BAND_BYTES = 1 << 20
#: Longer texts are skipped, in [B].
_MAX_TEXT = 1 << 20

_GRAY, _COLOR = 0, 2
_FILTER_UP = 2


@dataclass(frozen=True, slots=True)
class Header:
    """Size in pixels, bits per channel, and color type (0 gray, 2 color, 3 palette, +4 alpha)."""

    width: int
    height: int
    bits: int
    color: int


def encode(pixels: NDArray[np.uint8] | NDArray[np.uint16], text: Mapping[str, str]) -> bytes:
    """Return a PNG file of (H, W) uint16 gray or (H, W, 3) uint8 color.

    Args:
        pixels: the picture.
        text: keyword (1–79 ASCII characters) to text; any language.
    """
    height, width = pixels.shape[:2]
    gray = pixels.ndim == 2
    bits = pixels.dtype.itemsize * 8
    header = struct.pack(">IIBBBBB", width, height, bits, _GRAY if gray else _COLOR, 0, 0, 0)
    return b"".join(
        [
            SIGNATURE,
            _chunk(b"IHDR", header),
            *(_text_chunk(key, value) for key, value in text.items()),
            *(_chunk(b"IDAT", band) for band in _deflate(pixels)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return (
        struct.pack(">I", len(body))
        + kind
        + body
        + struct.pack(">I", zlib.crc32(body, zlib.crc32(kind)))
    )


def _text_chunk(key: str, value: str) -> bytes:
    """Make a tEXt chunk of ASCII, which every tool shows, or an iTXt chunk of UTF-8."""
    keyword = key.encode("ascii")
    if not 1 <= len(keyword) <= 79:
        raise ValueError(f"PNG keyword must have 1 to 79 characters: {key!r}")
    value = value.replace("\0", " ")
    if value.isascii():
        return _chunk(b"tEXt", keyword + b"\0" + value.encode("ascii"))
    return _chunk(b"iTXt", keyword + b"\0\0\0\0\0" + value.encode("utf-8", "replace"))


def _deflate(pixels: NDArray[np.uint8] | NDArray[np.uint16]) -> list[bytes]:
    """Filter and compress bands of rows in parallel; joined, they are one zlib stream."""
    height = pixels.shape[0]
    big_endian = np.ascontiguousarray(pixels, pixels.dtype.newbyteorder(">"))
    rows = big_endian.reshape(height, -1).view(np.uint8)
    step = max(1, _BAND_BYTES // (rows.shape[1] + 1))
    starts = range(0, height, step)

    def band(start: int) -> tuple[bytes, NDArray[np.uint8]]:
        stop = min(start + step, height)
        filtered = np.empty((stop - start, rows.shape[1] + 1), np.uint8)
        filtered[:, 0] = _FILTER_UP
        if start == 0:
            filtered[0, 1:] = rows[0]
        else:
            np.subtract(rows[start], rows[start - 1], out=filtered[0, 1:])
        np.subtract(rows[start + 1 : stop], rows[start : stop - 1], out=filtered[1:, 1:])
        # Runs are what differences of smooth maps have; searching for longer matches costs four
        # times as much for a few per cent. Raw deflate, as the bands share one zlib wrapper.
        packer = zlib.compressobj(1, zlib.DEFLATED, -15, 9, zlib.Z_RLE)
        flush = zlib.Z_FINISH if stop == height else zlib.Z_FULL_FLUSH
        return packer.compress(filtered.data) + packer.flush(flush), filtered

    with ThreadPoolExecutor(min(len(starts), os.cpu_count() or 1, 8)) as pool:
        bands = list(pool.map(band, starts))
    checksum = 1
    for _, plain in bands:
        checksum = zlib.adler32(plain.data, checksum)
    packed = [data for data, _ in bands]
    packed[0] = b"\x78\x01" + packed[0]
    packed[-1] += struct.pack(">I", checksum)
    return packed


def chunks(data: bytes, *, path: str | AnyPath | None = None) -> Iterator[tuple[bytes, memoryview]]:
    """Yield kind and body of each chunk up to the end mark; refuse damaged and truncated files."""
    if not data.startswith(SIGNATURE):
        raise InputError("is not a PNG file", path=path)
    view, at = memoryview(data), len(SIGNATURE)
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, end = data[at + 4 : at + 8], at + 12 + length
        if end > len(data):
            break
        if zlib.crc32(view[at + 4 : end - 4]) != struct.unpack_from(">I", data, end - 4)[0]:
            raise InputError("is damaged (a PNG checksum is wrong)", path=path, remedy=GET_AGAIN)
        yield kind, view[at + 8 : end - 4]
        if kind == b"IEND":
            return
        at = end
    raise InputError("is truncated", path=path, remedy=GET_AGAIN)


def check(data: bytes, *, path: str | AnyPath | None = None) -> None:
    """Refuse a damaged or truncated file before a decoder sees it."""
    for _ in chunks(data, path=path):
        pass


def first_chunk(data: bytes, kind: bytes) -> bytes | None:
    """Return the body of the first chunk of a kind before the pixels, or None."""
    for name, body in chunks(data):
        if name == kind:
            return bytes(body)
        if name == b"IDAT":
            return None
    return None


def read_header(data: bytes, *, path: str | AnyPath | None = None) -> Header:
    """Read the header chunk; no pixels are decoded."""
    kind, body = next(iter(chunks(data, path=path)))
    if kind != b"IHDR" or len(body) != 13:
        raise InputError("is damaged (no PNG header)", path=path, remedy=GET_AGAIN)
    return Header(*struct.unpack_from(">IIBB", body))


def read_text(data: bytes, *, path: str | AnyPath | None = None) -> dict[str, str]:
    """Return keyword to text of the uncompressed text chunks before the pixels."""
    text: dict[str, str] = {}
    for kind, body in chunks(data, path=path):
        if kind == b"IDAT":
            break
        if kind not in (b"tEXt", b"iTXt") or len(body) > _MAX_TEXT:
            continue
        keyword, _, rest = bytes(body).partition(b"\0")
        if kind == b"tEXt":
            text[keyword.decode("latin-1")] = rest.decode("latin-1")
        elif (
            rest[:2] == b"\0\0"
        ):  # not compressed; then language and translated keyword, both skipped
            parts = rest[2:].split(b"\0", 2)
            if len(parts) == 3:
                text[keyword.decode("latin-1")] = parts[2].decode("utf-8", errors="replace")
    return text
