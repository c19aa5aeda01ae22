"""One trainer for all networks: resume, EMA, precision, accumulation, several processes, logs.

A `TrainingTask` defines what is trained: network, batches, loss, validation and export. Depth networks,
codebooks, vision-language models, video models and codecs are tasks of the same `Trainer`.

>>> from sightline.training import TrainConfig
>>> TrainConfig(steps=100, accumulate=2).precision
'float32'
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "Distributed",
    "ExponentialMovingAverage",
    "JsonlLog",
    "Shard",
    "TrainConfig",
    "Trainer",
    "TrainingStopped",
    "TrainingTask",
    "cosine_rate",
    "join_processes",
    "load_checkpoint",
    "open_sources",
    "read_toml",
    "stop_on_signals",
    "trapezoid_rate",
]

if TYPE_CHECKING:
    from sightline.training.checkpoint import load_checkpoint
    from sightline.training.config import TrainConfig, read_toml
    from sightline.training.data.sources import open_sources
    from sightline.training.distributed import Distributed, Shard, join_processes
    from sightline.training.ema import ExponentialMovingAverage
    from sightline.training.logging import JsonlLog
    from sightline.training.schedules import cosine_rate, trapezoid_rate
    from sightline.training.signals import stop_on_signals
    from sightline.training.trainer import Trainer, TrainingStopped, TrainingTask

_MODULES = {
    "Distributed": "distributed",
    "ExponentialMovingAverage": "ema",
    "JsonlLog": "logging",
    "Shard": "distributed",
    "TrainingTask": "trainer",
    "TrainConfig": "config",
    "Trainer": "trainer",
    "TrainingStopped": "trainer",
    "cosine_rate": "schedules",
    "join_processes": "distributed",
    "load_checkpoint": "checkpoint",
    "open_sources": "data.sources",
    "read_toml": "config",
    "stop_on_signals": "signals",
    "trapezoid_rate": "schedules",
}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use, so that configurations can be read without torch."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
