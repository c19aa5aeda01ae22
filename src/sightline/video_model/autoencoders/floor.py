"""Error floor of a codec: velocity error after encoding and decoding alone (PhyWorld, Table 3).

A latent video model cannot be better than its codec. So true videos are encoded, decoded and scored
like generated ones, beside the true videos themselves, whose error is that of the tracker.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from sightline.errors import InputError
from sightline.physics.laws.evidence import FIRST_FRAME
from sightline.physics.rendering import render, to_planes
from sightline.physics.scoring.sample import Case, score_video
from sightline.physics.types import Frames, Motion, Samples
from sightline.physics.worlds.simulation import sample
from sightline.physics.worlds.splits import SCENARIOS
from sightline.video_model.autoencoders.codec import (
    Codec,
    decode_bytes,
    encode_bytes,
    usable_frames,
)

_BATCH = 16  # videos that are coded at a time

#: Seed of the worlds a floor is measured on.
SEED = 77


@dataclass(frozen=True, slots=True)
class Errors:
    """Mean errors over videos.

    Attributes:
        velocity: mean |v − v̂| in units/s as the paper defines it; after the impact for collisions.
        mean_velocity: error of the time-averaged velocity in units/s as in the released code, in which
            jitter between frames cancels.
        position: mean distance to the true position in world units; shows constant shifts.
        coverage: share of bodies and frames that were tracked.
    """

    velocity: float
    mean_velocity: float
    position: float
    coverage: float


@dataclass(frozen=True, slots=True)
class Floor:
    """Error floor of a codec on one scenario.

    Attributes:
        scenario: scenario of the videos.
        size: width and height in [px].
        frames: encoded frames of each video.
        videos: number of videos; those without a scored frame are excluded.
        truth: errors of the true videos.
        coded: errors of the encoded and decoded videos.
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
    """Measure the error floor of a codec.

    Args:
        codec: codec.
        samples: motions of one scenario.
        size: width and height of the videos in [px].
        condition: first frames to exclude, as if given to a model.
        device: device of the codec.

    Raises:
        InputError: no video has a scored frame.
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
    """Return the first `count` frames of a motion."""
    return replace(motion, positions=motion.positions[:count], velocities=motion.velocities[:count])


def code_all(
    codec: Codec, videos: Sequence[Frames], device: torch.device | str
) -> Iterator[Frames]:
    """Encode and decode videos (T, S, S, 3) in one batch."""
    planes = torch.from_numpy(np.stack([to_planes(video) for video in videos])).to(device)
    decoded = decode_bytes(codec, encode_bytes(codec, planes)).cpu().numpy()
    yield from np.ascontiguousarray(decoded.transpose(0, 2, 3, 4, 1))


def _errors(frames: Frames, case: Case) -> list[float]:
    """Return the values of `Errors`, NaN where undefined."""
    score = score_video("", frames, case)
    found = [score.values[law] for law in ("velocity_steps", "velocity_code", "position")]
    return [float("nan") if value is None else value for value in found] + [score.coverage]


def floor_lines(
    codec: Codec, scenarios: Sequence[str], size: int, count: int, device: torch.device | str
) -> list[str]:
    """Return the error floor of a codec as text, one line per scenario, as in Table 3 of the paper.

    Args:
        codec: codec.
        scenarios: scenarios; those without known ranges are skipped.
        size: width and height of the videos in [px].
        count: videos of each, of a seed that no training uses.
        device: device of the codec.
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
