"""Let a model continue worlds and score what it makes, in memory: for validation, studies and the demo.

The same laws as in `sightline physics score`, without files between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.physics.data.spec import COMBINATORIAL, PROBE, DataSpec, draw
from sightline.physics.parse import parse, prior_of
from sightline.physics.probes import probe_of
from sightline.physics.render import render
from sightline.physics.score.outcomes import signed_speed
from sightline.physics.score.sample import Case, SampleScore, score_video
from sightline.physics.types import Doubles, Frames, Motion, Samples
from sightline.physics.worlds.buckets import bucket
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.video_model.autoencoder.floor import code_all
from sightline.video_model.data import is_file, open_videos
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.sentences import Fact

#: Error of the velocity as the paper defines it, and of its mean over time as the released code has it.
VELOCITY, MEAN_VELOCITY = "velocity_paper", "velocity_code"


@dataclass(frozen=True, slots=True)
class Take:
    """A video that a model made, and what should have happened.

    Attributes:
        motion: what truly happens.
        truth: (T, S, S, 3) uint8 RGB.
        made: (T, S, S, 3) uint8 RGB, begins with the given frames.
        score: what the laws say of it.
    """

    motion: Motion
    truth: Frames
    made: Frames
    score: SampleScore


def spec_of(word: str, count: int, size: int, seed: int) -> DataSpec:
    """Describe videos to test on.

    Args:
        word: `uniform`, `collision:ood`, `probe:NAME` (its test part), `probe:NAME:train` …
        count: how many.
        size: width and height in [px].
        seed: of worlds; another one than that of the training.
    """
    if word.partition(":")[0] == COMBINATORIAL or is_file(word):
        raise InputError(
            f"{word} cannot be checked by laws of motion",
            remedy="give a scenario or a probe, such as uniform:ood or probe:NAME",
        )
    if word.startswith(PROBE):
        name, _, part = word.removeprefix(PROBE).partition(":")
        return DataSpec(PROBE + name, count, part=part or "test", size=size, seed=seed)
    name, _, split = word.partition(":")
    return DataSpec(name, count, split=split or "id", size=size, seed=seed)


def take_all(
    model: VideoDiffusion, spec: DataSpec, *, steps: int | None = None, batch: int = 16
) -> list[Take]:
    """Let a model continue all videos of a spec, and score them; see `takes_of`."""
    return list(takes_of(model, spec, steps=steps, batch=batch))


def takes_of(
    model: VideoDiffusion, spec: DataSpec, *, steps: int | None = None, batch: int = 16
) -> Iterator[Take]:
    """Let a model continue the videos of a spec, and score them, a batch at a time.

    Args:
        model: any.
        spec: of the videos; its size is the model's.
        steps: of sampling.
        batch: videos that are made at a time, and that are in memory.
    """
    for start, samples, truths in _batches(model, spec, batch):
        facts = [Fact(samples.scenario, init) for init in samples.init]
        described = model.tell(facts) if model.is_told else None
        numbers = range(start, start + len(truths))
        made = model.continue_videos(
            truths, numbers, described=described, seed=spec.seed, steps=steps, batch=batch
        )
        yield from _scored(model, spec, start, samples, truths, made)


def take_coded(model: VideoDiffusion, spec: DataSpec, *, batch: int = 16) -> list[Take]:
    """Let only the codec of a model work on all videos of a spec, and score them: what coding costs."""
    return list(coded_takes(model, spec, batch=batch))


def coded_takes(model: VideoDiffusion, spec: DataSpec, *, batch: int = 16) -> Iterator[Take]:
    """Let only the codec of a model work on the videos of a spec, a batch at a time.

    Args:
        model: any.
        spec: of the videos; its size is the model's.
        batch: videos that are coded at a time, and that are in memory.
    """
    for start, samples, truths in _batches(model, spec, batch):
        made = list(code_all(model.codec, truths, model.device))
        yield from _scored(model, spec, start, samples, truths, made)


def _batches(
    model: VideoDiffusion, spec: DataSpec, batch: int
) -> Iterator[tuple[int, Samples, list[Frames]]]:
    """Give motions and true videos by batches, each with the number of its first one."""
    samples = draw(spec, 0, spec.count)
    for start in range(0, len(samples), batch):
        some = samples.take(slice(start, start + batch))
        motions = (some[number] for number in range(len(some)))
        yield start, some, [render(motion, spec.size)[: model.frames] for motion in motions]


def _scored(
    model: VideoDiffusion,
    spec: DataSpec,
    start: int,
    samples: Samples,
    truths: Sequence[Frames],
    made: Sequence[Frames],
) -> Iterator[Take]:
    probe = probe_of(spec.scenario.removeprefix(PROBE)) if spec.scenario.startswith(PROBE) else None
    buckets = (
        bucket(samples.scenario, samples.init)
        if samples.scenario in SCENARIOS and probe is None
        else ["test"] * len(samples)
    )
    for place, (truth, video) in enumerate(zip(truths, made, strict=True)):
        number, motion = start + place, samples[place]
        case = Case(
            *(number, str(buckets[place]), tuple(float(v) for v in samples.init[place])),
            *(motion, samples.scenario, model.build.condition),
            probe,
        )
        yield Take(motion, truth, video, score_video(f"{number:05d}", video, case))


def scene_takes(
    model: VideoDiffusion, word: str, count: int, seed: int, *, batch: int = 16
) -> Iterator[tuple[Frames, Frames]]:
    """Let a model continue combinatorial videos; give pairs of truth and what it made.

    Args:
        model: any.
        word: such as `combinatorial:held-out`, see `data.open_videos`.
        count: how many, templates in turn.
        seed: of the noise.
        batch: videos that are made at a time, and that are in memory.
    """
    videos = open_videos(word, model.size, count=count)
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        truths = [
            np.ascontiguousarray(videos.video(index).transpose(1, 2, 3, 0)[: model.frames])
            for index in numbers
        ]
        yield from zip(truths, model.continue_videos(truths, numbers, seed=seed), strict=True)


def mean_of(takes: Sequence[Take], law: str = VELOCITY) -> float:
    """Return the mean figure of a law, over the videos of which it says something; NaN if none."""
    found = values_of(takes, law)
    found = found[np.isfinite(found)]
    return float(found.mean()) if len(found) else float("nan")


def values_of(takes: Sequence[Take], law: str = VELOCITY) -> Doubles:
    """Return a law's figure of each video, NaN where it says nothing: (N,)."""
    figures = [take.score.values.get(law) for take in takes]
    return np.array([np.nan if figure is None else figure for figure in figures], np.float64)


def generated_speeds(takes: Sequence[Take], given: int) -> Doubles:
    """Return the signed speed along the true motion of one body, mean over what the model made: (N,).

    NaN for videos in which it can be measured in fewer than three frames.
    """
    return np.array([generated_speed(take, given) for take in takes], np.float64)


def generated_speed(take: Take, given: int) -> float:
    """Return that speed of one video, NaN if it cannot be measured."""
    motion = take.motion
    tracks = parse(take.made, frame_time=motion.frame_time, prior=prior_of(motion))
    speed = signed_speed(tracks, motion, given)
    return float("nan") if speed is None else float(speed)


@dataclass(frozen=True, slots=True)
class Validator:
    """Scores a model on a few videos of some worlds: what training logs.

    Attributes:
        words: see `spec_of`.
        count: videos of each.
        seed: of worlds; another one than that of the training.
    """

    words: tuple[str, ...]
    count: int = 16
    seed: int = 1_000

    def check(self, size: int) -> None:
        """Refuse words that name nothing, before anything is trained."""
        for word in self.words:
            draw(spec_of(word, self.count, size, self.seed), 0, 1)

    def __call__(self, model: VideoDiffusion) -> dict[str, float]:
        """Return the mean velocity error on each of them."""
        row = {}
        for word in self.words:
            takes = take_all(model, spec_of(word, self.count, model.size, self.seed))
            row[word] = round(mean_of(takes), 4)
            row[f"{word} mean"] = round(mean_of(takes, MEAN_VELOCITY), 4)
        return row
