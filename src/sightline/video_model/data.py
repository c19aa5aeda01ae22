"""Training videos: simulated worlds, rendered on demand, or dataset files.

A source returns a video by its index; worlds depend on index and settings only. Sources are opened by
name, several as a mixture with `@SHARE` weights: `uniform`, `collision:ood`, `probe:NAME`,
`probe:NAME:test`, `combinatorial:6`, `combinatorial:60:test`, `combinatorial:held-out`, `videos.h5`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.datasets.spec import COMBINATORIAL, MOST, PROBE, DataSpec, draw
from sightline.physics.rendering import Canvas, check_size, to_planes
from sightline.physics.types import FRAMES, Samples
from sightline.physics.worlds.splits import SCENARIOS
from sightline.video_model.conditioning import Fact

#: Error text for combinatorial videos where radii and speeds are requested.
NO_NUMBERS = "combinatorial videos are not described by a few numbers"
WITHOUT_NUMBERS = "train without --numbers and --text"

#: Motions are simulated in blocks: a call for each would cost more than the motion.
_BLOCK = 64


class Videos(Protocol):
    """Videos by index."""

    @property
    def name(self) -> str:
        """Name in run records."""
        ...

    @property
    def shape(self) -> tuple[int, int]:
        """Frames of a video, and its width and height in [px]."""
        ...

    @property
    def path(self) -> Path | None:
        """The file; None for worlds."""
        ...

    @property
    def scenario(self) -> str:
        """Scenario, such as uniform or collision."""
        ...

    def __len__(self) -> int: ...

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        ...

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Return radii and speeds, (K,); speeds are negated for a mirrored video."""
        ...


def mirrored(numbers: NDArray[np.floating], scenario: str) -> NDArray[np.float32]:
    """Return radii and speeds of a mirrored video, with negated speeds.

    Args:
        numbers: (K,) radius, speed …; or r1, r2, v1, v2 of a collision.
        scenario: scenario of the video.
    """
    found = numbers.astype(np.float32)
    speeds = slice(2, 4) if scenario == "collision" else slice(1, 2)
    found[speeds] *= -1
    return found


class WorldVideos:
    """Videos of a simulated world, rendered on demand.

    Args:
        spec: worlds to simulate.
    """

    def __init__(self, spec: DataSpec) -> None:
        self.spec, self.path = spec, None
        words = [spec.scenario, spec.part or spec.split]
        self.name = ":".join(words) + f" ({spec.count:,} videos, seed {spec.seed})"
        self._block = lru_cache(maxsize=8)(self._draw)
        frames, self.scenario = self._block(0).positions.shape[1], self._block(0).scenario
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

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Return radii and speeds."""
        block, place = divmod(index, _BLOCK)
        samples = self._block(block)
        found = samples.init[place].astype(np.float32)
        return mirrored(found, samples.scenario) if mirror else found


class SceneVideos:
    """Videos of combinatorial worlds, rendered on demand.

    Args:
        templates: `6`, `30`, `60`, `held-out` or template ids.
        size: width and height in [px].
        count: number of videos; None for all of the paper's.
        first: index of the first trial; the paper keeps those from 990 on for tests.
        seed: random seed.
    """

    def __init__(
        self, templates: str, size: int, count: int | None = None, *, first: int = 0, seed: int = 0
    ) -> None:
        from sightline.physics.combinatorial.tasks import PAPER_TASKS, PAPER_TRIALS, parse_templates

        self._ids, self._tasks, self._first = parse_templates(templates), PAPER_TASKS, first
        most = len(self._ids) * PAPER_TASKS * (PAPER_TRIALS - first)
        if count is not None and count > most:
            raise InputError(
                f"{count:,} videos of combinatorial:{templates} were asked for, there are {most:,}"
            )
        self._count, self.path = count or most, None
        self._seed, self.shape = seed, (FRAMES, check_size(size))
        self.scenario = COMBINATORIAL
        self.name = f"combinatorial:{templates} ({self._count:,} videos, seed {seed})"

    def __len__(self) -> int:
        return self._count

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8; templates vary fastest, then tasks, then trials."""
        from sightline.physics.combinatorial.rendering import render_scene
        from sightline.physics.combinatorial.simulation import make_sample

        rest, template = divmod(index, len(self._ids))
        trial, task = divmod(rest, self._tasks)
        made = make_sample(self._ids[template], task, self._first + trial, seed=self._seed)
        return to_planes(render_scene(made, self.shape[1]), mirror=mirror)

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Raise an `InputError`: combinatorial videos are not described by a few numbers."""
        which = f"{'mirrored ' if mirror else ''}video {index}"
        raise InputError(f"{which}: {NO_NUMBERS}", remedy=WITHOUT_NUMBERS)


class FileVideos:
    """Videos of a dataset file.

    Args:
        path: path of the HDF5 file.
        count: number of videos from the start; None for all.
    """

    def __init__(self, path: Path, count: int | None = None) -> None:
        from sightline.physics.datasets.reader import open_dataset

        self._data = open_dataset(path)
        there = len(self._data)
        if not there:
            raise InputError("contains no video", path=path)
        if count is not None and count > there:
            raise InputError(
                f"{count:,} videos were asked for, it holds {there:,}",
                path=path,
                remedy=f"give --videos up to {there}, or none for all",
            )
        self._count = count or there
        first = self._data.video(0)
        if len(first) < 2:
            raise InputError(
                f"its first video has {len(first)} frame{'s'[: len(first) != 1]}, a model needs "
                "some to be given and some to make",
                path=path,
            )
        if first.shape[1] != first.shape[2]:
            raise InputError(f"frames of {first.shape[2]} × {first.shape[1]} px", path=path)
        self.path, self.shape = path, (len(first), first.shape[1])
        self.scenario = self._data.scenario
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

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Return radii and speeds."""
        if self._data.scenario == COMBINATORIAL:
            raise InputError(NO_NUMBERS, path=self.path, remedy=WITHOUT_NUMBERS)
        found = self._data.read_init(index, index + 1)[0].astype(np.float32)
        return mirrored(found, self._data.scenario) if mirror else found


@dataclass(frozen=True, slots=True)
class Pick:
    """Video assigned to a training sample.

    Attributes:
        source: index of the source.
        index: index of the video in it.
        mirror: whether it is mirrored.
    """

    source: int
    index: int
    mirror: bool


class Mixture:
    """Weighted interleaving of sources; a finite source is reshuffled in every epoch.

    Args:
        sources: sources with videos of one shape.
        shares: samples of each source per cycle.
        seed: random seed of order and mirroring.
        flip: mirror videos at random.
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
        #: Start of each source within a cycle, and the length of a cycle.
        self._begins = list(accumulate(self.shares, initial=0))
        self.seed, self.flip = seed, flip
        self._order = lru_cache(maxsize=2 * len(sources))(self._shuffled)

    @property
    def names(self) -> list[str]:
        """Names of the sources, with their shares."""
        return [f"{s.name} @{n}" for s, n in zip(self.sources, self.shares, strict=True)]

    @property
    def path(self) -> Path | None:
        """First file among the sources, for messages; None if all are worlds."""
        return next((path for s in self.sources if (path := s.path) is not None), None)

    def endless(self, source: int) -> bool:
        """Whether videos of a source never repeat."""
        return len(self.sources[source]) == MOST

    def pick(self, number: int) -> Pick:
        """Return the video of training sample `number`."""
        rounds, place = divmod(number, self._begins[-1])
        source = bisect_right(self._begins, place) - 1
        nth = rounds * self.shares[source] + place - self._begins[source]
        count = len(self.sources[source])
        # Endless worlds are random by themselves and need no shuffling.
        index = nth if self.endless(source) else int(self._order(source, nth // count)[nth % count])
        mirror = self.flip and bool(np.random.default_rng([self.seed, 3, number]).random() < 0.5)
        return Pick(source, index, mirror)

    def video(self, pick: Pick) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        return self.sources[pick.source].video(pick.index, mirror=pick.mirror)

    def fact(self, pick: Pick) -> Fact:
        """Return scenario, radii and speeds; speeds are negated for a mirrored video."""
        source = self.sources[pick.source]
        return Fact(source.scenario, source.numbers(pick.index, mirror=pick.mirror))

    def _shuffled(self, source: int, epoch: int) -> NDArray[np.int64]:
        rng = np.random.default_rng([self.seed, 2, source, epoch])
        return rng.permutation(len(self.sources[source]))


#: First test trial (PhyWorld, App. C.2).
TEST_TRIAL = 990
_FILES = (".h5", ".hdf5")


def is_file(word: str) -> bool:
    """Return whether a name has the suffix of a dataset file."""
    return Path(word).suffix.lower() in _FILES


def open_videos(word: str, size: int, *, count: int | None = None, seed: int = 0) -> Videos:
    """Open a source by its name.

    Args:
        word: a scenario with an optional `:SPLIT` (default `id`); a probe with an optional `:test`;
            combinatorial templates, likewise; or a file.
        size: width and height of worlds in [px]; files have their own.
        count: number of distinct videos; None for endless worlds or a whole file.
        seed: random seed of worlds.
    """
    if count is not None and count < 1:
        raise InputError(f"at least 1 video is needed, got {count}")
    if is_file(word):
        return FileVideos(Path(word), count)
    if Path(word).exists() and word not in (*SCENARIOS, COMBINATORIAL):
        raise InputError(
            "is not a dataset file",
            path=word,
            remedy=f"give one of sightline physics make ({', '.join(_FILES)})",
        )
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
    """Open several sources, each with an optional `@SHARE`.

    Args:
        words: see `open_videos`.
        size: see `open_videos`.
        count: number of distinct videos of each source.
        seed: random seed of worlds.
        order: random seed of the order.
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
