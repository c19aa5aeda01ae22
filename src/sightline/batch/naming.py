"""Where each result goes: decided for all inputs before any work starts.

A result is called after its input: `photos/a.jpg` gives `DIR/a.npz`, `DIR/a_color.png` and so on, in
the subfolder that the input had. When two inputs would meet in one file (`a.jpg` and `a.png`), both
keep their ending (`a.jpg.npz`, `a.png.npz`); when that does not help (`x/a.jpg` and `y/a.jpg` named
one by one), their folders too.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path

from sightline.batch.inputs import Source, place
from sightline.batch.options import Format
from sightline.depth.video import VIDEO_ENDINGS, VideoFormat
from sightline.errors import InputError

#: What is added to a picture's stem.
PICTURE_ENDINGS: dict[Format, str] = {
    "npz": ".npz",
    "png": ".png",
    "exr": ".exr",
    "color": "_color.png",
    "ply": ".ply",
    "glb": ".glb",
}

#: What a format is for a video; the others are refused before any work starts.
VIDEO_FORMATS: dict[Format, VideoFormat] = {"npz": "npz", "png": "ffv1", "color": "color"}


#: Longest name of a file in bytes, on every file system in common use.
NAME_MAX = 255

#: What is saved when nothing is asked for. A video's frames as npz would fill a disk unasked.
PICTURE_DEFAULT: tuple[Format, ...] = ("npz", "color")
VIDEO_DEFAULT: tuple[Format, ...] = ("png", "color")


@dataclass(frozen=True, slots=True)
class Job:
    """One input and the files to make of it.

    Attributes:
        source: the picture or video.
        is_video: which of the two.
        key: name of the result inside the output folder, without ending, with `/`.
        outputs: (format, path) of every file to be written.
    """

    source: Path
    is_video: bool
    key: str
    outputs: tuple[tuple[Format, Path], ...]

    def __str__(self) -> str:
        return str(self.source)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files to be written."""
        return tuple(path for _, path in self.outputs)


def plan(
    sources: Sequence[Source],
    out: Path,
    save: Sequence[Format] | None = None,
    own: AbstractSet[Path] = frozenset(),
) -> list[Job]:
    """Give every source its output files, no two of which are the same.

    Args:
        sources: what to work on.
        out: folder of the results.
        save: formats; None for the defaults of pictures and videos.
        own: places of results of an earlier run, which may be replaced.
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
                "its result would take the place of another file",
                path=job.source,
                remedy="choose another --out, or name fewer inputs at once",
            )
        _check_names(job)
        spare_the_users_files(job.source, job.paths, own)
    return jobs


def _job(source: Source, name: Path, out: Path, save: Sequence[Format] | None) -> Job:
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
                remedy=f"use --save {','.join(endings)}, or name the pictures alone",
            )
    outputs = tuple((kind, out / f"{name}{endings[kind]}") for kind in save)
    return Job(source.path, source.is_video, name.as_posix(), outputs)


def _clashes(jobs: Sequence[Job], inputs: AbstractSet[str]) -> set[str]:
    """Return outputs that two jobs share or that are inputs themselves."""
    counts = Counter(_fold(path) for job in jobs for path in job.paths)
    return {path for path, count in counts.items() if count > 1 or path in inputs}


def _fold(path: Path) -> str:
    """Return one spelling per file, also on file systems that do not tell `A` from `a`."""
    return str(place(path)).casefold()


def _with_ending(sources: Sequence[Source]) -> list[Path]:
    return [source.inner for source in sources]


def _with_folders(sources: Sequence[Source]) -> list[Path]:
    places = [place(source.path) for source in sources]
    common = os.path.commonpath([path.parent for path in places])
    return [path.relative_to(common) for path in places]


def _check_names(job: Job) -> None:
    """Refuse an input some of whose results could not be written for their name alone."""
    longest = max(len(os.fsencode(path.name)) for path in job.paths)
    if longest > NAME_MAX:
        raise InputError(
            f"the name of its result would have {longest} bytes, more than the {NAME_MAX} allowed",
            path=job.source,
            remedy="give it a shorter name",
        )


def spare_the_users_files(source: Path, paths: Sequence[Path], own: AbstractSet[Path]) -> None:
    """Refuse to replace a file beside the input that is not known as a result of ours.

    Args:
        source: the input.
        paths: of the files that are to be written.
        own: places of results of an earlier run.
    """
    folder = place(source).parent
    for path in paths:
        where = place(path)
        if where.parent == folder and where.exists() and where not in own:
            raise InputError(
                "exists, and no record in this folder says that sightline wrote it",
                path=path,
                remedy="move it away or choose another --out",
            )
