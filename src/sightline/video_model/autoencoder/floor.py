"""What coding costs: velocity error of videos that were only coded and decoded (PhyWorld, Table 3).

No model that works in latents can be better than its codec lets it be. So the true videos are coded,
decoded and scored like a model's, beside the true videos themselves, whose error is the parser's own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from sightline.errors import InputError
from sightline.physics.draw.planes import to_planes
from sightline.physics.laws.frames import FIRST_FRAME
from sightline.physics.render import render
from sightline.physics.score.sample import Case, score_video
from sightline.physics.types import Frames, Motion, Samples
from sightline.physics.worlds.make import sample
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.video_model.autoencoder.codec import (
    Codec,
    decode_bytes,
    encode_bytes,
    usable_frames,
)

_BATCH = 16  # videos that are coded at a time

#: Of the worlds that a floor is told of.
SEED = 77


@dataclass(frozen=True, slots=True)
class Errors:
    """Means over videos.

    Attributes:
        velocity: mean |v − v̂| in units/s, as the paper defines it: after the impact for collisions.
        mean_velocity: error of the time-mean velocity in units/s, as the released code has it. What
            trembles from frame to frame, as balls of few pixels do, is averaged out.
        position: mean distance to the true place in world units: a shift of all frames shows here only.
        coverage: share of bodies and frames that the parser measured.
    """

    velocity: float
    mean_velocity: float
    position: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Floor:
    """The floor of a codec on one scenario.

    Attributes:
        scenario: of the videos.
        size: width and height in [px].
        frames: of each video that were coded.
        videos: that both figures are of; those without a frame that counts are left out.
        truth: errors of the true videos.
        coded: errors of the coded and decoded ones.
    """

    scenario: str
    size: int
    frames: int
    videos: int
    truth: Errors
    coded: Errors


def reconstruction_floor(
    codec: Codec,
    samples: Samples,
    size: int,
    *,
    condition: int = FIRST_FRAME,
    device: torch.device | str = "cpu",
) -> Floor:
    """Measure what coding costs.

    Args:
        codec: of any kind.
        samples: motions of one scenario.
        size: width and height of the videos in [px].
        condition: first frames that do not count, as if a model had been given them.
        device: that the codec is on.

    Raises:
        InputError: no video has a frame that counts.
    """
    count = usable_frames(codec, samples.positions.shape[1])
    rows = []
    for start in range(0, len(samples), _BATCH):
        some = samples.take(slice(start, start + _BATCH))
        motions = [_cut(some[number], count) for number in range(len(some))]
        truths = [render(motion, size) for motion in motions]
        for motion, init, truth, coded in zip(
            motions, some.init, truths, code_all(codec, truths, device), strict=True
        ):
            numbers = tuple(float(value) for value in init)
            case = Case(start, "in", numbers, motion, samples.scenario, condition)
            both = (_errors(truth, case), _errors(coded, case))
            rows.append([value for errors in both for value in errors])
    table = np.array(rows, np.float64).reshape(-1, 8)
    table = table[np.isfinite(table).all(axis=1)]
    if not len(table):
        raise InputError(f"none of {len(samples)} videos has a frame that counts")
    means = [float(value) for value in table.mean(axis=0)]
    return Floor(samples.scenario, size, count, len(table), Errors(*means[:4]), Errors(*means[4:]))


def _cut(motion: Motion, count: int) -> Motion:
    """Return the first frames of a motion: those that a codec can take."""
    return replace(motion, positions=motion.positions[:count], velocities=motion.velocities[:count])


def code_all(
    codec: Codec, videos: Sequence[Frames], device: torch.device | str
) -> Iterator[Frames]:
    """Code and decode (T, S, S, 3) videos, all at a time."""
    planes = torch.from_numpy(np.stack([to_planes(video) for video in videos])).to(device)
    decoded = decode_bytes(codec, encode_bytes(codec, planes)).cpu().numpy()
    yield from np.ascontiguousarray(decoded.transpose(0, 2, 3, 4, 1))


def _errors(frames: Frames, case: Case) -> list[float]:
    """Return the figures of `Errors`, not a number where there is nothing to say."""
    score = score_video("", frames, case)
    found = [score.values[law] for law in ("velocity_paper", "velocity_code", "position")]
    return [float("nan") if value is None else value for value in found] + [score.coverage]


def floor_lines(
    codec: Codec, scenarios: Sequence[str], size: int, count: int, device: torch.device | str
) -> list[str]:
    """Return the floor of a codec as lines, one for each scenario, as in the paper's Table 3.

    Args:
        codec: of any kind.
        scenarios: those of known ranges; others are left out.
        size: width and height of the videos in [px].
        count: videos of each, of a seed that no training has.
        device: that the codec is on.
    """
    known = [word for word in dict.fromkeys(scenarios) if word in SCENARIOS]
    if not known or not count:
        return []
    lines = [
        f"Velocity error in units/s of {count} videos in range, as the paper's Table 3:",
        f"{'':<16}{'true video':>12}{'coded':>10}",
    ]
    for word in known:
        try:
            floor = reconstruction_floor(codec, sample(word, count, seed=SEED), size, device=device)
        except InputError:  # bodies of a few pixels: nothing can be measured
            lines.append(f"{word:<16}{'–':>12}{'–':>10}")
        else:
            lines.append(f"{word:<16}{floor.truth.velocity:>12.4f}{floor.coded.velocity:>10.4f}")
    return lines
