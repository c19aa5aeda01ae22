"""The worst cases of a score as film strips: by their errors, or by pixels where no law is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.physics.data.open import open_dataset
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.data.videos import VideoData
from sightline.physics.parse import parse, prior_of
from sightline.physics.score.run import Result
from sightline.physics.score.sample import SampleScore, at_rate
from sightline.physics.score.sources import VideoSource
from sightline.physics.score.strips import Film, film_strip, scene_strip
from sightline.physics.score.words import HEADLINE
from sightline.physics.score.work import MODEL, Task
from sightline.physics.types import Frames

#: Bad cases that are shown.
WORST = 6


@dataclass(frozen=True, slots=True)
class Strip:
    """A bad case.

    Attributes:
        score: of the sample.
        film: its frames, and what is wrong in them.
    """

    score: SampleScore
    film: Film


def worst_cases(result: Result, count: int = WORST) -> list[SampleScore]:
    """Return the worst samples: abnormal ones, then by errors; of combinatorial worlds by pixels."""
    badness = _far_in_pixels if result.scenario == COMBINATORIAL else _far_from_the_law
    return sorted(result.scores[MODEL], key=badness, reverse=True)[:count]


def worst_strips(
    result: Result, task: Task, pairs: Sequence[tuple[VideoSource, int]]
) -> list[Strip]:
    """Read the worst videos again and make their strips.

    Args:
        result: the score.
        task: that it was made for.
        pairs: videos, and numbers of their samples.
    """
    sources = {index: video for video, index in pairs}
    with open_dataset(task.truth) as data:
        return [
            Strip(one, _film(one, sources[one.index].read(), task, data))
            for one in worst_cases(result)
        ]


def _film(score: SampleScore, frames: Frames, task: Task, data: VideoData) -> Film:
    true = data.video(score.index)
    if task.fps is not None:
        frames = at_rate(frames, task.fps, data.frame_time, len(true))
    frames = frames[: len(true)]
    if data.scenario == COMBINATORIAL:
        return scene_strip(true, frames)
    motion = data.motion(score.index)
    tracks = parse(frames, frame_time=motion.frame_time, prior=prior_of(motion))
    return film_strip(true, frames, motion, tracks, violations=score.violations)


def _far_from_the_law(score: SampleScore) -> tuple[bool, float]:
    error = score.values.get(HEADLINE) or 0.0
    return bool(score.abnormal), max(error, score.values.get("position") or 0.0)


def _far_in_pixels(score: SampleScore) -> tuple[bool, float]:
    """Order by the first metric that is there: PSNR and SSIM are worse when smaller, LPIPS not."""
    for name, value in score.pictures.items():
        if isinstance(value, float):
            return True, value if name == "lpips" else -value
    return False, 0.0
