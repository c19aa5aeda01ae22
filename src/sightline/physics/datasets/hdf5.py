"""Open HDF5 files of videos and check their structure before reading.

Files may come from anywhere. Links and data kept in other files are refused, not followed, and sizes
are compared with what the file holds before memory is allocated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from sightline.errors import InputError
from sightline.io.reading import open_file
from sightline.physics.datasets.spec import MOST
from sightline.physics.datasets.writer import POSITIONS, RLE, VIDEOS

#: Remedy for a file that cannot be read.
GET = "download or make the file again"
#: Largest number of frames, bodies, parameters and pixels per video that a file may have.
MOST_FRAMES, MOST_BODIES, MOST_PARAMETERS = 1024, 64, 64
MOST_PIXELS = 1 << 28

_OBJECTS = "object_streams"
_MOST_COMPRESSION = 1100  # no HDF5 filter shrinks data by a larger factor
_MOST_SHARDS = 100_000

#: What h5py raises for files that it cannot read.
_READ_ERRORS = (
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    ArithmeticError,
    MemoryError,
)

#: Checks types and shapes of the streams of a shard, by name; returns its number of samples.
CheckShard = Callable[[dict[str, Any], Path], int]


@dataclass(frozen=True, slots=True, eq=False)
class StreamFile:
    """An open file whose structure was checked.

    Attributes:
        file: the h5py file.
        layout: `merged` or `shard`.
        videos: name of the stream with the videos.
        keys: of the shards, in order; one empty key in a file of one shard.
        counts: samples of each shard.
        shapes: row shapes of each stream, over all shards.
    """

    file: Any
    layout: str
    videos: str
    keys: tuple[str, ...]
    counts: tuple[int, ...]
    shapes: dict[str, frozenset[tuple[int, ...]]]

    def has(self, name: str) -> bool:
        """Return whether the file has a stream."""
        return name in self.shapes

    def name_of(self, name: str, shard: int) -> str:
        """Return the path of an HDF5 data set in the file."""
        return f"{name}/{self.keys[shard]}" if self.keys[shard] else name

    def get(self, name: str, shard: int) -> Any:
        """Return the HDF5 data set of a stream in a shard."""
        return self.file[self.name_of(name, shard)]


@contextmanager
def guarded(path: Path, name: str) -> Iterator[None]:
    """Turn errors of h5py into an `InputError` of one line."""
    try:
        yield
    except _READ_ERRORS as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{name} cannot be read ({reason})", path=path, remedy=GET) from error


def is_combinatorial(path: Path) -> bool:
    """Return whether an HDF5 file has the streams of combinatorial worlds instead of positions."""
    with guarded(path, "the file"), h5py.File(path, "r") as file:
        found = [file.get(name, getlink=True) is not None for name in (_OBJECTS, POSITIONS)]
    return found == [True, False]


def open_streams(
    path: Path, needed: tuple[str, ...], optional: tuple[str, ...], check_shard: CheckShard
) -> StreamFile:
    """Open a file and check its structure, but not its values.

    Args:
        path: of the file.
        needed: streams that it must have, beside the videos.
        optional: streams that it may have.
        check_shard: checks each shard.
    """
    with open_file(path, what="data set"):
        pass  # reports missing files and permissions in the words of the system
    with guarded(path, "the file"):
        file = h5py.File(path, "r")
    try:
        with guarded(path, "the file"):
            return _check(file, path, needed, optional, check_shard)
    except BaseException:
        file.close()
        raise


def _check(
    file: Any,
    path: Path,
    needed: tuple[str, ...],
    optional: tuple[str, ...],
    check_shard: CheckShard,
) -> StreamFile:
    def has(name: str) -> bool:
        return file.get(name, getlink=True) is not None

    if has(_OBJECTS) and _OBJECTS not in needed:
        raise InputError(
            f"has {_OBJECTS}: a data set of combinatorial worlds, not of moving balls", path=path
        )
    videos = RLE if has(RLE) else VIDEOS
    for name in (videos, *needed):
        if not has(name):
            raise InputError(f"has no {name}", path=path, remedy=GET)
    merged = isinstance(_member(file, videos, path), h5py.Group)
    names = [videos, *needed, *(name for name in optional if has(name))]
    found = {name: _shards(file, name, videos, merged, path) for name in names}
    keys = tuple(sorted(found[videos], key=lambda key: (len(key), key)))
    counts = []
    for key in keys:
        for name in names:
            if key not in found[name]:
                raise InputError(f"{name} has no shard {key}", path=path, remedy=GET)
        streams = {name: found[name][key] for name in names}
        check_rows(streams, videos, path)
        counts.append(check_shard(streams, path))
    for name in names:
        if extra := set(found[name]) - set(keys):
            problem = f"{name} has a shard {min(extra)} that {videos} has not"
            raise InputError(problem, path=path, remedy=GET)
    if not 1 <= (total := sum(counts)) <= MOST:
        problem = f"claims {total:,} videos" if total else "holds no video"
        raise InputError(problem, path=path, remedy=GET)
    shapes = {name: frozenset(data.shape[1:] for data in found[name].values()) for name in names}
    layout = "merged" if merged else "shard"
    return StreamFile(file, layout, videos, keys, tuple(counts), shapes)


def _member(group: Any, name: str, path: Path) -> Any:
    """Return a member of a group; refuse links."""
    link = group.get(name, getlink=True)
    if isinstance(link, h5py.ExternalLink | h5py.SoftLink):
        raise InputError(
            f"{group.name.rstrip('/')}/{name} is a link to {link.path!r}, and links are not followed",
            path=path,
            remedy="copy the data itself into the file",
        )
    return group[name]


def _shards(file: Any, name: str, videos: str, merged: bool, path: Path) -> dict[str, Any]:
    """Return the HDF5 data sets of a stream by shard."""
    member = _member(file, name, path)
    if isinstance(member, h5py.Group) != merged:
        kinds = ("a group", "a data set") if merged else ("a data set", "a group")
        problem = f"{videos} is {kinds[0]} but {name} is {kinds[1]}"
        raise InputError(problem, path=path, remedy=GET)
    if not merged:
        return {"": _checked_data(member, path)}
    if len(member) > _MOST_SHARDS:
        raise InputError(f"{name} claims {len(member)} shards", path=path, remedy=GET)
    return {key: _checked_data(_member(member, key, path), path) for key in member}


def _checked_data(data: Any, path: Path) -> Any:
    """Return an HDF5 data set that lies in the file and is no larger than its storage allows."""
    if not isinstance(data, h5py.Dataset):
        raise InputError(f"{data.name} is not a data set", path=path, remedy=GET)
    if data.is_virtual or data.external:
        raise InputError(
            f"{data.name} keeps its data in other files, which are not opened",
            path=path,
            remedy="copy the data itself into the file",
        )
    if data.ndim == 0:
        raise InputError(f"{data.name} is a single value", path=path, remedy=GET)
    claimed, held = data.nbytes, data.id.get_storage_size()
    if claimed > (held * _MOST_COMPRESSION if data.chunks else held):
        problem = f"{data.name} claims {claimed:,} bytes and holds {held:,}"
        raise InputError(problem, path=path, remedy=GET)
    return data


def check_rows(streams: dict[str, Any], videos: str, path: Path) -> None:
    """Check that videos are byte strings, other streams numbers, and all have the same number of rows.

    Args:
        streams: the HDF5 data sets of a shard by name.
        videos: name of the stream with the videos.
        path: of the file.
    """
    encoded = streams[videos]
    if h5py.check_vlen_dtype(encoded.dtype) != np.uint8 or encoded.ndim != 1:
        raise InputError(f"{encoded.name} is not a list of byte strings", path=path, remedy=GET)
    for name, data in streams.items():
        if name != videos and data.dtype.kind not in "fiu":
            raise InputError(f"{data.name} does not hold numbers", path=path, remedy=GET)
        if len(data) != len(encoded):
            problem = f"{data.name} has {len(data)} samples, {encoded.name} has {len(encoded)}"
            raise InputError(problem, path=path, remedy=GET)


def check_shapes(streams: dict[str, Any], wanted: dict[str, tuple[int, ...]], path: Path) -> None:
    """Refuse streams of a shard whose shape is not the wanted one; any may be missing."""
    for name, expected in wanted.items():
        if name in streams and streams[name].shape != expected:
            problem = f"{streams[name].name} has the shape {streams[name].shape}, not {expected}"
            raise InputError(problem, path=path, remedy=GET)
