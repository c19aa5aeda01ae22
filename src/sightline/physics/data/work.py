"""Blocks of a data set made here, in several processes, or on a cluster; each becomes a part.

What makes a block is any function of a job: the same bytes for the same job, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from functools import partial

from sightline.errors import SightlineError
from sightline.physics.data.parts import Parts
from sightline.physics.data.recipe import J
from sightline.processes import EndOfRun, run_in_processes


def make_parts(
    make: Callable[[J], bytes], parts: Parts, jobs: Sequence[J], *, workers: int
) -> Generator[J, None, None]:
    """Make blocks on this machine and yield each job that is done.

    With several workers the first block should have been made in part before, so that compiled code is
    in numba's cache on disk, where the workers find it.

    Args:
        make: returns the block of a job.
        parts: where blocks go.
        jobs: what is to be made.
        workers: processes, which write their parts themselves; 1: this one.
    """
    if workers == 1 or len(jobs) < 2:
        for job in jobs:
            parts.write(job.number, make(job))
            yield job
        return
    work = partial(_make_part, make, parts)
    answers = run_in_processes(work, jobs, workers=min(workers, len(jobs)))
    with closing(answers):
        for answer in answers:
            if answer.failure is not None:
                raise answer.failure
            yield answer.item


def _make_part(make: Callable[[J], bytes], parts: Parts, job: J) -> None:
    """Make a block and write it."""
    block = make(job)
    try:
        parts.write(job.number, block)
    except SightlineError as error:  # what keeps one from being written keeps all
        raise EndOfRun(error) from error


def make_parts_on_ray(
    make: Callable[[J], bytes],
    parts: Parts,
    jobs: Sequence[J],
    *,
    workers: int | None,
    address: str | None,
) -> Generator[J, None, None]:
    """Make blocks on a cluster; machines need not share a disk, so this process writes the parts.

    Args:
        make: returns the block of a job.
        parts: where blocks go.
        jobs: what is to be made.
        workers: of the cluster; None: all of it.
        address: of the Ray cluster; None: the one at hand, else one of this machine alone.
    """
    from sightline.cluster import run_on_ray

    answers = run_on_ray(make, jobs, address=address, workers=workers)
    with closing(answers):
        for answer in answers:
            if answer.failure is not None or answer.result is None:
                raise answer.failure or SightlineError(f"{answer.item}: nothing came back")
            parts.write(answer.item.number, answer.result)
            yield answer.item
