"""How studies are read: from scores to tables, plots and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from sightline.physics.probes import probe_of
from sightline.physics.probes.parts import Cells, Plane
from sightline.physics.types import Doubles
from sightline.report.plots import Area, Curve, Points, plane, scatter
from sightline.video_model.page import Film, Section
from sightline.video_model.study.parts import Budget, Study, Trial
from sightline.video_model.study.pull import centred, nearest_edges, pulled_share, slope_of

#: What `run` keeps of a trial.
Scores = dict[str, Any]

_UNIT = "units/s"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a study says.

    Attributes:
        sections: of the report.
        lines: for a terminal.
    """

    sections: list[Section]
    lines: list[str]


def read_study(study: Study, cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Read a study.

    Args:
        study: that was run.
        cost: its budget.
        scores: by trial.
    """
    readers = {
        "scaling": _scaling,
        "conditions": _errors,
        "plane": _plane,
        "speeds": _speeds,
        "kept": _kept,
        "templates": _templates,
    }
    return readers[study.reading](cost, scores)


def words_of(cost: Budget, scores: dict[str, Scores]) -> list[Film]:
    """Return the films of all trials."""
    return [
        Film(f"{trial.words}, {words}", Markup(drawing))
        for trial in cost.trials
        for words, drawing in scores[trial.name]["films"].items()
    ]


def _errors(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Make a row for each trial, with a column for each test."""
    tests = [words for words, _ in cost.trials[0].tests]
    header = ["", "weights", "loss", *tests, *(f"{words}, of the mean" for words in tests)]
    rows, lines = [], []
    for trial in cost.trials:
        found = scores[trial.name]
        cells = [_number(found["tests"][words]["velocity"]) for words in tests]
        means = [_number(found["tests"][words]["mean_velocity"]) for words in tests]
        rows.append(
            [trial.words, f"{found['parameters']:,}", f"{found['loss']:.3f}", *cells, *means]
        )
        pairs = zip(tests, cells, strict=True)
        lines.append(f"{trial.words}: " + ", ".join(f"{words} {cell}" for words, cell in pairs))
    words = (
        f"Velocity error in {_UNIT}: mean over videos of |v − v̂| after the given frames (for "
        "collisions after the impact); then the error of the velocity's mean over time."
    )
    return Outcome([Section("Velocity errors", [words], header, rows)], lines)


def _scaling(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Make the table of errors, and curves over the size of data for each scenario."""
    outcome = _errors(cost, scores)
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
        y = np.array([_value(scores[trial.name], words) for trial in own])
        curves.append(Curve(network, x, y, kind))
    x, y = (np.concatenate([getattr(curve, axis) for curve in curves]) for axis in "xy")
    points = Points("a network", x, y, np.zeros(len(x), bool))
    return scatter(
        points, curves, x_label="videos, powers of ten", y_label=f"velocity error, {_UNIT}"
    )


def _trend(scenario: str, trials: Sequence[Trial], scores: dict[str, Scores]) -> list[str]:
    """Say how errors change from least to most, and how far apart in and out of range are."""
    inside, outside = (words for words, _ in trials[0].tests)
    first, last = trials[0], trials[-1]
    ins = [_value(scores[trial.name], inside) for trial in (first, last)]
    outs = [_value(scores[trial.name], outside) for trial in (first, last)]
    return [
        f"{scenario}, from {first.network} with {first.videos:,} videos to {last.network} with "
        f"{last.videos:,}: {inside} {ins[0]:.3f} → {ins[1]:.3f} ({ins[0] / ins[1]:.1f}× less), "
        f"{outside} {outs[0]:.3f} → {outs[1]:.3f} ({outs[0] / outs[1]:.1f}× less); at the end "
        f"{outside} is {outs[1] / ins[1]:.1f}× {inside}."
    ]


def _plane(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Draw errors over the plane of both speeds."""
    outcome = _errors(cost, scores)
    plots = []
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        init, errors = np.array(found["init"]), _floats(found["errors"])
        assert isinstance(probe.train, Plane)
        area = Area("trained", rectangles=probe.train.inside, holes=probe.train.outside)
        points = Points("a video", init[:, 2], init[:, 3], np.zeros(len(init), bool))
        drawn = plane(
            *(points, errors),
            bounds=(0.2, 0.5, 1.0),
            unit=_UNIT,
            x_label="first speed, units/s",
            y_label="second speed, units/s",
            area=area,
        )
        plots.append((trial.words, Markup(drawn)))
    outcome.sections.append(Section("Over both speeds", plots=plots))
    return outcome


def _speeds(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Compare generated with true speed, and give the slope where nothing was trained."""
    outcome = _errors(cost, scores)
    rows, plots = [], []
    header = ["", "slope", "slope by edge", "nearer to the trained edge", "turned round", "videos"]
    for trial in cost.trials:
        probe = probe_of(trial.name)
        found = scores[trial.name]["tests"]["not seen"]
        true, made = np.array(found["init"])[:, 1], _floats(found["speeds"])
        good = np.isfinite(made)
        assert isinstance(probe.train, Cells)
        bands = [cell.speed for cell in probe.train.cells]
        edges = nearest_edges(true[good], bands)
        slope = slope_of(true[good], made[good])
        within = slope_of(centred(true[good], edges), centred(made[good], edges))
        pulled = pulled_share(true[good], made[good], edges)
        back = int((made[good] < 0).sum())
        count = int(good.sum())
        told = [f"{slope:.2f}", f"{within:.2f}", f"{pulled:.0%}", str(back)]
        shares = told if count > 1 else ["–"] * 4
        rows.append([trial.words, *shares, str(count)])
        outcome.lines.append(
            f"{trial.words}: slope of generated against true speed {shares[0]}, {shares[1]} among "
            f"those nearest to the same trained speed; {shares[2]} of {count} videos wrong towards "
            f"it, {shares[3]} turned round"
        )
        spans = sorted(set(bands))
        right = np.linspace(true.min(), true.max(), 33)  # a curve, for the axis is logarithmic
        drawn = scatter(
            Points("a video", true, np.abs(made), made < 0, "turned round"),
            [Curve("right", right, right, "curve truth")],
            x_label="true speed, units/s",
            y_label="generated speed, units/s",
            area=Area("trained", spans=spans),
        )
        plots.append((trial.words, Markup(drawn)))
    words = (
        "Slope 1: the speed that was shown is kept; slope 0: it plays no part. By edge: among videos "
        "nearest to the same trained speed, so that a leap from one to the next does not count. Nearer "
        "to the trained edge: share of videos whose error points to the nearest speed that was trained."
    )
    outcome.sections.append(Section("Generated against true speed", [words], header, rows, plots))
    return outcome


def _kept(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Count which attribute is kept."""
    outcome = _errors(cost, scores)
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


def _templates(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Compare pictures, in template and out of it."""
    tests = [words for words, _ in cost.trials[0].tests]
    header = [
        "",
        "weights",
        "loss",
        *(f"{words}, {m}" for words in tests for m in ("PSNR", "SSIM")),
    ]
    rows, lines = [], []
    for trial in cost.trials:
        found = scores[trial.name]
        cells = []
        for words in tests:
            figures = found["tests"][words]
            cells += [f"{figures['psnr']:.1f} dB", f"{figures['ssim']:.3f}"]
        rows.append([trial.words, f"{found['parameters']:,}", f"{found['loss']:.3f}", *cells])
        named = zip(header[3:], cells, strict=True)
        lines.append(f"{trial.words}: " + ", ".join(f"{name} {cell}" for name, cell in named))
    words = (
        "Frames after the given one beside the true ones, higher is nearer. LPIPS and FVD: sightline "
        "video sample, then sightline physics score --pictures."
    )
    return Outcome([Section("In template and out of it", [words], header, rows)], lines)


def conflict_counts(
    kept: Sequence[dict[str, bool]], attributes: tuple[str, str]
) -> tuple[int, int, int, int, int]:
    """Count videos that keep the first attribute alone, the second, both, neither, or say nothing."""
    first, second = attributes
    told = [(one[first], one[second]) for one in kept if one]
    pairs = ((True, False), (False, True), (True, True), (False, False))
    counts = [told.count(pair) for pair in pairs]
    return counts[0], counts[1], counts[2], counts[3], len(kept) - len(told)


def _value(score: Scores, words: str) -> float:
    value = score["tests"][words]["velocity"]
    return float("nan") if value is None else float(value)


def _floats(values: Sequence[float | None]) -> Doubles:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
