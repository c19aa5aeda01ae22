"""Many files in several processes, each with its own network."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing

from sightline.batch import work
from sightline.batch.naming import Job
from sightline.batch.options import DepthOptions
from sightline.batch.outcome import Outcome, failed
from sightline.batch.pipeline import guarded
from sightline.depth.estimator import DepthEstimator
from sightline.errors import explained
from sightline.processes import EndOfRun, available_cores, run_in_processes


def run_workers(jobs: Sequence[Job], options: DepthOptions) -> Generator[Outcome, None, None]:
    """Do the jobs in `options.workers` processes; yield outcomes as they come.

    The threads are shared out evenly. Stopping early (`close()`) or Ctrl-C ends the workers; they
    remove what they were writing.
    """
    count = min(options.workers, len(jobs))
    threads = max(1, (options.threads or available_cores()) // count)
    with closing(run_in_processes(_Depth(options, threads), jobs, workers=count)) as answers:
        for answer in answers:
            if answer.failure is not None:
                yield failed(answer.item, answer.failure)
            elif answer.result is not None:
                yield answer.result


class _Depth:
    """Does one job per call; opens its network at the first."""

    def __init__(self, options: DepthOptions, threads: int) -> None:
        self.options = options
        self.threads = threads
        self._estimator: DepthEstimator | None = None

    def __call__(self, job: Job) -> Outcome:
        if self._estimator is None:
            try:
                self._estimator = work.load_estimator(self.options, self.threads)
            except Exception as error:  # whatever it is, all workers share it
                raise EndOfRun(explained(error, "the model could not be loaded")) from error
        return guarded(job, work.process, job, self._estimator, self.options)
