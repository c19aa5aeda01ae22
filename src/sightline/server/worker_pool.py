"""Pool of worker processes with a bounded queue, time and memory limits, cancellation and restarts.

A worker that crashes, exceeds its time or memory limit, or does not react to a cancellation costs one
client an error and is replaced.

Why not `pebble.ProcessPool`: it offers a timeout, but no memory limit and no progress messages, and it
cancels a running task by killing its process. Here a canceled job leaves the worker and its loaded
models intact.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sightline.server.config import Limits
from sightline.server.errors import ServiceError
from sightline.server.jobs import Job, State
from sightline.server.metrics import Metrics
from sightline.server.worker import WAKE_SIGNAL, WorkerSettings, run_worker

#: Interval at which time and memory of a busy worker are checked in [s].
_CHECK_INTERVAL = 0.2
#: Time that a canceled job may take to stop before its worker is killed in [s].
CANCEL_TIMEOUT = 10.0
#: Time that a worker may take to terminate before it is killed in [s].
_TERMINATE_TIMEOUT = 3.0
#: Pause before a worker that failed to start is replaced in [s]; doubled for each further failure.
RESTART_PAUSE, MAX_RESTART_PAUSE = 1.0, 60.0
#: Consecutive failed starts after which requests are refused.
MAX_FAILED_STARTS = 3
#: Largest time of a job, such as compilation, that does not count against its limit in [s].
_MAX_UNCOUNTED = 600.0
#: Largest message of a worker in bytes.
_MAX_MESSAGE = 1_000_000


@dataclass(eq=False)
class Task:
    """A unit of work for a worker: a job, or the conversion of its result to another format.

    Attributes:
        job: the job.
        message: message for the worker.
        done: the worker's reply, or a `ServiceError`.
        is_job: whether the task is the job itself and not a conversion.
        started: start time on the monotonic clock in [s], moved forward by uncounted time.
        uncounted: time that did not count against the limit so far in [s].
        canceled: time of the cancellation, or None.
        step_limit: time limit of the current step in [s], instead of the limit of the job.
        step_started: start of that step on the monotonic clock in [s].
    """

    job: Job
    message: dict[str, Any]
    done: asyncio.Future[dict[str, Any]]
    is_job: bool
    started: float = 0.0
    uncounted: float = 0.0
    canceled: float | None = None
    step_limit: float | None = None
    step_started: float = 0.0

    @property
    def seconds(self) -> float:
        """Processing time so far in [s]."""
        return time.monotonic() - self.started

    def exclude(self, seconds: float) -> None:
        """Exclude time from the processing time."""
        seconds = min(seconds, _MAX_UNCOUNTED - self.uncounted)
        self.started, self.uncounted = self.started + seconds, self.uncounted + seconds

    def time_error(self, limits: Limits) -> ServiceError | None:
        """Return the error of a task that exceeds its time limit."""
        if self.step_limit is None:
            limit, over = limits.job_timeout, self.seconds > limits.job_timeout
        else:
            limit, over = self.step_limit, time.monotonic() - self.step_started > self.step_limit
        what = "this request" if self.step_limit is None else f"one step ({self.job.step})"
        return _over_limit(f"{what} took longer than {limit:g} s") if over else None

    def succeed(self, reply: dict[str, Any]) -> None:
        """Finish with the reply of the worker."""
        if self.is_job and self.job.ended is None:
            self.job.headers = reply.get("headers", {})
            self.job.formats = reply.get("formats", self.job.formats)
            self.job.finish("done")
        if not self.done.done():
            self.done.set_result(reply)

    def fail(self, error: ServiceError, state: State = "failed") -> None:
        """Finish with an error; `state` becomes the state of the job."""
        if self.is_job and self.job.ended is None:
            self.job.finish(state, error)
        if not self.done.done():
            self.done.set_exception(error)
            self.done.exception()  # mark as retrieved: the client may have disconnected


@dataclass(eq=False)
class Worker:
    """A worker process as seen by the server.

    Attributes:
        process: the process.
        pipe: connection to it.
        messages: received messages; None after the process has closed its pipe.
        ready: whether its default model is loaded.
        task: current task.
    """

    process: BaseProcess
    pipe: Connection
    messages: asyncio.Queue[dict[str, Any] | None] = field(default_factory=asyncio.Queue)
    ready: bool = False
    task: Task | None = None

    @classmethod
    def start(cls, settings: WorkerSettings) -> Worker:
        """Start a process; it loads its models on its own."""
        # Spawned, not forked: a fork copies locks that another thread may hold.
        context = multiprocessing.get_context("spawn")
        pipe, child_pipe = context.Pipe()
        process = context.Process(target=run_worker, args=(child_pipe, settings), daemon=True)
        resource_tracker.ensure_running()  # its start would unblock signals
        # Ctrl-C reaches every process of the terminal: the worker inherits the blocked signal and
        # unblocks it after its handlers are installed.
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        child_pipe.close()  # so that the end of the worker closes the pipe
        return cls(process, pipe)

    @property
    def pid(self) -> int:
        """Process id; 0 before the start."""
        return self.process.pid or 0

    def send(self, message: dict[str, Any]) -> None:
        """Send a message; a dead worker is noticed at its next message."""
        with suppress(OSError):
            self.pipe.send_bytes(json.dumps(message).encode())

    def receive(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read one message into the queue; a closed pipe becomes None."""
        try:
            message = json.loads(self.pipe.recv_bytes(_MAX_MESSAGE))
        except (EOFError, OSError, ValueError):
            loop.remove_reader(self.pipe.fileno())
            message = None
        self.messages.put_nowait(message)

    def cancel(self) -> None:
        """Tell the worker that its task is canceled."""
        self.send({"action": "cancel"})
        self.wake()

    def wake(self) -> None:
        """Make the worker look at its pipe."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, WAKE_SIGNAL)

    async def exit_reason(self) -> str:
        """Wait for the end of a process that has closed its pipe and return how it ended."""
        await asyncio.to_thread(self.process.join, _TERMINATE_TIMEOUT)
        code = self.process.exitcode
        return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"

    def stop(self) -> None:
        """Terminate the process, or kill it if it does not react."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(_TERMINATE_TIMEOUT)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
        self.process.close()

    @property
    def memory(self) -> int:
        """Resident memory in bytes."""
        return resident_memory(self.pid)


def resident_memory(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 where the system does not report it."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


@dataclass
class _StartFailures:
    """Consecutive failed starts of workers.

    Attributes:
        count: number of failures since a worker was last ready.
        reason: reason of the last one.
        pause: pause before the next start in [s].
    """

    count: int = 0
    reason: str = ""
    pause: float = 0.0


class WorkerPool:
    """Worker processes and their queue. Used from one event loop.

    Args:
        settings: models of the workers.
        workers: number of workers.
        limits: limits of queue, time and memory.
        metrics: metrics to update.
    """

    def __init__(
        self, settings: WorkerSettings, workers: int, limits: Limits, metrics: Metrics
    ) -> None:
        self._settings, self._count, self._limits = settings, workers, limits
        self._metrics = metrics
        self._queue: deque[Task] = deque()
        self._queue_changed = asyncio.Condition()
        self._workers: list[Worker] = []
        self._loops: list[asyncio.Task[None]] = []
        self._failures = _StartFailures()
        self._typical_seconds = 1.0
        self.closing = False

    def start(self) -> None:
        """Start the workers."""
        self._loops = [asyncio.create_task(self._keep_worker()) for _ in range(self._count)]

    async def close(self) -> None:
        """Stop the workers; waiting tasks fail."""
        self.closing = True
        for loop in self._loops:
            loop.cancel()
        await asyncio.gather(*self._loops, return_exceptions=True)
        for task in self._queue:
            task.fail(_stopping())
        self._queue.clear()
        workers, self._workers = self._workers, []
        await asyncio.gather(*(asyncio.to_thread(worker.stop) for worker in workers))

    @property
    def ready(self) -> int:
        """Number of workers with loaded models."""
        return sum(worker.ready for worker in self._workers)

    @property
    def start_error(self) -> ServiceError | None:
        """Error if workers repeatedly failed to start and none is ready."""
        if self._failures.count < MAX_FAILED_STARTS or self.ready:
            return None
        message = f"the worker processes cannot start: the last ended {self._failures.reason}; "
        message += "see the output of the server"
        return ServiceError(503, message, retry_after=self._failures.pause)

    def __len__(self) -> int:
        return len(self._queue)

    def position(self, job: Job) -> int:
        """Return the position of a job in the queue; 1 is next, 0 if it does not wait."""
        for number, task in enumerate(self._queue, 1):
            if task.job is job and task.is_job:
                return number
        return 0

    def check_capacity(self) -> None:
        """Check that another task can be accepted.

        Raises:
            ServiceError: 429 if the queue is full; 503 if the server is stopping or its workers
                cannot start.
        """
        idle = sum(worker.ready and worker.task is None for worker in self._workers)
        if self.closing:
            raise _stopping()
        if (error := self.start_error) is not None:
            self._metrics.refused.labels(reason="workers").inc()
            raise error
        if len(self._queue) >= self._limits.max_queue + idle:
            self._metrics.refused.labels(reason="queue").inc()
            wait = min(60.0, self._typical_seconds * (len(self._queue) + 1) / self._count)
            message = f"{len(self._queue)} requests are already waiting; try again soon"
            raise ServiceError(429, message, retry_after=wait)

    async def submit(self, job: Job, message: dict[str, Any], *, is_job: bool = True) -> Task:
        """Add a task to the queue.

        Raises:
            ServiceError: see `check_capacity`.
        """
        self.check_capacity()
        task = Task(job, message, asyncio.get_running_loop().create_future(), is_job)
        async with self._queue_changed:
            self._queue.append(task)
            self._update_queue()
            self._queue_changed.notify()
        return task

    def cancel(self, task: Task) -> None:
        """Remove a task from the queue, or tell its worker to stop."""
        if task.done.done():
            return
        if task in self._queue:
            self._queue.remove(task)
            self._update_queue()
            task.fail(_canceled(), "canceled")
            return
        for worker in self._workers:
            if worker.task is task and task.canceled is None:
                task.canceled = time.monotonic()
                worker.cancel()

    def _update_queue(self) -> None:
        """Publish the queue length and the new positions of waiting jobs."""
        self._metrics.queue_length.set(len(self._queue))
        for task in self._queue:
            if task.is_job:
                task.job.notify()

    async def _keep_worker(self) -> None:
        """Keep one worker running and replace it when it ends."""
        failures = 0  # consecutive failed starts of this worker
        while not self.closing:
            worker = Worker.start(self._settings)
            self._workers.append(worker)
            started = time.monotonic()
            loop = asyncio.get_running_loop()
            loop.add_reader(worker.pipe.fileno(), worker.receive, loop)
            try:
                failures = 0 if await self._serve_worker(worker) else failures + 1
            finally:
                loop.remove_reader(worker.pipe.fileno())
                worker.ready = False
                self._metrics.workers_ready.set(self.ready)
                with suppress(KeyError):
                    self._metrics.worker_memory.remove(str(worker.pid))
                if worker.task is not None:
                    worker.task.fail(_stopping())
                if not self.closing:
                    self._workers.remove(worker)
                    await asyncio.to_thread(worker.stop)
            if failures:
                self._failures.pause = min(RESTART_PAUSE * 2 ** (failures - 1), MAX_RESTART_PAUSE)
                self._fail_waiting_if_broken()
                await asyncio.sleep(self._failures.pause)
            elif time.monotonic() - started < RESTART_PAUSE:
                await asyncio.sleep(RESTART_PAUSE)

    def _fail_waiting_if_broken(self) -> None:
        """Fail all waiting tasks if workers cannot start."""
        error = self.start_error
        if error is None:
            return
        for task in self._queue:
            task.fail(error)
        self._queue.clear()
        self._update_queue()

    async def _serve_worker(self, worker: Worker) -> bool:
        """Give tasks to a worker until it ends; return whether it was ever ready."""
        first = await worker.messages.get()
        if first is None or first["type"] != "ready":
            detail = "" if first is None else f" ({first.get('error', '')})"
            self._failures.count += 1
            self._failures.reason = f"{await worker.exit_reason()}{detail}"
            self._metrics.worker_deaths.labels(reason="start").inc()
            return False
        self._failures = _StartFailures()
        worker.ready = True
        self._metrics.workers_ready.set(self.ready)
        self._record_memory(worker)
        while True:
            task = await self._next_task(worker)
            if task is None:
                self._metrics.worker_deaths.labels(reason="idle").inc()
                return True
            worker.task = task
            alive = await self._run_task(worker, task)
            worker.task = None
            if not alive:
                return True

    def _record_memory(self, worker: Worker) -> int:
        memory = worker.memory
        self._metrics.worker_memory.labels(worker=str(worker.pid)).set(memory)
        return memory

    async def _next_task(self, worker: Worker) -> Task | None:
        """Wait for a task; return None if the worker ends first."""
        ended = asyncio.create_task(worker.messages.get())
        taken = asyncio.create_task(self._take_task())
        try:
            await asyncio.wait({ended, taken}, return_when=asyncio.FIRST_COMPLETED)
            if ended.done() and not taken.done():
                return None
            task = await taken
            if ended.done():  # both at once: leave the task to the next worker
                self._queue.appendleft(task)
                return None
            return task
        finally:
            for waiter in (ended, taken):
                waiter.cancel()

    async def _take_task(self) -> Task:
        async with self._queue_changed:
            await self._queue_changed.wait_for(lambda: bool(self._queue))
            task = self._queue.popleft()
            self._update_queue()
            return task

    async def _run_task(self, worker: Worker, task: Task) -> bool:
        """Run a task on a worker until it finishes; return whether the worker is still alive."""
        task.started = checked = time.monotonic()
        if task.is_job:
            task.job.begin()
        worker.send(task.message)
        counted = True
        while True:
            message: dict[str, Any] | None = {"type": "none"}
            with suppress(TimeoutError):  # `wait_for` could lose a cancellation
                async with asyncio.timeout(_CHECK_INTERVAL):
                    message = await worker.messages.get()
            if message is None:
                reason = await worker.exit_reason()
                self._metrics.worker_deaths.labels(reason="crash").inc()
                task.fail(_lost(reason), "canceled" if task.canceled else "failed")
                return False
            if message["type"] == "progress":
                counted = message.get("counted", True)
                task.step_limit = message.get("step_limit")
                task.step_started = time.monotonic()
                if task.is_job:
                    task.job.update(message["share"], message["step"])
            elif message["type"] in ("done", "failed", "canceled"):
                self._finish(worker, task, message)
                return True
            if (past := time.monotonic() - checked) > _CHECK_INTERVAL:
                checked += past
                if not counted:
                    task.exclude(past)
                if self._kill_if_over_limit(worker, task):
                    return False
                if task.canceled is not None:
                    worker.wake()

    def _finish(self, worker: Worker, task: Task, message: dict[str, Any]) -> None:
        seconds = task.seconds
        self._typical_seconds += 0.2 * (seconds - self._typical_seconds)
        self._metrics.job_seconds.labels(kind=task.job.kind).observe(seconds)
        self._record_memory(worker)
        if message["type"] == "done":
            task.succeed(message)
        elif message["type"] == "canceled":
            task.fail(_canceled(), "canceled")
        else:
            retry_after = message.get("retry_after")
            task.fail(ServiceError(message["status"], message["error"], retry_after=retry_after))

    def _kill_if_over_limit(self, worker: Worker, task: Task) -> bool:
        """Kill a worker that exceeds a limit or ignores a cancellation; return whether it was."""
        limits = self._limits
        if task.canceled is not None and time.monotonic() - task.canceled > CANCEL_TIMEOUT:
            reason, error = "cancel", _canceled()
        elif (time_error := task.time_error(limits)) is not None:
            reason, error = "time", time_error
        elif self._record_memory(worker) > limits.worker_memory_mb * 1e6:
            amount = f"{limits.worker_memory_mb:g} MB"
            reason, error = (
                "memory",
                _over_limit(f"this request needed more than {amount} of memory"),
            )
        else:
            return False
        worker.process.kill()
        self._metrics.worker_deaths.labels(reason=reason).inc()
        task.fail(error, "canceled" if reason == "cancel" else "failed")
        return True


def _over_limit(what: str) -> ServiceError:
    return ServiceError(503, f"{what} and was stopped; send something smaller")


def _lost(reason: str) -> ServiceError:
    message = f"the worker process of this request ended {reason}; another one replaces it"
    return ServiceError(503, message, retry_after=1)


def _canceled() -> ServiceError:
    return ServiceError(409, "this job was canceled")


def _stopping() -> ServiceError:
    return ServiceError(503, "the server is being stopped", retry_after=10)
