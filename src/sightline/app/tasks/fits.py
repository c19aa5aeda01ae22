"""The fit behind a map of metres as a file, so that later measurements know its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sightline.files.atomic import atomic_path
from sightline.metric.estimate import Metres
from sightline.metric.head.fit import MetricFit

_NAME = "fit.npz"
_NUMBERS = ("scale", "shift", "scale_sigma", "shift_sigma", "widened", "focal_sigma")
_ARRAYS = ("span", "logs", "variants")


def write_fit(folder: Path, metres: Metres) -> None:
    """Write what `measure_between` needs of a fit; its clues are in the JSON beside it."""
    arrays = {name: np.asarray(getattr(metres.fit, name)) for name in (*_NUMBERS, *_ARRAYS)}
    with atomic_path(folder / _NAME) as temporary:
        np.savez(temporary, **arrays)  # type: ignore[arg-type]  # numpy takes them for options


def read_fit(folder: Path) -> MetricFit:
    """Read it back."""
    with np.load(folder / _NAME, allow_pickle=False) as file:
        stored: dict[str, Any] = {name: float(file[name]) for name in _NUMBERS}
        stored |= {name: file[name] for name in _ARRAYS}
    return MetricFit(**stored, clues=())
