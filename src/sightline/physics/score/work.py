"""The scoring of some videos, as one piece of work: here, in another process, or on another machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError, explained
from sightline.physics.combinatorial.read import CombinatorialVideos
from sightline.physics.combinatorial.templates import HELD_OUT
from sightline.physics.data.reopened import Reopened
from sightline.physics.data.videos import VideoData
from sightline.physics.pictures.metrics import Picture, picture_metrics
from sightline.physics.score.beginnings import check_beginning
from sightline.physics.score.outcomes import probe_made
from sightline.physics.score.rivals import (
    Rivals,
    rival_video,
    rivals_of,
    still_video,
    through_codec,
)
from sightline.physics.score.sample import (
    Case,
    SampleScore,
    SceneCase,
    at_rate,
    check_square,
    score_scene,
    score_video,
)
from sightline.physics.score.sources import VideoSource
from sightline.physics.score.yardsticks import Yardstick
from sightline.physics.types import Frames, Samples
from sightline.physics.worlds.buckets import bucket
from sightline.physics.worlds.ranges import SCENARIOS

#: Samples from the first of a chunk to its last, all of which are read.
MOST_READ = 10_000

#: Name of the model's own column beside the yardsticks.
MODEL = "model"


@dataclass(frozen=True, slots=True)
class Task:
    """What every piece of the work needs to know.

    Attributes:
        truth: the data set.
        condition: frames that the model was given.
        preset: of ranges, for buckets and for the nearest case.
        fps: frames per second of the videos; None: as the data set.
        pictures: picture metrics of all videos, the yardsticks' too.
        yardsticks: what else is scored on the same samples.
        training: a data set whose cases the nearest one is taken from; None: the grid of `level`.
        level: grid of the reference's training set.
    """

    truth: Path
    condition: int = 3
    preset: str = "code"
    fps: float | None = None
    pictures: tuple[Picture, ...] = ()
    yardsticks: tuple[Yardstick, ...] = ()
    training: Path | None = None
    level: str = "3M"


@dataclass(frozen=True, slots=True)
class Scored:
    """What became of one video.

    Attributes:
        name: of the video.
        index: of its sample.
        scores: by `model` and by yardstick; empty after a failure.
        failure: why it was left out.
    """

    name: str
    index: int
    scores: dict[str, SampleScore]
    failure: SightlineError | None = None


class Chunk(tuple[tuple[VideoSource, int], ...]):
    """Some videos and the numbers of their samples: what a worker is given at a time."""

    __slots__ = ()

    def __str__(self) -> str:
        """Name them, for messages."""
        first, last = self[0][0].name, self[-1][0].name
        return f"video {first}" if len(self) == 1 else f"videos {first} to {last}"


class Scorer:
    """Scores chunks of videos; opens the data set at its first call and keeps it."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._truth = Reopened(task.truth)

    def __call__(self, chunk: Chunk) -> list[Scored]:
        """Score some videos; one that fails costs nothing but itself."""
        try:
            return self._together(chunk)
        except Exception as error:  # of one of them, perhaps: the others are tried alone
            if len(chunk) == 1:
                video, index = chunk[0]
                return [Scored(video.name, index, {}, explained(error, video.name))]
        return [self(Chunk([pair]))[0] for pair in chunk]

    def _together(self, chunk: Chunk) -> list[Scored]:
        """Score some videos whose samples are read, and those of the yardsticks made, at once."""
        data = self._truth.data
        if isinstance(data, CombinatorialVideos):
            return [self._scene(data, video, index) for video, index in chunk]
        indexes = np.array([index for _, index in chunk])
        samples = read_motions(data, indexes)
        buckets = buckets_of(samples, self.task.preset)
        made_of = str(data.made.get("scenario", ""))
        rivals = rivals_of(self.task, samples, made_of)
        done: list[Scored] = []
        for place, (video, index) in enumerate(chunk):
            case = Case(
                index,
                str(buckets[place]),
                tuple(float(value) for value in samples.init[place]),
                samples[place],
                samples.scenario,
                self.task.condition,
                probe_made(made_of),
            )
            try:
                scores = self._score(data, video, case, rivals, place)
            except Exception as error:  # one bad video must not cost the others; it is reported
                done.append(Scored(video.name, index, {}, explained(error, video.name)))
            else:
                done.append(Scored(video.name, index, scores))
        return done

    def _score(
        self,
        data: VideoData,
        video: VideoSource,
        case: Case,
        rivals: Rivals,
        place: int,
    ) -> dict[str, SampleScore]:
        frames, truth = video.read(), data.video(case.index)
        check_square(frames)
        check_beginning(frames, truth, case.index)
        if self.task.fps is not None:
            frames = at_rate(frames, self.task.fps, case.motion.frame_time, len(truth))
        scores = {MODEL: score_video(video.name, frames, case, truth, self.task.pictures)}
        for name, rival in rivals.items():
            shown = rival_video(rival, place, truth, lossy=data.lossy)
            scores[name] = score_video(video.name, shown, case, truth, self.task.pictures)
        if "truth" in scores:
            again = through_codec(truth, lossy=data.lossy)
            pictures = picture_metrics(again, truth, self.task.pictures)
            scores["truth"] = replace(scores["truth"], pictures=pictures)
        return scores

    def _scene(self, data: CombinatorialVideos, video: VideoSource, index: int) -> Scored:
        """Score a video of a combinatorial world, by its pixels."""
        template = data.place(index)[0].partition(":")[0]
        held_out = template.isdecimal() and int(template) in HELD_OUT
        case = SceneCase(
            index, "held_out" if held_out else "in_template", template, self.task.condition
        )
        try:
            frames, truth = video.read(), data.video(index)
            check_square(frames)
            check_beginning(frames, truth, index)
            if self.task.fps is not None:
                frames = at_rate(frames, self.task.fps, data.frame_time, len(truth))
            pictures = self.task.pictures or ("psnr", "ssim")
            shown = {MODEL: frames, **self.scene_videos(truth, lossy=data.lossy)}
            scores = {
                who: score_scene(video.name, one, truth, case, pictures)
                for who, one in shown.items()
            }
        except Exception as error:  # one bad video must not cost the others; it is reported
            return Scored(video.name, index, {}, explained(error, video.name))
        return Scored(video.name, index, scores)

    def scene_videos(self, truth: Frames, *, lossy: bool) -> dict[str, Frames]:
        """Return what the yardsticks show in a combinatorial world: (T, S, S, 3) uint8 RGB each."""
        still = still_video(truth, self.task.condition)
        known = {
            "truth": through_codec(truth, lossy=lossy),
            "copy-last": through_codec(still, lossy=lossy),
        }
        return {name: known[name] for name in self.task.yardsticks}


def buckets_of(samples: Samples, preset: str) -> NDArray[np.str_]:
    """Return the bucket of each sample; a probe's worlds have one only, `test`."""
    if samples.scenario in SCENARIOS:
        return bucket(samples.scenario, samples.init, preset)
    return np.full(len(samples), "test")


def read_motions(data: VideoData, indexes: NDArray[np.int64]) -> Samples:
    """Read the motions of some samples, in the order asked for."""
    first, last = int(indexes.min()), int(indexes.max())
    if last - first > MOST_READ:
        raise InputError("samples so far apart are not read at once")
    return data.read_samples(first, last + 1).take(indexes - first)
