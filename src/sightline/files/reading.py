"""Read a whole file into memory, within bounds, with one clear line when that cannot be done."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sightline.errors import InputError

#: Largest number of pixels any reader accepts unless told otherwise.
MAX_PIXELS = 200_000_000


#: What to do about a file that is not whole.
GET_AGAIN = "copy or download it again"


@contextmanager
def open_file(path: str | Path, *, what: str = "file") -> Iterator[BinaryIO]:
    """Open a regular file that is not empty.

    Pipes and devices are refused before they are opened: that, or reading them, may wait for ever.

    Args:
        path: of the file.
        what: what the file should have been, for the message ("picture", "depth file").
    """
    path = Path(path)
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


def read_bytes(path: str | Path, *, limit: int, what: str = "file") -> bytes:
    """Return the bytes of `path`, at most `limit` of them.

    Args:
        path: a regular file.
        limit: refuse files larger than this, in bytes; nothing of them is read.
        what: what the file should have been, for the message ("picture", "depth file").
    """
    with open_file(path, what=what) as file:
        size = os.fstat(file.fileno()).st_size
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


def check_pixels(
    width: int, height: int, max_pixels: int, *, path: str | Path | None = None
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
def naming(path: str | Path | None) -> Iterator[None]:
    """Add `path` to an `InputError` from within that names no file (as those of the types do)."""
    try:
        yield
    except InputError as error:
        if error.path is not None or path is None:
            raise
        raise InputError(error.problem, path=path, remedy=error.remedy) from error


def inside(folder: Path, name: str) -> Path:
    """Return the path of a picture that a list names; one outside its folder is refused."""
    try:
        path = (folder / name).resolve()
        path.is_file()  # a name that no file can have
    except (OSError, ValueError) as error:
        raise InputError(f"no picture can be called {name[:80]!r}", path=folder) from error
    if not path.is_relative_to(folder.resolve()):
        raise InputError(f"picture {name!r} lies outside the folder of the list", path=folder)
    return path


def lacking(error: Exception) -> str:
    """Say in words what kept a list from being understood."""
    if isinstance(error, KeyError) and error.args:
        return f"{error.args[0]} is missing"
    if isinstance(error, (TypeError, AttributeError)):
        return "something in it is of another type"
    return str(error)
