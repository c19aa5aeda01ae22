"""Where videos come from: our worlds, made as they are asked for, or files.

A source gives a video by its number. Worlds follow from number and settings alone.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.data.spec import COMBINATORIAL, DataSpec, draw
from sightline.physics.draw.planes import to_planes
from sightline.physics.render import Canvas, check_size
from sightline.physics.types import FRAMES, Samples

#: Said of combinatorial videos where radii and speeds are asked for.
NO_NUMBERS = "combinatorial videos are not described by a few numbers"
WITHOUT_NUMBERS = "train without --numbers and --text"

#: Worlds are drawn in blocks of this many motions: a call for each would cost more than the motion.
_BLOCK = 64


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

    @property
    def path(self) -> Path | None:
        """The file; None for worlds."""
        ...

    @property
    def scenario(self) -> str:
        """Of the videos, such as uniform or collision."""
        ...

    def __len__(self) -> int: ...

    def video(self, index: int, *, mirror: bool = False) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        ...

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Return what describes the video: radii and speeds, (K,); mirrored, speeds are negative."""
        ...


def mirrored(numbers: NDArray[np.floating], scenario: str) -> NDArray[np.float32]:
    """Return radii and speeds of a mirrored video: it goes the other way.

    Args:
        numbers: (K,) radius, speed …; or r1, r2, v1, v2 of a collision.
        scenario: of the video.
    """
    found = numbers.astype(np.float32)
    speeds = slice(2, 4) if scenario == "collision" else slice(1, 2)
    found[speeds] *= -1
    return found


class WorldVideos:
    """Videos of a world, made as they are asked for.

    Args:
        spec: of the videos.
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
        """Return (3, T, S, S) uint8: another template each time, then another task, then trial."""
        from sightline.physics.combinatorial.make import make_sample
        from sightline.physics.combinatorial.render import render_scene

        rest, template = divmod(index, len(self._ids))
        trial, task = divmod(rest, self._tasks)
        made = make_sample(self._ids[template], task, self._first + trial, seed=self._seed)
        return to_planes(render_scene(made, self.shape[1]), mirror=mirror)

    def numbers(self, index: int, *, mirror: bool = False) -> NDArray[np.float32]:
        """Refuse: no few numbers describe such a video."""
        which = f"{'mirrored ' if mirror else ''}video {index}"
        raise InputError(f"{which}: {NO_NUMBERS}", remedy=WITHOUT_NUMBERS)


class FileVideos:
    """Videos of a data set file.

    Args:
        path: `.slv` or HDF5.
        count: of the first videos; None for all.
    """

    def __init__(self, path: Path, count: int | None = None) -> None:
        from sightline.physics.data.open import open_dataset

        self._data = open_dataset(path)
        there = len(self._data)
        if not there:
            raise InputError("holds no video", path=path)
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
