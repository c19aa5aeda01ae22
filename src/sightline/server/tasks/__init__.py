"""Jobs of the workers, one module per feature."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from sightline.errors import InputError
from sightline.server.worker import ProgressReporter, TaskResult, WorkerRequest

if TYPE_CHECKING:
    from sightline.server.models import LoadedModels

#: Module of each kind of job, its function, and the function that writes further formats.
_TASKS: dict[str, tuple[str, str, str | None]] = {
    "depth": ("depth", "run_depth", "convert_map"),
    "metric": ("metric", "run_metric", "convert_map"),
    "measure": ("metric", "run_measure", None),
    "ask": ("ask", "run_ask", None),
    "score": ("physics", "run_score", "convert_frames"),
    "world": ("physics", "run_world", "convert_frames"),
    "predict": ("physics", "run_predict", "convert_frames"),
}


def run_task(request: WorkerRequest, models: LoadedModels, report: ProgressReporter) -> TaskResult:
    """Run a job, or write its kept result in another format.

    Args:
        request: the job.
        models: models of the worker.
        report: receives the progress.
    """
    name, run, convert = _TASKS[request.kind]
    module = importlib.import_module(f"sightline.server.tasks.{name}")
    result = TaskResult((), {})
    if not request.convert:
        result = getattr(module, run)(request, models, report)
    if not request.path().is_file():
        if convert is None:
            raise InputError(f"this result is not available as {request.format}")
        getattr(module, convert)(request)
    return result
