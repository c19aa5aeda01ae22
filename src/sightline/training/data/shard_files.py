"""One shard: a tar file of training pairs, the same bytes whenever and wherever it is written.

The first member, `shard.json`, says what the shard was made from. Then for pair N, numbered from 0:

* `N.jpg`: color;
* `N.png`: 16 bits, the bits of the half-precision disparity; 65535 where unknown;
* `N.trust.png`: 8 bits, only where several teachers made the label;
* `N.json`: `unit` in [1/m] or null, `focal` in [px] or null, `pseudo`, and the picture's file name.

Shards may come from anywhere, so nothing of them is trusted: members are read in memory, by known
names only, within bounds.
"""

from __future__ import annotations

import io
import json
import math
import re
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io import png
from sightline.io.image_decoding import JpegHeader, read_jpeg_header
from sightline.io.reading import GET_AGAIN, check_pixels
from sightline.training.data.pairs import Pair

HEADER = "shard.json"

#: A pair's files have at most this many bytes each, and their pictures this many pixels.
_MAX_MEMBER = 64_000_000
_MAX_PIXELS = 16_000_000

_UNKNOWN = 65535
#: The bits of 1.0. Those of smaller positive numbers are less; of negative ones and NaN, greater.
_ONE = 0x3C00
_QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 95]
_MEMBER = re.compile(r"(\d{6})\.(jpg|png|trust\.png|json)")

#: The files of one pair, by what follows the number.
Members = dict[str, bytes]


def encode_pair(pair: Pair, name: str) -> Members:
    """Return the files of one pair; all but the colors survive to the bit."""
    bits = np.where(pair.known, pair.disparity.view(np.uint16), np.uint16(_UNKNOWN))
    meta = {"name": name, "pseudo": pair.pseudo, "unit": pair.unit, "focal": pair.focal}
    members = {
        "jpg": _encode(".jpg", pair.pixels[..., ::-1], _QUALITY),
        "png": _encode(".png", bits, [cv2.IMWRITE_PNG_COMPRESSION, 3]),
        "json": json.dumps(meta, sort_keys=True).encode(),
    }
    if pair.weight is not None:
        members["trust.png"] = _encode(".png", pair.weight, [cv2.IMWRITE_PNG_COMPRESSION, 3])
    return members


def _encode(suffix: str, pixels: NDArray[Any], options: list[int]) -> bytes:
    _, data = cv2.imencode(suffix, np.ascontiguousarray(pixels), options)
    return bytes(data)


def decode_pair(members: Members) -> Pair:
    """Return the pair of its files.

    Raises:
        InputError: where they make no sense; without a path (see `naming`).
    """
    missing = {"jpg", "png", "json"} - set(members)
    if missing:
        raise InputError(f"a pair has no .{min(missing)}", remedy=GET_AGAIN)
    color = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
    pixels = _decode(members["jpg"], color, np.uint8, 3)
    bits = _decode(members["png"], cv2.IMREAD_UNCHANGED, np.uint16, 2)
    trust = None
    if "trust.png" in members:
        trust = _decode(members["trust.png"], cv2.IMREAD_UNCHANGED, np.uint8, 2)
    if bits.shape != pixels.shape[:2] or (trust is not None and trust.shape != bits.shape):
        raise InputError("a pair's label is not of its picture's size", remedy=GET_AGAIN)
    known = bits != _UNKNOWN
    bits = np.where(known, bits, np.uint16(0))
    if int(bits.max()) > _ONE:
        raise InputError("a pair's disparity is not within 0 and 1", remedy=GET_AGAIN)
    unit, focal, pseudo = _meta(members["json"])
    return Pair(pixels, bits.view(np.float16), known, unit, pseudo, trust, focal)


def _decode(data: bytes, flag: int, dtype: type[Any], dimensions: int) -> NDArray[Any]:
    """Decode one picture whose header promises a size within bounds."""
    if data.startswith(png.SIGNATURE):
        header: png.Header | JpegHeader | None = png.read_header(data)
    else:
        header = read_jpeg_header(data)
    pixels = None
    if header is not None:
        check_pixels(header.width, header.height, _MAX_PIXELS)
        with suppress(cv2.error):
            pixels = cv2.imdecode(np.frombuffer(data, np.uint8), flag)
    if pixels is None or pixels.dtype != dtype or pixels.ndim != dimensions:
        raise InputError("a picture of a pair does not decode", remedy=GET_AGAIN)
    return np.asarray(pixels)


def _meta(data: bytes) -> tuple[float | None, float | None, bool]:
    """Return unit, focal length (which older shards lack) and whether it is a teacher's label."""
    try:
        meta: Any = json.loads(data)
        unit, focal = (
            None if value is None else float(value) for value in (meta["unit"], meta.get("focal"))
        )
        pseudo = meta["pseudo"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InputError("a pair's unit cannot be read", remedy=GET_AGAIN) from error
    lengths = [value for value in (unit, focal) if value is not None]
    if not isinstance(pseudo, bool) or not all(0 < value < math.inf for value in lengths):
        raise InputError("a pair's unit makes no sense", remedy=GET_AGAIN)
    return unit, focal, pseudo


def write_tar(file: BinaryIO, header: bytes, pairs: Iterator[Members]) -> int:
    """Write a shard and return how many pairs it has; nothing in it depends on time or user."""
    count = 0
    with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        _add(tar, HEADER, header)
        for members in pairs:
            for suffix in sorted(members):
                _add(tar, f"{count:06d}.{suffix}", members[suffix])
            count += 1
    return count


def _add(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)  # mode 644, owner and time 0
    info.size = len(data)
    tar.addfile(info, io.BytesIO(data))


def read_tar(data: bytes, path: Path) -> tuple[bytes, list[Members]]:
    """Return `shard.json` and the files of every pair, in order; refuse anything else.

    Args:
        data: the whole shard.
        path: path for error messages.
    """
    pairs: dict[int, Members] = {}
    header = b""
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
            for member in tar:
                content = _content(member, data, path)
                if member.name == HEADER:
                    header = content
                elif match := _MEMBER.fullmatch(member.name):
                    pairs.setdefault(int(match[1]), {})[match[2]] = content
                else:
                    problem = f"holds {member.name[:60]!r}, which is no part of a pair"
                    raise InputError(problem, path=path)
    except (tarfile.TarError, ValueError, EOFError, OverflowError) as error:
        raise InputError("is a damaged or truncated shard", path=path, remedy=GET_AGAIN) from error
    if sorted(pairs) != list(range(len(pairs))):
        raise InputError("is a damaged shard: pairs are missing", path=path, remedy=GET_AGAIN)
    if not pairs:
        raise InputError("is an empty shard", path=path, remedy="write the shards again")
    return header, [pairs[number] for number in range(len(pairs))]


def _content(member: tarfile.TarInfo, data: bytes, path: Path) -> bytes:
    """Return the bytes of a plain member: no links, no folders, no sparse or oversized files."""
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE) or member.issparse():
        raise InputError(f"holds {member.name[:60]!r}, which is not a plain file", path=path)
    if not 0 <= member.size <= _MAX_MEMBER:
        raise InputError(f"holds {member.name[:60]!r}, which is too large", path=path)
    end = member.offset_data + member.size
    if end > len(data):
        raise InputError("is a truncated shard", path=path, remedy=GET_AGAIN)
    return data[member.offset_data : end]
