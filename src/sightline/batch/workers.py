"""Many files in several processes, each with its own network.

The standard process pool gives up as a whole when one process is killed (by the kernel, say, when
memory runs out) and cannot say which file it was working on. Here every worker has its own pipe and
one job at a time, so a death is one failed file, and a new worker takes its place.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from sightline.batch.naming import Job
from sightline.batch.options import DepthOptions
from sightline.batch.outcome import Outcome, explained, failed
from sightline.errors import SightlineError

#: How long a worker that was told to stop may take to end the network call that it is in, in [s].
PATIENCE = 20.0


@dataclass(slots=True)
class _Worker:
    process: BaseProcess
    pipe: Connection
    job: Job | None = None
    ready: bool = False


def run_workers(jobs: Sequence[Job], options: DepthOptions) -> Generator[Outcome, None, None]:
    """Do the jobs in `options.workers` processes; yield outcomes as they come.

    The threads are shared out evenly. Stopping early (`close()`) or Ctrl-C ends the workers; they
    remove what they were writing.
    """
    count = min(options.workers, len(jobs))
    threads = max(1, (options.threads or available_cores()) // count)
    waiting = deque(jobs)
    crew: list[_Worker] = []
    leaving: list[_Worker] = []
    try:
        crew.extend(_start(options, threads) for _ in range(count))
        while crew:
            for pipe in wait([worker.pipe for worker in crew]):
                worker = next(w for w in crew if w.pipe is pipe)
                outcome, alive = _listen(worker)
                if not alive:
                    crew.remove(worker)
                    # One that died while it loaded the model is not replaced: so would the next.
                    if worker.ready and waiting:
                        crew.append(_start(options, threads))
                elif not _give_next(worker, waiting):
                    worker.pipe.close()
                    crew.remove(worker)
                    leaving.append(worker)
                if outcome is not None:
                    yield outcome
        if waiting:
            raise SightlineError(
                "every worker process ended while it loaded the model; "
                "is memory short? use fewer --workers"
            )
    finally:
        _dismiss(crew, leaving)


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _start(options: DepthOptions, threads: int) -> _Worker:
    # Spawned, not forked: a fork copies locks that another thread (of OpenVINO, say) may hold.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, options, threads), daemon=True)
    process.start()
    there.close()  # so that the worker's death closes the pipe
    return _Worker(process, here)


def _give_next(worker: _Worker, waiting: deque[Job]) -> bool:
    """Send the next job, if there is one; a worker found dead keeps it as its own failed job."""
    if not waiting:
        return False
    worker.job = waiting.popleft()
    with suppress(OSError):  # when its end of the pipe is closed, the next `_listen` finds it dead
        worker.pipe.send(worker.job)
    return True


def _listen(worker: _Worker) -> tuple[Outcome | None, bool]:
    """Take a worker's message: (outcome if it finished a job, whether it still lives)."""
    try:
        message: Any = worker.pipe.recv()
    except (EOFError, OSError):
        return _after_death(worker), False
    if isinstance(message, SightlineError):
        raise message
    worker.ready, worker.job = True, None
    return message, True


def _after_death(worker: _Worker) -> Outcome | None:
    """Return the failure of the job that a dead worker had, if it had one."""
    worker.process.join()
    worker.pipe.close()
    if worker.job is None:
        return None
    code = worker.process.exitcode or 0
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    hint = "; is memory short? use fewer --workers" if -code == signal.SIGKILL else ""
    reason = f"{worker.job.source}: its worker process was ended {how}{hint}"
    return failed(worker.job, SightlineError(reason))


def _dismiss(busy: Sequence[_Worker], leaving: Sequence[_Worker]) -> None:
    """End all workers; busy ones get a signal that lets them remove what they were writing."""
    for worker in busy:
        worker.pipe.close()
        worker.process.terminate()
    for worker in (*busy, *leaving):
        worker.process.join(PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _serve(pipe: Connection, options: DepthOptions, threads: int) -> None:
    """Work until the pipe closes: the life of a worker process."""
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # An exit by exception runs the clean-up of files that are being written.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    from sightline.batch import work
    from sightline.batch.pipeline import guarded

    with suppress(EOFError, OSError):  # the pipe is closed: there is nobody to work for
        try:
            estimator = work.load_estimator(options, threads)
        except Exception as error:  # goes to the parent, whatever it is
            pipe.send(explained(error, "the model could not be loaded"))
            return
        pipe.send(None)
        while True:
            job = pipe.recv()
            pipe.send(guarded(job, work.process, job, estimator, options))
