"""Run a batch: skip finished jobs, do the others in this process, in several, or on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

from sightline.config import ParallelConfig
from sightline.io.paths import AnyPath
from sightline.jobs.naming import BatchJob
from sightline.jobs.pipeline import process, run_pipeline
from sightline.jobs.task import BatchOutcome, BatchTask, Notify, OnProgress, failed
from sightline.runtime.parallel import WithModel, map_inputs, uses_workers, worker_threads


def run(
    task: BatchTask[Any, Any],
    jobs: Sequence[BatchJob],
    out: AnyPath,
    parallel: ParallelConfig | None = None,
    *,
    resume: bool = False,
    notify: Notify | None = None,
    on_progress: OnProgress | None = None,
) -> Generator[BatchOutcome, None, None]:
    """Do the jobs and yield an outcome for each: skipped jobs first, others as they end.

    A failed file is an outcome, not an exception: the caller decides whether to continue. A result is
    entered in the folder's record as planned before work starts, and as finished by the time its
    outcome is yielded, or shortly after.

    Args:
        task: the work.
        jobs: as returned by `task.prepare`.
        out: folder of the results.
        parallel: where to run. Default: in this process.
        resume: skip jobs that are finished.
        notify: called with a line of text before something takes long, such as a download.
        on_progress: called with the progress inside an input, if there is one worker.

    Raises:
        InputError: before any work, if the model or a setting cannot be used.
        SightlineError: no other job can succeed, for example because the disk is full.
    """
    record, settings = task.begin(jobs, out, notify)
    waiting = []
    for job in jobs:
        if resume and record.is_done(job, settings):
            yield BatchOutcome(job, skipped=True)
        else:
            waiting.append(job)
    if not waiting:
        return

    def note(outcome: BatchOutcome) -> None:
        if outcome.failure is None:
            record.finish(outcome.job)

    parallel = parallel or ParallelConfig()
    if uses_workers(parallel, len(waiting)):
        outcomes = _run_workers(task, waiting, parallel)
    else:
        task.on_progress = on_progress
        task.open(task.threads, notify)
        outcomes = run_pipeline(task, waiting, note)
    with record.working(waiting, settings), closing(outcomes):
        for outcome in outcomes:
            note(outcome)
            yield outcome


def _opened(task: BatchTask[Any, Any], threads: int | None) -> BatchTask[Any, Any]:
    task.open(threads)
    return task


def _run_workers(
    task: BatchTask[Any, Any], jobs: Sequence[BatchJob], parallel: ParallelConfig
) -> Generator[BatchOutcome, None, None]:
    """Do the jobs in several processes or on a cluster; yield outcomes as they come.

    On one machine the threads are divided among the workers. Stopping early (`close()`) or Ctrl-C
    ends the workers; they remove what they were writing.
    """
    originals: dict[BatchJob, BatchJob] = {}
    threads = worker_threads(parallel, len(jobs), task.threads)
    if parallel.cluster:
        originals = {job.absolute(): job for job in jobs}  # workers may run in another folder
        jobs = list(originals)
    answers = map_inputs(
        WithModel(partial(_opened, task, threads), process),
        jobs,
        workers=parallel.workers,
        cluster=parallel.cluster,
        address=parallel.address,
    )
    with closing(answers):
        for answer in answers:
            job = originals.get(answer.item, answer.item)
            if answer.failure is not None:
                yield failed(job, answer.failure)
            elif answer.result is not None:
                yield replace(answer.result, job=job)
