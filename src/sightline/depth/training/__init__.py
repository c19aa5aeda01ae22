"""Train depth networks: a teacher, a student of its pseudo-labels, a metric model.

>>> from sightline.depth.training import StudentTrainConfig, train_student
>>> train_student("run", StudentTrainConfig(steps=2000), photos="photos", labels=["labels"])
... # doctest: +SKIP
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = [
    "DepthTrainConfig",
    "DepthTrainingTask",
    "MetricTrainConfig",
    "StudentTrainConfig",
    "average_models",
    "train_depth",
    "train_metric",
    "train_student",
    "train_teacher",
]

if TYPE_CHECKING:
    from sightline.depth.training.config import (
        DepthTrainConfig,
        MetricTrainConfig,
        StudentTrainConfig,
    )
    from sightline.depth.training.task import (
        DepthTrainingTask,
        train_depth,
        train_metric,
        train_student,
        train_teacher,
    )
    from sightline.depth.training.weights import average_models

_CONFIGS = ("DepthTrainConfig", "MetricTrainConfig", "StudentTrainConfig")


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import on first use, so that the command line reads configurations without torch."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    module = "config" if name in _CONFIGS else "weights" if name == "average_models" else "task"
    return getattr(importlib.import_module(f"{__name__}.{module}"), name)
