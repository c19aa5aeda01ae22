"""The whole batch: what is done is skipped, the rest goes to this process or to several."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from pathlib import Path

from sightline.batch import work
from sightline.batch.inputs import expand
from sightline.batch.manifest import Manifest
from sightline.batch.naming import Job, plan
from sightline.batch.options import DepthOptions
from sightline.batch.outcome import Outcome
from sightline.batch.pipeline import run_here
from sightline.batch.workers import run_workers
from sightline.types import Camera
from sightline.weights.store import resolve


def prepare(inputs: Sequence[str | Path], out: Path, options: DepthOptions) -> list[Job]:
    """Find the inputs and decide where each result goes. Nothing is written yet."""
    own = Manifest(out).outputs()
    sources = expand(inputs, recursive=options.recursive, out=out, own=own)
    return plan(sources, out, options.save, own)


def run(
    jobs: Sequence[Job],
    out: Path,
    options: DepthOptions,
    *,
    notify: Callable[[str], None] | None = None,
    on_frame: work.OnFrame | None = None,
) -> Generator[Outcome, None, None]:
    """Do the jobs and yield what became of each, in the order in which they end.

    A failed file is an outcome, not an exception: the caller decides whether to go on. Every result is
    on record in the folder's manifest as planned before work starts, and as finished by the time its
    outcome is yielded, or shortly after.

    Args:
        jobs: what `prepare` gave.
        out: folder of the results.
        options: as for `prepare`.
        notify: told in one line before something takes long, such as the download of a model.
        on_frame: told of the progress inside a video, when there is one worker.

    Raises:
        InputError: before any work, when the model or a setting cannot be used.
    """
    if options.fov is not None:
        Camera.from_fov(options.fov, 1, 1)  # complains of an impossible angle now, not per file
    weights = resolve(options.model, accept=options.accept_licence, notify=notify, purpose="depth")
    settings = options.settings(weights.sha256)
    manifest = Manifest(out)
    waiting = []
    for job in jobs:
        if options.resume and manifest.is_done(job, settings):
            yield Outcome(job, skipped=True)
        else:
            waiting.append(job)
    if not waiting:
        return

    def note(outcome: Outcome) -> None:
        if outcome.failure is None:
            manifest.finish(outcome.job)

    outcomes = _start(waiting, options, on_frame, note)
    with manifest.working(waiting, settings), closing(outcomes):
        for outcome in outcomes:
            note(outcome)
            yield outcome


def _start(
    jobs: Sequence[Job],
    options: DepthOptions,
    on_frame: work.OnFrame | None,
    on_late: Callable[[Outcome], None],
) -> Generator[Outcome, None, None]:
    if options.workers > 1 and len(jobs) > 1:
        return run_workers(jobs, options)
    return run_here(jobs, work.load_estimator(options), options, on_frame, on_late)
