"""Write a data set of scenes: in this process, in several processes, or on a Ray cluster.

Workers only compute: they return the bytes of the files, and this process writes them. A killed worker
therefore leaves nothing behind, cluster machines need no shared disk, and existing scenes are kept.
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
from sightline.runtime.parallel import MapResult, available_cores, map_inputs
from sightline.scenes.config import SceneSpec, claim_folder
from sightline.scenes.generate import make_scene, scene_kind
from sightline.scenes.storage import encode_scene, finished_indexes, write_index, write_scene

if TYPE_CHECKING:
    from sightline.scenes.rendering.photo_textures import PhotoTextures


#: Scenes per task: enough to make the overhead negligible, few enough to balance the load at the end.
CHUNK = 8

Files: TypeAlias = dict[str, bytes]
IndexedResult: TypeAlias = tuple[int, Files | SightlineError]


@dataclass(frozen=True, slots=True)
class SceneOutcome:
    """Result of one scene of a data set.

    Attributes:
        index: index of the scene.
        skipped: True if it existed before.
        failure: the error if it was not written.
    """

    index: int
    skipped: bool = False
    failure: SightlineError | None = None


def write_scenes(
    spec: SceneSpec,
    folder: str | Path,
    indexes: Sequence[int],
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
) -> Generator[SceneOutcome, None, None]:
    """Write the scenes that are missing from a folder; yield the outcome of each as it finishes.

    The function is a generator: iterate over it to do the work. Its last step writes `index.csv`.

    Args:
        spec: settings of the data set; a folder with other settings is refused.
        folder: output folder, created if missing; existing scenes are kept.
        indexes: indexes of the scenes, 0 to 999,999.
        workers: number of processes; None for one per core (of the whole cluster with `cluster`).
        cluster: use Ray instead of local processes.
        address: address of the Ray cluster; None for the current one, else a local one.

    Yields:
        Index, whether the scene existed before, and the failure if there was one.
    """
    folder = Path(folder)
    claim_folder(folder, spec)
    there = finished_indexes(folder)
    yield from (SceneOutcome(index, skipped=True) for index in indexes if index in there)
    waiting = [index for index in indexes if index not in there]
    chunks = [tuple(waiting[k : k + CHUNK]) for k in range(0, len(waiting), CHUNK)]
    # Files are written in another thread: Ctrl-C reaches the main thread only, so it cannot tear one.
    with (
        ThreadPoolExecutor(1, "write") as writer,
        closing(_results(spec, chunks, workers, cluster=cluster, address=address)) as results,
    ):
        for index, made in results:
            if isinstance(made, SightlineError):
                yield SceneOutcome(index, failure=made)
            else:
                writer.submit(write_scene, folder, index, made).result()
                yield SceneOutcome(index)
    write_index(folder)


def make_scene_chunk(spec: SceneSpec, indexes: Sequence[int]) -> list[IndexedResult]:
    """Generate some scenes: index, and the files or the failure. Pure, so it can run anywhere."""
    made: list[IndexedResult] = []
    for index in indexes:
        try:
            made.append((index, make_scene_files(spec, index)))
        except Exception as error:  # a bug in one scene must not cost the others; it is reported
            what = f"scene {index} of seed {spec.seed} ({scene_kind(spec.seed, index, spec.kinds)})"
            made.append((index, explained(error, what)))
    return made


def make_scene_files(spec: SceneSpec, index: int) -> Files:
    """Generate one scene and return the bytes of its files by suffix."""
    textures = None if spec.textures is None else load_textures(spec.textures)
    scene = make_scene(
        spec.seed, index, width=spec.width, height=spec.height, kinds=spec.kinds, textures=textures
    )
    return encode_scene(scene)


@lru_cache(maxsize=1)
def load_textures(folder: str) -> PhotoTextures:
    """Load the photographs of a folder, once per process."""
    from sightline.scenes.rendering.photo_textures import PhotoTextures

    return PhotoTextures(folder)


def _results(
    spec: SceneSpec,
    chunks: Sequence[tuple[int, ...]],
    workers: int | None,
    *,
    cluster: bool,
    address: str | None,
) -> Generator[IndexedResult, None, None]:
    """Yield index and files of each scene, from this process, workers, or Ray."""
    job = partial(make_scene_chunk, spec)
    if cluster:
        answers = map_inputs(job, chunks, workers=workers, cluster=True, address=address)
        yield from _flatten(answers)
        return
    # The first chunk always runs here: that compiles the renderer into numba's disk cache, where the
    # workers find it instead of compiling it themselves.
    workers = workers or available_cores()
    here = chunks if workers == 1 else chunks[:1]
    for chunk in here:
        for index in chunk:
            yield from make_scene_chunk(spec, (index,))
    if len(chunks) > len(here):
        rest = chunks[len(here) :]
        yield from _flatten(map_inputs(job, rest, workers=min(workers, len(rest))))


def _flatten(
    answers: Generator[MapResult[tuple[int, ...], list[IndexedResult]], None, None],
) -> Iterator[IndexedResult]:
    """Yield the scenes of each chunk; if a chunk failed, each of its scenes failed."""
    with closing(answers):
        for answer in answers:
            if answer.failure is not None:
                yield from ((index, answer.failure) for index in answer.item)
            elif answer.result is not None:
                yield from answer.result
