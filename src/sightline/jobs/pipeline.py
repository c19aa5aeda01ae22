"""Process many files in this process: decode the next and encode the last while the network runs.

Decoding and encoding release the interpreter lock, so threads are enough. At most one image is read
ahead and two are being written, which bounds the memory.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from sightline.jobs.naming import BatchJob
from sightline.jobs.task import BatchOutcome, BatchTask, failed
from sightline.runtime.parallel import AbortMap

WRITERS = 2

#: Something and the seconds spent on it so far.
_Timed = tuple[Any, float]


def process(task: BatchTask[Any, Any], job: BatchJob) -> BatchOutcome:
    """Do one job from beginning to end; a failure is an outcome.

    Raises:
        AbortMap: no other job can succeed.
    """
    if job.is_video:
        return _guarded(job, lambda: task.process_video(job))

    def stages() -> BatchOutcome:
        data = task.read(job)
        return task.write(job, data, task.compute(job, data))

    return _guarded(job, stages)


def run_pipeline(
    task: BatchTask[Any, Any],
    jobs: Sequence[BatchJob],
    on_late: Callable[[BatchOutcome], None] | None = None,
) -> Generator[BatchOutcome, None, None]:
    """Do the jobs one after the other with their stages overlapping; yield outcomes in their order.

    If the caller stops early (`close()`), or at Ctrl-C, files that are being written are finished and
    jobs that have not begun are dropped; the former are reported to `on_late`.

    Args:
        task: an opened task.
        jobs: the jobs.
        on_late: called with outcomes that can no longer be yielded.

    Raises:
        SightlineError: the error of an `AbortMap`.
    """
    reader, writers = ThreadPoolExecutor(1, "read"), ThreadPoolExecutor(WRITERS, "write")
    written: deque[Future[BatchOutcome]] = deque()
    try:
        for job, step in _read_ahead(task, jobs, reader):
            written.append(_continue(task, job, step, writers))
            while written and (len(written) > WRITERS or written[0].done()):
                yield written.popleft().result()
        while written:
            yield written.popleft().result()
    except AbortMap as end:
        raise end.error from end
    finally:
        for pool in (reader, writers):
            pool.shutdown(wait=True, cancel_futures=True)
        for late in written:
            if on_late is not None and not late.cancelled():
                with suppress(AbortMap):
                    on_late(late.result())


def _read_ahead(
    task: BatchTask[Any, Any], jobs: Sequence[BatchJob], reader: ThreadPoolExecutor
) -> Iterator[tuple[BatchJob, Future[_Timed] | None]]:
    """Yield each job with its future data (None for a video) while the next one is being read."""
    ahead: deque[tuple[BatchJob, Future[_Timed] | None]] = deque()
    for job in jobs:
        step = None if job.is_video else reader.submit(_timed, task.read, job)
        ahead.append((job, step))
        if len(ahead) > 1:
            yield ahead.popleft()
    yield from ahead


def _continue(
    task: BatchTask[Any, Any],
    job: BatchJob,
    step: Future[_Timed] | None,
    writers: ThreadPoolExecutor,
) -> Future[BatchOutcome]:
    """Run the network on one job here and give the result to the writers."""
    if step is None:
        return _finished(_guarded(job, lambda: task.process_video(job)))
    try:
        data, reading = step.result()
        result, computing = _timed(task.compute, job, data)
    except AbortMap:
        raise
    except Exception as error:  # one invalid file must not end the batch
        return _finished(failed(job, error))
    before = reading + computing
    return writers.submit(_guarded, job, lambda: task.write(job, data, result), before)


def _guarded(job: BatchJob, call: Callable[[], BatchOutcome], before: float = 0.0) -> BatchOutcome:
    """Return the outcome of `call`, or its failure; `before` is the time already spent in [s]."""
    try:
        outcome, seconds = _timed(call)
    except AbortMap:
        raise
    except Exception as error:  # one invalid file must not end the batch
        return failed(job, error, before)
    return replace(outcome, seconds=before + seconds)


def _timed(call: Callable[..., Any], *args: Any) -> _Timed:
    start = time.perf_counter()
    result = call(*args)
    return result, time.perf_counter() - start


def _finished(outcome: BatchOutcome) -> Future[BatchOutcome]:
    future: Future[BatchOutcome] = Future()
    future.set_result(outcome)
    return future
