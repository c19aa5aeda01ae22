"""Read files into memory within size limits, and check what they declare."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sightline.errors import InputError
from sightline.io.paths import AnyPath, is_remote, remote_errors, to_path
from sightline.types import CameraSource, Kind

#: Default of the largest number of pixels that readers accept.
MAX_PIXELS = 200_000_000


#: Remedy for a truncated file.
GET_AGAIN = "copy or download it again"


@contextmanager
def open_file(path: str | AnyPath, *, what: str = "file") -> Iterator[BinaryIO]:
    """Open a regular file that is not empty; remote files may be.

    Pipes and devices are refused before they are opened: opening or reading them may block forever.

    Args:
        path: path of the file.
        what: expected type of the file, for the message ("picture", "depth file").
    """
    path = to_path(path)
    if is_remote(path):
        with remote_errors(path), path.open("rb") as stream:
            yield stream
        return
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            kind = "folder" if stat.S_ISDIR(status.st_mode) else "pipe, socket or device"
            raise InputError(f"is a {kind}, not a {what}", path=path, remedy="give a regular file")
        if status.st_size == 0:
            raise InputError("is empty", path=path, remedy=GET_AGAIN)
        with path.open("rb") as file:
            yield file
    except FileNotFoundError as error:
        raise InputError("no such file", path=path, remedy="check the name") from error
    except NotADirectoryError as error:
        raise InputError(
            "no such file: part of the path is not a folder", path=path, remedy="check the name"
        ) from error
    except PermissionError as error:
        raise InputError(
            "no permission to read", path=path, remedy="change its permissions or copy it"
        ) from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        because = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"cannot be read ({because})", path=path, remedy="check the name and the disk"
        ) from error


def read_bytes(path: str | AnyPath, *, limit: int, what: str = "file") -> bytes:
    """Return the bytes of `path`, at most `limit` of them.

    Args:
        path: a regular file, local or remote.
        limit: refuse files larger than this, in bytes; nothing of them is read.
        what: expected type of the file, for the message ("picture", "depth file").
    """
    path = to_path(path)
    with open_file(path, what=what) as file:
        size = _size(path, file)
        data = b"" if size > limit else file.read(size + 1)  # room for `limit` may be gigabytes
        if len(data) > size:  # it grows
            data += file.read(limit + 1 - len(data))
    if max(size, len(data)) > limit:
        raise InputError(
            f"is larger than the {limit / 1e6:,.0f} MB a {what} may have",
            path=path,
            remedy="make it smaller",
        )
    return data


def _size(path: AnyPath, file: BinaryIO) -> int:
    if is_remote(path):
        return int(path.fs.size(path.path) or 0)
    return os.fstat(file.fileno()).st_size


def check_pixels(
    width: int, height: int, max_pixels: int, *, path: str | AnyPath | None = None
) -> None:
    """Refuse a size before anything of that size is decoded or allocated."""
    if width < 1 or height < 1:
        raise InputError(f"has no pixels ({width}×{height})", path=path, remedy=GET_AGAIN)
    if max(width, height) >= 2**31:  # a negative number, read as a positive one
        raise InputError("has a size that makes no sense", path=path, remedy=GET_AGAIN)
    if width * height > max_pixels:
        raise InputError(
            f"has {width}×{height} = {width * height:,} pixels, "
            f"more than the limit of {max_pixels:,}",
            path=path,
            remedy="make it smaller, or raise --max-pixels (in Python max_pixels) if you trust it",
        )


@contextmanager
def naming(path: str | AnyPath | None) -> Iterator[None]:
    """Add `path` to an `InputError` raised inside the block that names no file."""
    try:
        yield
    except InputError as error:
        if error.path is not None or path is None:
            raise
        raise InputError(error.problem, path=path, remedy=error.remedy) from error


def inside(folder: Path, name: str) -> Path:
    """Return the path of an image that a list names; refuse one outside its folder."""
    try:
        path = (folder / name).resolve()
        path.is_file()  # a name that no file can have
    except (OSError, ValueError) as error:
        raise InputError(f"no picture can be called {name[:80]!r}", path=folder) from error
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"picture {name!r} lies outside the folder of the list", path=folder)
    return path


def lacking(error: Exception) -> str:
    """Return the reason why a list could not be parsed."""
    if isinstance(error, KeyError) and error.args:
        return f"{error.args[0]} is missing"
    if isinstance(error, (TypeError, AttributeError)):
        return "something in it is of another type"
    return str(error)


def parse_kind(word: str) -> Kind:
    """Return the `Kind` that a file names; the error lists the valid ones."""
    try:
        return Kind(word)
    except ValueError as error:
        raise InputError(f"kind is {word[:40]!r}, must be one of {', '.join(Kind)}") from error


def parse_camera_source(word: str) -> CameraSource:
    """Return the `CameraSource` a file names."""
    try:
        return CameraSource(word)
    except ValueError as error:
        choices = ", ".join(CameraSource)
        raise InputError(f"camera_source is {word[:40]!r}, must be one of {choices}") from error
