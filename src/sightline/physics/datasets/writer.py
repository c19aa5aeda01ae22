"""Write data sets as HDF5 in the layout of the released files (phyworld/phyworld).

 A file of `merged` layout has one group per stream, with one HDF5 data set per shard of 1000 samples,
named by five digits. A file of `shard` layout has one HDF5 data set per stream instead:

    video_streams      (n,) variable-length uint8: one mp4 per video
    position_streams   (n, T, 2) for one body, else (n, T, bodies, 2)
    init_streams       (n, parameters)

Sightline adds `velocity_streams` like positions, `size_streams` (n, bodies), `color_streams` (n,
bodies, 3), `shape_streams` (n, bodies), and the attribute `sightline`, a JSON object with the
settings. Readers of the released files ignore these. With run-length coded videos (`rle`),
`rle_streams` takes the place of `video_streams` and `checksum_streams` (n,) has the CRC-32 of each.

The same samples give the same bytes: no time stamps are stored, and everything is written in order.
"""

from __future__ import annotations

import errno
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import h5py
import numpy as np
from numpy.typing import NDArray

from sightline.physics.datasets import mp4, rle
from sightline.physics.rendering import Canvas
from sightline.physics.types import Samples

#: Samples per shard.
SHARD = 1000

VIDEOS, RLE, CHECKSUMS = "video_streams", "rle_streams", "checksum_streams"
POSITIONS, INIT, VELOCITIES = "position_streams", "init_streams", "velocity_streams"
SIZES, COLORS, SHAPES = "size_streams", "color_streams", "shape_streams"
#: Attribute with the settings of the data set.
NOTE = "sightline"

_FIELDS = {
    POSITIONS: "positions",
    INIT: "init",
    VELOCITIES: "velocities",
    SIZES: "sizes",
    COLORS: "colors",
    SHAPES: "shapes",
}

#: Order of the streams in a file; of those that are not listed, the order of their names.
_ORDER = defaultdict(lambda: len(_FIELDS), {name: k for k, name in enumerate(_FIELDS)})

#: Arrays by the name of their stream; the first axis is the sample.
Streams = dict[str, NDArray[Any]]


def encode_samples(samples: Samples, size: int, video: str) -> Streams:
    """Render samples, encode their videos and return everything as streams.

    Args:
        samples: M motions.
        size: frame side in [px].
        video: `rle`, or mp4 of `standard` or `lossless` quality.
    """
    streams = {name: getattr(samples, field) for name, field in _FIELDS.items()}
    for name in (POSITIONS, VELOCITIES):
        if streams[name].shape[2] == 1:  # the released files have no axis for a single body
            streams[name] = streams[name][:, :, 0]
    canvas = Canvas(size, samples.positions.shape[1])
    encoded = []
    for index in range(len(samples)):
        frames = canvas.paint(samples[index])
        if video == "rle":
            encoded.append(rle.encode(frames, canvas.boxes))
        else:
            encoded.append(mp4.encode(frames, cast(mp4.Quality, video)))
    if video != "rle":
        return {**streams, VIDEOS: byte_rows(encoded)}
    checksums = np.array([zlib.crc32(data) for data in encoded], np.uint32)
    return {**streams, RLE: byte_rows(encoded), CHECKSUMS: checksums}


def pack_block(streams: Streams) -> bytes:
    """Serialize streams as the image of a small HDF5 file, for part files and other processes."""
    with h5py.File("block", "w", driver="core", backing_store=False) as file:
        for name, values in streams.items():
            create(file, name, values)
        file.flush()
        return bytes(file.id.get_file_image())


def unpack_block(block: bytes) -> Streams:
    """Return the streams of a block."""
    with h5py.File(h5py.h5f.open_file_image(block)) as file:
        return {name: file[name][:] for name in sorted(file, key=_ORDER.__getitem__)}


def write(
    path: Path, blocks: Iterable[Streams], count: int, note: dict[str, Any], layout: str = "merged"
) -> None:
    """Write a file.

    Args:
        path: of the new file.
        blocks: streams in order; `SHARD` must be a multiple of the length of each but the last.
        count: samples of all blocks.
        note: scenario, frame time, frame size and settings.
        layout: `merged` or `shard`.
    """
    with new_file(path, note) as file:
        if layout == "shard":
            _write_flat(file, blocks, count)
            return
        for number, shard in enumerate(_shards(blocks)):
            for name, values in concatenate(shard).items():
                create(file.require_group(name), f"{number:05d}", values)


@contextmanager
def new_file(path: Path, note: dict[str, Any]) -> Iterator[Any]:
    """Open a new HDF5 file in which the same content gives the same bytes.

    Args:
        path: of the file.
        note: stored as the attribute `sightline`, in JSON.
    """
    try:
        with h5py.File(path, "w", libver=("earliest", "v110")) as file:
            file.attrs[NOTE] = np.bytes_(json.dumps(note))
            yield file
    except RuntimeError as error:  # HDF5 reports failed writes when the file is closed
        raise OSError(errno.EIO, "HDF5 could not write all of it; is the disk full?") from error


def create(group: Any, name: str, values: NDArray[Any], count: int | None = None) -> None:
    """Create an HDF5 data set from `values`, or one of `count` rows that begins with them."""
    rows = len(values) if count is None else count
    group.create_dataset(name, (rows, *values.shape[1:]), _dtype(values), track_times=False)
    fill(group[name], 0, values)


def fill(data: Any, start: int, values: NDArray[Any]) -> None:
    """Write rows of an HDF5 data set from `start` on.

    Assignment would not do: h5py makes one array of all byte rows of equal length.
    """
    values = np.ascontiguousarray(values).astype(_dtype(values), copy=False)
    data.write_direct(values, dest_sel=np.s_[start : start + len(values)])


def byte_rows(encoded: Iterable[bytes]) -> NDArray[Any]:
    """Return encoded videos as an object array of uint8 rows."""
    found = [np.frombuffer(data, np.uint8) for data in encoded]
    rows = np.empty(len(found), object)
    rows[:] = found
    return rows


def concatenate(blocks: Sequence[Streams]) -> Streams:
    """Join the streams of several blocks."""
    return {name: np.concatenate([block[name] for block in blocks]) for name in blocks[0]}


def _dtype(values: NDArray[Any]) -> Any:
    return h5py.vlen_dtype(np.uint8) if values.dtype == object else values.dtype


def _shards(blocks: Iterable[Streams]) -> Iterator[list[Streams]]:
    """Group blocks into shards."""
    shard: list[Streams] = []
    for block in blocks:
        shard.append(block)
        if sum(len(one[INIT]) for one in shard) >= SHARD:
            yield shard
            shard = []
    if shard:
        yield shard


def _write_flat(file: Any, blocks: Iterable[Streams], count: int) -> None:
    """Write one shard of any length, block by block."""
    start = 0
    for block in blocks:
        for name, values in block.items():
            if start:
                fill(file[name], start, values)
            else:
                create(file, name, values, count)
        start += len(block[INIT])
