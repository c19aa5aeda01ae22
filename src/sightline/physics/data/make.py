"""A data set into a file: here, in several processes, or on a cluster; a killed run goes on.

Workers make blocks, which become parts beside the file; when all are there, they are put together in
order and the file appears at once. So the bytes are the same whoever made them, and what a killed run
had made is kept. Until then the disk must hold the data twice.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.physics.data.parts import Parts, check_room, claimed
from sightline.physics.data.recipe import J, Recipe
from sightline.physics.data.spec import DataSpec
from sightline.physics.data.work import make_parts, make_parts_on_ray, portioned
from sightline.processes import available_cores

if TYPE_CHECKING:
    from sightline.physics.combinatorial.spec import CombinatorialSpec

_PROCESS = 3.0  # seconds of work that are worth another process


@dataclass(frozen=True, slots=True)
class Step:
    """Some more videos are there.

    Attributes:
        videos: how many.
        skipped: True when an earlier run had made them.
    """

    videos: int
    skipped: bool = False


def make_dataset(
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
        spec: what it holds. Its `video` must be `runs` for `.slv`, one of mp4 for HDF5.
        out: `.slv`, `.h5` or `.hdf5`, the latter two only for combinatorial worlds; refused when it is
            there, unless with `force`.
        layout: of HDF5: `merged` or `shard`; a shard of combinatorial worlds has one task.
        workers: processes; default: as many as the work is worth, of the whole cluster with `cluster`.
        cluster: use Ray.
        address: of the Ray cluster; None: the one at hand, else one of this machine alone.
        force: put the new file in the place of an old one, and of the parts of another data set.
    """
    out = Path(out)
    recipe = recipe_of(spec, out, layout)
    _check_place(out, force=force)
    with claimed(out, recipe.settings, force=force) as parts:
        there = parts.finished()
        yield from (Step(job.videos, skipped=True) for job in recipe.jobs if job.number in there)
        left = [job for job in recipe.jobs if job.number not in there]
        with closing(_parts_made(recipe, parts, left, workers, cluster, address)) as done:
            yield from (Step(job.videos) for job in done)
        check_room(parts.folder, parts.size())
        with atomic_path(out) as temporary:
            # Parts of an earlier run may have been damaged since; those of this one were just written.
            blocks = zip(recipe.jobs, parts.read(check=there), strict=True)
            recipe.write(temporary, ((job, *block) for job, block in blocks))
        parts.remove()


def recipe_of(spec: DataSpec | CombinatorialSpec, out: Path, layout: str) -> Recipe[Any]:
    """Return how a data set is made; refuse what cannot be made, or not into such a file."""
    if isinstance(spec, DataSpec):
        from sightline.physics.data import one_law

        return one_law.recipe_of(spec, out, layout)
    from sightline.physics.combinatorial import recipe

    return recipe.recipe_of(spec, out, layout)


def worth(recipe: Recipe[J], jobs: Sequence[J]) -> int:
    """Return how many processes some of the jobs are worth: one takes seconds to start."""
    seconds = recipe.seconds * sum(job.videos for job in jobs)
    return max(1, min(available_cores(), int(seconds / _PROCESS), len(jobs)))


def _check_place(out: Path, *, force: bool) -> None:
    """Refuse a file that must not be written."""
    if out.is_dir():
        raise InputError("is a folder", path=out, remedy="choose another --out")
    if out.exists() and not force:
        raise InputError("is there already", path=out, remedy="choose another --out, or --force")


def _parts_made(
    recipe: Recipe[J],
    parts: Parts,
    jobs: Sequence[J],
    workers: int | None,
    cluster: bool,
    address: str | None,
) -> Generator[J, None, None]:
    """Make the parts that are missing, wherever that is."""
    portions = portioned(jobs, recipe.seconds)
    if cluster:
        return make_parts_on_ray(recipe.make, parts, portions, workers=workers, address=address)
    workers = workers or worth(recipe, jobs)
    if workers > 1 and len(jobs) > 1:  # to put compiled code where the workers find it
        recipe.make(jobs[0].rehearsal())
    return make_parts(recipe.make, parts, portions, workers=workers)
