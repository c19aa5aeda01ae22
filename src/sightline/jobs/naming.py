"""Names of the output files, assigned to all inputs before any work starts.

A result is named after its input: `photos/a.jpg` gives `DIR/a.npz`, `DIR/a_color.png` and so on, in
the subfolder of the input. If two inputs would share a file (`a.jpg` and `a.png`), both keep their
suffix (`a.jpg.npz`, `a.png.npz`); if that is not enough (`x/a.jpg` and `y/a.jpg` given separately),
their folders too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import PurePath, PurePosixPath

from sightline.depth.video import VIDEO_ENDINGS, VideoFormat
from sightline.errors import InputError
from sightline.io.inputs import Source, place
from sightline.io.paths import AnyPath, is_remote
from sightline.jobs.options import Format

#: Ending added to an image's stem, by format.
PICTURE_ENDINGS: dict[str, str] = {
    "npz": ".npz",
    "png": ".png",
    "exr": ".exr",
    "color": "_color.png",
    "ply": ".ply",
    "glb": ".glb",
    "normals": "_normals.png",
    "json": ".json",
}

#: Formats of a video; others are refused before any work starts.
VIDEO_FORMATS: dict[str, VideoFormat] = {"npz": "npz", "png": "ffv1", "color": "color"}


#: Longest file name in bytes on common file systems.
NAME_MAX = 255

#: Default formats. Frames of a video as npz would take too much disk space.
PICTURE_DEFAULT: tuple[Format, ...] = ("npz", "color")
VIDEO_DEFAULT: tuple[Format, ...] = ("png", "color")


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One input and its output files.

    Attributes:
        source: path of the image or video.
        is_video: True for a video.
        key: name of the result inside the output folder, without ending, with `/`.
        outputs: (format, path) of every file to write.
    """

    source: AnyPath
    is_video: bool
    key: str
    outputs: tuple[tuple[str, AnyPath], ...]

    def __str__(self) -> str:
        return str(self.source)

    @property
    def paths(self) -> tuple[AnyPath, ...]:
        """Paths of the files to write."""
        return tuple(path for _, path in self.outputs)

    def absolute(self) -> BatchJob:
        """Return the same job for a process that runs in another folder."""
        outputs = tuple((kind, _absolute(path)) for kind, path in self.outputs)
        return replace(self, source=_absolute(self.source), outputs=outputs)


def _absolute(path: AnyPath) -> AnyPath:
    return path if is_remote(path) else path.absolute()


def plan(
    sources: Sequence[Source],
    out: AnyPath,
    save: Sequence[str] | None = None,
    own: AbstractSet[AnyPath] = frozenset(),
) -> list[BatchJob]:
    """Assign output files to every source, no two of them the same.

    Args:
        sources: the inputs.
        out: folder of the results.
        save: formats; None for the defaults of images and videos.
        own: locations of results of an earlier run, which may be replaced.
    """
    inputs = {_fold(source.path) for source in sources}
    jobs = [_job(source, source.inner.with_suffix(""), out, save) for source in sources]
    clashes = _clashes(jobs, inputs)
    for longer in (_with_ending, _with_folders):
        if clashes:
            names = longer(sources)
            jobs = [
                _job(source, name, out, save)
                if clashes.intersection(map(_fold, job.paths))
                else job
                for source, name, job in zip(sources, names, jobs, strict=True)
            ]
            clashes = _clashes(jobs, inputs)
    for job in jobs:
        if clashes.intersection(map(_fold, job.paths)):
            raise InputError(
                "its result would overwrite another file",
                path=job.source,
                remedy="choose another --out, or give fewer inputs at once",
            )
        _check_names(job)
        _refuse_overwriting(job.source, job.paths, own)
    return jobs


def _job(source: Source, name: PurePath, out: AnyPath, save: Sequence[str] | None) -> BatchJob:
    if save is None:
        save = VIDEO_DEFAULT if source.is_video else PICTURE_DEFAULT
    endings = PICTURE_ENDINGS
    if source.is_video:
        endings = {kind: VIDEO_ENDINGS[form] for kind, form in VIDEO_FORMATS.items()}
        refused = [kind for kind in save if kind not in endings]
        if refused:
            raise InputError(
                f"a video cannot be saved as {refused[0]}",
                path=source.path,
                remedy=f"use --save {','.join(endings)}, or give the images alone",
            )
    outputs = tuple((kind, out / f"{name}{endings[kind]}") for kind in save)
    return BatchJob(source.path, source.is_video, name.as_posix(), outputs)


def _clashes(jobs: Sequence[BatchJob], inputs: AbstractSet[str]) -> set[str]:
    """Return outputs that two jobs share or that are inputs."""
    counts = Counter(_fold(path) for job in jobs for path in job.paths)
    return {path for path, count in counts.items() if count > 1 or path in inputs}


def _fold(path: AnyPath) -> str:
    """Return one spelling per file, also on case-insensitive file systems."""
    return str(place(path)).casefold()


def _with_ending(sources: Sequence[Source]) -> list[PurePath]:
    return [source.inner for source in sources]


def _with_folders(sources: Sequence[Source]) -> list[PurePath]:
    # Relative, so that local paths and URLs can be compared.
    texts = [str(place(source.path)).replace("://", "/").lstrip("/") for source in sources]
    paths = [PurePosixPath(text) for text in texts]
    common = os.path.commonpath([path.parent for path in paths])
    return [path.relative_to(common) for path in paths]


def _check_names(job: BatchJob) -> None:
    """Refuse an input whose results would have names that are too long."""
    longest = max(len(os.fsencode(path.name)) for path in job.paths)
    if longest > NAME_MAX:
        raise InputError(
            f"the name of its result would have {longest} bytes, more than the {NAME_MAX} allowed",
            path=job.source,
            remedy="rename it",
        )


def _refuse_overwriting(
    source: AnyPath, paths: Sequence[AnyPath], own: AbstractSet[AnyPath]
) -> None:
    """Refuse to replace a file beside the input that is not on record as a result.

    Args:
        source: the input.
        paths: files to be written.
        own: locations of results of an earlier run.
    """
    folder = place(source).parent
    for path in paths:
        where = place(path)
        if where.parent == folder and where.exists() and where not in own:
            raise InputError(
                "exists, and was not written by sightline according to this folder's record",
                path=path,
                remedy="move it away or choose another --out",
            )
