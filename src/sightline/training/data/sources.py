"""From what a user names (`pairs:DIR@3`) to sources that the stream draws from.

Sets that fit are read into memory once; larger ones are read from disk as they are needed, or from
shards (`sightline train shards`), which turn random reads into long ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.models.cache import file_sha256
from sightline.training.data.datasets import TrainingSet, open_set
from sightline.training.data.items import photo_items, read_pair, read_pairs
from sightline.training.data.labels import MANIFEST
from sightline.training.data.pairs import Pair
from sightline.training.data.shards import MemoryPairs, PairSource, SceneSampler, ShardPairs
from sightline.training.data.stream import MixtureSource

Notify = Callable[[str], None]

#: Samples of every batch that come from a set, when the user does not say.
USUAL_SHARE = 8

#: Pairs are kept this much larger than what the network sees, so that crops stay sharp.
ROOM_TO_CROP = 1.25

#: Larger sets are not read into memory; this many pairs take about 2 GB at 320 px. Reading a pair when
#: it is needed takes a few milliseconds in a thread, while a training step takes seconds.
MOST_IN_MEMORY = 3_000

#: So many pairs that are of no use may follow each other where they are read as they are drawn.
MOST_IN_VAIN = 50


@dataclass(frozen=True, slots=True)
class _Use:
    """What a pair must have to be learned from.

    Attributes:
        metric: meters.
        camera: a focal length, too.
    """

    metric: bool = False
    camera: bool = False

    def has(self, pair: Pair) -> bool:
        """Say whether a pair has it."""
        meters = pair.unit is not None or not self.metric
        return meters and (pair.focal is not None or not self.camera)

    def __str__(self) -> str:
        words = {"meters": self.metric, "a focal length": self.camera}
        return " and ".join(word for word, needed in words.items() if needed) or "anything"


class Streamed:
    """Pairs that are read as they are drawn; one that is of no use gives its place to another.

    Which one follows from seed and position, so that a walk is the same every time.

    Args:
        pairs: the walk.
        use: what a pair must have.
        notify: told of pairs that cannot be read, once for each message; without it the first is an
            error.
    """

    def __init__(self, pairs: PairSource, use: _Use, notify: Notify | None) -> None:
        self._pairs, self._use, self._notify = pairs, use, notify
        self._told: set[str] = set()

    def __len__(self) -> int:
        return len(self._pairs)

    def pair(self, position: int, seed: tuple[int, ...]) -> Pair:
        """Return the `position`-th pair of the walk, or the one drawn in its place."""
        for attempt in range(MOST_IN_VAIN):
            try:
                pair = self._pairs.pair(position, (*seed, attempt) if attempt else seed)
            except InputError as error:
                if self._notify is None:
                    raise
                if str(error) not in self._told:
                    self._told.add(str(error))
                    self._notify(f"left out: {error}")
                continue
            if self._use.has(pair):
                return pair
        raise InputError(
            f"{MOST_IN_VAIN} pairs in a row cannot be read, or are without {self._use}",
            remedy="leave out the set, or those of its pairs",
        )


class FolderPairs:
    """Pairs that are read from disk each time they are drawn.

    Args:
        found: the set.
        short_side: maximum short side of the pairs in [px].
    """

    def __init__(self, found: TrainingSet, short_side: int) -> None:
        self._set, self._short_side = found, short_side
        self._sampler = SceneSampler([_scene(item) for item in found.items])

    def __len__(self) -> int:
        return len(self._set.items)

    def pair(self, position: int, seed: tuple[int, ...]) -> Pair:
        """Read the `position`-th pair of an endless walk in which every epoch is a new shuffle."""
        item = self._set.items[self._sampler.index(position, seed)]
        return self._set.read(item, self._short_side)


def open_sources(
    named: Sequence[str],
    short_side: int,
    *,
    metric: bool = False,
    camera: bool = False,
    notify: Notify | None = None,
) -> list[MixtureSource]:
    """Open every `SET:FOLDER[@SHARE]`.

    Args:
        named: as the user wrote them.
        short_side: short side of the network input in [px].
        metric: leave out pairs whose unit nobody knows.
        camera: and those whose focal length nobody knows.
        notify: told of pairs that cannot be read or used; without it an unreadable one is an error.
    """
    use = _Use(metric, camera)
    return [_open(text, round(short_side * ROOM_TO_CROP), use, notify) for text in named]


def open_photos(
    photos: Path, labels: Sequence[Path], short_side: int, share: int, notify: Notify | None = None
) -> MixtureSource:
    """Open photographs with the labels of one or several teachers."""
    found = TrainingSet("photos", photo_items(photos, *labels), read_pair)
    return MixtureSource(_walk(found, round(short_side * ROOM_TO_CROP), _Use(), notify), share)


def split_share(text: str) -> tuple[str, int]:
    """Take the share off the end of `SET:FOLDER@SHARE`.

    >>> split_share("pairs:data/rooms@3")
    ('pairs:data/rooms', 3)
    """
    match = re.fullmatch(r"(.+)@(\d+)", text)
    return (match[1], int(match[2])) if match else (text, USUAL_SHARE)


def _open(text: str, short_side: int, use: _Use, notify: Notify | None) -> MixtureSource:
    where, share = split_share(text)
    if where.startswith("shards:"):
        return MixtureSource(
            Streamed(ShardPairs(where.removeprefix("shards:")), use, notify), share
        )
    return MixtureSource(_walk(open_set(where), short_side, use, notify), share)


def _walk(found: TrainingSet, short_side: int, use: _Use, notify: Notify | None) -> PairSource:
    """Read a whole set and keep what is of use, or read it as it is drawn if it is too large."""
    if len(found.items) > MOST_IN_MEMORY:
        return Streamed(FolderPairs(found, short_side), use, notify)

    left_out: set[int] = set()

    def skip(item: Any, error: InputError) -> None:
        assert notify is not None
        notify(f"left out: {error}")
        left_out.add(id(item))

    pairs = read_pairs(
        found.items, short_side, skip=skip if notify is not None else None, read=found.read
    )
    scenes = [_scene(item) for item in found.items if id(item) not in left_out]
    useful = [(pair, scene) for pair, scene in zip(pairs, scenes, strict=True) if use.has(pair)]
    kept = [pair for pair, _ in useful]
    if not kept:
        raise InputError(f"none of these pairs has {use}", remedy="a metric model needs that")
    if notify is not None and len(kept) < len(pairs):
        notify(f"{len(pairs) - len(kept)} of {len(pairs)} pairs left out: without {use}")
    return MemoryPairs(kept, [scene for _, scene in useful])


def _scene(item: Any) -> str | None:
    """Return the scene of an item; readers of published sets do not provide it."""
    return getattr(item, "scene", None)


def describe_sources(named: Sequence[str], sources: Sequence[MixtureSource]) -> dict[str, Any]:
    """Return what a run learns from, for its record: names, numbers of pairs, and what they are.

    Another teacher's labels in the same folder, or another list of pairs, make another run.
    """
    content: dict[str, str] = {}
    for text in named:
        where = split_share(text)[0]
        for part in (part for part in where.split(":") if part):
            for name in (MANIFEST, "index.csv", "index.json"):
                path = Path(part) / name
                if path.is_file():
                    content[part] = file_sha256(path)
                    break
    return {"content": content, "pairs": [len(source.pairs) for source in sources]}
