"""Read the study of combinations: the columns of the paper's Table 2, in template and out of it."""

from __future__ import annotations

from typing import Any

from sightline.video_model.page import Section
from sightline.video_model.study.outcome import Outcome, Scores
from sightline.video_model.study.parts import Budget

#: Columns by the name of their figure, and how a figure is written.
COLUMNS = {
    "fvd": ("FVD", ".1f"),
    "ssim": ("SSIM", ".3f"),
    "psnr": ("PSNR, dB", ".1f"),
    "lpips": ("LPIPS", ".3f"),
}

#: What needs no network, by the name of its figures.
YARDSTICKS = {"coded": "true videos, only coded", "still": "the given frame again and again"}

WORDS = (
    "Frames after the given one beside the true ones: SSIM and PSNR are higher, LPIPS is lower where "
    "they are nearer. FVD compares the sets of whole videos, lower is nearer; with fewer than 500 "
    "videos it comes out too high. The paper's rate of abnormal videos is a judgement of ten people; "
    "our rules for it know moving balls, not bars, jars and sticks, so there is none here."
)


def read_templates(cost: Budget, scores: dict[str, Scores]) -> Outcome:
    """Compare pictures."""
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
    return Outcome([Section("In template and out of it", notes, header, rows)], lines)


def _yardsticks(cost: Budget, scores: dict[str, Scores], tests: list[str]) -> list[list[str]]:
    """Return rows of what needs no network: true videos only coded, and the given frame again.

    They are those of the last trial, whose tests in template have the most templates.
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
