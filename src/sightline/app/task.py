"""What one worker is given to do at a time: a job, or another form of its result."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from sightline.app.jobs import Job, State
from sightline.app.problems import Problem

#: What is not counted as a job's own time, such as compiling laws, may take so long, in [s].
_UNCOUNTED = 600.0


@dataclass(eq=False)
class Task:
    """Something for a worker to do.

    Attributes:
        job: it belongs to.
        order: for the worker.
        done: becomes the worker's answer, or a `Problem`.
        run: whether it is the job itself, and not another form of its result.
        begun: when a worker took it; later by what is not counted as its own time.
        uncounted: what is not, so far in [s].
        cancelled: when it was, if it was.
    """

    job: Job
    order: dict[str, Any]
    done: asyncio.Future[dict[str, Any]]
    run: bool
    begun: float = 0.0
    uncounted: float = 0.0
    cancelled: float | None = None

    @property
    def seconds(self) -> float:
        """Time that a worker has spent on it."""
        return time.monotonic() - self.begun

    def excuse(self, seconds: float) -> None:
        """Take time off its account."""
        seconds = min(seconds, _UNCOUNTED - self.uncounted)
        self.begun, self.uncounted = self.begun + seconds, self.uncounted + seconds

    def settle(
        self,
        *,
        answer: dict[str, Any] | None = None,
        problem: Problem | None = None,
        state: State = "failed",
    ) -> None:
        """End it, and the job if it is the job itself; nobody has to be waiting.

        Args:
            answer: of the worker.
            problem: why there is none.
            state: of the job then.
        """
        if self.run and self.job.ended is None:
            if answer is not None:
                self.job.headers = answer.get("headers", {})
                self.job.formats = answer.get("formats", self.job.formats)
                self.job.end("done")
            else:
                self.job.retry = _retry_of(problem)
                self.job.end(state, problem)
        if self.done.done():
            return
        if answer is not None:
            self.done.set_result(answer)
        else:
            self.done.set_exception(problem or Problem(500, "it failed"))
            self.done.exception()  # somebody may have gone away


def _retry_of(problem: Problem | None) -> float | None:
    after = None if problem is None else problem.headers.get("Retry-After")
    return None if after is None else float(after)
