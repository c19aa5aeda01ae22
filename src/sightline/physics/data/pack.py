"""The fast lossless format `.slv`: one file, nothing in it is ever executed, any video at once.

    0    16 bytes   magic
    16   u64        where the index is
    24   u64        its length in bytes
    32   32 bytes   its sha256
    64   blocks     see `block`; videos as runs
    ...  index      JSON: version, scenario, count, sizes, how it was made, and of every block
                    [offset, length, sha256]

Numbers are little-endian. The sha256 of the index stands for the whole file, since it covers those of
the blocks; what is read is checked against crc32 each time.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterable
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sightline.errors import InputError
from sightline.files.reading import naming, open_file
from sightline.physics.data import runs
from sightline.physics.data.block import AGAIN, Layout, Records, read_records
from sightline.physics.data.index import Index, parse_index
from sightline.physics.data.videos import VideoData
from sightline.physics.types import Frames, Samples

SUFFIX = ".slv"
MAGIC = b"\x93SIGHTLINE-V1\r\n\x1a"
VERSION = 1

_HEAD = struct.Struct("<16sQQ32s")
_MOST_INDEX = 256_000_000


def write(file: BinaryIO, blocks: Iterable[tuple[bytes, str]], facts: dict[str, Any]) -> None:
    """Write a file of blocks.

    Args:
        file: empty, open for writing.
        blocks: and the sha256 of each, in order.
        facts: what the index holds besides its version and blocks: see `index.Index`.
    """
    file.write(bytes(_HEAD.size))
    listed = []
    place = _HEAD.size
    for block, digest in blocks:
        file.write(block)
        listed.append([place, len(block), digest])
        place += len(block)
    index = json.dumps({"version": VERSION, **facts, "blocks": listed}, ensure_ascii=False).encode()
    file.write(index)
    file.seek(0)
    file.write(_HEAD.pack(MAGIC, place, len(index), hashlib.sha256(index).digest()))


class PackedVideos(VideoData):
    """A `.slv` file. Any number of processes may read from one that was opened before they parted."""

    format = "Sightline videos, lossless"

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        with open_file(self.path, what="data set") as file:
            size = os.fstat(file.fileno()).st_size
            with naming(self.path):
                self._digest, content = _read_index(file, size)
                self._index: Index = parse_index(content, size)
            self._file = os.dup(file.fileno())
        self.scenario, self.frame_time = self._index.scenario, self._index.frame_time
        self.made = self._index.made
        self._records = lru_cache(maxsize=8)(self._read_records)

    def __len__(self) -> int:
        return self._index.count

    @property
    def layout(self) -> Layout:
        """Sizes of what is known of a video."""
        return self._index.layout

    @cached_property
    def digest(self) -> str:
        """Sha256 of the index."""
        return self._digest

    def read_samples(self, start: int, stop: int) -> Samples:
        """Return some of the motions."""
        size = self._index.block
        first, last = start // size, max(-(-stop // size), start // size + 1)
        pieces = []
        for number in range(first, last):
            begin = number * size
            table = self._records(number).table
            pieces.append(table[max(start - begin, 0) : max(stop - begin, 0)])
        table = np.concatenate(pieces)
        return Records(table).samples(self.scenario, self.frame_time)

    def video(self, index: int) -> Frames:
        """Return a video, every pixel as it was rendered."""
        number, place = divmod(self._checked(index), self._index.block)
        records = self._records(number)
        with naming(self.path):
            offset, length = records.place(place)
            if length > runs.longest(self._index.layout.frames, self._index.size):
                raise InputError(f"video {index} is longer than it can be", remedy=AGAIN)
            data = self._read(self._index.places[number][0] + offset, length)
            return runs.decode(
                records.check(place, data), self._index.layout.frames, self._index.size
            )

    def verify(self) -> None:
        """Compare every block with its sha256; refuse the file at the first that differs."""
        for number, (offset, length) in enumerate(self._index.places):
            found = hashlib.sha256(self._read(offset, length)).hexdigest()
            if found != self._index.hashes[number]:
                raise InputError(f"block {number} is damaged", path=self.path, remedy=AGAIN)

    def close(self) -> None:
        """Give the file back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again on the other side of a pickle."""
        return PackedVideos, (str(self.path.absolute()),)

    def _read_records(self, number: int) -> Records:
        layout, count = self._index.layout, self._index.in_block(number)
        offset, length = self._index.places[number]
        with naming(self.path):
            head = self._read(offset, min(layout.head(count), length))
            return read_records(head, layout, count, length)

    def _read(self, offset: int, length: int) -> bytes:
        try:
            data = os.pread(self._file, length, offset)
        except OSError as error:
            reason = "it is closed" if self._file < 0 else error.strerror
            raise InputError(f"cannot be read ({reason})", path=self.path) from error
        if len(data) != length:
            raise InputError("is cut off", path=self.path, remedy=AGAIN)
        return data


def _read_index(file: BinaryIO, size: int) -> tuple[str, bytes]:
    """Return the sha256 and the content of the index, which must fit each other."""
    head = file.read(_HEAD.size)
    if len(head) < _HEAD.size or not head.startswith(MAGIC):
        raise InputError("is no data set of Sightline's, or its start is damaged", remedy=AGAIN)
    _, offset, length, digest = _HEAD.unpack(head)
    if length > _MOST_INDEX or offset + length > size:
        raise InputError("is cut off, or its start is damaged", remedy=AGAIN)
    file.seek(offset)
    content = file.read(length)
    if hashlib.sha256(content).digest() != digest:
        raise InputError("the index is damaged", remedy=AGAIN)
    return digest.hex(), content
