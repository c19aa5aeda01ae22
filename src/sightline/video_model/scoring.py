"""Score a video model in memory: for validation, studies and the demo.

Uses the laws of `sightline physics score`, without files in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.physics.datasets.spec import COMBINATORIAL, PROBE, DataSpec, draw
from sightline.physics.probes import probe_of
from sightline.physics.rendering import render
from sightline.physics.scoring.probe_outcomes import signed_speed
from sightline.physics.scoring.sample import Case, SampleScore, score_video
from sightline.physics.tracking import parse, prior_of
from sightline.physics.types import Doubles, Frames, Motion, Samples
from sightline.physics.worlds.splits import SCENARIOS, bucket
from sightline.video_model.autoencoders.floor import code_all
from sightline.video_model.conditioning import Fact
from sightline.video_model.data import is_file, open_videos
from sightline.video_model.pipeline import VideoDiffusion

#: Velocity error as the paper defines it, and error of the mean velocity as in the released code.
VELOCITY, MEAN_VELOCITY = "velocity_steps", "velocity_code"


@dataclass(frozen=True, slots=True)
class ScoredVideo:
    """Generated video with its ground truth and score.

    Attributes:
        motion: true motion.
        truth: (T, S, S, 3) uint8 RGB.
        made: (T, S, S, 3) uint8 RGB, starting with the given frames.
        score: law errors.
    """

    motion: Motion
    truth: Frames
    made: Frames
    score: SampleScore


def spec_of(word: str, count: int, size: int, seed: int) -> DataSpec:
    """Return the data specification of test videos.

    Args:
        word: `uniform`, `collision:ood`, `probe:NAME` (its test part), `probe:NAME:train` …
        count: number of videos.
        size: width and height in [px].
        seed: random seed of worlds, different from that of the training.
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


def score_model(
    model: VideoDiffusion, spec: DataSpec, *, steps: int | None = None, batch: int = 16
) -> list[ScoredVideo]:
    """Continue and score all videos of a specification; see `score_videos`."""
    return list(score_videos(model, spec, steps=steps, batch=batch))


def score_videos(
    model: VideoDiffusion, spec: DataSpec, *, steps: int | None = None, batch: int = 16
) -> Iterator[ScoredVideo]:
    """Continue the videos of a specification and score them batch by batch.

    Args:
        model: video model.
        spec: test videos, of the size of the model.
        steps: sampling steps.
        batch: videos per forward pass.
    """
    for start, samples, truths in _batches(model, spec, batch):
        facts = [Fact(samples.scenario, init) for init in samples.init]
        described = model.conditioning_for(facts) if model.uses_conditioning else None
        numbers = range(start, start + len(truths))
        made = model.continue_videos(
            truths, numbers, described=described, seed=spec.seed, steps=steps, batch=batch
        )
        yield from _scored(model, spec, start, samples, truths, made)


def take_coded(model: VideoDiffusion, spec: DataSpec, *, batch: int = 16) -> list[ScoredVideo]:
    """Encode, decode and score all videos of a specification, without the transformer."""
    return list(score_reconstructions(model, spec, batch=batch))


def score_reconstructions(
    model: VideoDiffusion, spec: DataSpec, *, batch: int = 16
) -> Iterator[ScoredVideo]:
    """Encode, decode and score the videos of a specification batch by batch, without the transformer.

    Args:
        model: video model whose codec is used.
        spec: test videos, of the size of the model.
        batch: videos per forward pass.
    """
    for start, samples, truths in _batches(model, spec, batch):
        made = list(code_all(model.codec, truths, model.device))
        yield from _scored(model, spec, start, samples, truths, made)


def _batches(
    model: VideoDiffusion, spec: DataSpec, batch: int
) -> Iterator[tuple[int, Samples, list[Frames]]]:
    """Yield motions and true videos in batches, with the index of the first of each."""
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
) -> Iterator[ScoredVideo]:
    probe = probe_of(spec.scenario.removeprefix(PROBE)) if spec.scenario.startswith(PROBE) else None
    buckets = (
        bucket(samples.scenario, samples.init)
        if samples.scenario in SCENARIOS and probe is None
        else ["test"] * len(samples)
    )
    for place, (truth, video) in enumerate(zip(truths, made, strict=True)):
        number, motion = start + place, samples[place]
        case = Case(
            number,
            str(buckets[place]),
            tuple(float(v) for v in samples.init[place]),
            motion,
            samples.scenario,
            model.build.condition,
            probe,
        )
        yield ScoredVideo(motion, truth, video, score_video(f"{number:05d}", video, case))


def continue_scenes(
    model: VideoDiffusion, word: str, count: int, seed: int, *, batch: int = 16
) -> Iterator[tuple[Frames, Frames]]:
    """Continue combinatorial videos; yield pairs of true and generated video.

    Args:
        model: video model.
        word: name such as `combinatorial:held-out`, see `data.open_videos`.
        count: number of videos; templates alternate.
        seed: random seed of the noise.
        batch: videos per forward pass.
    """
    videos = open_videos(word, model.size, count=count)
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        truths = [
            np.ascontiguousarray(videos.video(index).transpose(1, 2, 3, 0)[: model.frames])
            for index in numbers
        ]
        yield from zip(truths, model.continue_videos(truths, numbers, seed=seed), strict=True)


def mean_of(takes: Sequence[ScoredVideo], law: str = VELOCITY) -> float:
    """Return the mean error of a law over the videos that have one; NaN if none has."""
    found = values_of(takes, law)
    found = found[np.isfinite(found)]
    return float(found.mean()) if len(found) else float("nan")


def values_of(takes: Sequence[ScoredVideo], law: str = VELOCITY) -> Doubles:
    """Return the error of a law for each video, (N,); NaN where it is undefined."""
    figures = [take.score.values.get(law) for take in takes]
    return np.array([np.nan if figure is None else figure for figure in figures], np.float64)


def generated_speeds(takes: Sequence[ScoredVideo], given: int) -> Doubles:
    """Return the mean signed speed along the true motion over the generated frames, (N,).

    NaN for videos in which it can be measured in fewer than three frames.
    """
    return np.array([generated_speed(take, given) for take in takes], np.float64)


def generated_speed(take: ScoredVideo, given: int) -> float:
    """Return the generated speed of one video, NaN if it cannot be measured."""
    motion = take.motion
    tracks = parse(take.made, frame_time=motion.frame_time, prior=prior_of(motion))
    speed = signed_speed(tracks, motion, given)
    return float("nan") if speed is None else float(speed)


@dataclass(frozen=True, slots=True)
class Validator:
    """Score a model on a few videos of some worlds, for the training log.

    Attributes:
        words: test worlds, see `spec_of`.
        count: videos of each.
        seed: random seed of worlds, different from that of the training.
    """

    words: tuple[str, ...]
    count: int = 16
    seed: int = 1_000

    def check(self, size: int) -> None:
        """Check the names of the worlds before training starts."""
        for word in self.words:
            draw(spec_of(word, self.count, size, self.seed), 0, 1)

    def __call__(self, model: VideoDiffusion) -> dict[str, float]:
        """Return the mean velocity error on each world."""
        row = {}
        for word in self.words:
            takes = score_model(model, spec_of(word, self.count, model.size, self.seed))
            row[word] = round(mean_of(takes), 4)
            row[f"{word} mean"] = round(mean_of(takes, MEAN_VELOCITY), 4)
        return row
