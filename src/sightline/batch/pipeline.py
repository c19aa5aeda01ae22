"""Many files in this process: decode the next and encode the last while the network runs.

Decoding and encoding release the interpreter lock, so threads are enough. At most one picture is being
read ahead and two are being written, which bounds the memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec

from sightline.batch import work
from sightline.batch.naming import Job
from sightline.batch.options import DepthOptions
from sightline.batch.outcome import Outcome, failed
from sightline.depth.estimator import DepthEstimator

WRITERS = 2

P = ParamSpec("P")


def run_here(
    jobs: Sequence[Job],
    estimator: DepthEstimator,
    options: DepthOptions,
    on_frame: work.OnFrame | None = None,
    on_late: Callable[[Outcome], None] | None = None,
) -> Generator[Outcome, None, None]:
    """Do the jobs one after the other with their stages overlapping; yield outcomes in their order.

    When the caller stops early (`close()`), or at Ctrl-C, what is being written is finished and what
    has not begun is dropped; since nothing can be yielded any more, `on_late` is told of the former.
    `on_frame` is told of the progress inside videos.
    """
    reader, writers = ThreadPoolExecutor(1, "read"), ThreadPoolExecutor(WRITERS, "write")
    written: deque[Future[Outcome]] = deque()
    try:
        for job, step in _read_ahead(jobs, reader, options):
            if step is None:
                done = guarded(job, work.process_video, job, estimator, options, on_frame)
                written.append(_now(done))
            else:
                written.append(_start_writing(job, step, writers, estimator, options))
            while written and (len(written) > WRITERS or written[0].done()):
                yield written.popleft().result()
        while written:
            yield written.popleft().result()
    finally:
        for pool in (reader, writers):
            pool.shutdown(wait=True, cancel_futures=True)
        for late in written:
            if on_late is not None and not late.cancelled():
                on_late(late.result())


def _read_ahead(
    jobs: Sequence[Job], reader: ThreadPoolExecutor, options: DepthOptions
) -> Iterator[tuple[Job, Future[work.Decoded] | None]]:
    """Yield every job with its picture to come (a video has none), the next being read meanwhile."""

    def begin(job: Job) -> tuple[Job, Future[work.Decoded] | None]:
        return job, None if job.is_video else reader.submit(work.read, job, options)

    ahead: deque[tuple[Job, Future[work.Decoded] | None]] = deque()
    for job in jobs:
        ahead.append(begin(job))
        if len(ahead) > 1:
            yield ahead.popleft()
    yield from ahead


def _start_writing(
    job: Job,
    step: Future[work.Decoded],
    writers: ThreadPoolExecutor,
    estimator: DepthEstimator,
    options: DepthOptions,
) -> Future[Outcome]:
    """Run the network on one job here and hand the result to the writers."""
    try:
        estimated = work.estimate(step.result(), estimator, options)
    except Exception as error:  # one bad file must not end the batch
        return _now(failed(job, error))
    return writers.submit(guarded, job, work.write, estimated, options)


def guarded(job: Job, call: Callable[P, Outcome], *args: P.args, **named: P.kwargs) -> Outcome:
    """Return what `call` gives, or the failure that it ends with."""
    try:
        return call(*args, **named)
    except Exception as error:  # one bad file must not end the batch
        return failed(job, error)


def _now(outcome: Outcome) -> Future[Outcome]:
    future: Future[Outcome] = Future()
    future.set_result(outcome)
    return future
