"""From the scores of many videos to figures: a mean per law and bucket, with how many it stands on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from typing import Any

import numpy as np

from sightline.physics.laws import LAWS
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.readings import Told, read_all
from sightline.physics.score.sample import SampleScore

#: Buckets in the order of reports. `out` is everything but `in`, as the reference has it.
PARTS_OF_OUT = ("r_out", "v_out", "rv_out", "zero_speed")
ORDER = ("all", "in", "out", *PARTS_OF_OUT, "in_template", "held_out", "test")

UNITS = {law.name: law.unit for law in LAWS}


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over the samples that a law says something about.

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
class Figures:
    """All means of one bucket.

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
    reading: dict[str, Told]


def summarise(scores: Sequence[SampleScore]) -> dict[str, Figures]:
    """Return the figures of every bucket that has samples, in the order of `ORDER`; then templates."""
    found: dict[str, Figures] = {}
    for name in ORDER:
        members = [score for score in scores if belongs(score, name)]
        if members:
            found[name] = figures_of(members)
    for template in sorted({score.template for score in scores} - {""}):
        found[template] = figures_of([score for score in scores if score.template == template])
    return found


def worth_showing(table: Mapping[str, Figures]) -> list[str]:
    """Return the buckets that say something that no other says, templates left out.

    `all` goes where a bucket holds everything, `out` where one of its parts does.
    """
    names = [name for name in ORDER if name in table]
    whole = table["all"].count if "all" in table else 0
    if any(table[name].count == whole for name in names if name != "all"):
        names = [name for name in names if name != "all"]
    if "out" in names and any(table[part].count == table["out"].count for part in _parts(names)):
        names.remove("out")
    return names


def main_buckets(table: Mapping[str, Figures]) -> list[str]:
    """Return the one or two buckets that a short report is about: in distribution, and out of it.

    What is out in one way only goes by the name of that.
    """
    shown = worth_showing(table)
    outside = "out" if "out" in shown else next(iter(_parts(shown)), None)
    pairs = [name for name in ("in", outside, "in_template", "held_out") if name in shown]
    return [str(name) for name in pairs] or shown[:1]


def _parts(names: Iterable[str]) -> list[str]:
    return [name for name in names if name in PARTS_OF_OUT]


def told_laws(table: Mapping[str, Figures]) -> list[str]:
    """Return the laws that say something: with a figure, and not another's figure again.

    Without gravity the total energy is the kinetic one.
    """
    laws = table["all"].laws if "all" in table else {}
    told = [name for name, mean in laws.items() if mean.count]
    if "kinetic_energy" in told and "total_energy" in told:
        told.remove("total_energy")
    early = [name for name in told if name == "velocity_before"]  # next to the one after the impact
    return told[:1] + early + [name for name in told[1:] if name not in early]


def belongs(score: SampleScore, bucket: str) -> bool:
    """Whether a sample counts for a bucket."""
    if bucket == "all":
        return True
    if bucket == "out":
        return score.bucket in PARTS_OF_OUT
    return score.bucket == bucket


def figures_of(scores: Sequence[SampleScore]) -> Figures:
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
    return Figures(
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


def to_json(figures: Figures) -> dict[str, Any]:
    """Return the figures as plain values."""
    from sightline.physics.pictures.values import as_json

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
    """Mean of a metric, or why there is none."""
    for value in values:
        if isinstance(value, NotAvailable):
            return value
    return float(np.mean([value for value in values if not isinstance(value, NotAvailable)]))
