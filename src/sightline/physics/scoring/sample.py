"""Score one video: track its bodies and evaluate the laws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from sightline.errors import InputError
from sightline.physics.laws import (
    LAWS,
    Verdict,
    Violation,
    check_laws,
    is_abnormal,
    reference_figures,
)
from sightline.physics.laws.evidence import GRAVITIES
from sightline.physics.laws.reference_evaluator import parse_reference
from sightline.physics.probes.parts import Probe
from sightline.physics.scoring.probe_outcomes import kept_attributes, outcome_of
from sightline.physics.tracking import Tracks, parse, prior_of
from sightline.physics.types import BLUE, RED, Frames, Motion
from sightline.physics.video_metrics.frame_metrics import NotAvailable, Picture, picture_metrics

#: Laws that hold in any world, also with walls or gates.
ANYWHERE = ("velocity_steps", "position", "radius", "presence", "color", "shape")


@dataclass(frozen=True, slots=True)
class SampleScore:
    """The scores of one video.

    Attributes:
        name: of the video.
        index: of its sample in the data set.
        bucket: `in`, `r_out`, `v_out`, `rv_out`, `zero_speed`, or the probe's `test`.
        init: parameters of the sample.
        values: of each law, None where it does not apply.
        intervals: 95 % confidence intervals of some.
        violations: of the laws.
        abnormal: whether the rules of `laws.abnormal` call it that; None where they do not apply.
        reasons: why.
        reference: the released evaluator's figures; None for what it leaves out or does not know.
        pictures: PSNR, SSIM, LPIPS where asked for.
        coverage: share of bodies and frames that the parser measured.
        note: what was unusual, such as fewer frames than the truth has; or empty.
        template: of a combinatorial world, such as `10003`; else empty.
        kept: of a conflict probe: which of its two attributes the video keeps; else empty.
        reading: of another probe: what it asks of a video (`outcomes`); else empty.
    """

    name: str
    index: int
    bucket: str
    init: tuple[float, ...]
    values: dict[str, float | None]
    intervals: dict[str, tuple[float, float]]
    violations: tuple[Violation, ...]
    abnormal: bool | None
    reasons: tuple[str, ...]
    reference: dict[str, float | None] | None
    pictures: Mapping[str, float | NotAvailable] = field(default_factory=dict)
    coverage: float = 1.0
    note: str = ""
    template: str = ""
    kept: dict[str, bool] = field(default_factory=dict)
    reading: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Case:
    """The sample that a video is compared with.

    Attributes:
        index: of the sample.
        bucket: it belongs to.
        init: its parameters.
        motion: what should happen.
        scenario: which laws hold.
        condition: frames that the model was given.
        probe: that it is a sample of, if it is of one.
    """

    index: int
    bucket: str
    init: tuple[float, ...]
    motion: Motion
    scenario: str
    condition: int
    probe: Probe | None = None


@dataclass(frozen=True, slots=True)
class SceneCase:
    """Which sample of a combinatorial data set a video belongs to.

    Attributes:
        index: of the sample.
        bucket: `in_template` or `held_out`.
        template: its id.
        condition: frames that the model was given.
    """

    index: int
    bucket: str
    template: str
    condition: int


def score_video(
    name: str,
    frames: Frames,
    case: Case,
    truth: Frames | None = None,
    pictures: tuple[Picture, ...] = (),
) -> SampleScore:
    """Track a video and evaluate every law that applies.

    Args:
        name: of the video.
        frames: (T, H, W, 3) uint8 RGB, as many frames as the truth or fewer; see `fitted`.
        case: what it is compared with.
        truth: the true video, for picture metrics.
        pictures: metrics to compute.
    """
    frames, motion, note = fitted(frames, case)
    tracks = parse(frames, frame_time=motion.frame_time, prior=prior_of(motion))
    known = case.scenario in GRAVITIES
    scenario = case.scenario if known else "uniform"
    laws = LAWS if known else tuple(law for law in LAWS if law.name in ANYWHERE)
    scores = check_laws(tracks, motion, scenario, laws=laws, first=case.condition)
    verdict = is_abnormal(tracks, scenario) if known else None
    return SampleScore(
        name,
        case.index,
        case.bucket,
        case.init,
        scores.values,
        scores.intervals,
        scores.violations,
        None if verdict is None else verdict.abnormal,
        _reasons(verdict),
        _reference(frames, motion, case.scenario) if known else None,
        {} if truth is None else picture_metrics(frames, truth, pictures),
        scores.coverage,
        note,
        kept=_kept(tracks, motion, case),
        reading=_reading(tracks, motion, case),
    )


def score_scene(
    name: str, frames: Frames, truth: Frames, case: SceneCase, pictures: tuple[Picture, ...]
) -> SampleScore:
    """Compare a video of a combinatorial world with the true one by picture metrics.

    Args:
        name: of the video.
        frames: (T, H, W, 3) uint8 RGB.
        truth: the true video.
        case: where it belongs.
        pictures: metrics to compute.
    """
    count = common_frames(frames, len(truth), case.condition)
    note = "" if count == len(frames) == len(truth) else f"{count} frames compared"
    found = picture_metrics(frames[:count], truth, pictures)
    return SampleScore(
        name,
        case.index,
        case.bucket,
        init=(),
        values={},
        intervals={},
        violations=(),
        abnormal=None,
        reasons=(),
        reference=None,
        pictures=found,
        note=note,
        template=case.template,
    )


def fitted(frames: Frames, case: Case) -> tuple[Frames, Motion, str]:
    """Cut a video and its truth to the same number of frames.

    A video may be shorter: the reference compares 31 of 32 frames where an autoencoder drops one. It
    must show at least two frames after the condition.

    Returns:
        Frames, motion of as many frames, and a note when something was cut.
    """
    wanted, given = len(case.motion.positions), len(frames)
    count = common_frames(frames, wanted, case.condition)
    note = "" if wanted == given else f"{given} frames, {wanted} in the truth: {count} compared"
    motion = case.motion
    if count < wanted:
        motion = replace(
            motion, positions=motion.positions[:count], velocities=motion.velocities[:count]
        )
    return frames[:count], motion, note


def check_square(frames: Frames) -> None:
    """Refuse a video whose frames are not square."""
    if frames.ndim != 4 or frames.shape[1] != frames.shape[2]:
        raise InputError(
            f"frames of {frames.shape[2]}×{frames.shape[1]} pixels are not square",
            remedy="crop or pad them to the square world, or choose --panel",
        )


def common_frames(frames: Frames, wanted: int, condition: int) -> int:
    """Return the number of frames to compare; refuse too few."""
    check_square(frames)
    count = min(wanted, len(frames))
    if count < condition + 2:
        raise InputError(
            f"{len(frames)} frames are too few after {condition} condition frames",
            remedy=f"give at least {condition + 2}",
        )
    return count


def at_rate(frames: Frames, rate: float, frame_time: float, count: int) -> Frames:
    """Select the frames of a video of another rate at the times of the truth.

    Args:
        frames: (T, H, W, 3).
        rate: frames per second of the video; see `every`.
        frame_time: seconds between frames of the truth.
        count: frames of the truth.
    """
    return frames[:: every(rate, frame_time)][:count]


def every(rate: float, frame_time: float) -> int:
    """Return the number of frames of a video per frame of the truth.

    Other rates than whole multiples are refused: the nearest frame would show a body where it was a
    moment before or after, which the laws would take for a change of its speed.

    Args:
        rate: frames per second of the video.
        frame_time: seconds between frames of the truth.
    """
    times = rate * frame_time
    if round(times) < 1 or abs(times - round(times)) > 1e-6 * times:
        own = 1 / frame_time
        raise InputError(
            f"videos of {rate:g} frames a second have no frame at the times of the data set, which "
            f"has {own:g} a second",
            remedy=f"make them at {own:g}, {2 * own:g}, {3 * own:g}, … frames a second",
        )
    return round(times)


def to_json(score: SampleScore) -> dict[str, Any]:
    """Return the scores of a sample as plain values."""
    from sightline.physics.video_metrics.frame_metrics import as_json

    return {
        **{name: getattr(score, name) for name in ("name", "index", "bucket", "init")},
        "values": score.values,
        "intervals": score.intervals,
        "violations": [asdict(violation) for violation in score.violations],
        "abnormal": score.abnormal,
        "reasons": score.reasons,
        "reference": score.reference,
        "pictures": {name: as_json(value) for name, value in score.pictures.items()},
        "coverage": round(score.coverage, 4),
        "note": score.note,
        "template": score.template,
        "kept": score.kept,
        "reading": score.reading,
    }


def _kept(tracks: Tracks, motion: Motion, case: Case) -> dict[str, bool]:
    if case.probe is None or case.probe.attributes is None:
        return {}
    return kept_attributes(tracks, motion, case.init, case.probe, case.condition) or {}


def _reading(tracks: Tracks, motion: Motion, case: Case) -> dict[str, float]:
    if case.probe is None:
        return {}
    return outcome_of(case.probe, tracks, motion, case.init, case.condition)


def _reasons(verdict: Verdict | None) -> tuple[str, ...]:
    return () if verdict is None else verdict.reasons


def _reference(frames: Frames, motion: Motion, scenario: str) -> dict[str, float | None] | None:
    """BucketSummary of the released evaluator; it only knows one red ball, one blue one, or both."""
    names = {RED: "red", BLUE: "blue"}
    colors = tuple(names.get((int(r), int(g), int(b)), "") for r, g, b in motion.colors)
    if colors not in (("red",), ("blue",), ("red", "blue")):
        return None
    tracks = parse_reference(frames, colors, frame_time=motion.frame_time)
    figures = reference_figures(tracks, motion, scenario)
    if figures is None:
        return None
    # A ball that the reference never sees has no place there: NaN, which is no figure.
    return {
        name: value if value is not None and np.isfinite(value) else None
        for name, value in asdict(figures).items()
    }
