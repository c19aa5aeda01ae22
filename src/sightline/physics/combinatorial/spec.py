"""Which combinatorial videos a data set holds, and the blocks that it is made in."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

from sightline import __version__
from sightline.errors import InputError
from sightline.physics.combinatorial.layout import (
    MOST_TASKS,
    MOST_TRIALS,
    TASKS,
    TRIALS,
    generator,
)
from sightline.physics.combinatorial.render import SIZE
from sightline.physics.combinatorial.simulate import MOST_FRAMES
from sightline.physics.combinatorial.templates import HELD_OUT, kinds_of
from sightline.physics.data.spec import COMBINATORIAL, MOST, check_video
from sightline.physics.render import check_size
from sightline.physics.types import FRAMES

#: Trials that a worker makes at a time.
BLOCK = 100
#: How pixels are kept.
VIDEOS = ("standard", "lossless")


@dataclass(frozen=True, slots=True)
class CombinatorialSpec:
    """What a data set holds: the same trials of the same tasks of some templates, or the first of them.

    Videos are in the order of templates, of tasks in a template, and of trials in a task.

    Attributes:
        templates: ids, in order.
        tasks: how many of each template, from 0 on.
        trials: how many of each task.
        first_trial: number of the first of them; the paper tests in-template on 990 to 999.
        seed: of all random choices.
        frames: of a video.
        size: width and height in [px].
        video: mp4 of `standard` or `lossless` quality.
        limit: only the first so many videos; None: all.
    """

    templates: tuple[int, ...]
    tasks: int = TASKS
    trials: int = TRIALS
    first_trial: int = 0
    seed: int = 0
    frames: int = FRAMES
    size: int = SIZE
    video: str = "standard"
    limit: int | None = None

    def __post_init__(self) -> None:
        check_size(self.size)
        generator(self.seed)
        if not self.templates:
            raise InputError("a data set has at least one template")
        for template in self.templates:
            kinds_of(template)
        if not 1 <= self.tasks <= MOST_TASKS:
            raise InputError(f"a template has 1 to {MOST_TASKS} tasks, got {self.tasks}")
        end = self.first_trial + self.trials
        if self.trials < 1 or not 0 <= self.first_trial < end <= MOST_TRIALS:
            raise InputError(
                f"trials are numbered 0 to {MOST_TRIALS - 1}, got {self.first_trial} to {end - 1}"
            )
        if not 1 <= self.frames <= MOST_FRAMES:
            raise InputError(f"a video has 1 to {MOST_FRAMES} frames, got {self.frames}")
        check_video(self.video, self.size, VIDEOS)
        most = min(self._all(), MOST)
        if not 1 <= self.count <= most:
            raise InputError(
                f"of these templates, tasks and trials a data set has 1 to {most:,} videos, "
                f"got {self.count:,}",
                remedy="choose another --count, or other --tasks and --trials",
            )

    @property
    def count(self) -> int:
        """How many videos there are."""
        return self._all() if self.limit is None else self.limit

    def _all(self) -> int:
        """Return how many there would be without a limit."""
        return len(self.templates) * self.tasks * self.trials

    def record(self) -> dict[str, Any]:
        """Return what files say of how they were made."""
        found = {"scenario": COMBINATORIAL, **asdict(self), "sightline": __version__}
        del found["limit"]
        return {**found, "templates": list(self.templates), "count": self.count}

    def jobs(self) -> list[Job]:
        """Return all blocks, in the order of the file."""
        found: list[Job] = []
        left = self.count
        for template, task in product(self.templates, range(self.tasks)):
            end = self.first_trial + min(left, self.trials)
            for first in range(self.first_trial, end, BLOCK):
                found.append(Job(len(found), template, task, first, min(BLOCK, end - first)))
            left -= end - self.first_trial
        return found


@dataclass(frozen=True, slots=True)
class Job:
    """Some trials of one task; prints as what it is.

    Attributes:
        number: of the block.
        template: id.
        task: number of the task.
        first: number of the first trial.
        videos: how many, one a trial.
    """

    number: int
    template: int
    task: int
    first: int
    videos: int

    @property
    def key(self) -> str:
        """Name of the task."""
        return f"{self.template}:{self.task:03d}"

    def rehearsal(self) -> Job:
        """Return the same job with its first trial alone."""
        return replace(self, videos=1)

    def __str__(self) -> str:
        return f"trials {self.first} to {self.first + self.videos - 1} of task {self.key}"


def parse_trials(text: str | None, templates: tuple[int, ...]) -> tuple[int, int]:
    """Return the first trial and how many: from `50`, from `990-999`, or as many as in the paper.

    >>> parse_trials("990-999", (10000,))
    (990, 10)
    """
    if text is None:
        return 0, 1 if set(templates) <= set(HELD_OUT) else TRIALS
    if match := re.fullmatch(r"(\d{1,7})-(\d{1,7})", text):
        first, last = int(match[1]), int(match[2])
        return first, last + 1 - first
    if re.fullmatch(r"\d{1,7}", text):
        return 0, int(text)
    raise InputError(f"{text!r} is no number of trials", remedy="use 50, or 990-999")
