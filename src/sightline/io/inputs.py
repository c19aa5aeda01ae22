"""Expand inputs of the command line to a list of files: images, videos, folders, globs and URLs.

Files named one by one are accepted with any suffix (the reader detects the format); folders and globs
match files with a known suffix. Hidden files, results of an earlier run, and files that cannot be read
twice (pipes, sockets, devices) are skipped.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING, overload

from sightline.errors import InputError
from sightline.io.images import PICTURE_SUFFIXES
from sightline.io.paths import AnyPath, is_remote, is_safe, listing, to_path
from sightline.io.video import VIDEO_SUFFIXES

if TYPE_CHECKING:
    from upath import UPath


@dataclass(frozen=True, slots=True)
class Source:
    """One input file.

    Attributes:
        path: path as given by the user.
        inner: path relative to the folder or glob that matched it; kept in the output folder.
        is_video: whether to read it as a video.
    """

    path: AnyPath
    inner: PurePath
    is_video: bool


@overload
def place(path: Path) -> Path: ...


@overload
def place(path: AnyPath) -> AnyPath: ...


def place(path: AnyPath) -> AnyPath:
    """Return the absolute path of a file, with links to folders resolved but not a link to the file.

    Two links to one file are two inputs; two paths to one folder are the same.
    """
    if is_remote(path):
        return path
    return real(path.parent) / path.name


def real(path: Path) -> Path:
    """Return the absolute path without links.

    `Path.resolve` raises for a circular link; here it is kept, and opening the file reports it.
    """
    return Path(os.path.realpath(path))


def mode_of(path: Path) -> int | None:
    """Return the mode of the file at `path`; None if there is none."""
    try:
        return path.stat().st_mode
    except (OSError, ValueError):  # ValueError: a null character in the name
        return None


def expand(
    inputs: Sequence[str | AnyPath],
    *,
    recursive: bool = False,
    out: AnyPath | None = None,
    own: AbstractSet[AnyPath] = frozenset(),
) -> list[Source]:
    """List the files matched by `inputs`, in the order given; folders are sorted by name.

    Args:
        inputs: paths or URLs of files and folders, and local glob patterns (`*`, `?`, `[a-z]`, `**`).
        recursive: descend into subfolders of given folders.
        out: output folder, which is not searched if it is inside an input folder.
        own: paths of earlier results, which folders and globs do not match.

    Returns:
        At least one source; the same file never twice.
    """
    found: dict[AnyPath, Source] = {}
    for given in inputs:
        before = len(found)
        sources = list(_expand_one(str(given), recursive, out))
        for source in sources:
            where = place(source.path)
            if where not in own or source.path == to_path(given):
                found.setdefault(where, source)
        if len(found) == before and not sources:
            raise _nothing(str(given), recursive)
    if not found:
        raise InputError("no pictures or videos among the inputs, only results of an earlier run")
    return list(found.values())


def _expand_one(given: str, recursive: bool, out: AnyPath | None) -> Iterator[Source]:
    path = to_path(given)
    if is_remote(path):
        yield from _remote_files(path, recursive, out)
        return
    if _is_folder(path):
        yield from _folder(path, recursive, out)
    elif not _may_be_a_file(path):
        raise InputError("is a pipe or a device", path=given, remedy="save it as a file first")
    elif os.path.lexists(path):
        yield _source(path, Path(path.name))
    elif glob.has_magic(given):
        root = _fixed_part(path)
        # Path.glob cannot take a pattern that may be absolute.
        for match in map(Path, sorted(glob.glob(given, recursive=True))):  # noqa: PTH207
            if _known(match) and _may_be_a_file(match):
                yield _source(match, match.relative_to(root))
    else:
        raise InputError("no such file or folder", path=given, remedy="check the spelling")


def _remote_files(path: UPath, recursive: bool, out: AnyPath | None) -> Iterator[Source]:
    """List the images and videos below a URL; a file is taken whatever its suffix."""
    entries = listing(str(path), recursive=recursive)
    if len(entries) == 1 and entries[0].url == str(path):
        yield _source(path, PurePosixPath(entries[0].inner))
        return
    results = None if out is None else str(out).rstrip("/") + "/"
    for entry in entries:
        file = to_path(entry.url)
        if not _known(file) or (results is not None and entry.url.startswith(results)):
            continue
        if not is_safe(entry.inner):
            raise InputError("its name leads out of the folder", path=entry.url, remedy="rename it")
        yield _source(file, PurePosixPath(entry.inner))


def _folder(root: Path, recursive: bool, out: AnyPath | None) -> Iterator[Source]:
    def refuse(error: OSError) -> None:
        raise InputError(
            f"folder cannot be read ({error.strerror})", path=error.filename or root
        ) from error

    skip = None if out is None or is_remote(out) else real(out)
    for folder, subfolders, files in os.walk(root, onerror=refuse):
        subfolders[:] = sorted(
            name
            for name in subfolders
            if recursive and not name.startswith(".") and real(Path(folder, name)) != skip
        )
        for name in sorted(files):
            path = Path(folder, name)
            if _known(path) and _may_be_a_file(path):
                yield _source(path, path.relative_to(root))


def _source(path: AnyPath, inner: PurePath) -> Source:
    # A GIF is in both lists and counts as an image.
    return Source(path, inner, path.suffix.lower() in VIDEO_SUFFIXES - PICTURE_SUFFIXES)


def _is_folder(path: Path) -> bool:
    mode = mode_of(path)
    return mode is not None and stat.S_ISDIR(mode)


def _may_be_a_file(path: Path) -> bool:
    """Tell whether this is a regular file or missing; the reader reports a missing one."""
    mode = mode_of(path)
    return mode is None or stat.S_ISREG(mode)


def _known(path: AnyPath) -> bool:
    suffix = path.suffix.lower()
    return not path.name.startswith(".") and (
        suffix in PICTURE_SUFFIXES or suffix in VIDEO_SUFFIXES
    )


def _fixed_part(pattern: Path) -> Path:
    """Return the leading folders of a pattern that contain no wildcard."""
    parts: list[str] = []
    for part in pattern.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return Path(*parts)


def _nothing(given: str, recursive: bool) -> InputError:
    path = to_path(given)
    if not is_remote(path) and not _is_folder(path):
        return InputError("no picture or video matches", path=given)
    remedy = None if recursive else "look into subfolders with --recursive"
    return InputError("no pictures or videos in this folder", path=given, remedy=remedy)
