"""`scores.json`: everything, for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.physics.folder import results_folder
from sightline.physics.laws import LAWS
from sightline.physics.pictures.fvd import Fvd
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score import sample, summary
from sightline.physics.score.run import Result

SCORES, REPORT = "scores.json", "report.html"


@contextmanager
def claimed(folder: Path, *, force: bool) -> Iterator[None]:
    """Make the folder for a score, which goes again if nothing was written to it.

    One that holds a score is refused unless forced.
    """
    there = [name for name in (SCORES, REPORT) if (folder / name).exists()]
    if there and not force:
        raise InputError(
            f"holds {there[0]} already", path=folder, remedy="choose another folder or add --force"
        )
    with results_folder(folder):
        yield


def record(result: Result) -> dict[str, Any]:
    """Return the whole score as plain values."""
    return {
        "provenance": result.provenance,
        "laws": [
            {"name": law.name, "unit": law.unit, "tolerance": law.tolerance, "says": law.says}
            for law in LAWS
        ],
        "summary": {
            who: {name: summary.to_json(one) for name, one in summary.summarise(scores).items()}
            for who, scores in result.scores.items()
        },
        "fvd": None if result.fvd is None else _distances(result.fvd),
        "samples": {
            who: [sample.to_json(score) for score in scores]
            for who, scores in result.scores.items()
        },
        "left_out": [{"name": name, "reason": why} for name, why in result.left_out],
        "samples_without_video": result.missing,
    }


def _distances(fvd: dict[str, Fvd | NotAvailable]) -> dict[str, Any]:
    """Return distances with the number of videos that they stand on, by predictor."""
    return {
        who: one.as_json() if isinstance(one, NotAvailable) else asdict(one)
        for who, one in fvd.items()
    }


def write_scores(folder: Path, result: Result) -> Path:
    """Write `scores.json` and return its path."""
    path = folder / SCORES
    write_text(path, json.dumps(record(result), ensure_ascii=False, allow_nan=False) + "\n")
    return path
