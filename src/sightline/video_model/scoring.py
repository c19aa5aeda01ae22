"""Let a model continue worlds and score what it makes, in memory: for validation, studies and the demo.

The same laws as in `sightline physics score`, without files between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.physics.data.spec import PROBE, DataSpec, draw
from sightline.physics.probes import probe_of
from sightline.physics.render import render
from sightline.physics.score.sample import Case, SampleScore, score_video
from sightline.physics.types import Doubles, Frames, Motion, Samples
from sightline.physics.worlds.buckets import bucket
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.video_model.autoencoder.floor import code_all
from sightline.video_model.data import open_videos, padded
from sightline.video_model.model import VideoDiffusion

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


def test_spec(word: str, count: int, size: int, seed: int) -> DataSpec:
    """Describe videos to test on.

    Args:
        word: `uniform`, `collision:ood`, `probe:NAME` (its test part), `probe:NAME:train` …
        count: how many.
        size: width and height in [px].
        seed: of worlds; another one than that of the training.
    """
    if word.startswith(PROBE):
        name, _, part = word.removeprefix(PROBE).partition(":")
        return DataSpec(PROBE + name, count, part=part or "test", size=size, seed=seed)
    name, _, split = word.partition(":")
    return DataSpec(name, count, split=split or "id", size=size, seed=seed)


def take_all(
    model: VideoDiffusion, spec: DataSpec, *, steps: int | None = None, batch: int = 16
) -> list[Take]:
    """Let a model continue all videos of a spec, and score them.

    Args:
        model: any.
        spec: of the videos; its size is the model's.
        steps: of sampling.
        batch: videos that are made at a time.
    """
    samples, truths = _truths(model, spec)
    columns = model.network.options.numbers
    described = padded(list(samples.init), columns) if columns else None
    made = model.continue_videos(
        truths, range(len(truths)), described=described, seed=spec.seed, steps=steps, batch=batch
    )
    return _scored(model, spec, samples, truths, made)


def take_coded(model: VideoDiffusion, spec: DataSpec, *, batch: int = 16) -> list[Take]:
    """Let only the codec of a model work on all videos of a spec, and score them: what coding costs.

    Args:
        model: any.
        spec: of the videos; its size is the model's.
        batch: videos that are coded at a time.
    """
    samples, truths = _truths(model, spec)
    made = [
        video
        for start in range(0, len(truths), batch)
        for video in code_all(model.codec, truths[start : start + batch], model.device)
    ]
    return _scored(model, spec, samples, truths, made)


def _truths(model: VideoDiffusion, spec: DataSpec) -> tuple[Samples, list[Frames]]:
    samples = draw(spec, 0, spec.count)
    motions = (samples[number] for number in range(len(samples)))
    return samples, [render(motion, spec.size)[: model.frames] for motion in motions]


def _scored(
    model: VideoDiffusion,
    spec: DataSpec,
    samples: Samples,
    truths: Sequence[Frames],
    made: Sequence[Frames],
) -> list[Take]:
    probe = probe_of(spec.scenario.removeprefix(PROBE)) if spec.scenario.startswith(PROBE) else None
    buckets = (
        bucket(samples.scenario, samples.init)
        if samples.scenario in SCENARIOS and probe is None
        else ["test"] * len(samples)
    )
    takes = []
    for number, (truth, video) in enumerate(zip(truths, made, strict=True)):
        motion = samples[number]
        case = Case(
            *(number, str(buckets[number]), tuple(float(v) for v in samples.init[number])),
            *(motion, samples.scenario, model.build.condition),
            probe,
        )
        takes.append(Take(motion, truth, video, score_video(f"{number:05d}", video, case)))
    return takes


def take_scenes(
    model: VideoDiffusion, word: str, count: int, seed: int
) -> list[tuple[Frames, Frames]]:
    """Let a model continue combinatorial videos; return pairs of truth and what it made.

    Args:
        model: any.
        word: such as `combinatorial:held-out`, see `data.open_videos`.
        count: how many, templates in turn.
        seed: of the noise.
    """
    videos = open_videos(word, model.size, count=count)
    truths = [
        np.ascontiguousarray(videos.video(index).transpose(1, 2, 3, 0)[: model.frames])
        for index in range(len(videos))
    ]
    return list(zip(truths, model.continue_videos(truths, range(count), seed=seed), strict=True))


def mean_of(takes: Sequence[Take], law: str = VELOCITY) -> float:
    """Return the mean figure of a law, over the videos of which it says something; NaN if none."""
    found = values_of(takes, law)
    found = found[np.isfinite(found)]
    return float(found.mean()) if len(found) else float("nan")


def values_of(takes: Sequence[Take], law: str = VELOCITY) -> Doubles:
    """Return a law's figure of each video, NaN where it says nothing: (N,)."""
    figures = [take.score.values.get(law) for take in takes]
    return np.array([np.nan if figure is None else figure for figure in figures], np.float64)


@dataclass(frozen=True, slots=True)
class Validator:
    """Scores a model on a few videos of some worlds: what training logs.

    Attributes:
        words: see `test_spec`.
        count: videos of each.
        seed: of worlds; another one than that of the training.
    """

    words: tuple[str, ...]
    count: int = 16
    seed: int = 1_000

    def __call__(self, model: VideoDiffusion) -> dict[str, float]:
        """Return the mean velocity error on each of them."""
        row = {}
        for word in self.words:
            takes = take_all(model, test_spec(word, self.count, model.size, self.seed))
            row[word] = round(mean_of(takes), 4)
            row[f"{word} mean"] = round(mean_of(takes, MEAN_VELOCITY), 4)
        return row
