"""How studies are read: from scores to tables, plots and sentences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from markupsafe import Markup

from sightline.report.plots import Curve, Points, scatter
from sightline.video_model.page import Film, Section
from sightline.video_model.study.kept import read_kept
from sightline.video_model.study.outcome import UNIT, Outcome, Scores, error_table, value_of
from sightline.video_model.study.parts import Budget, Study, Trial
from sightline.video_model.study.speeds import read_plane, read_speeds
from sightline.video_model.study.templates import read_templates


def read_study(study: Study, cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Read a study.

    Args:
        study: that was run.
        cost: its budget.
        scores: by trial.
    """
    readers = {
        "scaling": _scaling,
        "conditions": error_table,
        "plane": read_plane,
        "speeds": read_speeds,
        "kept": read_kept,
        "templates": read_templates,
    }
    return readers[study.reading](cost, scores)


def words_of(cost: Budget, scores: dict[str, Scores]) -> list[Film]:
    """Return the films of all trials."""
    return [
        Film(f"{trial.words}, {words}", Markup(drawing))
        for trial in cost.trials
        for words, drawing in scores[trial.name]["films"].items()
    ]


def _scaling(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Make the table of errors, and curves over the size of data for each scenario."""
    outcome = error_table(cost, scores)
    plots = []
    for scenario in dict.fromkeys(trial.data[0] for trial in cost.trials):
        some = [trial for trial in cost.trials if trial.data[0] == scenario]
        plots += [
            (f"{scenario}, {words}", Markup(_curves(some, scores, words)))
            for words, _ in some[0].tests
        ]
        for line in _trend(scenario, some, scores):
            outcome.lines.append(line)
    found = outcome.lines[len(cost.trials) :]
    outcome.sections.append(Section("Over the number of videos", found, plots=plots))
    return outcome


def _curves(trials: Sequence[Trial], scores: dict[str, Scores], words: str) -> str:
    """Draw a curve for each network."""
    kinds = ("curve truth", "curve nearest-case", "curve constant-velocity")
    networks = list(dict.fromkeys(trial.network for trial in trials))
    curves = []
    for network, kind in zip(networks, kinds, strict=False):
        own = [trial for trial in trials if trial.network == network]
        x = np.log10([trial.videos or np.nan for trial in own])
        y = np.array([value_of(scores[trial.name], words) for trial in own])
        curves.append(Curve(network, x, y, kind))
    x, y = (np.concatenate([getattr(curve, axis) for curve in curves]) for axis in "xy")
    points = Points("a network", x, y, np.zeros(len(x), bool))
    return scatter(
        points, curves, x_label="videos, powers of ten", y_label=f"velocity error, {UNIT}"
    )


def _trend(scenario: str, trials: Sequence[Trial], scores: dict[str, Scores]) -> list[str]:
    """Say how errors change from least to most, and how far apart in and out of range are."""
    inside, outside = (words for words, _ in trials[0].tests)
    first, last = trials[0], trials[-1]
    ins = [value_of(scores[trial.name], inside) for trial in (first, last)]
    outs = [value_of(scores[trial.name], outside) for trial in (first, last)]
    return [
        f"{scenario}, from {first.network} with {first.videos:,} videos to {last.network} with "
        f"{last.videos:,}: {inside} {ins[0]:.3f} → {ins[1]:.3f} ({ins[0] / ins[1]:.1f}× less), "
        f"{outside} {outs[0]:.3f} → {outs[1]:.3f} ({outs[0] / outs[1]:.1f}× less); at the end "
        f"{outside} is {outs[1] / ins[1]:.1f}× {inside}."
    ]
