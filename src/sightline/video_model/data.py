"""Videos to learn from: our worlds, made as they are asked for, or files; several in turn.

    uniform  collision:ood  probe:NAME  probe:NAME:test  videos.slv  any of them@SHARE
    combinatorial:6  combinatorial:60:test  combinatorial:held-out

A source gives a video by its number. Worlds follow from number and settings alone; so does the order in
which videos come (`Mixture`), whoever asks and when: a run that was broken goes on where it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.data.spec import COMBINATORIAL, MOST, PROBE, DataSpec, draw
from sightline.physics.draw.planes import to_planes
from sightline.physics.render import Canvas, check_size
from sightline.physics.types import FRAMES, Samples

#: Worlds are drawn in blocks of this many motions: a call for each would cost more than the motion.
_BLOCK = 64
#: Trials from here on are for tests (PhyWorld, App. C.2).
TEST_TRIAL = 990
_FILES = (".slv", ".h5", ".hdf5")


class Videos(Protocol):
    """Videos by number."""

    @property
    def name(self) -> str:
        """What it is called in records."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Frames of a video, and its width and height in [px]."""
        ...

    def __len__(self) -> int: ...

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        ...

    def numbers(self, index: int) -> NDArray[np.float32]:
        """Return what describes the video: radii and speeds, (K,)."""
        ...


class WorldVideos:
    """Videos of a world, made as they are asked for.

    Args:
        spec: of the videos.
    """

    def __init__(self, spec: DataSpec) -> None:
        self.spec = spec
        words = [spec.scenario, spec.part or spec.split]
        self.name = ":".join(words) + f" ({spec.count:,} videos, seed {spec.seed})"
        self._block = lru_cache(maxsize=8)(self._draw)
        frames = self._block(0).positions.shape[1]
        self.shape = (frames, spec.size)
        self._canvas = Canvas(spec.size, frames)

    def __len__(self) -> int:
        return self.spec.count

    def _draw(self, block: int) -> Samples:
        start = block * _BLOCK
        return draw(self.spec, start, min(_BLOCK, self.spec.count - start))

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        block, place = divmod(index, _BLOCK)
        motion = self._block(block)[place]
        return to_planes(self._canvas.paint(motion), mirror=mirror)

    def numbers(self, index: int) -> NDArray[np.float32]:
        """Return radii and speeds."""
        block, place = divmod(index, _BLOCK)
        return self._block(block).init[place].astype(np.float32)


class SceneVideos:
    """Videos of combinatorial worlds, made as they are asked for.

    Args:
        templates: `6`, `30`, `60`, `held-out` or ids.
        size: width and height in [px].
        count: how many; None for all that the paper has.
        first: number of the first trial; the paper keeps those from 990 on for tests.
        seed: of all random choices.
    """

    def __init__(
        self, templates: str, size: int, count: int | None = None, *, first: int = 0, seed: int = 0
    ) -> None:
        from sightline.physics.combinatorial.layout import TASKS, TRIALS
        from sightline.physics.combinatorial.templates import parse_templates

        self._ids, self._tasks, self._first = parse_templates(templates), TASKS, first
        most = len(self._ids) * TASKS * (TRIALS - first)
        self._count = min(count or most, most)
        self._seed, self.shape = seed, (FRAMES, check_size(size))
        self.name = f"combinatorial:{templates} ({self._count:,} videos, seed {seed})"

    def __len__(self) -> int:
        return self._count

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8: another template each time, then another task, then trial."""
        from sightline.physics.combinatorial.make import make_sample
        from sightline.physics.combinatorial.render import render_scene

        rest, template = divmod(index, len(self._ids))
        trial, task = divmod(rest, self._tasks)
        made = make_sample(self._ids[template], task, self._first + trial, seed=self._seed)
        return to_planes(render_scene(made, self.shape[1]), mirror=mirror)

    def numbers(self, index: int) -> NDArray[np.float32]:
        """Refuse: no few numbers describe such a video."""
        raise InputError(f"combinatorial video {index} is not described by numbers")


class FileVideos:
    """Videos of a data set file.

    Args:
        path: `.slv` or HDF5.
        count: of the first videos; None for all.
    """

    def __init__(self, path: Path, count: int | None = None) -> None:
        from sightline.physics.data.open import open_dataset

        self._data = open_dataset(path)
        self._count = min(len(self._data), count or len(self._data))
        if not self._count:
            raise InputError("holds no video", path=path)
        first = self._data.video(0)
        if first.shape[1] != first.shape[2]:
            raise InputError(f"frames of {first.shape[2]} × {first.shape[1]} px", path=path)
        self.path, self.shape = path, (len(first), first.shape[1])
        self.name = f"{path.name} ({self._count:,} videos, {self._data.digest[:12]})"

    def __len__(self) -> int:
        return self._count

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        frames = self._data.video(index)
        if frames.shape[:2] != self.shape:
            raise InputError(
                f"video {index} is {frames.shape[0]} frames of {frames.shape[1]} px, the first "
                f"is {self.shape[0]} of {self.shape[1]}",
                path=self.path,
            )
        return to_planes(frames, mirror=mirror)

    def numbers(self, index: int) -> NDArray[np.float32]:
        """Return radii and speeds."""
        return self._data.read_init(index, index + 1)[0].astype(np.float32)


@dataclass(frozen=True, slots=True)
class Pick:
    """Which video a place of the training is given.

    Attributes:
        source: number of the source.
        index: of the video in it.
        mirror: whether it is mirrored.
    """

    source: int
    index: int
    mirror: bool


class RandomFrames:
    """Frames of a mixture for a codec to learn from: a `FrameSource` of the autoencoder.

    Args:
        videos: to take them from, one of each in turn.
        batch: frames of a batch.
        seed: of which frames.
    """

    def __init__(self, videos: Mixture, batch: int, *, seed: int = 0) -> None:
        self.videos, self.batch, self.seed = videos, batch, seed

    def frames(self, step: int) -> Tensor:
        """Return batch number `step`: (B, 3, S, S) uint8."""
        when = np.random.default_rng([self.seed, 4, step]).integers(
            self.videos.shape[0], size=self.batch
        )
        numbers = range(step * self.batch, (step + 1) * self.batch)
        made = [
            self.videos.video(self.videos.pick(number))[:, frame]
            for number, frame in zip(numbers, when, strict=True)
        ]
        return torch.from_numpy(np.stack(made))


class Mixture:
    """Sources in turn, each by its share; a source that ends begins again in another order.

    Args:
        sources: all of one shape.
        shares: places in a row of turns, of each source.
        seed: of order and mirrors.
        flip: mirror every other video, at random.
    """

    def __init__(
        self,
        sources: Sequence[Videos],
        shares: Sequence[int] | None = None,
        *,
        seed: int = 0,
        flip: bool = False,
    ) -> None:
        if not sources:
            raise InputError("no videos to learn from")
        shapes = {source.shape for source in sources}
        if len(shapes) > 1:
            raise InputError(
                f"videos of several shapes (frames, px): {sorted(shapes)}",
                remedy="make them alike, or train on one of them",
            )
        self.sources, self.shape = tuple(sources), shapes.pop()
        self.shares = tuple(shares or [1] * len(sources))
        self._turns = [n for n, share in enumerate(self.shares) for _ in range(share)]
        self._before = [self._turns[:place].count(n) for place, n in enumerate(self._turns)]
        self.seed, self.flip = seed, flip
        self._order = lru_cache(maxsize=2 * len(sources))(self._shuffled)

    @property
    def names(self) -> list[str]:
        """What the sources are called, with their shares."""
        return [f"{s.name} @{n}" for s, n in zip(self.sources, self.shares, strict=True)]

    def pick(self, number: int) -> Pick:
        """Return which video sample `number` of the training is."""
        rounds, place = divmod(number, len(self._turns))
        source = self._turns[place]
        nth = rounds * self.shares[source] + self._before[place]
        count = len(self.sources[source])
        # Worlds without end are random by themselves.
        index = nth if count == MOST else int(self._order(source, nth // count)[nth % count])
        mirror = self.flip and bool(np.random.default_rng([self.seed, 3, number]).random() < 0.5)
        return Pick(source, index, mirror)

    def video(self, pick: Pick) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        return self.sources[pick.source].video(pick.index, mirror=pick.mirror)

    def numbers(self, pick: Pick) -> NDArray[np.float32]:
        """Return radii and speeds."""
        return self.sources[pick.source].numbers(pick.index)

    def _shuffled(self, source: int, epoch: int) -> NDArray[np.int64]:
        rng = np.random.default_rng([self.seed, 2, source, epoch])
        return rng.permutation(len(self.sources[source]))


def padded(numbers: Sequence[NDArray[np.floating]], columns: int) -> Tensor:
    """Put the numbers of videos, perhaps of several worlds, into one table.

    Args:
        numbers: (K,) each.
        columns: of the table, at least as many.

    Returns:
        (N, columns) float32, zeros where a video has fewer.
    """
    table = torch.zeros(len(numbers), columns)
    for row, known in zip(table, numbers, strict=True):
        if len(known) > columns:
            raise InputError(f"{len(known)} numbers describe a video, there is room for {columns}")
        row[: len(known)] = torch.from_numpy(np.asarray(known, np.float32))
    return table


def open_videos(word: str, size: int, *, count: int | None = None, seed: int = 0) -> Videos:
    """Open what a word names.

    Args:
        word: a scenario, with `:SPLIT` if not `id`; a probe, with `:test` if not its training part;
            templates of combinatorial worlds, likewise; or a file.
        size: width and height of worlds in [px]; files have their own.
        count: how many different videos; None: without end, or all of a file.
        seed: of worlds.
    """
    if count is not None and count < 1:
        raise InputError(f"at least 1 video is needed, got {count}")
    if Path(word).suffix.lower() in _FILES:
        return FileVideos(Path(word), count)
    if word.partition(":")[0] == COMBINATORIAL:
        _, templates, part = (*word.split(":"), "", "")[:3]
        first = TEST_TRIAL if part == "test" else 0
        return SceneVideos(templates or "60", size, count, first=first, seed=seed)
    if word.startswith(PROBE):
        name, _, part = word.removeprefix(PROBE).partition(":")
        spec = DataSpec(PROBE + name, count or MOST, part=part or "train", size=size, seed=seed)
    else:
        name, _, split = word.partition(":")
        spec = DataSpec(name, count or MOST, split=split or "id", size=size, seed=seed)
    return WorldVideos(spec)


def open_mixture(
    words: Sequence[str],
    size: int,
    *,
    count: int | None = None,
    seed: int = 0,
    order: int = 0,
    flip: bool = False,
) -> Mixture:
    """Open several words, each with `@SHARE` if not 1.

    Args:
        words: see `open_videos`.
        size: see `open_videos`.
        count: how many different videos of each source.
        seed: of worlds.
        order: seed of the order.
        flip: see `Mixture`.
    """
    sources, shares = [], []
    for word in words:
        name, _, share = word.partition("@")
        if share and not (share.isdigit() and int(share) > 0):
            raise InputError(
                f"{word!r}: a share is a whole number from 1 up", remedy="as in uniform@2"
            )
        sources.append(open_videos(name, size, count=count, seed=seed))
        shares.append(int(share or 1))
    return Mixture(sources, shares, seed=order, flip=flip)
