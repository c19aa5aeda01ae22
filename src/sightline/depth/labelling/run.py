"""The whole of labelling: find the teacher, claim the folder, skip what is done, do the rest."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass

from sightline.cluster import run_on_ray
from sightline.depth.labelling.coding import Teacher
from sightline.depth.labelling.folder import claim, unfinished
from sightline.depth.labelling.labeller import Labeller, open_teacher
from sightline.depth.labelling.options import LabelOptions
from sightline.depth.labelling.plan import Task
from sightline.errors import SightlineError
from sightline.processes import Answer, available_cores, run_in_processes
from sightline.types import Kind
from sightline.weights.store import ResolvedWeights, resolve


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one picture.

    Attributes:
        task: the picture and its label.
        skipped: True when an earlier run had labelled it.
        failure: why there is no label.
    """

    task: Task
    skipped: bool = False
    failure: SightlineError | None = None


def run(
    tasks: tuple[Task, ...],
    out: str,
    options: LabelOptions,
    *,
    notify: Callable[[str], None] | None = None,
) -> Generator[Outcome, None, None]:
    """Label pictures and yield what became of each: those done before first, others as they end.

    The labels are the same to the byte, whatever the number of workers and wherever they run.

    Args:
        tasks: those of `plan.make_plan`.
        out: as for `make_plan`.
        options: everything else.
        notify: told in one line before something takes long, such as the download of a model.

    Raises:
        InputError: before any work: the model cannot be used, or the folder is another teacher's.
        SightlineError: in the middle, when going on is of no use: a full disk. A later run goes on.
    """
    weights = resolve(options.model, accept=options.accept_licence, notify=notify, purpose="depth")
    model = weights.name if weights.entry is not None else str(weights.path)
    teacher = _teacher(options, model, weights)
    claim(out, teacher, tasks)
    waiting = unfinished(out, tasks, teacher)
    missing = frozenset(waiting)
    yield from (Outcome(task, skipped=True) for task in tasks if task not in missing)
    if not waiting:
        return
    with closing(_start(waiting, options, model, teacher)) as answers:
        for answer in answers:
            yield Outcome(answer.item, failure=answer.failure)


def _teacher(options: LabelOptions, model: str, weights: ResolvedWeights) -> Teacher:
    """Open the network once here: one that does not load is found before anything is written."""
    estimator = open_teacher(options, model, threads=1)
    kind = estimator.spec.kind
    if kind is Kind.METRIC_DEPTH:
        kind = Kind.METRIC_DISPARITY
    return Teacher(weights.name, weights.sha256, estimator.size, options.mirror, kind)


def _start(
    tasks: list[Task], options: LabelOptions, model: str, teacher: Teacher
) -> Generator[Answer[Task, None], None, None]:
    if options.cluster:
        labeller = Labeller(options, model, teacher, options.threads or 1)
        # Ray's workers need not run in this folder.
        elsewhere = [task.absolute() for task in tasks]
        return run_on_ray(labeller, elsewhere, address=options.address, workers=options.workers)
    workers = min(options.workers or 1, len(tasks))
    threads = max(1, (options.threads or available_cores()) // workers)
    return run_in_processes(Labeller(options, model, teacher, threads), tasks, workers=workers)
