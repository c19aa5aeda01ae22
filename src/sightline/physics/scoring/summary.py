"""Summarize the scores of many videos: means per law and bucket with counts, and figures of probes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np

from sightline.physics.laws import LAWS
from sightline.physics.probes.parts import PIXEL
from sightline.physics.scoring.sample import SampleScore
from sightline.physics.types import Doubles
from sightline.physics.video_metrics.frame_metrics import NotAvailable

#: Buckets in the order of reports. `out` is everything but `in`, as the reference has it.
PARTS_OF_OUT = ("r_out", "v_out", "rv_out", "zero_speed")
ORDER = ("all", "in", "out", *PARTS_OF_OUT, "in_template", "held_out", "test")

UNITS = {law.name: law.unit for law in LAWS}


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a law over the samples to which it applies.

    Attributes:
        value: the mean; None without any.
        count: of samples with a figure.
        violated: share of the samples that it says something about in which it is violated.
        error: standard error of the mean; None with fewer than two.
    """

    value: float | None
    count: int
    violated: float
    error: float | None = None


@dataclass(frozen=True, slots=True)
class BucketSummary:
    """The means of one bucket.

    Attributes:
        count: samples in it.
        laws: by name.
        abnormal: share called abnormal; None where the rules do not apply.
        reference: means of the released evaluator's figures, over the samples it keeps.
        reference_count: how many it keeps.
        pictures: means of picture metrics.
        kept: of a conflict probe: share of videos that keep each attribute.
        reading: of another probe: what it asks for (`readings`).
    """

    count: int
    laws: dict[str, Mean]
    abnormal: float | None
    reference: dict[str, float | None]
    reference_count: int
    pictures: dict[str, float | NotAvailable]
    kept: dict[str, float]
    reading: dict[str, ProbeFigure]


def summarize(scores: Sequence[SampleScore]) -> dict[str, BucketSummary]:
    """Return the summary of every bucket with samples, in the order of `ORDER`; then templates."""
    found: dict[str, BucketSummary] = {}
    for name in ORDER:
        members = [score for score in scores if belongs(score, name)]
        if members:
            found[name] = summarize_bucket(members)
    for template in sorted({score.template for score in scores} - {""}):
        found[template] = summarize_bucket(
            [score for score in scores if score.template == template]
        )
    return found


def worth_showing(table: Mapping[str, BucketSummary]) -> list[str]:
    """Return the buckets that are not redundant, without templates.

    `all` goes where a bucket holds everything, `out` where one of its parts does.
    """
    names = [name for name in ORDER if name in table]
    whole = table["all"].count if "all" in table else 0
    if any(table[name].count == whole for name in names if name != "all"):
        names = [name for name in names if name != "all"]
    if "out" in names and any(table[part].count == table["out"].count for part in _parts(names)):
        names.remove("out")
    return names


def main_buckets(table: Mapping[str, BucketSummary]) -> list[str]:
    """Return the one or two buckets that a short report is about: in distribution, and out of it.

    What is out in one way only goes by the name of that.
    """
    shown = worth_showing(table)
    outside = "out" if "out" in shown else next(iter(_parts(shown)), None)
    pairs = [name for name in ("in", outside, "in_template", "held_out") if name in shown]
    return [str(name) for name in pairs] or shown[:1]


def _parts(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in PARTS_OF_OUT]


def applicable_laws(table: Mapping[str, BucketSummary]) -> list[str]:
    """Return the laws that apply and do not duplicate another.

    Without gravity the total energy is the kinetic one.
    """
    laws = table["all"].laws if "all" in table else {}
    told = [name for name, mean in laws.items() if mean.count]
    if "kinetic_energy" in told and "total_energy" in told:
        told.remove("total_energy")
    early = [name for name in told if name == "velocity_before"]  # next to the one after the impact
    return told[:1] + early + [name for name in told[1:] if name not in early]


def belongs(score: SampleScore, bucket: str) -> bool:
    """Return whether a sample belongs to a bucket."""
    if bucket == "all":
        return True
    if bucket == "out":
        return score.bucket in PARTS_OF_OUT
    return score.bucket == bucket


def summarize_bucket(scores: Sequence[SampleScore]) -> BucketSummary:
    """Return the means over some samples."""
    laws = {}
    broken = [{violation.law for violation in score.violations} for score in scores]
    for name in _names(score.values for score in scores):
        found = [score.values.get(name) for score in scores]
        values = _finite(found)
        violated = [name in some for some in broken]
        told = sum(
            bad or (value is not None and isfinite(value))
            for value, bad in zip(found, violated, strict=True)
        )
        laws[name] = Mean(mean(values), len(values), sum(violated) / max(told, 1), error_of(values))
    kept = [score.reference for score in scores if score.reference is not None]
    judged = [score.abnormal for score in scores if score.abnormal is not None]
    return BucketSummary(
        len(scores),
        laws,
        sum(judged) / len(judged) if judged else None,
        {name: mean([row[name] for row in kept]) for name in _names(kept)},
        len(kept),
        {
            name: _picture([score.pictures[name] for score in scores if name in score.pictures])
            for name in _names(score.pictures for score in scores)
        },
        {
            name: float(np.mean([score.kept[name] for score in scores if name in score.kept]))
            for name in _names(score.kept for score in scores)
        },
        read_all(scores),
    )


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the finite values; None without any."""
    known = _finite(values)
    return float(np.mean(known)) if known else None


def error_of(values: Iterable[float | None]) -> float | None:
    """Return the standard error of the mean of the finite values; None with fewer than two."""
    known = _finite(values)
    return float(np.std(known, ddof=1) / len(known) ** 0.5) if len(known) > 1 else None


def to_json(figures: BucketSummary) -> dict[str, Any]:
    """Return a summary as plain values."""
    from sightline.physics.video_metrics.frame_metrics import as_json

    return {
        "count": figures.count,
        "abnormal": figures.abnormal,
        "laws": {
            name: {
                "mean": one.value,
                "standard_error": one.error,
                "count": one.count,
                "violated": one.violated,
            }
            for name, one in figures.laws.items()
        },
        "reference": figures.reference,
        "reference_count": figures.reference_count,
        "pictures": {name: as_json(value) for name, value in figures.pictures.items()},
        "kept": figures.kept,
        "reading": {name: asdict(one) for name, one in figures.reading.items()},
    }


def _finite(values: Iterable[float | None]) -> list[float]:
    return [value for value in values if value is not None and isfinite(value)]


def _names(rows: Iterable[Any]) -> list[str]:
    """Keys in the order of their first appearance."""
    names: dict[str, None] = {}
    for row in rows:
        names.update(dict.fromkeys(row))
    return list(names)


def _picture(values: Sequence[float | NotAvailable]) -> float | NotAvailable:
    """Return the mean of a metric, or why it is not available."""
    for value in values:
        if isinstance(value, NotAvailable):
            return value
    return float(np.mean([value for value in values if not isinstance(value, NotAvailable)]))


#: Bins of margins that right outcomes are counted in.
BINS = 4

#: Title of each figure for a report, its name on a screen, and its unit; `%` for a share of videos.
TITLES: dict[str, tuple[str, str, str]] = {
    "signed_speed": ("generated speed along the true motion", "signed speed", "units/s"),
    "slope": ("slope of generated against true speed", "slope of speed", ""),
    "turned_round": ("the ball turns round", "turned round", "%"),
    "right_outcome": ("right outcome at the gate: passes, or turns back", "right outcome", "%"),
    "passes": ("the ball passes the gate", "passes", "%"),
    "twins_apart": ("pairs of twins of which both are right", "twins apart", "%"),
    "collision_right": ("the collision comes out right", "collision right", "%"),
    "bounce_right": ("the bounce comes out right", "bounce right", "%"),
    "all_right": ("the collision and then the bounce come out right", "all events right", "%"),
    "ball_error_together": ("velocity error of the ball, both moving", "ball, both", "units/s"),
    "square_error_together": (
        "velocity error of the square, both moving",
        "square, both",
        "units/s",
    ),
    "ball_error_alone": ("velocity error of the ball, moving alone", "ball alone", "units/s"),
    "square_error_alone": ("velocity error of the square, moving alone", "square alone", "units/s"),
}


@dataclass(frozen=True, slots=True)
class ProbeFigure:
    """The value of a probe reading over many videos.

    Attributes:
        value: a mean, a share from 0 to 1, or a slope.
        count: number of videos, or pairs of twins.
    """

    value: float
    count: int


def read_all(scores: Sequence[SampleScore]) -> dict[str, ProbeFigure]:
    """Return the readings of a probe over many videos, in the order of `TITLES`."""
    found = {}
    for name in TITLES:
        values = [score.reading[name] for score in scores if name in score.reading]
        if values:
            found[name] = ProbeFigure(float(np.mean(values)), len(values))
    found |= _slope(scores) | _twins(scores)
    return {name: found[name] for name in TITLES if name in found}


def by_margin(
    scores: Mapping[str, Sequence[SampleScore]],
) -> list[tuple[str, int, list[ProbeFigure]]]:
    """Return the share of right outcomes at gates by margin in pixels, for each predictor.

    Args:
        scores: by predictor, of the same samples.
    """
    tables = {who: _outcomes(rows) for who, rows in scores.items()}
    margins = np.concatenate([table[:, 0] for table in tables.values()])
    if not len(margins):
        return []
    edges = np.linspace(margins.min(), margins.max(), BINS + 1)
    rows = []
    for k, (low, high) in enumerate(pairwise(edges)):
        told = []
        for table in tables.values():
            places = np.searchsorted(edges[1:-1], table[:, 0], side="right")
            right = table[places == k, 1]
            told.append(
                ProbeFigure(float(right.mean()) if len(right) else float("nan"), len(right))
            )
        if any(one.count for one in told):
            rows.append((f"{low:.2f}–{high:.2f}", max(one.count for one in told), told))
    return rows


def _outcomes(scores: Sequence[SampleScore]) -> Doubles:
    """Return (N, 2) margin in pixels, without its sign, and whether the outcome is right."""
    told = [one for one in scores if "right_outcome" in one.reading]
    rows = [(abs(one.init[2]) / PIXEL, one.reading["right_outcome"]) for one in told]
    return np.array(rows, np.float64).reshape(-1, 2)


def _slope(scores: Sequence[SampleScore]) -> dict[str, ProbeFigure]:
    """Return the slope of generated over true speed: 1 where it is kept, 0 where it plays no part."""
    pairs = [
        (abs(one.init[1]), one.reading["signed_speed"])
        for one in scores
        if "signed_speed" in one.reading
    ]
    if len(pairs) < 2 or np.ptp([true for true, _ in pairs]) < 1e-6:
        return {}
    true, made = np.array(pairs).T
    return {"slope": ProbeFigure(float(np.polyfit(true, made, 1)[0]), len(pairs))}


def _twins(scores: Sequence[SampleScore]) -> dict[str, ProbeFigure]:
    """Return in how many pairs both twins are right; they differ in the sign of the margin alone."""
    pairs: dict[tuple[float, ...], dict[bool, float]] = defaultdict(dict)
    for one in scores:
        if "right_outcome" in one.reading:
            r, v, margin = one.init[:3]
            key = round(r, 5), round(v, 5), round(abs(margin), 6)
            pairs[key][margin > 0] = one.reading["right_outcome"]
    both = [min(pair.values()) for pair in pairs.values() if len(pair) == 2]
    return {"twins_apart": ProbeFigure(float(np.mean(both)), len(both))} if both else {}
