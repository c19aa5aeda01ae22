"""Write the HDF5 layout of the reference, so that other people's trainers read it (`R-PHY`).

A file of `merged` layout has groups, in each of them a data set per shard of 1000 samples named by five
digits; a file of `shard` layout has data sets of those names instead:

    video_streams      (n,) of variable length uint8: an mp4 each
    position_streams   (n, T, 2) for one body, else (n, T, bodies, 2)
    init_streams       (n, parameters)

and of our own, which readers of the reference's files pass over: `velocity_streams` like positions,
`size_streams` (n, bodies), `colour_streams` (n, bodies, 3), `shape_streams` (n, bodies), and the
attribute `sightline` with how it was made, in JSON. Same samples, same bytes: nothing of times is
kept, and everything is written in order.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from sightline.physics.data.block import Records

#: Samples of a shard.
SHARD = 1000

VIDEOS, POSITIONS, INIT = "video_streams", "position_streams", "init_streams"
VELOCITIES, SIZES = "velocity_streams", "size_streams"
COLOURS, SHAPES = "colour_streams", "shape_streams"
NOTE = "sightline"

_COLUMNS = {
    POSITIONS: "positions",
    INIT: "init",
    VELOCITIES: "velocities",
    SIZES: "sizes",
    COLOURS: "colours",
    SHAPES: "shapes",
}

Block = tuple[Records, Sequence[bytes]]


def write(
    path: Path, blocks: Iterable[Block], count: int, note: dict[str, Any], layout: str = "merged"
) -> None:
    """Write a file of blocks whose videos are mp4.

    Args:
        path: of the new file.
        blocks: records and videos, in order; `SHARD` must be a multiple of what each but the last has.
        count: samples of all blocks.
        note: scenario, frame time and how it was made.
        layout: `merged` or `shard`.
    """
    with new_file(path, note) as file:
        if layout == "shard":
            _write_flat(file, blocks, count)
            return
        for number, shard in enumerate(_shards(blocks)):
            for name, values in _streams(shard).items():
                create(file.require_group(name), f"{number:05d}", values)


@contextmanager
def new_file(path: Path, note: dict[str, Any]) -> Iterator[Any]:
    """Open a new HDF5 file in which the same content has the same bytes.

    Args:
        path: of the file.
        note: what is to be said of all of it, as the attribute `sightline`.
    """
    try:
        with h5py.File(path, "w", libver=("earliest", "v110")) as file:
            file.attrs[NOTE] = np.bytes_(json.dumps(note))  # no heap, which readers need not trust
            yield file
    except RuntimeError as error:  # how HDF5 reports, at closing, what it could not write
        raise OSError(errno.EIO, "HDF5 could not write all of it; is the disk full?") from error


def create(group: Any, name: str, values: NDArray[Any], count: int | None = None) -> None:
    """Make a data set of `values`, or of `count` rows of which those are the first."""
    rows = len(values) if count is None else count
    kind = _kind(values)
    group.create_dataset(name, (rows, *values.shape[1:]), kind, track_times=False)
    fill(group[name], 0, values)


def fill(data: Any, start: int, values: NDArray[Any]) -> None:
    """Write rows of a data set from `start` on.

    Not by assignment, for which h5py would make one array of all videos that are equally long.
    """
    values = np.ascontiguousarray(values).astype(_kind(values), copy=False)
    data.write_direct(values, dest_sel=np.s_[start : start + len(values)])


def listed(videos: Iterable[bytes]) -> NDArray[Any]:
    """Return mp4s as rows of a data set."""
    found = [np.frombuffer(video, np.uint8) for video in videos]
    rows = np.empty(len(found), object)
    rows[:] = found
    return rows


def _kind(values: NDArray[Any]) -> Any:
    return h5py.vlen_dtype(np.uint8) if values.dtype == object else values.dtype


def _shards(blocks: Iterable[Block]) -> Iterator[list[Block]]:
    """Put blocks together to shards."""
    shard: list[Block] = []
    for block in blocks:
        shard.append(block)
        if sum(len(records) for records, _ in shard) >= SHARD:
            yield shard
            shard = []
    if shard:
        yield shard


def _write_flat(file: Any, blocks: Iterable[Block], count: int) -> None:
    """Write one shard of any length, block by block."""
    start = 0
    for block in blocks:
        for name, values in _streams([block]).items():
            if start:
                fill(file[name], start, values)
            else:
                create(file, name, values, count)
        start += len(block[0])


def _streams(blocks: Sequence[Block]) -> dict[str, NDArray[Any]]:
    """Return the arrays of some blocks by name, in the shapes of the reference."""
    table = np.concatenate([records.table for records, _ in blocks])
    streams = {name: np.ascontiguousarray(table[column]) for name, column in _COLUMNS.items()}
    for name in (POSITIONS, VELOCITIES):
        if streams[name].shape[2] == 1:
            streams[name] = streams[name][:, :, 0]
    return {**streams, VIDEOS: listed(video for _, videos in blocks for video in videos)}
