"""Analysis of studies: tables, plots and findings from the scores of trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from sightline.physics.probes import probe_of
from sightline.physics.probes.parts import Cells, Plane
from sightline.physics.types import Doubles
from sightline.reports.figures import (
    Curve,
    Scatter,
    ShadedRegion,
    plane_plot,
    scatter_plot,
    themed,
)
from sightline.video_model.page import FilmStripFigure, Section
from sightline.video_model.studies.catalog import Budget, Study, Trial

#: Scores of a trial, as written by `run`.
Scores = dict[str, Any]

UNIT = "units/s"


@dataclass(frozen=True, slots=True)
class StudyResult:
    """Result of a study.

    Attributes:
        sections: sections of the report.
        lines: findings for a terminal.
    """

    sections: list[Section]
    lines: list[str]


def error_table(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Build a table with a row per trial and a column per test."""
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
    return StudyResult([Section("Velocity errors", [words], header, rows)], lines)


def value_of(score: Scores, words: str) -> float:
    """Return the velocity error of a test, NaN if it could not be measured."""
    value = score["tests"][words]["velocity"]
    return float("nan") if value is None else float(value)


def floats_of(values: Sequence[float | None]) -> Doubles:
    """Return values as an array (N,), with NaN for None."""
    return np.array([np.nan if value is None else value for value in values], np.float64)


def number_of(value: float | None) -> str:
    """Format a table cell."""
    return "" if value is None else f"{value:.3f}"


def nearest_edges(true: Doubles, bands: Sequence[tuple[float, float]]) -> Doubles:
    """Return the trained speed nearest to each of (N,) speeds outside of all trained bands."""
    edges = np.unique([edge for band in bands for edge in band])
    return edges[np.abs(true[:, None] - edges).argmin(axis=1)]


def pulled_share(true: Doubles, made: Doubles, edges: Doubles) -> float:
    """Return the share of videos whose speed error points to the nearest trained speed.

    Args:
        true: (N,) true speeds.
        made: (N,) generated speeds.
        edges: (N,) of `nearest_edges`.
    """
    return float((np.sign(made - true) == np.sign(edges - true)).mean()) if len(true) else np.nan


def centered(speeds: Doubles, edges: Doubles) -> Doubles:
    """Subtract the mean over all speeds with the same nearest edge."""
    kinds, places = np.unique(edges, return_inverse=True)
    means = np.array([speeds[places == kind].mean() for kind in range(len(kinds))])
    return speeds - means[places] if len(speeds) else speeds


def slope_of(true: Doubles, made: Doubles) -> float:
    """Return the slope of generated against true speeds, both (N,); NaN if undefined."""
    return float(np.polyfit(true, made, 1)[0]) if len(true) > 1 and np.ptp(true) else float("nan")


def analyze_speed_plane(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Plot errors over the plane of both speeds."""
    outcome = error_table(cost, scores)
    plots = []
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        init, errors = np.array(found["init"]), floats_of(found["errors"])
        assert isinstance(probe.train, Plane)
        region = ShadedRegion("trained", rectangles=probe.train.inside, holes=probe.train.outside)
        points = Scatter("a video", init[:, 2], init[:, 3], np.zeros(len(init), bool))
        drawn = plane_plot(
            points,
            errors,
            bounds=(0.2, 0.5, 1.0),
            unit=UNIT,
            x_label="first speed, units/s",
            y_label="second speed, units/s",
            region=region,
        )
        plots.append((trial.words, Markup(themed(drawn))))
    outcome.sections.append(Section("Over both speeds", plots=plots))
    return outcome


def analyze_speeds(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Compare generated with true speeds outside of the trained bands."""
    outcome = error_table(cost, scores)
    rows, plots = [], []
    header = ["", "slope", "slope by edge", "nearer to the trained edge", "turned round", "videos"]
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        true, made = np.array(found["init"])[:, 1], floats_of(found["speeds"])
        good = np.isfinite(made)
        assert isinstance(probe.train, Cells)
        bands = [cell.speed for cell in probe.train.cells]
        edges = nearest_edges(true[good], bands)
        slope = slope_of(true[good], made[good])
        within = slope_of(centered(true[good], edges), centered(made[good], edges))
        pulled = pulled_share(true[good], made[good], edges)
        back = int((made[good] < 0).sum())
        count = int(good.sum())
        told = [f"{slope:.2f}", f"{within:.2f}", f"{pulled:.0%}", str(back)]
        shares = told if count > 1 else ["–"] * 4
        rows.append([trial.words, *shares, str(count)])
        outcome.lines.append(
            f"{trial.words}: slope of generated against true speed {shares[0]}, {shares[1]} among "
            f"those nearest to the same trained speed; {shares[2]} of {count} videos wrong toward "
            f"it, {shares[3]} turned round"
        )
        spans = sorted(set(bands))
        right = np.linspace(true.min(), true.max(), 33)  # a curve, for the axis is logarithmic
        drawn = scatter_plot(
            Scatter("a video", true, np.abs(made), made < 0, "turned round"),
            [Curve("right", right, right, "truth")],
            x_label="true speed, units/s",
            y_label="generated speed, units/s",
            region=ShadedRegion("trained", spans=spans),
        )
        plots.append((trial.words, Markup(themed(drawn))))
    words = (
        "Slope 1: the speed that was shown is kept; slope 0: it plays no part. By edge: among videos "
        "nearest to the same trained speed, so that a leap from one to the next does not count. Nearer "
        "to the trained edge: share of videos whose error points to the nearest speed that was trained."
    )
    outcome.sections.append(Section("Generated against true speed", [words], header, rows, plots))
    return outcome


def analyze_conflicts(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Count which attribute is kept when two are in conflict."""
    outcome = error_table(cost, scores)
    rows = []
    header = ["", "keeps", "only the first", "only the second", "both", "neither", "cannot be told"]
    for trial in cost.trials:
        probe = probe_of(trial.name)
        assert probe.attributes is not None
        found = scores[trial.name]["tests"]["not seen"]
        counts = conflict_counts(found["kept"], probe.attributes)
        coded = conflict_counts(found["coded"], probe.attributes)
        first, second = probe.attributes
        winner = (
            first if counts[0] > counts[1] else second if counts[1] > counts[0] else "undecided"
        )
        rows.append([f"{first} or {second} ({trial.words})", winner, *(str(c) for c in counts)])
        rows.append(["… true videos, only coded and decoded", "", *(str(c) for c in coded)])
        outcome.lines.append(
            f"{trial.words}: {winner} wins: only {first} kept in {counts[0]}, only {second} in "
            f"{counts[1]}, both in {counts[2]}, neither in {counts[3]}, not to be told in {counts[4]}; "
            f"the codec alone keeps both in {coded[2]} of {sum(coded)}"
        )
    words = (
        "At the end of a video each attribute is as the first frames showed it, or it is not. What the "
        "codec does not keep says nothing of the network."
    )
    outcome.sections.append(Section("Which attribute is kept", [words], header, rows))
    return outcome


def conflict_counts(
    kept: Sequence[dict[str, bool]], attributes: tuple[str, str]
) -> tuple[int, int, int, int, int]:
    """Count videos that keep the first attribute alone, the second, both, neither, or none known."""
    first, second = attributes
    told = [(one[first], one[second]) for one in kept if one]
    pairs = ((True, False), (False, True), (True, True), (False, False))
    counts = [told.count(pair) for pair in pairs]
    return counts[0], counts[1], counts[2], counts[3], len(kept) - len(told)


#: Columns by metric: title and number format.
COLUMNS = {
    "fvd": ("FVD", ".1f"),
    "ssim": ("SSIM", ".3f"),
    "psnr": ("PSNR, dB", ".1f"),
    "lpips": ("LPIPS", ".3f"),
}

#: Baselines by the name of their scores.
YARDSTICKS = {"coded": "true videos, only coded", "still": "the given frame again and again"}

WORDS = (
    "Frames after the given one beside the true ones: SSIM and PSNR are higher, LPIPS is lower where "
    "they are nearer. FVD compares the sets of whole videos, lower is nearer; with fewer than 500 "
    "videos it comes out too high. The paper's rate of abnormal videos is a judgment of ten people; "
    "our rules for it know moving balls, not bars, jars and sticks, so there is none here."
)


def analyze_templates(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Compare frames and videos in and out of template (Table 2 of the paper)."""
    tests = [words for words, _ in cost.trials[0].tests]
    header = ["", "weights", "loss"]
    header += [f"{words}, {title}" for words in tests for title, _ in COLUMNS.values()]
    rows, lines, missing = [], [], {}
    for trial in cost.trials:
        found = scores[trial.name]
        cells = []
        for words in tests:
            for name, (title, style) in COLUMNS.items():
                value = found["tests"][words].get(name)
                cells.append(_cell(value, style))
                if isinstance(value, dict):
                    missing[title] = f"{title}: {value['not_available']}; run {value['remedy']}"
        rows.append([trial.words, f"{found['parameters']:,}", f"{found['loss']:.3f}", *cells])
        named = zip(header[3:], cells, strict=True)
        lines.append(f"{trial.words}: " + ", ".join(f"{name} {cell}" for name, cell in named))
    rows += _yardsticks(cost, scores, tests)
    lines += [f"{row[0]}: " + ", ".join(row[3:]) for row in rows[len(cost.trials) :]]
    lines += missing.values()
    notes = [WORDS, *missing.values()]
    return StudyResult([Section("In template and out of it", notes, header, rows)], lines)


def _yardsticks(cost: Budget, scores: dict[str, Scores], tests: list[str]) -> list[list[str]]:
    """Return rows of baselines: encoded and decoded true videos, and the repeated given frame.

    They are those of the last trial, whose test in template covers the most templates.
    """
    found = scores[cost.trials[-1].name]["tests"]
    rows = []
    for key, title in YARDSTICKS.items():
        values = [found[words].get(key, {}) for words in tests]
        if any(values):
            cells = [_cell(v.get(n), style) for v in values for n, (_, style) in COLUMNS.items()]
            rows.append([f"{title} ({cost.trials[-1].words})", "", "", *cells])
    return rows


def _cell(value: float | dict[str, Any] | None, style: str) -> str:
    return "–" if value is None or isinstance(value, dict) else format(value, style)


def analyze_study(study: Study, cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Analyze a study.

    Args:
        study: study.
        cost: its budget.
        scores: scores by trial.
    """
    readers = {
        "scaling": _scaling,
        "conditions": error_table,
        "plane": analyze_speed_plane,
        "speeds": analyze_speeds,
        "kept": analyze_conflicts,
        "templates": analyze_templates,
    }
    return readers[study.reading](cost, scores)


def film_strips(cost: Budget, scores: dict[str, Scores]) -> list[FilmStripFigure]:
    """Return the film strips of all trials."""
    return [
        FilmStripFigure(f"{trial.words}, {words}", Markup(drawing))
        for trial in cost.trials
        for words, drawing in scores[trial.name]["films"].items()
    ]


def _scaling(cost: Budget, scores: dict[str, Scores]) -> StudyResult:
    """Add error curves over the number of videos for each scenario."""
    outcome = error_table(cost, scores)
    plots = []
    for scenario in dict.fromkeys(trial.data[0] for trial in cost.trials):
        some = [trial for trial in cost.trials if trial.data[0] == scenario]
        plots += [
            (f"{scenario}, {words}", Markup(themed(_curves(some, scores, words))))
            for words, _ in some[0].tests
        ]
        for line in _trend(scenario, some, scores):
            outcome.lines.append(line)
    found = outcome.lines[len(cost.trials) :]
    outcome.sections.append(Section("Over the number of videos", found, plots=plots))
    return outcome


def _curves(trials: Sequence[Trial], scores: dict[str, Scores], words: str) -> str:
    """Draw one curve per network."""
    kinds = ("truth", "nearest", "steady")
    networks = list(dict.fromkeys(trial.network for trial in trials))
    curves = []
    for network, kind in zip(networks, kinds, strict=False):
        own = [trial for trial in trials if trial.network == network]
        x = np.log10([trial.videos or np.nan for trial in own])
        y = np.array([value_of(scores[trial.name], words) for trial in own])
        curves.append(Curve(network, x, y, kind))
    x, y = (np.concatenate([getattr(curve, axis) for curve in curves]) for axis in "xy")
    points = Scatter("a network", x, y, np.zeros(len(x), bool))
    return scatter_plot(
        points, curves, x_label="videos, powers of ten", y_label=f"velocity error, {UNIT}"
    )


def _trend(scenario: str, trials: Sequence[Trial], scores: dict[str, Scores]) -> list[str]:
    """Summarize the change of errors with scale, in and out of range."""
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
