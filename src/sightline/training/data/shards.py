"""Training pairs as an endless shuffled walk: held in memory, or streamed from shards on a disk.

A set that does not fit into memory is written once, shrunk, as numbered tar files (`write_shards`) and
then read shard by shard (`ShardPairs`): one long sequential read where a million small files would be
a million seeks. Every epoch takes the shards in a new order and the pairs of each in a new order, and
any position of the walk can be asked for at once, so training resumes anywhere.
"""

from __future__ import annotations

import hashlib
import json
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sightline.errors import InputError
from sightline.io.reading import GET_AGAIN, naming, read_bytes
from sightline.training.data.pairs import Pair
from sightline.training.data.shard_files import Members, decode_pair, read_tar
from sightline.training.data.shard_writing import FORMAT, INDEX, write_shards

__all__ = ["MemoryPairs", "PairSource", "SceneSampler", "ShardPairs", "pick", "write_shards"]

_MAX_INDEX = 100_000_000
_MAX_SHARD = 4_000_000_000


class PairSource(Protocol):
    """Something to learn from: a number of pairs and an endless walk over them."""

    def __len__(self) -> int:
        """How many pairs there are."""

    def pair(self, position: int, seed: tuple[int, ...]) -> Pair:
        """Return the `position`-th pair of an endless walk in which every epoch is a new shuffle."""


def pick(count: int, position: int, seed: tuple[int, ...]) -> int:
    """Return the `position`-th index of an endless walk in which every epoch is a new shuffle."""
    epoch, place = divmod(position, count)
    order = np.random.default_rng([*seed, epoch]).permutation(count)
    return int(order[place])


class SceneSampler:
    """Sample pairs by scene: each epoch takes one pair of every scene, the next of its pairs.

    A scene with fifty frames then counts as much as one with a single frame. If every pair is a scene
    of its own, this is the plain shuffle of `pick`.

    Args:
        scenes: name of the scene of each pair; None for a pair that shares its scene with no other.
    """

    def __init__(self, scenes: Sequence[str | None]) -> None:
        groups: dict[str | int, list[int]] = {}
        for index, scene in enumerate(scenes):
            groups.setdefault(index if scene is None else scene, []).append(index)
        self._groups = list(groups.values())

    def index(self, position: int, seed: tuple[int, ...]) -> int:
        """Return the index of the `position`-th pair of the walk."""
        number = pick(len(self._groups), position, seed)
        group = self._groups[number]
        if len(group) == 1:
            return group[0]
        return group[pick(len(group), position // len(self._groups), (*seed, number))]


class MemoryPairs:
    """Pairs held in memory, shuffled.

    Args:
        pairs: training pairs.
        scenes: scene of each pair, to sample by scene; None samples by pair.
    """

    def __init__(self, pairs: Sequence[Pair], scenes: Sequence[str | None] | None = None) -> None:
        if not pairs:
            raise InputError("there are no training pairs")
        self.pairs = list(pairs)
        self._sampler = SceneSampler([None] * len(self.pairs) if scenes is None else scenes)

    def __len__(self) -> int:
        return len(self.pairs)

    def pair(self, position: int, seed: tuple[int, ...]) -> Pair:
        """Return the `position`-th pair of the walk."""
        return self.pairs[self._sampler.index(position, seed)]


class ShardPairs:
    """Pairs streamed from a folder that `write_shards` wrote; safe to use from several threads.

    Args:
        folder: with its `index.json`.
        cache_shards: how many shards to keep in memory, as stored; two, so that batches prepared on
            both sides of the border between two shards do not read them again and again.
    """

    def __init__(self, folder: str | Path, cache_shards: int = 2) -> None:
        self.folder = Path(folder)
        self._shards = _read_index(self.folder / INDEX)
        self._counts = np.array([count for _, count, _ in self._shards])
        self._cache: OrderedDict[int, list[Members]] = OrderedDict()
        self._cache_shards = max(1, cache_shards)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return int(self._counts.sum())

    def pair(self, position: int, seed: tuple[int, ...]) -> Pair:
        """Return the `position`-th pair of the walk; a function of its arguments alone."""
        shard, place = self.locate(position, seed)
        members = self._members(shard)[place]
        with naming(self.folder / self._shards[shard][0]):
            return decode_pair(members)

    def locate(self, position: int, seed: tuple[int, ...]) -> tuple[int, int]:
        """Return (shard, place in it) of a position of the walk: shards shuffled, then their pairs."""
        epoch, place = divmod(position, len(self))
        order = np.random.default_rng([*seed, epoch]).permutation(len(self._shards))
        ends = np.cumsum(self._counts[order])
        turn = bisect_right(ends.tolist(), place)
        shard = int(order[turn])
        count = int(self._counts[shard])
        return shard, pick(count, place - (int(ends[turn]) - count), (*seed, epoch, shard))

    def _members(self, shard: int) -> list[Members]:
        """Return the files of all pairs of a shard; one thread reads, the others wait for it."""
        with self._lock:
            if shard not in self._cache:
                while len(self._cache) >= self._cache_shards:
                    self._cache.popitem(last=False)
                self._cache[shard] = self._read(shard)
            self._cache.move_to_end(shard)
            return self._cache[shard]

    def _read(self, shard: int) -> list[Members]:
        name, count, checksum = self._shards[shard]
        path = self.folder / name
        data = read_bytes(path, limit=_MAX_SHARD, what="shard")
        if hashlib.sha256(data).hexdigest() != checksum:
            problem = f"is not the shard that {INDEX} lists (truncated or changed)"
            raise InputError(problem, path=path, remedy=GET_AGAIN)
        _, pairs = read_tar(data, path)
        if len(pairs) != count:
            raise InputError(f"has {len(pairs)} pairs, {INDEX} says {count}", path=path)
        return pairs


def _read_index(path: Path) -> list[tuple[str, int, str]]:
    """Return (file name, number of pairs, sha256) of every shard."""
    try:
        index: Any = json.loads(read_bytes(path, limit=_MAX_INDEX, what="list of shards"))
        right = index["format"] == FORMAT
        shards = [(str(s["name"]), int(s["count"]), str(s["sha256"])) for s in index["shards"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError("is not a list of shards", path=path) from error
    if not right:
        raise InputError(f"is not a list of shards of format {FORMAT!r}", path=path)
    if not shards:
        raise InputError("lists no shard", path=path, remedy="write the shards again")
    for name, count, _ in shards:
        if name != Path(name).name or not name.endswith(".tar"):
            raise InputError(f"lists {name[:60]!r}, which is not a shard's name", path=path)
        if count < 1:
            raise InputError(f"lists the empty shard {name}", path=path)
    return shards
