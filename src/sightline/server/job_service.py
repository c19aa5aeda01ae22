"""Run requests as jobs on the worker pool and send their results."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from sightline.server.config import ServeConfig
from sightline.server.formats import FORMATS, MAX_POINTS
from sightline.server.jobs import FINAL_STATES, Job, JobStore
from sightline.server.metrics import Metrics
from sightline.server.models import ModelCatalog
from sightline.server.worker import WorkerRequest, result_path
from sightline.server.worker_pool import Task, WorkerPool

#: Interval at which the connection of a waiting client is checked in [s].
_DISCONNECT_INTERVAL = 0.5
#: Interval of keep-alive comments in a silent event stream in [s].
_KEEP_ALIVE_INTERVAL = 10.0
#: Interval at which expired jobs are removed in [s].
_CLEANUP_INTERVAL = 2.0


class JobFileResponse(FileResponse):
    """A file response that calls `release` after the file was sent or could not be sent."""

    def __init__(self, path: Path, release: Callable[[], None], **settings: Any) -> None:
        super().__init__(path, **settings)
        self._release = release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the file."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._release()


@dataclass(eq=False)
class _Lease:
    """Use of a job's folder; after `transfer` somebody else calls `release`."""

    release: Callable[[], None]
    transferred: bool = False

    def transfer(self) -> Callable[[], None]:
        self.transferred = True
        return self.release


class JobService:
    """Jobs, workers and results of a server.

    Args:
        config: settings of the server.
        catalog: models of the server.
        root: folder of the jobs.
        metrics: metrics to update.
    """

    def __init__(
        self, config: ServeConfig, catalog: ModelCatalog, root: Path, metrics: Metrics
    ) -> None:
        self.config, self.limits, self.catalog = config, config.limits, catalog
        self.metrics = metrics
        self.jobs = JobStore(root, config.limits, metrics)
        self.pool = WorkerPool(catalog.settings, config.workers, config.limits, metrics)
        self._tasks: dict[str, Task] = {}
        self._cleanup: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the workers."""
        self.pool.start()
        self._cleanup = asyncio.create_task(self._remove_expired())

    async def drain(self, timeout: float) -> None:
        """Accept no new jobs, wait for running ones, then stop the workers.

        Args:
            timeout: time for running jobs in [s].
        """
        self.pool.closing = True
        deadline = time.monotonic() + timeout
        while self._tasks and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        await self.pool.close()

    async def close(self) -> None:
        """Stop the workers."""
        if self._cleanup is not None:
            self._cleanup.cancel()
        await self.pool.close()

    async def _remove_expired(self) -> None:
        while True:
            await asyncio.sleep(_CLEANUP_INTERVAL)
            self.jobs.remove_expired()

    async def submit(self, job: Job, format: str, source: Job | None = None) -> Task:
        """Queue a job.

        Args:
            job: the job.
            format: format that the client waits for.
            source: finished job whose result this one reads, if any.
        """
        request = WorkerRequest(
            job.kind,
            job.fields,
            job.folder,
            format,
            job.keep,
            source=None if source is None else source.folder,
        )
        task = await self.pool.submit(job, request.to_message())
        self.jobs.add(job)
        for used in (job, source):
            if used is not None:
                self._acquire_during(used, task)
        self._tasks[job.id] = task
        task.done.add_done_callback(lambda _: self._on_finished(job))
        return task

    def _on_finished(self, job: Job) -> None:
        self._tasks.pop(job.id, None)
        self.jobs.delete_uploads(job)
        if job.error is not None and job.error.status == 507:
            self.jobs.evict_oldest()
        self.metrics.jobs.labels(kind=job.kind, end=job.state).inc()

    def cancel(self, job: Job) -> None:
        """Cancel a job, or remove a finished one."""
        task = self._tasks.get(job.id)
        if task is not None:
            self.pool.cancel(task)
        elif job.state in FINAL_STATES:
            self.jobs.drop(job)

    def describe(self, job: Job) -> dict[str, Any]:
        """Return the public state of a job."""
        return job.to_dict(self.pool.position(job))

    async def respond(self, request: Request, job: Job, task: Task, format: str) -> Response:
        """Wait for a job, return its result and remove the job."""
        with self.lease(job) as lease:
            try:
                await self._wait(request, task)
            finally:
                self.jobs.drop(job)  # its files are deleted after their last user
            return self._file_response(job, format, MAX_POINTS, lease.transfer())

    async def result(self, request: Request, job: Job, format: str, max_points: int) -> Response:
        """Return the result of a kept job in a format; create it if it does not exist yet."""
        with self.lease(job) as lease:
            await self.result_file(request, job, format, max_points)
            return self._file_response(job, format, max_points, lease.transfer())

    async def result_file(
        self, request: Request, job: Job, format: str, max_points: int = MAX_POINTS
    ) -> Path:
        """Return the path of a result in a format; create it if it does not exist yet."""
        job.require_result()
        path = result_path(job.folder, format, max_points)
        if not path.is_file():
            conversion = WorkerRequest(
                job.kind, job.fields, job.folder, format, max_points=max_points, convert=True
            )
            task = await self.pool.submit(job, conversion.to_message(), is_job=False)
            self._acquire_during(job, task)
            await self._wait(request, task)
        return path

    async def _wait(self, request: Request, task: Task) -> None:
        """Wait for a task; cancel it if the client disconnects.

        Raises:
            ServiceError: the task failed.
            ClientDisconnect: the client disconnected.
        """
        while not task.done.done():
            await asyncio.wait({task.done}, timeout=_DISCONNECT_INTERVAL)
            if not task.done.done() and await request.is_disconnected():
                self.pool.cancel(task)
                raise ClientDisconnect
        task.done.result()

    def _file_response(
        self, job: Job, format: str, max_points: int, release: Callable[[], None]
    ) -> Response:
        form = FORMATS[format]
        path = result_path(job.folder, format, max_points)
        headers = {} if format == "json" else dict(job.headers)
        if format != "json":
            headers["Content-Disposition"] = f'attachment; filename="{job.kind}{form.suffix}"'
        return JobFileResponse(path, release, media_type=form.media_type, headers=headers)

    def _acquire_during(self, job: Job, task: Task) -> None:
        """Keep a job's files as long as a task uses them."""
        self.jobs.acquire(job)
        task.done.add_done_callback(lambda _: self.jobs.release(job))

    @contextmanager
    def lease(self, job: Job) -> Iterator[_Lease]:
        """Keep a job's files during the block, or longer if the lease is transferred."""
        self.jobs.acquire(job)
        lease = _Lease(lambda: self.jobs.release(job))
        try:
            yield lease
        finally:
            if not lease.transferred:
                lease.release()

    async def events(self, job: Job) -> AsyncIterator[str]:
        """Yield the changes of a job as server-sent events until it ends."""
        last, last_sent = "", time.monotonic()
        with self.lease(job):
            while True:
                changed = job.changed
                text = json.dumps(self.describe(job), ensure_ascii=False, separators=(",", ":"))
                if text != last:
                    last, last_sent = text, time.monotonic()
                    yield f"event: job\ndata: {text}\n\n"
                elif time.monotonic() - last_sent > _KEEP_ALIVE_INTERVAL:
                    last_sent = time.monotonic()
                    yield ": keep-alive\n\n"
                if job.state in FINAL_STATES:
                    return
                try:
                    await asyncio.wait_for(changed.wait(), 1.0)
                except TimeoutError:
                    continue
