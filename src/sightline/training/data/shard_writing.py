"""Write a training set as shards: in several processes, restartable, the same bytes each time.

A shard is a function of its items alone, whole or not there at all. A second run keeps the shards
that a first one finished: each carries the fingerprint of what it was made from.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import tarfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import cv2

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path, write_text
from sightline.training.data.items import read_pair
from sightline.training.data.pairs import Pair
from sightline.training.data.shard_files import HEADER, Members, encode_pair, write_tar

#: Changes when older shards can no longer be read.
FORMAT = "sightline shards 1"
INDEX = "index.json"

_REMEDY = "choose another folder, or remove it"


class Listed(Protocol):
    """An item of any training set: a dataclass that names its files."""

    @property
    def picture(self) -> Path:
        """The color picture."""


ItemT = TypeVar("ItemT", bound=Listed)
Skip = Callable[[Any, InputError], None]


@dataclass(frozen=True, slots=True)
class _Job:
    """One shard to be written."""

    path: Path
    items: Sequence[Any]
    read: Callable[[Any, int], Pair]
    short_side: int
    fingerprint: str
    forgiving: bool


@dataclass(frozen=True, slots=True)
class _Done:
    """One shard that stands: how many pairs it has, and which items could not be read."""

    count: int
    sha256: str
    bad: list[tuple[int, InputError]]


def write_shards(
    items: Sequence[ItemT],
    folder: str | Path,
    *,
    read: Callable[[ItemT, int], Pair] | None = None,
    per_shard: int = 512,
    short_side: int = 518,
    workers: int = 1,
    skip: Skip | None = None,
) -> Path:
    """Write `items` as shards into `folder`, with an `index.json`; return the index's path.

    Args:
        items: items of a training set, in the order of the pairs.
        folder: made when missing; finished shards of the same items in it are kept.
        read: reader of one item, a module-level function that can be pickled; None for `read_pair`.
        per_shard: pairs in each shard but the last. 512 pairs of 518 px are about 150 MB.
        short_side: pairs are shrunk to this shorter side, in [px].
        workers: processes. The bytes do not depend on it.
        skip: told of every item that cannot be read, which is then left out; without it, the first
            one stops everything, and the shards finished by then stay.

    Raises:
        InputError: an item is unreadable, or the folder holds shards of other data.
    """
    if not items or per_shard < 1 or short_side < 1 or workers < 1:
        raise InputError("shards need items, and per_shard, short_side and workers of at least 1")
    folder = Path(folder)
    base = _common_folder(items)
    reader: Callable[[Any, int], Pair] = read_pair if read is None else read
    jobs = []
    for number, start in enumerate(range(0, len(items), per_shard)):
        part = items[start : start + per_shard]
        mark = _fingerprint(part, base, short_side)
        path = folder / f"{number:06d}.tar"
        jobs.append(_Job(path, part, reader, short_side, mark, skip is not None))
    rows = []
    for job, done in zip(jobs, _run(jobs, workers), strict=True):
        if skip is not None:
            for place, error in done.bad:
                skip(job.items[place], error)
        if done.count:
            rows.append({"name": job.path.name, "count": done.count, "sha256": done.sha256})
    if not rows:
        raise InputError("none of the training pairs can be read", remedy="check the folders")
    index = {"format": FORMAT, "short_side": short_side, "shards": rows}
    write_text(folder / INDEX, json.dumps(index, indent=1) + "\n")
    return folder / INDEX


def _run(jobs: list[_Job], workers: int) -> Iterator[_Done]:
    if workers == 1:
        yield from map(_write_one, jobs)
        return
    # Spawned, not forked: a fork copies locks that another thread may hold.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(jobs)), context, initializer=_one_thread)
    try:
        yield from pool.map(_write_one, jobs)
    except BrokenProcessPool as error:
        raise SightlineError(
            "a process that wrote shards was ended; is memory short? Run again to go on"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _one_thread() -> None:
    cv2.setNumThreads(1)


def _write_one(job: _Job) -> _Done:
    """Write one shard, or find that it stands already."""
    bad: list[tuple[int, InputError]] = []
    if (kept := _finished(job)) is not None:
        return kept

    def pairs() -> Iterator[Members]:
        for place, item in enumerate(job.items):
            try:
                yield encode_pair(job.read(item, job.short_side), item.picture.name)
            except InputError as error:
                if not job.forgiving:
                    raise
                bad.append((place, error))

    with atomic_path(job.path) as temporary:
        with temporary.open("wb") as file:
            count = write_tar(file, json.dumps({"fingerprint": job.fingerprint}).encode(), pairs())
        checksum = _sha256(temporary)
    if count == 0:
        job.path.unlink()
    return _Done(count, checksum, bad)


def _finished(job: _Job) -> _Done | None:
    """Return what stands of a job already; refuse a shard of something else.

    A shard that had to leave items out is not finished: they are tried, and named, again.
    """
    if not job.path.exists():
        return None
    try:
        with tarfile.open(job.path, "r:") as tar:
            names = tar.getnames()
            member = tar.extractfile(HEADER)
            header = json.loads(member.read()) if member else None
    except (tarfile.TarError, KeyError, ValueError, EOFError, OSError) as error:
        raise InputError("is in the way, and no shard", path=job.path, remedy=_REMEDY) from error
    if not isinstance(header, dict) or header.get("fingerprint") != job.fingerprint:
        raise InputError("is a shard of other items or sizes", path=job.path, remedy=_REMEDY)
    count = sum(name.endswith(".jpg") for name in names)
    return _Done(count, _sha256(job.path), []) if count == len(job.items) else None


def _fingerprint(items: Sequence[Any], base: str, short_side: int) -> str:
    """Return a checksum of what a shard is made from: names, sizes and meaning of its files.

    Paths count from their common folder, so that a set may be moved.
    """
    digest = hashlib.sha256(f"{FORMAT} {short_side}".encode())
    for item in items:
        fields = json.dumps(asdict(item), default=lambda path: os.path.relpath(path, base))
        sizes = [path.stat().st_size if path.is_file() else -1 for path in _paths(item)]
        digest.update(f"{fields} {sizes}\n".encode())
    return digest.hexdigest()


def _paths(item: Any) -> Iterator[Path]:
    for value in asdict(item).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, Path):
                yield part


def _common_folder(items: Sequence[Any]) -> str:
    return os.path.commonpath([path.absolute().parent for item in items for path in _paths(item)])


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
