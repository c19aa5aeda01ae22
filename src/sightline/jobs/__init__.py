"""Batch processing of files: find the inputs, name the outputs, do the work, record what is done.

* `options`: settings of a batch
* `naming`: output files of each input, assigned before any work starts
* `manifest`: record of finished work, for `--resume`
* `task`: the interface of the work: `read`, `compute`, `write`
* `depth`, `metric`, `labels`: the tasks
* `runner`: run a task in this process (`pipeline`), in several, or on a Ray cluster
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.jobs.depth import DepthTask
    from sightline.jobs.labels import LabelTask
    from sightline.jobs.metric import MetricTask
    from sightline.jobs.naming import BatchJob
    from sightline.jobs.options import BatchConfig
    from sightline.jobs.runner import run
    from sightline.jobs.task import BatchOutcome, BatchTask

__all__ = [
    "BatchConfig",
    "BatchJob",
    "BatchOutcome",
    "BatchTask",
    "DepthTask",
    "LabelTask",
    "MetricTask",
    "run",
]


__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "BatchConfig": "options",
        "BatchTask": "task",
        "DepthTask": "depth",
        "BatchJob": "naming",
        "LabelTask": "labels",
        "MetricTask": "metric",
        "BatchOutcome": "task",
        "run": "runner",
    },
)
