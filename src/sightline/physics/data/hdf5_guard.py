"""Open an HDF5 file that may be broken or made to do harm: check, then read.

An HDF5 file can point to other files (external and soft links, virtual and external data sets) and can
claim sizes that it does not hold. None of that belongs in a data set of videos, and nothing of it is
followed: it is refused by name.
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
from sightline.files.reading import open_file
from sightline.physics.data.hdf5_write import POSITIONS, VIDEOS
from sightline.physics.data.spec import MOST

#: What to do about a file that cannot be read.
GET = "download or make the file again"

_COMBINATORIAL = "object_streams"
_DENSEST = 1100  # no filter of HDF5 makes data smaller than by about this factor
_MOST_SHARDS = 100_000

# What h5py raises of what it cannot read, and numbers of ours that a file says nonsense of.
_READING = (
    OSError,
    RuntimeError,
    LookupError,
    ValueError,
    TypeError,
    ArithmeticError,
    MemoryError,
)

#: Checks types and shapes of the streams of a shard, by name; returns how many samples it has.
CheckShard = Callable[[dict[str, Any], Path], int]


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """The data sets of a file, checked.

    Attributes:
        file: the open h5py file.
        layout: `merged` or `shard`.
        keys: of the shards, in order; one empty key in a file of one shard.
        counts: samples of each shard.
        shapes: of the rows of each stream that is there, in any of its shards.
    """

    file: Any
    layout: str
    keys: tuple[str, ...]
    counts: tuple[int, ...]
    shapes: dict[str, frozenset[tuple[int, ...]]]

    def has(self, name: str) -> bool:
        """Say whether there is such a stream."""
        return name in self.shapes

    def name_of(self, name: str, shard: int) -> str:
        """Return the full name of a data set."""
        return f"{name}/{self.keys[shard]}" if self.keys[shard] else name

    def get(self, name: str, shard: int) -> Any:
        """Return a data set."""
        return self.file[self.name_of(name, shard)]


def open_streams(
    path: Path,
    needed: tuple[str, ...],
    optional: tuple[str, ...],
    check_shard: CheckShard,
) -> Streams:
    """Open a file and check all that is said in it about its data, but not the data.

    Args:
        path: of the file.
        needed: names of the streams that it must have.
        optional: names of streams that it may have.
        check_shard: checks each shard.
    """
    with open_file(path, what="data set"):
        pass  # the system's own word on what cannot be opened
    with guarded(path, "the file"):
        file = h5py.File(path, "r")
    try:
        with guarded(path, "the file"):
            return _check(file, path, needed, optional, check_shard)
    except BaseException:
        file.close()
        raise


@contextmanager
def guarded(path: Path, name: str) -> Iterator[None]:
    """Say in one line what HDF5 cannot read."""
    try:
        yield
    except (
        OSError,
        RuntimeError,
        LookupError,
        ValueError,
        TypeError,
        ArithmeticError,
        MemoryError,
    ) as error:
        reason = " ".join(str(error).split())[:120]
        raise InputError(f"{name} cannot be read ({reason})", path=path, remedy=GET) from error


def is_combinatorial(path: Path) -> bool:
    """Say whether an HDF5 file has the streams of combinatorial worlds instead of positions."""
    with guarded(path, "the file"), h5py.File(path, "r") as file:
        there = [file.get(name, getlink=True) is not None for name in (_COMBINATORIAL, POSITIONS)]
    return there == [True, False]


def _check(
    file: Any,
    path: Path,
    needed: tuple[str, ...],
    optional: tuple[str, ...],
    check_shard: CheckShard,
) -> Streams:
    if file.get(_COMBINATORIAL, getlink=True) is not None and _COMBINATORIAL not in needed:
        raise InputError(
            f"has {_COMBINATORIAL}: a data set of combinatorial worlds, not of moving balls",
            path=path,
        )
    for name in needed:
        if file.get(name, getlink=True) is None:
            raise InputError(f"has no {name}", path=path, remedy=GET)
    merged = isinstance(_member(file, VIDEOS, path), h5py.Group)
    names = [*needed, *(name for name in optional if file.get(name, getlink=True) is not None)]
    found = {name: _shards(file, name, merged, path) for name in names}
    keys = tuple(sorted(found[VIDEOS], key=lambda key: (len(key), key)))
    counts = []
    for key in keys:
        for name in names:
            if key not in found[name]:
                raise InputError(f"{name} has no shard {key}", path=path, remedy=GET)
        counts.append(check_shard({name: found[name][key] for name in names}, path))
    for name in names:
        if extra := set(found[name]) - set(keys):
            problem = f"{name} has a shard {min(extra)} that {VIDEOS} has not"
            raise InputError(problem, path=path, remedy=GET)
    if not 1 <= (total := sum(counts)) <= MOST:
        problem = f"claims {total:,} videos" if total else "holds no video"
        raise InputError(problem, path=path, remedy=GET)
    layout = "merged" if merged else "shard"
    shapes = {name: frozenset(data.shape[1:] for data in found[name].values()) for name in names}
    return Streams(file, layout, keys, tuple(counts), shapes)


def _member(group: Any, name: str, path: Path) -> Any:
    """Return a member that lies in this very file."""
    link = group.get(name, getlink=True)
    if isinstance(link, h5py.ExternalLink | h5py.SoftLink):
        raise InputError(
            f"{group.name.rstrip('/')}/{name} is a link to {link.path!r}, and links are not followed",
            path=path,
            remedy="copy the data itself into the file",
        )
    return group[name]


def _shards(file: Any, name: str, merged: bool, path: Path) -> dict[str, Any]:
    """Return the data sets of a stream by shard."""
    member = _member(file, name, path)
    if isinstance(member, h5py.Group) != merged:
        kinds = ("a group", "a data set") if merged else ("a data set", "a group")
        problem = f"{VIDEOS} is {kinds[0]} but {name} is {kinds[1]}"
        raise InputError(problem, path=path, remedy=GET)
    if not merged:
        return {"": _own_data(member, path)}
    if len(member) > _MOST_SHARDS:
        raise InputError(f"{name} claims {len(member)} shards", path=path, remedy=GET)
    return {key: _own_data(_member(member, key, path), path) for key in member}


def _own_data(data: Any, path: Path) -> Any:
    """Return a data set whose data is in the file, as much as it claims."""
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
    if claimed > (held * _DENSEST if data.chunks else held):
        problem = f"{data.name} claims {claimed:,} bytes and holds {held:,}"
        raise InputError(problem, path=path, remedy=GET)
    return data


def check_rows(streams: dict[str, Any], path: Path) -> int:
    """Check that videos are bytes, that all else is numbers, and that all have as many rows.

    Args:
        streams: the data sets of a shard by name.
        path: of the file.

    Returns:
        How many rows.
    """
    videos = streams[VIDEOS]
    if h5py.check_vlen_dtype(videos.dtype) != np.uint8 or videos.ndim != 1:
        raise InputError(f"{videos.name} is not a list of byte strings", path=path, remedy=GET)
    for name, data in streams.items():
        if name != VIDEOS and data.dtype.kind not in "fiu":
            raise InputError(f"{data.name} does not hold numbers", path=path, remedy=GET)
        if len(data) != len(videos):
            problem = f"{data.name} has {len(data)} samples, {videos.name} has {len(videos)}"
            raise InputError(problem, path=path, remedy=GET)
    return len(videos)


def check_shapes(streams: dict[str, Any], wanted: dict[str, tuple[int, ...]], path: Path) -> None:
    """Refuse streams of a shard that have another shape than `wanted` says; any may be missing."""
    for name, expected in wanted.items():
        if name in streams and streams[name].shape != expected:
            problem = f"{streams[name].name} has the shape {streams[name].shape}, not {expected}"
            raise InputError(problem, path=path, remedy=GET)
