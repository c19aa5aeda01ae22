"""Blocks of a data set made here, in several processes, or on a cluster; some of them become a part.

What makes a block is any function of a job: the same bytes for the same job, wherever it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Generic

from sightline.errors import SightlineError
from sightline.physics.data.parts import Parts
from sightline.physics.data.recipe import J
from sightline.processes import EndOfRun, run_in_processes

#: Seconds of work in a part: little to lose by a kill, and few files even for millions of videos.
PART_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Portion(Generic[J]):
    """Blocks in a row that become one part; prints as what it is."""

    jobs: tuple[J, ...]

    def __str__(self) -> str:
        more = f" and {len(self.jobs) - 1} blocks more" if len(self.jobs) > 1 else ""
        return f"{self.jobs[0]}{more}"


def portioned(jobs: Sequence[J], seconds: float) -> list[Portion[J]]:
    """Group jobs that follow each other.

    Args:
        jobs: in the order of their numbers, some of which may be missing.
        seconds: that a video takes, roughly.
    """
    groups: list[list[J]] = []
    for job in jobs:
        last = groups[-1] if groups else []
        work = seconds * sum(one.videos for one in (*last, job))
        if last and job.number == last[-1].number + 1 and work <= PART_SECONDS:
            last.append(job)
        else:
            groups.append([job])
    return [Portion(tuple(group)) for group in groups]


def make_parts(
    make: Callable[[J], bytes], parts: Parts, portions: Sequence[Portion[J]], *, workers: int
) -> Generator[J, None, None]:
    """Make blocks on this machine and yield each job that is done.

    With several workers the first block should have been made in part before, so that compiled code is
    in numba's cache on disk, where the workers find it.

    Args:
        make: returns the block of a job.
        parts: where blocks go.
        portions: what is to be made.
        workers: processes, which write their parts themselves; 1: this one.
    """
    if workers == 1 or len(portions) < 2:
        for portion in portions:
            parts.write(portion.jobs[0].number, make_all(make, portion))
            yield from portion.jobs
        return
    work = partial(_make_part, make, parts)
    answers = run_in_processes(work, portions, workers=min(workers, len(portions)))
    with closing(answers):
        for answer in answers:
            if answer.failure is not None:
                raise answer.failure
            yield from answer.item.jobs


def make_all(make: Callable[[J], bytes], portion: Portion[J]) -> list[bytes]:
    """Make all blocks of a portion."""
    return [make(job) for job in portion.jobs]


def _make_part(make: Callable[[J], bytes], parts: Parts, portion: Portion[J]) -> None:
    """Make a part and write it."""
    blocks = make_all(make, portion)
    try:
        parts.write(portion.jobs[0].number, blocks)
    except SightlineError as error:  # what keeps one from being written keeps all
        raise EndOfRun(error) from error


def make_parts_on_ray(
    make: Callable[[J], bytes],
    parts: Parts,
    portions: Sequence[Portion[J]],
    *,
    workers: int | None,
    address: str | None,
) -> Generator[J, None, None]:
    """Make blocks on a cluster; machines need not share a disk, so this process writes the parts.

    Args:
        make: returns the block of a job.
        parts: where blocks go.
        portions: what is to be made.
        workers: of the cluster; None: all of it.
        address: of the Ray cluster; None: the one at hand, else one of this machine alone.
    """
    from sightline.cluster import run_on_ray

    answers = run_on_ray(partial(make_all, make), portions, address=address, workers=workers)
    with closing(answers):
        for answer in answers:
            if answer.failure is not None or answer.result is None:
                raise answer.failure or SightlineError(f"{answer.item}: nothing came back")
            parts.write(answer.item.jobs[0].number, answer.result)
            yield from answer.item.jobs
