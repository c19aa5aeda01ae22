"""Some hundred videos and their motions as bytes: what a worker makes, and what files are made of.

records    one per video, little-endian: init, positions, velocities, sizes, colours, shapes, and
           where its video is: offset, length, crc32
crc32      of the records
videos     one after the other, as runs (`runs`) or as mp4 (`mp4`)
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import Samples

#: What to do about a file whose bytes are not what was written.
AGAIN = "make or copy the file again"
_CRC = np.dtype("<u4")


@dataclass(frozen=True, slots=True)
class Layout:
    """Sizes that all records of a data set share.

    Attributes:
        parameters: columns of `init`.
        frames: of a video.
        bodies: in a world.
    """

    parameters: int
    frames: int
    bodies: int

    @classmethod
    def of(cls, samples: Samples) -> Layout:
        """Return the layout of samples."""
        _, frames, bodies, _ = samples.positions.shape
        return cls(samples.init.shape[1], frames, bodies)

    @property
    def record(self) -> np.dtype[Any]:
        """What is known of one video, but for its pixels."""
        moving = (self.frames, self.bodies, 2)
        return np.dtype(
            [
                ("init", "<f8", (self.parameters,)),
                ("positions", "<f8", moving),
                ("velocities", "<f8", moving),
                ("sizes", "<f8", (self.bodies,)),
                ("colours", "u1", (self.bodies, 3)),
                ("shapes", "u1", (self.bodies,)),
                ("offset", "<u8"),
                ("length", "<u4"),
                ("crc", "<u4"),
            ]
        )

    def head(self, count: int) -> int:
        """Return how many bytes stand before the videos of a block of `count`."""
        return count * self.record.itemsize + _CRC.itemsize


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The front of a block.

    Attributes:
        table: (n,) of `Layout.record`; offsets count from the start of the block.
    """

    table: NDArray[np.void]

    def __len__(self) -> int:
        return len(self.table)

    def samples(self, scenario: str, frame_time: float) -> Samples:
        """Return the motions."""
        names = ("init", "positions", "velocities", "sizes", "colours", "shapes")
        arrays = {name: np.ascontiguousarray(self.table[name]) for name in names}
        return Samples(scenario, frame_time=frame_time, **arrays)

    def place(self, index: int) -> tuple[int, int]:
        """Return offset and length in bytes of a video."""
        return int(self.table["offset"][index]), int(self.table["length"][index])

    def check(self, index: int, video: bytes) -> bytes:
        """Return the bytes of a video if they are those that were written."""
        if zlib.crc32(video) != self.table["crc"][index]:
            raise InputError(f"the checksum of video {index} is wrong", remedy=AGAIN)
        return video


def pack(samples: Samples, videos: Sequence[bytes]) -> bytes:
    """Return the block of samples and their encoded videos."""
    layout = Layout.of(samples)
    table = np.zeros(len(samples), layout.record)
    for name in ("init", "positions", "velocities", "sizes", "colours", "shapes"):
        table[name] = getattr(samples, name)
    table["length"] = [len(video) for video in videos]
    table["crc"] = [zlib.crc32(video) for video in videos]
    ends = np.cumsum(table["length"], dtype=np.uint64)
    table["offset"] = layout.head(len(samples)) + np.concatenate([[0], ends[:-1]])
    records = table.tobytes()
    return b"".join([records, _CRC.type(zlib.crc32(records)).tobytes(), *videos])


def read_records(head: bytes, layout: Layout, count: int, length: int) -> Records:
    """Return the records of a block; refuse damaged ones.

    Args:
        head: its first `layout.head(count)` bytes.
        layout: sizes of a record.
        count: videos in the block.
        length: of the whole block in bytes.
    """
    split = count * layout.record.itemsize
    if len(head) != layout.head(count):
        raise InputError("a block is cut off", remedy=AGAIN)
    if zlib.crc32(head[:split]) != int(np.frombuffer(head[split:], _CRC)[0]):
        raise InputError("the checksum of a block is wrong", remedy=AGAIN)
    table = np.frombuffer(head[:split], layout.record)
    ends = table["offset"].astype(np.float64) + table["length"]  # in which no sum runs over
    if count and (table["offset"].min() < len(head) or ends.max() > length):
        raise InputError("a video is outside its block", remedy=AGAIN)
    return Records(table)
