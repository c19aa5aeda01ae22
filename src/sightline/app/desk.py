"""Where requests become jobs, and jobs become answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import Receive, Scope, Send

from sightline.app.crew import Crew
from sightline.app.formats import FORMATS
from sightline.app.jobs import ENDED, Job, Jobs
from sightline.app.metrics import Metrics
from sightline.app.models import Shelf
from sightline.app.options import ServeOptions
from sightline.app.task import Task
from sightline.app.tasks.order import POINTS, path_of

#: How often it is looked whether a waiting client is still there, in [s].
_LOOK = 0.5
#: How often a silent stream of events says that it is alive, in [s].
_ALIVE = 10.0
#: How often old jobs are cleared away, in [s].
_TIDY = 2.0


class HeldFile(FileResponse):
    """A file that is let go once it has been sent, or could not be."""

    def __init__(self, path: Path, release: Callable[[], None], **settings: Any) -> None:
        super().__init__(path, **settings)
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


class Desk:
    """The service without its paths.

    Args:
        options: of the service.
        shelf: its models.
        spool: folder for jobs.
        metrics: of everything.
    """

    def __init__(self, options: ServeOptions, shelf: Shelf, spool: Path, metrics: Metrics) -> None:
        self.options, self.limits, self.shelf = options, options.limits, shelf
        self.metrics = metrics
        self.jobs = Jobs(spool, options.limits, metrics)
        self.crew = Crew(shelf.setup, options.workers, options.limits, metrics)
        self._tasks: dict[str, Task] = {}
        self._tidying: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Start workers."""
        self.crew.start()
        self._tidying = asyncio.create_task(self._tidy())

    async def stop(self, patience: float) -> None:
        """Take nothing new; end what is not done in time, and tell those who wait for it.

        Args:
            patience: for what is under way, in [s].
        """
        self.crew.closing = True
        late = time.monotonic() + patience
        while self._tasks and time.monotonic() < late:
            await asyncio.sleep(0.05)
        await self.crew.close()

    async def close(self) -> None:
        """End workers."""
        if self._tidying is not None:
            self._tidying.cancel()
        await self.crew.close()

    async def _tidy(self) -> None:
        while True:
            await asyncio.sleep(_TIDY)
            self.jobs.tidy()

    async def start(
        self,
        job: Job,
        *,
        uploads: list[str],
        wanted: str,
        other: Job | None = None,
    ) -> Task:
        """Put a job into the queue; `other` is the one whose result it works on, if any."""
        order = {
            "action": "run",
            "kind": job.kind,
            "fields": job.fields,
            "uploads": uploads,
            "folder": str(job.folder),
            "format": wanted,
            "keep": job.keep,
            "other": None if other is None else str(other.folder),
        }
        task = await self.crew.submit(job, order)
        self.jobs.add(job)
        self._hold_during(job, task)
        if other is not None:
            self._hold_during(other, task)
        self._tasks[job.id] = task
        task.done.add_done_callback(lambda _: self._ended(job))
        return task

    def _ended(self, job: Job) -> None:
        self._tasks.pop(job.id, None)
        self.jobs.shed(job)
        self.metrics.count("jobs_total", kind=job.kind, end=job.state)

    def cancel(self, job: Job) -> None:
        """Stop a job, or remove one that has ended."""
        task = self._tasks.get(job.id)
        if task is not None:
            self.crew.cancel(task)
        elif job.state in ENDED:
            self.jobs.drop(job)

    def described(self, job: Job) -> dict[str, Any]:
        """Say how far a job is."""
        return job.to_dict(self.crew.position(job))

    async def wait(self, request: Request, task: Task) -> None:
        """Wait for a task as long as the client does.

        Raises:
            Problem: it failed.
            ClientDisconnect: nobody waits any more; the task is cancelled.
        """
        while not task.done.done():
            await asyncio.wait({task.done}, timeout=_LOOK)
            if not task.done.done() and await request.is_disconnected():
                self.crew.cancel(task)
                raise ClientDisconnect
        task.done.result()

    async def answer(self, request: Request, job: Job, task: Task, wanted: str) -> Response:
        """Wait for a job and send its result; then forget it."""
        with self.holding(job) as hand_over:
            try:
                await self.wait(request, task)
            finally:
                self.jobs.drop(job)  # its files follow when nobody works with them any more
            return self.send(job, wanted, POINTS, hand_over())

    def send(self, job: Job, wanted: str, points: int, release: Callable[[], None]) -> Response:
        """Send a file of a result; `release` is called afterwards."""
        form = FORMATS[wanted]
        path = path_of(job.folder, wanted, points)
        headers = {} if wanted == "json" else dict(job.headers)
        if wanted != "json":
            headers["Content-Disposition"] = f'attachment; filename="{job.kind}{form.suffix}"'
        return HeldFile(path, release, media_type=form.media, headers=headers)

    async def result(self, request: Request, job: Job, wanted: str, points: int) -> Response:
        """Send the result of a job that is kept, in any format; make it first if need be."""
        with self.holding(job) as hand_over:
            await self.made(request, job, wanted, points)
            return self.send(job, wanted, points, hand_over())

    async def made(self, request: Request, job: Job, wanted: str, points: int) -> Path:
        """Return the file of a format, made first if it is not there."""
        if job.state != "done":
            raise job.problem()
        path = path_of(job.folder, wanted, points)
        if not path.is_file():
            order = {
                "action": "make",
                "kind": job.kind,
                "fields": job.fields,
                "folder": str(job.folder),
                "format": wanted,
                "points": points,
            }
            task = await self.crew.submit(job, order, run=False)
            self._hold_during(job, task)
            await self.wait(request, task)
        return path

    def _hold_during(self, job: Job, task: Task) -> None:
        """Keep a job's files as long as a worker works with them."""
        self.jobs.hold(job)
        task.done.add_done_callback(lambda _: self.jobs.release(job))

    @contextmanager
    def holding(self, job: Job) -> Iterator[Callable[[], Callable[[], None]]]:
        """Keep a job's files for the time of the block; or longer, if the block asks to.

        The block gets a function: called, it hands the duty to let go to whoever calls its result.
        """
        self.jobs.hold(job)
        mine = [True]

        def release() -> None:
            self.jobs.release(job)

        def hand_over() -> Callable[[], None]:
            mine.clear()
            return release

        try:
            yield hand_over
        finally:
            if mine:
                release()

    async def events(self, job: Job) -> AsyncIterator[str]:
        """Give a job's changes as server-sent events, until it ends."""
        said, silent = "", time.monotonic()
        with self.holding(job):
            while True:
                changed = job.changed
                now = JSONResponse(self.described(job)).body
                text = bytes(now).decode()
                if text != said:
                    said, silent = text, time.monotonic()
                    yield f"event: job\ndata: {text}\n\n"
                elif time.monotonic() - silent > _ALIVE:
                    silent = time.monotonic()
                    yield ": alive\n\n"
                if job.state in ENDED:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), 1.0)
                except TimeoutError:
                    continue
