"""Map over inputs in processes of this machine, any of which may be killed.

The standard process pool fails as a whole when one process is killed (by the kernel, say, when memory
runs out) and cannot tell which input it was working on. Here every worker has a pipe of its own and
one input at a time, so that another worker can try that input again. pebble's pool also survives
deaths, but sends the function with every input and has no retries.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from sightline.errors import SightlineError
from sightline.runtime.parallel import RETRIES, STOP_TIMEOUT, AbortMap, MapResult, attempt

T = TypeVar("T")
R = TypeVar("R")


@dataclass(slots=True)
class _Try(Generic[T]):
    """An input and how many workers died while working on it."""

    item: T
    deaths: int = 0


@dataclass(slots=True)
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    job: _Try[T] | None = None


def map_in_processes(
    function: Callable[[T], R],
    inputs: Sequence[T],
    *,
    workers: int = 1,
    retries: int = RETRIES,
) -> Generator[MapResult[T, R], None, None]:
    """Call `function` on every input in `workers` processes; see `parallel.map_inputs`."""
    waiting = deque(_Try(item) for item in inputs)
    pool: list[_Worker[T]] = []
    leaving: list[_Worker[T]] = []
    deaths, too_many = 0, (retries + 1) * (workers + 2)
    try:
        pool.extend(_start(function, waiting.popleft()) for _ in range(min(workers, len(waiting))))
        while pool:
            for pipe in wait([worker.pipe for worker in pool]):
                worker = next(w for w in pool if w.pipe is pipe)
                answer, alive = _listen(worker, waiting, retries)
                deaths = 0 if alive else deaths + 1
                if deaths == too_many:
                    raise SightlineError(
                        f"{deaths} worker processes in a row were ended from outside; "
                        "is memory short? use fewer --workers"
                    )
                if not (alive and _give_next(worker, waiting)):
                    pool.remove(worker)
                    if alive:
                        worker.pipe.close()
                        leaving.append(worker)
                    elif waiting:
                        pool.append(_start(function, waiting.popleft()))
                if answer is not None:
                    yield answer
    finally:
        _stop(pool, leaving)


def _start(function: Callable[[T], Any], job: _Try[T]) -> _Worker[T]:
    # Spawned, not forked: a fork copies locks that another thread (of OpenVINO, say) may hold.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    # As bytes, so that the worker handles signals before it imports what the function needs.
    process = context.Process(target=_serve, args=(there, pickle.dumps(function)), daemon=True)
    _start_process(process)
    there.close()  # so that the worker's death closes the pipe
    worker = _Worker[T](process, here)
    _give(worker, job)
    return worker


def _start_process(process: BaseProcess) -> None:
    """Start a process to the end, even if Ctrl-C or SIGTERM arrives meanwhile.

    A process that is started halfway prints a traceback, and so does one that gets Ctrl-C before it
    ignores it. Python runs signal handlers in the main thread only, so another thread starts the
    process; SIGINT is blocked in that thread, which the process inherits until `_serve` unblocks it.
    """
    resource_tracker.ensure_running()  # starting it would unblock signals

    ended = threading.Event()
    failure: list[BaseException] = []

    def start() -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        except BaseException as error:  # raised below, in the caller's thread
            failure.append(error)
        ended.set()

    try:
        threading.Thread(target=start, daemon=True).start()
        ended.wait()
    except BaseException:
        if ended.wait(STOP_TIMEOUT) and not failure:
            process.terminate()
        raise
    if failure:
        raise failure[0]


def _give_next(worker: _Worker[T], waiting: deque[_Try[T]]) -> bool:
    if waiting:
        _give(worker, waiting.popleft())
    return worker.job is not None


def _give(worker: _Worker[T], job: _Try[T]) -> None:
    worker.job = job
    with suppress(OSError):  # when its end of the pipe is closed, the next `_listen` finds it dead
        worker.pipe.send(job.item)


def _listen(
    worker: _Worker[T], waiting: deque[_Try[T]], retries: int
) -> tuple[MapResult[T, Any] | None, bool]:
    """Receive from a worker: (result if there is one, whether the worker is alive)."""
    job, worker.job = worker.job, None
    try:
        message: MapResult[T, Any] | AbortMap = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        worker.pipe.close()
        return _after_death(worker.process.exitcode or 0, job, waiting, retries), False
    if isinstance(message, AbortMap):
        raise message.error
    return message, True


def _after_death(
    code: int, job: _Try[T] | None, waiting: deque[_Try[T]], retries: int
) -> MapResult[T, Any] | None:
    """Put the dead worker's input back at the front; after too many deaths, report a failure."""
    if job is None:
        return None
    job.deaths += 1
    if job.deaths <= retries:
        waiting.appendleft(job)
        return None
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    hint = "; is memory short? use fewer --workers" if -code == signal.SIGKILL else ""
    reason = f"{job.item}: {job.deaths} worker processes were ended over it, the last {how}{hint}"
    return MapResult(job.item, failure=SightlineError(reason))


def _stop(busy: Sequence[_Worker[T]], leaving: Sequence[_Worker[T]]) -> None:
    """Stop all workers; busy ones get SIGTERM, on which they remove partly written files."""
    for worker in busy:
        worker.pipe.close()
        worker.process.terminate()
    for worker in (*busy, *leaving):
        worker.process.join(STOP_TIMEOUT)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _serve(pipe: Connection, function: bytes) -> None:
    """Run a worker process: answer inputs until the pipe closes."""
    # Ctrl-C reaches every process of the terminal; the parent decides what to do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    call: Callable[[Any], Any] = pickle.loads(function)
    with suppress(EOFError, OSError):  # the pipe is closed: there is nobody to work for
        while True:
            pipe.send(attempt(call, pipe.recv()))


def _leave(*_: object) -> None:
    """End this worker process by an exception, which removes files that are being written."""
    # Native libraries that cannot pass the exception on print it instead.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(1)
