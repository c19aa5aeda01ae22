"""What a study says, and the table of errors that most of them begin with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.physics.types import Doubles
from sightline.video_model.page import Section
from sightline.video_model.study.parts import Budget

#: What `run` keeps of a trial.
Scores = dict[str, Any]

UNIT = "units/s"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a study says.

    Attributes:
        sections: of the report.
        lines: for a terminal.
    """

    sections: list[Section]
    lines: list[str]


def error_table(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Make a row for each trial, with a column for each test."""
    tests = [words for words, _ in cost.trials[0].tests]
    header = ["", "weights", "loss", *tests, *(f"{words}, of the mean" for words in tests)]
    rows, lines = [], []
    for trial in cost.trials:
        found = scores[trial.name]
        cells = [number_of(found["tests"][words]["velocity"]) for words in tests]
        means = [number_of(found["tests"][words]["mean_velocity"]) for words in tests]
        rows.append(
            [trial.words, f"{found['parameters']:,}", f"{found['loss']:.3f}", *cells, *means]
        )
        pairs = zip(tests, cells, strict=True)
        lines.append(f"{trial.words}: " + ", ".join(f"{words} {cell}" for words, cell in pairs))
    words = (
        f"Velocity error in {UNIT}: mean over videos of |v − v̂| after the given frames (for "
        "collisions after the impact); then the error of the velocity's mean over time."
    )
    return Outcome([Section("Velocity errors", [words], header, rows)], lines)


def value_of(score: Scores, words: str) -> float:
    """Return the velocity error of a test, NaN where nothing could be measured."""
    value = score["tests"][words]["velocity"]
    return float("nan") if value is None else float(value)


def floats_of(values: Sequence[float | None]) -> Doubles:
    """Return values with NaN for none: (N,)."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def number_of(value: float | None) -> str:
    """Return a cell of a table."""
    return "" if value is None else f"{value:.3f}"
