"""A function over many inputs, in several processes that may be killed.

The standard process pool gives up as a whole when one process is killed (by the kernel, say, when
memory runs out) and cannot say which input it was working on. Here every worker has its own pipe and
one input at a time: a death costs nothing but time, since another worker tries that input again.
`cluster.run_on_ray` does the same on many machines; both take the same functions.

The function is sent to each worker once and stays there, so an object with `__call__` may load what
it needs at its first call and keep it. It must do the same whenever it is called with the same input.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Generic, TypeVar

from sightline.errors import SightlineError, explained

T = TypeVar("T")
R = TypeVar("R")

#: How often an input is tried again after its worker was killed.
RETRIES = 2

#: How long a worker that was told to stop may take to end what it is doing, in [s].
PATIENCE = 20.0


@dataclass(frozen=True, slots=True)
class Answer(Generic[T, R]):
    """What became of one input.

    Attributes:
        item: the input.
        result: what the function gave; None after a failure.
        failure: why there is no result.
    """

    item: T
    result: R | None = None
    failure: SightlineError | None = None


class EndOfRun(Exception):
    """Raised by a function when no other input can fare better: a full disk, say.

    The run ends and its caller gets `error`.
    """

    def __init__(self, error: SightlineError) -> None:
        super().__init__(error)
        self.error = error


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def attempt(function: Callable[[T], R], item: T) -> Answer[T, R] | EndOfRun:
    """Call the function; whatever goes wrong is returned, never raised. `str(item)` names the input."""
    try:
        return Answer(item, function(item))
    except EndOfRun as end:
        return end
    except Exception as error:  # one bad input must not end the run
        return Answer(item, failure=explained(error, str(item)))


@dataclass(slots=True)
class _Try(Generic[T]):
    """An input and how many workers have died of it."""

    item: T
    deaths: int = 0


@dataclass(slots=True)
class _Worker(Generic[T]):
    process: BaseProcess
    pipe: Connection
    job: _Try[T] | None = None


def run_in_processes(
    function: Callable[[T], R],
    inputs: Sequence[T],
    *,
    workers: int = 1,
    retries: int = RETRIES,
) -> Generator[Answer[T, R], None, None]:
    """Call `function` on every input in `workers` processes; yield answers in the order they come.

    An exception is an answer with a failure, and is not tried again. Stopping early (`close()`) or
    Ctrl-C ends the workers; they remove what they were writing.

    Args:
        function: can be pickled; takes one input.
        inputs: can be pickled.
        workers: processes, at most one per input.
        retries: how often an input is given to another worker after one was killed over it.

    Raises:
        SightlineError: the error of an `EndOfRun`, or when workers only ever die.
    """
    waiting = deque(_Try(item) for item in inputs)
    crew: list[_Worker[T]] = []
    leaving: list[_Worker[T]] = []
    deaths, too_many = 0, (retries + 1) * (workers + 2)
    try:
        crew.extend(_start(function, waiting.popleft()) for _ in range(min(workers, len(waiting))))
        while crew:
            for pipe in wait([worker.pipe for worker in crew]):
                worker = next(w for w in crew if w.pipe is pipe)
                answer, alive = _listen(worker, waiting, retries)
                deaths = 0 if alive else deaths + 1
                if deaths == too_many:
                    raise SightlineError(
                        f"{deaths} worker processes in a row were ended from outside; "
                        "is memory short? use fewer --workers"
                    )
                if not (alive and _give_next(worker, waiting)):
                    crew.remove(worker)
                    if alive:
                        worker.pipe.close()
                        leaving.append(worker)
                    elif waiting:
                        crew.append(_start(function, waiting.popleft()))
                if answer is not None:
                    yield answer
    finally:
        _dismiss(crew, leaving)


def _start(function: Callable[[T], Any], job: _Try[T]) -> _Worker[T]:
    # Spawned, not forked: a fork copies locks that another thread (of OpenVINO, say) may hold.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    # As bytes, so that the worker minds signals before it imports what the function needs.
    process = context.Process(target=_serve, args=(there, pickle.dumps(function)), daemon=True)
    resource_tracker.ensure_running()  # it would unblock signals when it is started
    with _undisturbed():
        process.start()
    there.close()  # so that the worker's death closes the pipe
    worker = _Worker[T](process, here)
    _give(worker, job)
    return worker


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C and a polite kill wait until the block is done; one may start a process in it.

    A process that was only half started would print a traceback, and so would one that gets a Ctrl-C
    before it minds signals. So it inherits that SIGINT is blocked, until `_serve` unblocks it.
    """
    late: list[int] = []
    before = {}
    if threading.current_thread() is threading.main_thread():  # where Python acts on signals
        before = {sign: signal.getsignal(sign) for sign in (signal.SIGINT, signal.SIGTERM)}
        before = {sign: handler for sign, handler in before.items() if handler is not None}
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    for sign in before:
        signal.signal(sign, lambda number, _: late.append(number))
    try:
        yield
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        for number in late:
            signal.raise_signal(number)


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
) -> tuple[Answer[T, Any] | None, bool]:
    """Take a worker's message: (answer if there is one, whether it still lives)."""
    job, worker.job = worker.job, None
    try:
        message: Answer[T, Any] | EndOfRun = worker.pipe.recv()
    except (EOFError, OSError):
        worker.process.join()
        worker.pipe.close()
        return _after_death(worker.process.exitcode or 0, job, waiting, retries), False
    if isinstance(message, EndOfRun):
        raise message.error
    return message, True


def _after_death(
    code: int, job: _Try[T] | None, waiting: deque[_Try[T]], retries: int
) -> Answer[T, Any] | None:
    """Put the dead worker's input back at the front; after too many deaths, answer for it."""
    if job is None:
        return None
    job.deaths += 1
    if job.deaths <= retries:
        waiting.appendleft(job)
        return None
    how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
    hint = "; is memory short? use fewer --workers" if -code == signal.SIGKILL else ""
    reason = f"{job.item}: {job.deaths} worker processes were ended over it, the last {how}{hint}"
    return Answer(job.item, failure=SightlineError(reason))


def _dismiss(busy: Sequence[_Worker[T]], leaving: Sequence[_Worker[T]]) -> None:
    """End all workers; busy ones get a signal that lets them remove what they were writing."""
    for worker in busy:
        worker.pipe.close()
        worker.process.terminate()
    for worker in (*busy, *leaving):
        worker.process.join(PATIENCE)
        if worker.process.is_alive():
            worker.process.kill()
            worker.process.join()


def _serve(pipe: Connection, function: bytes) -> None:
    """Work until the pipe closes: the life of a worker process."""
    # Ctrl-C reaches every process of the terminal; the parent decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    call: Callable[[Any], Any] = pickle.loads(function)
    with suppress(EOFError, OSError):  # the pipe is closed: there is nobody to work for
        while True:
            pipe.send(attempt(call, pipe.recv()))


def _leave(*_: object) -> None:
    """End by an exception, which runs the clean-up of files that are being written."""
    # Libraries that cannot raise it from where they are print it instead.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    sys.exit(1)
