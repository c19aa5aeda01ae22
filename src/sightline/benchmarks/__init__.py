"""Benchmark sets, evaluation protocols and metrics for depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.benchmarks.comparison import DuelReport, duel
    from sightline.benchmarks.predictors import FolderPredictor, ModelPredictor, Predictor
    from sightline.benchmarks.protocol import Protocol
    from sightline.benchmarks.run import BenchmarkReport, evaluate
    from sightline.benchmarks.sets import SETS

__all__ = [
    "SETS",
    "BenchmarkReport",
    "DuelReport",
    "FolderPredictor",
    "ModelPredictor",
    "Predictor",
    "Protocol",
    "duel",
    "evaluate",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BenchmarkReport": "run",
        "DuelReport": "comparison",
        "FolderPredictor": "predictors",
        "ModelPredictor": "predictors",
        "Predictor": "predictors",
        "Protocol": "protocol",
        "SETS": "sets",
        "duel": "comparison",
        "evaluate": "run",
    },
)
