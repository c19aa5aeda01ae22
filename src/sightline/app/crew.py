"""Worker processes that hold the models, the queue before them, and what happens when one dies.

Every worker is one process with a pipe. What it is told and what it tells are small pieces of JSON;
pictures and results are files in the job's folder. One that dies, takes too long or too much memory
costs its client an error, and another takes its place.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sightline.app.hands import Hand, dismiss, hear, hire, memory_of
from sightline.app.jobs import Job, State
from sightline.app.metrics import Metrics
from sightline.app.options import Limits
from sightline.app.problems import Problem
from sightline.app.task import Task
from sightline.app.worker import Setup

#: How often a busy worker's time and memory are looked at, in [s].
_LOOK = 0.2
#: How long a cancelled job may take to stop by itself before its worker is ended, in [s].
GRACE = 10.0
#: A worker that dies at once is not replaced faster than this, in [s]; at the start, each one more
#: that does so doubles it, up to the other.
PAUSE, LONGEST_PAUSE = 1.0, 60.0
#: So many workers in a row that die before they are ready, and requests are refused.
TRIES = 3


@dataclass
class _Starts:
    """How workers fare at their start.

    Attributes:
        lost: how many in a row died before any was ready.
        why: the last of them did, in words.
        pause: before the next one, in [s].
    """

    lost: int = 0
    why: str = ""
    pause: float = 0.0


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
        self._hands: list[Hand] = []
        self._tending: list[asyncio.Task[None]] = []
        self._starts = _Starts()
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
            waiting.settle(problem=_stopping())
        self._queue.clear()
        hands, self._hands = self._hands, []
        await asyncio.gather(*(asyncio.to_thread(dismiss, hand) for hand in hands))

    @property
    def ready(self) -> int:
        """Workers that have their models."""
        return sum(hand.ready for hand in self._hands)

    @property
    def failing(self) -> Problem | None:
        """Why nothing can be done, if workers keep dying at their start and none is left."""
        if self._starts.lost < TRIES or self.ready:
            return None
        sentence = f"the worker processes cannot start: the last {self._starts.why}; "
        sentence += "see what the server printed"
        return Problem(503, sentence, retry=self._starts.pause)

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
            Problem: 429 when the queue is full, 503 when the server is being stopped or its workers
                cannot start.
        """
        idle = sum(hand.ready and hand.task is None for hand in self._hands)
        if self.closing:
            raise _stopping()
        if (failing := self.failing) is not None:
            self._metrics.count("refused_total", reason="workers")
            raise failing
        if len(self._queue) >= self._limits.queue + idle:
            self._metrics.count("refused_total", reason="queue")
            wait = min(60.0, self._usual * (len(self._queue) + 1) / self._count)
            raise Problem(
                429, f"{len(self._queue)} requests are waiting already; try again soon", retry=wait
            )

    async def submit(self, job: Job, order: dict[str, Any], *, run: bool = True) -> Task:
        """Put a task into the queue.

        Raises:
            Problem: 429 when the queue is full, 503 when the server is being stopped or its workers
                cannot start.
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
            task.settle(problem=Problem(409, "this job was cancelled"), state="cancelled")
            return
        for hand in self._hands:
            if hand.task is task and task.cancelled is None:
                task.cancelled = time.monotonic()
                hand.cancel()

    def _note_queue(self) -> None:
        self._metrics.set("queue_length", len(self._queue))
        for task in self._queue:
            if task.run:
                task.job.tell()

    async def _tend(self) -> None:
        """Keep one worker alive, and give it one task after the other."""
        lost = 0  # in a row, before they were ready
        while not self.closing:
            hand = hire(self._setup)
            self._hands.append(hand)
            begin = time.monotonic()
            loop = asyncio.get_running_loop()
            loop.add_reader(hand.pipe.fileno(), hear, hand, loop)
            try:
                lost = 0 if await self._employ(hand) else lost + 1
            finally:
                loop.remove_reader(hand.pipe.fileno())
                hand.ready = False
                self._note_ready()
                self._metrics.forget("worker_memory_bytes", worker=str(hand.pid))
                if hand.task is not None:
                    hand.task.settle(problem=_stopping())
                if not self.closing:
                    self._hands.remove(hand)
                    await asyncio.to_thread(dismiss, hand)
            if lost:
                self._starts.pause = min(PAUSE * 2 ** (lost - 1), LONGEST_PAUSE)
                self._give_up_if_failing()
                await asyncio.sleep(self._starts.pause)
            elif time.monotonic() - begin < PAUSE:
                await asyncio.sleep(PAUSE)

    def _give_up_if_failing(self) -> None:
        """Tell everybody who waits, once workers have died often enough at their start."""
        failing = self.failing
        if failing is None:
            return
        for task in self._queue:
            task.settle(problem=failing)
        self._queue.clear()
        self._note_queue()

    async def _employ(self, hand: Hand) -> bool:
        """Give tasks to a worker until it dies; return whether it was ever ready."""
        first = await hand.messages.get()
        if first is None or first["type"] != "ready":
            said = "" if first is None else f" ({first.get('error', '')})"
            self._starts.lost += 1
            self._starts.why = f"ended {await hand.how_it_ended()}{said}"
            self._metrics.count("worker_deaths_total", reason="start")
            return False
        self._starts = _Starts()
        hand.ready = True
        self._note_ready()
        self._note_memory(hand)
        while True:
            task = await self._next(hand)
            if task is None:
                self._metrics.count("worker_deaths_total", reason="idle")
                return True
            hand.task = task
            alive = await self._follow(hand, task)
            hand.task = None
            if not alive:
                return True

    def _note_memory(self, hand: Hand) -> int:
        memory = memory_of(hand.pid)
        self._metrics.set("worker_memory_bytes", memory, worker=str(hand.pid))
        return memory

    def _note_ready(self) -> None:
        self._metrics.set("workers_ready", self.ready)

    async def _next(self, hand: Hand) -> Task | None:
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

    async def _follow(self, hand: Hand, task: Task) -> bool:
        """See a task through; return whether the worker still lives."""
        task.begun = looked = time.monotonic()
        if task.run:
            task.job.begin()
        hand.order(task.order)
        counted = True
        while True:
            message: dict[str, Any] | None = {"type": "silence"}
            with suppress(TimeoutError):  # `wait_for` would lose a cancellation now and then
                async with asyncio.timeout(_LOOK):
                    message = await hand.messages.get()
            if message is None:
                how = await hand.how_it_ended()
                self._metrics.count("worker_deaths_total", reason="crash")
                state: State = "cancelled" if task.cancelled else "failed"
                task.settle(problem=_died(how), state=state)
                return False
            if message["type"] == "progress":
                counted = message.get("counted", True)
                if task.run:
                    task.job.progress, task.job.step = message["share"], message["step"]
                    task.job.tell()
            elif message["type"] in ("done", "failed", "cancelled"):
                self._finish(hand, task, message)
                return True
            if (past := time.monotonic() - looked) > _LOOK:  # however much it talks
                looked += past
                if not counted:
                    task.excuse(past)
                if self._end_if_overdrawn(hand, task):
                    return False
                if task.cancelled is not None:
                    hand.nudge()

    def _end_if_overdrawn(self, hand: Hand, task: Task) -> bool:
        """End a worker that takes too much time or memory, or does not hear; say whether it was."""
        problem, reason = self._overdrawn(hand, task)
        if problem is None:
            return False
        hand.process.kill()
        self._metrics.count("worker_deaths_total", reason=reason)
        task.settle(problem=problem, state="cancelled" if reason == "cancel" else "failed")
        return True

    def _finish(self, hand: Hand, task: Task, message: dict[str, Any]) -> None:
        seconds = task.seconds
        self._usual += 0.2 * (seconds - self._usual)
        self._metrics.time("job_seconds", seconds, kind=task.job.kind)
        self._note_memory(hand)
        if message["type"] == "done":
            task.settle(answer=message)
        elif message["type"] == "cancelled":
            task.settle(problem=Problem(409, "this job was cancelled"), state="cancelled")
        else:
            retry = message.get("retry")
            task.settle(problem=Problem(message["status"], message["error"], retry=retry))

    def _overdrawn(self, hand: Hand, task: Task) -> tuple[Problem | None, str]:
        """Say why a worker has to be ended, if it has."""
        limits = self._limits
        if task.cancelled is not None and time.monotonic() - task.cancelled > GRACE:
            return Problem(409, "this job was cancelled"), "cancel"
        if task.seconds > limits.seconds:
            sentence = f"this took longer than {limits.seconds:g} s and was stopped; "
            return Problem(503, sentence + "send something smaller"), "time"
        memory = self._note_memory(hand)
        if memory > limits.memory_mb * 1e6:
            sentence = f"this took more than {limits.memory_mb:g} MB of memory and was stopped; "
            return Problem(503, sentence + "send something smaller"), "memory"
        return None, ""


def _died(how: str) -> Problem:
    sentence = f"the worker process over this request ended {how}; another has taken over"
    return Problem(503, sentence, retry=1)


def _stopping() -> Problem:
    return Problem(503, "the server is being stopped", retry=10)
