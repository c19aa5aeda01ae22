"""Worker processes that hold the models, the queue before them, and what happens when one dies.

Every worker is one process with a pipe. What it is told and what it tells are small pieces of JSON;
pictures and results are files in the job's folder. One that dies, takes too long or too much memory
costs its client an error, and another takes its place.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sightline.app.jobs import Job
from sightline.app.metrics import Metrics
from sightline.app.options import Limits
from sightline.app.problems import Problem
from sightline.app.worker import Setup, work

#: How often a busy worker's time and memory are looked at, in [s].
_LOOK = 0.2
#: How long a cancelled job may take to notice before its worker is ended, in [s].
_GRACE = 2.0
#: How long workers may take to end when the server does, in [s].
_PATIENCE = 3.0
#: Largest message of a worker in bytes.
_LONGEST = 1_000_000
#: A worker that dies at once is not replaced faster than this, in [s].
_PAUSE = 1.0


@dataclass(eq=False)
class Task:
    """Something for a worker to do.

    Attributes:
        job: it belongs to.
        order: for the worker.
        done: becomes the worker's answer, or a `Problem`.
        run: whether it is the job itself, and not another form of its result.
        cancelled: when it was, if it was.
    """

    job: Job
    order: dict[str, Any]
    done: asyncio.Future[dict[str, Any]]
    run: bool
    cancelled: float | None = None


@dataclass(eq=False)
class _Hand:
    """A worker process."""

    process: BaseProcess
    pipe: Connection
    messages: asyncio.Queue[dict[str, Any] | None] = field(default_factory=asyncio.Queue)
    ready: bool = False
    task: Task | None = None

    @property
    def pid(self) -> int:
        return self.process.pid or 0


class Crew:
    """All workers and their queue; used from one event loop.

    Args:
        setup: which models they hold.
        workers: how many.
        limits: of queue, time and memory.
        metrics: that deaths and times are counted in.
    """

    def __init__(self, setup: Setup, workers: int, limits: Limits, metrics: Metrics) -> None:
        self._setup, self._count, self._limits, self._metrics = setup, workers, limits, metrics
        self._queue: deque[Task] = deque()
        self._some = asyncio.Condition()
        self._hands: list[_Hand] = []
        self._tending: list[asyncio.Task[None]] = []
        self._usual = 1.0
        self.closing = False

    def start(self) -> None:
        """Start the workers; they load their models on their own."""
        self._tending = [asyncio.create_task(self._tend()) for _ in range(self._count)]

    async def close(self) -> None:
        """End the workers; whatever waits is told."""
        self.closing = True
        for task in self._tending:
            task.cancel()
        await asyncio.gather(*self._tending, return_exceptions=True)
        for waiting in self._queue:
            _settle(waiting, problem=_stopping())
        self._queue.clear()
        hands, self._hands = self._hands, []
        await asyncio.gather(*(asyncio.to_thread(_dismiss, hand) for hand in hands))

    @property
    def ready(self) -> int:
        """Workers that have their models."""
        return sum(hand.ready for hand in self._hands)

    @property
    def pids(self) -> list[int]:
        """Processes of the workers."""
        return [hand.pid for hand in self._hands]

    def __len__(self) -> int:
        return len(self._queue)

    def position(self, job: Job) -> int:
        """Place of a job in the queue, 1 is next; 0 when it does not wait."""
        for number, task in enumerate(self._queue, 1):
            if task.job is job and task.run:
                return number
        return 0

    def check_room(self) -> None:
        """Refuse more when enough is waiting.

        Raises:
            Problem: 429 when the queue is full, 503 when the server is being stopped.
        """
        idle = sum(hand.ready and hand.task is None for hand in self._hands)
        if self.closing:
            raise _stopping()
        if len(self._queue) >= self._limits.queue + idle:
            self._metrics.count("refused_total", reason="queue")
            wait = min(60.0, self._usual * (len(self._queue) + 1) / self._count)
            raise Problem(
                429, f"{len(self._queue)} requests are waiting already; try again soon", retry=wait
            )

    async def submit(self, job: Job, order: dict[str, Any], *, run: bool = True) -> Task:
        """Put a task into the queue.

        Raises:
            Problem: 429 when the queue is full, 503 when the server is being stopped.
        """
        self.check_room()
        task = Task(job, order, asyncio.get_running_loop().create_future(), run)
        async with self._some:
            self._queue.append(task)
            self._note_queue()
            self._some.notify()
        return task

    def cancel(self, task: Task) -> None:
        """Take a task out of the queue, or tell its worker to stop."""
        if task.done.done():
            return
        if task in self._queue:
            self._queue.remove(task)
            self._note_queue()
            _settle(task, problem=Problem(409, "this job was cancelled"), state="cancelled")
            return
        for hand in self._hands:
            if hand.task is task and task.cancelled is None:
                task.cancelled = time.monotonic()
                with suppress(OSError):
                    hand.pipe.send_bytes(b'{"action": "cancel"}')

    def _note_queue(self) -> None:
        self._metrics.set("queue_length", len(self._queue))
        for task in self._queue:
            if task.run:
                task.job.tell()

    async def _tend(self) -> None:
        """Keep one worker alive, and give it one task after the other."""
        while not self.closing:
            hand = _hire(self._setup)
            self._hands.append(hand)
            begin = time.monotonic()
            loop = asyncio.get_running_loop()
            loop.add_reader(hand.pipe.fileno(), _hear, hand, loop)
            try:
                await self._employ(hand)
            finally:
                loop.remove_reader(hand.pipe.fileno())
                hand.ready = False
                self._note_ready()
                if hand.task is not None:
                    _settle(hand.task, problem=_stopping())
                if not self.closing:
                    self._hands.remove(hand)
                    await asyncio.to_thread(_dismiss, hand)
            if not self.closing and time.monotonic() - begin < _PAUSE:
                await asyncio.sleep(_PAUSE)

    async def _employ(self, hand: _Hand) -> None:
        """Give tasks to a worker until it dies."""
        first = await hand.messages.get()
        if first is None:
            self._metrics.count("worker_deaths_total", reason="start")
            return
        hand.ready = True
        self._note_ready()
        while True:
            task = await self._next(hand)
            if task is None:
                self._metrics.count("worker_deaths_total", reason="idle")
                return
            hand.task = task
            alive = await self._follow(hand, task)
            hand.task = None
            if not alive:
                return

    def _note_ready(self) -> None:
        self._metrics.set("workers_ready", self.ready)

    async def _next(self, hand: _Hand) -> Task | None:
        """Wait for a task; None when the worker dies first."""
        death = asyncio.create_task(hand.messages.get())
        found = asyncio.create_task(self._take())
        try:
            await asyncio.wait({death, found}, return_when=asyncio.FIRST_COMPLETED)
            if death.done() and not found.done():
                return None
            task = await found
            if death.done():  # both at once: the next worker may have it
                self._queue.appendleft(task)
                return None
            return task
        finally:
            for one in (death, found):
                one.cancel()

    async def _take(self) -> Task:
        async with self._some:
            await self._some.wait_for(lambda: bool(self._queue))
            task = self._queue.popleft()
            self._note_queue()
            return task

    async def _follow(self, hand: _Hand, task: Task) -> bool:
        """See a task through; return whether the worker still lives."""
        begin = time.monotonic()
        if task.run:
            task.job.begin()
        with suppress(OSError):  # dead already: the next message says so
            hand.pipe.send_bytes(json.dumps(task.order).encode())
        looked = begin
        while True:
            message: dict[str, Any] | None = {"type": "silence"}
            with suppress(TimeoutError):
                message = await asyncio.wait_for(hand.messages.get(), _LOOK)
            if message is None:
                await asyncio.to_thread(hand.process.join, _PATIENCE)
                self._metrics.count("worker_deaths_total", reason="crash")
                state = "cancelled" if task.cancelled else "failed"
                _settle(task, problem=_died(hand.process.exitcode), state=state)
                return False
            if message["type"] == "progress" and task.run:
                task.job.progress, task.job.step = message["share"], message["step"]
                task.job.tell()
            elif message["type"] in ("done", "failed", "cancelled"):
                self._finish(hand, task, message, time.monotonic() - begin)
                return True
            if time.monotonic() - looked > _LOOK:  # however much it talks
                looked = time.monotonic()
                if self._end_if_overdrawn(hand, task, begin):
                    return False

    def _end_if_overdrawn(self, hand: _Hand, task: Task, begin: float) -> bool:
        """End a worker that takes too much time or memory, or does not hear; say whether it was."""
        problem, reason = self._overdrawn(hand, task, begin)
        if problem is None:
            return False
        hand.process.kill()
        self._metrics.count("worker_deaths_total", reason=reason)
        _settle(task, problem=problem, state="cancelled" if reason == "cancel" else "failed")
        return True

    def _finish(self, hand: _Hand, task: Task, message: dict[str, Any], seconds: float) -> None:
        self._usual += 0.2 * (seconds - self._usual)
        self._metrics.time("job_seconds", seconds, kind=task.job.kind)
        self._metrics.set("worker_memory_bytes", memory_of(hand.pid), worker=str(hand.pid))
        if message["type"] == "done":
            _settle(task, answer=message)
        elif message["type"] == "cancelled":
            _settle(task, problem=Problem(409, "this job was cancelled"), state="cancelled")
        else:
            retry = message.get("retry")
            _settle(task, problem=Problem(message["status"], message["error"], retry=retry))

    def _overdrawn(self, hand: _Hand, task: Task, begin: float) -> tuple[Problem | None, str]:
        """Say why a worker has to be ended, if it has."""
        limits, now = self._limits, time.monotonic()
        if task.cancelled is not None and now - task.cancelled > _GRACE:
            return Problem(409, "this job was cancelled"), "cancel"
        if now - begin > limits.seconds:
            sentence = f"this took longer than {limits.seconds:g} s and was stopped; "
            return Problem(503, sentence + "send something smaller"), "time"
        memory = memory_of(hand.pid)
        self._metrics.set("worker_memory_bytes", memory, worker=str(hand.pid))
        if memory > limits.memory_mb * 1e6:
            sentence = f"this took more than {limits.memory_mb:g} MB of memory and was stopped; "
            return Problem(503, sentence + "send something smaller"), "memory"
        return None, ""


def _settle(
    task: Task,
    *,
    answer: dict[str, Any] | None = None,
    problem: Problem | None = None,
    state: str = "failed",
) -> None:
    """End a task, and the job if it is the job itself; nobody has to be waiting."""
    job = task.job
    if task.run and job.ended is None:
        if answer is not None:
            job.headers = answer.get("headers", {})
            job.formats = answer.get("formats", job.formats)
            job.end("done")
        else:
            job.retry = _retry_of(problem)
            job.end("cancelled" if state == "cancelled" else "failed", problem)
    if task.done.done():
        return
    if answer is not None:
        task.done.set_result(answer)
    else:
        task.done.set_exception(problem or Problem(500, "it failed"))
        task.done.exception()  # somebody may have gone away


def _retry_of(problem: Problem | None) -> float | None:
    after = None if problem is None else problem.headers.get("Retry-After")
    return None if after is None else float(after)


def _died(code: int | None) -> Problem:
    how = f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"
    return Problem(
        503, f"the worker process over this request ended {how}; another has taken over", retry=1
    )


def _hire(setup: Setup) -> _Hand:
    # Spawned, not forked: a fork copies locks that another thread may hold.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, setup), daemon=True)
    resource_tracker.ensure_running()  # it would unblock signals when it is started
    # Ctrl-C reaches every process of the terminal: the worker inherits that it is blocked, and
    # unblocks it once it minds signals.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    there.close()  # so that the worker's death closes the pipe
    return _Hand(process, here)


def _hear(hand: _Hand, loop: asyncio.AbstractEventLoop) -> None:
    """Read what a worker says; its death is None."""
    try:
        message = json.loads(hand.pipe.recv_bytes(_LONGEST))
    except (EOFError, OSError, ValueError):
        loop.remove_reader(hand.pipe.fileno())
        message = None
    hand.messages.put_nowait(message)


def _dismiss(hand: _Hand) -> None:
    hand.pipe.close()
    hand.process.terminate()
    hand.process.join(_PATIENCE)
    if hand.process.is_alive():
        hand.process.kill()
        hand.process.join()
    hand.process.close()


def _stopping() -> Problem:
    return Problem(503, "the server is being stopped", retry=10)


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def total_memory(pids: Sequence[int]) -> int:
    """Return the resident memory of several processes in bytes."""
    return sum(memory_of(pid) for pid in pids)
