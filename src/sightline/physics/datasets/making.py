"""Make data sets: in this process, in several processes, or on a Ray cluster; interrupted runs resume.

Workers make blocks of videos, which are kept as part files beside the output (`parts`). When all
blocks are there, they are joined in order and the file appears at once. So the bytes do not depend on
who made them, and a killed run keeps its finished blocks. Until then the disk holds the data twice.

`DatasetPlan` separates the two kinds of data sets (moving balls here, combinatorial worlds in
`combinatorial.store`) from how blocks are distributed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path
from sightline.physics.datasets.parts import Parts, check_room, claimed
from sightline.physics.datasets.reader import VideoData, open_dataset
from sightline.physics.datasets.spec import BLOCK, DataSpec, draw
from sightline.physics.datasets.writer import encode_samples, pack_block, unpack_block, write
from sightline.runtime.parallel import AbortMap, available_cores, map_inputs

if TYPE_CHECKING:
    from sightline.physics.combinatorial.store import CombinatorialSpec

#: Suffixes of data set files.
SUFFIXES = (".h5", ".hdf5")
#: HDF5 layouts: groups of shards, or one shard.
LAYOUTS = ("merged", "shard")
#: Seconds of work per part file: little is lost when a run is killed, and millions of videos make few
#: files.
PART_SECONDS = 0.5

_PROCESS_SECONDS = 3.0  # work that is worth starting another process
_SECONDS = {"rle": 0.0003, "standard": 0.01, "lossless": 0.013}  # per video of 128 px, roughly


class DatasetJob(Protocol):
    """One block to make. Its string form names it in messages."""

    @property
    def number(self) -> int:
        """Position of the block in the data set."""
        ...

    @property
    def videos(self) -> int:
        """Number of videos in the block."""
        ...

    def rehearsal(self) -> Self:
        """Return the same job with its first video only, to compile what the block needs."""
        ...


J = TypeVar("J", bound=DatasetJob)

#: A job and its block.
Made = tuple[J, bytes]


@dataclass(frozen=True, slots=True)
class DatasetPlan(Generic[J]):
    """How to make one data set.

    Attributes:
        settings: everything its bytes depend on.
        jobs: in the order of the file.
        make: returns the block of a job: the same bytes for the same job in any process.
        seconds: estimated time per video.
        write: writes the file from its blocks, given in the order of the jobs.
    """

    settings: dict[str, Any]
    jobs: Sequence[J]
    make: Callable[[J], bytes]
    seconds: float
    write: Callable[[Path, Iterator[Made[J]]], None]


@dataclass(frozen=True, slots=True)
class Step:
    """Progress of a run.

    Attributes:
        videos: how many more videos are done.
        skipped: whether an earlier run had made them.
    """

    videos: int
    skipped: bool = False


@dataclass(frozen=True, slots=True)
class JobGroup(Generic[J]):
    """Consecutive blocks that become one part file."""

    jobs: tuple[J, ...]

    def __str__(self) -> str:
        more = f" and {len(self.jobs) - 1} blocks more" if len(self.jobs) > 1 else ""
        return f"{self.jobs[0]}{more}"


@dataclass(frozen=True, slots=True)
class BlockJob:
    """A block of a data set of moving balls.

    Attributes:
        number: of the block.
        videos: in it.
    """

    number: int
    videos: int

    def rehearsal(self) -> BlockJob:
        """Return the same job with its first video only."""
        return replace(self, videos=1)

    def __str__(self) -> str:
        first = self.number * BLOCK
        return f"videos {first} to {first + self.videos - 1}"


def make_dataset(spec: DataSpec | CombinatorialSpec, out: str | Path, **options: Any) -> VideoData:
    """Make a data set and open it.

    Args:
        spec: settings of the data set.
        out: the new file, `.h5` or `.hdf5`.
        options: of `iter_make_dataset`: layout, workers, cluster, address, force.

    Returns:
        The open data set.
    """
    for _ in iter_make_dataset(spec, out, **options):
        pass
    return open_dataset(out)


def iter_make_dataset(
    spec: DataSpec | CombinatorialSpec,
    out: str | Path,
    *,
    layout: str = "merged",
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
    force: bool = False,
) -> Generator[Step, None, None]:
    """Make a data set and yield after each block; the file is there when the generator ends.

    Args:
        spec: settings of the data set.
        out: the new file, `.h5` or `.hdf5`; an existing one is refused unless `force` is set.
        layout: `merged` or `shard`; a shard of combinatorial worlds has one task.
        workers: processes; default: as many as the work is worth, with `cluster` the whole cluster.
        cluster: run on Ray.
        address: of the Ray cluster; None: `RAY_ADDRESS`, else a cluster on this machine.
        force: replace an existing file and the parts of another data set.
    """
    out = Path(out)
    plan = plan_of(spec, out, layout)
    if out.is_dir():
        raise InputError("is a folder", path=out, remedy="choose another --out")
    if out.exists() and not force:
        raise InputError("is there already", path=out, remedy="choose another --out, or --force")
    with claimed(out, plan.settings, force=force) as parts:
        there = parts.finished()
        yield from (Step(job.videos, skipped=True) for job in plan.jobs if job.number in there)
        left = [job for job in plan.jobs if job.number not in there]
        with closing(_make_parts(plan, parts, left, workers, cluster, address)) as done:
            yield from (Step(job.videos) for job in done)
        check_room(parts.folder, parts.size())
        with atomic_path(out) as temporary:
            # Parts of an earlier run may have been damaged since; those of this run were just written.
            plan.write(temporary, zip(plan.jobs, parts.read(check=there), strict=True))
        parts.remove()


def plan_of(spec: DataSpec | CombinatorialSpec, out: Path, layout: str) -> DatasetPlan[Any]:
    """Return how a data set is made; refuse settings that cannot be made, or not into this file.

    Args:
        spec: settings of the data set.
        out: the new file.
        layout: `merged` or `shard`.
    """
    if out.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"no format has the suffix {out.suffix!r}",
            path=out,
            remedy=f"use {' or '.join(SUFFIXES)}",
        )
    if layout not in LAYOUTS:
        raise InputError(f"no layout is called {layout!r}", remedy=f"use {', '.join(LAYOUTS)}")
    if not isinstance(spec, DataSpec):
        from sightline.physics.combinatorial.store import combinatorial_plan

        return combinatorial_plan(spec, layout)
    draw(spec, spec.count - 1, 1)  # reports wrong settings before anything is made
    count = -(-spec.count // BLOCK)
    jobs = [BlockJob(k, min(BLOCK, spec.count - k * BLOCK)) for k in range(count)]
    seconds = _SECONDS[spec.video] * (spec.size / 128) ** 2
    settings = {**spec.record(), "block": BLOCK}
    return DatasetPlan(
        settings, jobs, partial(_make_block, spec), seconds, partial(_write_blocks, spec, layout)
    )


def useful_workers(plan: DatasetPlan[J], jobs: Sequence[J]) -> int:
    """Return how many processes some of the jobs are worth: each takes seconds to start."""
    seconds = plan.seconds * sum(job.videos for job in jobs)
    return max(1, min(available_cores(), int(seconds / _PROCESS_SECONDS), len(jobs)))


def grouped(jobs: Sequence[J], seconds: float) -> list[JobGroup[J]]:
    """Group consecutive jobs into parts of about `PART_SECONDS` of work.

    Args:
        jobs: in the order of their numbers, some of which may be missing.
        seconds: estimated time per video.
    """
    groups: list[list[J]] = []
    for job in jobs:
        last = groups[-1] if groups else []
        work = seconds * sum(one.videos for one in (*last, job))
        if last and job.number == last[-1].number + 1 and work <= PART_SECONDS:
            last.append(job)
        else:
            groups.append([job])
    return [JobGroup(tuple(group)) for group in groups]


def _make_block(spec: DataSpec, job: BlockJob) -> bytes:
    """Simulate, render and encode a block: a pure function of its arguments."""
    samples = draw(spec, job.number * BLOCK, job.videos)
    return pack_block(encode_samples(samples, spec.size, spec.video))


def _write_blocks(spec: DataSpec, layout: str, path: Path, made: Iterator[Made[BlockJob]]) -> None:
    sample = draw(spec, 0, 1)
    note: dict[str, Any] = {
        "scenario": sample.scenario,
        "frame_time": sample.frame_time,
        "made": spec.record(),
    }
    if spec.video == "rle":
        note["size"] = spec.size
    write(path, (unpack_block(block) for _, block in made), spec.count, note, layout)


def _make_parts(
    plan: DatasetPlan[J],
    parts: Parts,
    jobs: Sequence[J],
    workers: int | None,
    cluster: bool,
    address: str | None,
) -> Generator[J, None, None]:
    """Make the missing parts and yield each finished job."""
    groups = grouped(jobs, plan.seconds)
    if cluster:
        yield from _make_on_ray(plan, parts, groups, workers, address)
        return
    workers = workers or useful_workers(plan, jobs)
    if workers > 1 and len(jobs) > 1:
        plan.make(jobs[0].rehearsal())  # fills numba's cache on disk for the workers
    if workers == 1 or len(groups) < 2:
        for group in groups:
            parts.write(group.jobs[0].number, _make_group(plan.make, group))
            yield from group.jobs
        return
    work = partial(_make_part, plan.make, parts)
    answers = map_inputs(work, groups, workers=min(workers, len(groups)))
    with closing(answers):
        for answer in answers:
            if answer.failure is not None:
                raise answer.failure
            yield from answer.item.jobs


def _make_group(make: Callable[[J], bytes], group: JobGroup[J]) -> list[bytes]:
    return [make(job) for job in group.jobs]


def _make_part(make: Callable[[J], bytes], parts: Parts, group: JobGroup[J]) -> None:
    """Make a part and write it, in a worker process."""
    blocks = _make_group(make, group)
    try:
        parts.write(group.jobs[0].number, blocks)
    except SightlineError as error:  # a full disk fails every other part, too
        raise AbortMap(error) from error


def _make_on_ray(
    plan: DatasetPlan[J],
    parts: Parts,
    groups: Sequence[JobGroup[J]],
    workers: int | None,
    address: str | None,
) -> Generator[J, None, None]:
    """Make blocks on a cluster; this process writes the parts, since machines need not share a disk."""
    work = partial(_make_group, plan.make)
    answers = map_inputs(work, groups, workers=workers, cluster=True, address=address)
    with closing(answers):
        for answer in answers:
            if answer.failure is not None or answer.result is None:
                raise answer.failure or SightlineError(f"{answer.item}: nothing came back")
            parts.write(answer.item.jobs[0].number, answer.result)
            yield from answer.item.jobs
