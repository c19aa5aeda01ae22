"""Many scenes into a folder: here, in several processes, or on a cluster; what is there is kept.

Workers only compute: they hand back the bytes of the files, and this process writes them. So a killed
worker leaves nothing behind, machines of a cluster need not share a disk, and the bytes are the same
whoever made them.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sightline.errors import SightlineError, explained
from sightline.processes import Answer, available_cores, run_in_processes
from sightline.scenes.make import kind_of, make_scene
from sightline.scenes.spec import SceneSpec, claim
from sightline.scenes.store import encode_scene, finished, write_index, write_scene

if TYPE_CHECKING:
    from sightline.scenes.photos import PhotoTextures

#: Scenes that a worker makes at a time: enough that handing over costs nothing, few enough that the
#: last worker does not keep the others waiting.
CHUNK = 8

Files: TypeAlias = dict[str, bytes]
Made: TypeAlias = tuple[int, Files | SightlineError]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one scene.

    Attributes:
        index: its number.
        skipped: True when it was there before.
        failure: why there is no scene.
    """

    index: int
    skipped: bool = False
    failure: SightlineError | None = None


def make_scenes(
    spec: SceneSpec,
    folder: str | Path,
    indexes: Sequence[int],
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
) -> Generator[Outcome, None, None]:
    """Make the scenes that are not there yet and yield what became of each, in the order they end.

    Args:
        spec: what the folder holds; refused when it holds something else.
        folder: made when missing. Its `index.csv` is written at the end, from all scenes in it.
        indexes: numbers of the scenes.
        workers: processes; default: one per core, of the whole cluster with `cluster`.
        cluster: use Ray.
        address: of the Ray cluster; None: the one at hand, else one of this machine alone.
    """
    folder = Path(folder)
    claim(folder, spec)
    there = finished(folder)
    yield from (Outcome(index, skipped=True) for index in indexes if index in there)
    waiting = [index for index in indexes if index not in there]
    chunks = [tuple(waiting[k : k + CHUNK]) for k in range(0, len(waiting), CHUNK)]
    # Ctrl-C reaches the main thread only: a file that another one writes is finished, not torn.
    with (
        ThreadPoolExecutor(1, "write") as writer,
        closing(_results(spec, chunks, workers, cluster=cluster, address=address)) as results,
    ):
        for index, made in results:
            if isinstance(made, SightlineError):
                yield Outcome(index, failure=made)
            else:
                writer.submit(write_scene, folder, index, made).result()
                yield Outcome(index)
    write_index(folder)


def make_chunk(spec: SceneSpec, indexes: Sequence[int]) -> list[Made]:
    """Make some scenes: number, and the files or why there are none. Pure, so it can run anywhere."""
    made: list[Made] = []
    for index in indexes:
        try:
            made.append((index, make_files(spec, index)))
        except Exception as error:  # a bug in one scene must not cost the others; it is reported
            what = f"scene {index} of seed {spec.seed} ({kind_of(spec.seed, index, spec.kinds)})"
            made.append((index, explained(error, what)))
    return made


def make_files(spec: SceneSpec, index: int) -> Files:
    """Make one scene and return the bytes of its files, by ending."""
    textures = None if spec.textures is None else load_textures(spec.textures)
    scene = make_scene(
        spec.seed,
        index,
        width=spec.width,
        height=spec.height,
        kinds=spec.kinds,
        textures=textures,
    )
    return encode_scene(scene)


@lru_cache(maxsize=1)
def load_textures(folder: str) -> PhotoTextures:
    """Load the photographs of a folder; once in each process."""
    from sightline.scenes.photos import PhotoTextures

    return PhotoTextures(folder)


def _results(
    spec: SceneSpec,
    chunks: Sequence[tuple[int, ...]],
    workers: int | None,
    *,
    cluster: bool,
    address: str | None,
) -> Generator[Made, None, None]:
    """Yield number and files of each scene, whoever makes it."""
    job = partial(make_chunk, spec)
    if cluster:
        from sightline.cluster import run_on_ray

        yield from _flat(run_on_ray(job, chunks, address=address, workers=workers))
        return
    # The first ones are made here in any case: that puts the compiled renderer into numba's cache on
    # disk, where the workers find it instead of each compiling its own.
    workers = workers or available_cores()
    here = chunks if workers == 1 else chunks[:1]
    for chunk in here:
        for index in chunk:
            yield from make_chunk(spec, (index,))
    if len(chunks) > len(here):
        rest = chunks[len(here) :]
        yield from _flat(run_in_processes(job, rest, workers=min(workers, len(rest))))


def _flat(answers: Generator[Answer[tuple[int, ...], list[Made]], None, None]) -> Iterator[Made]:
    """Take chunks apart; where a whole chunk failed, so did each scene of it."""
    with closing(answers):
        for answer in answers:
            if answer.failure is not None:
                yield from ((index, answer.failure) for index in answer.item)
            elif answer.result is not None:
                yield from answer.result
